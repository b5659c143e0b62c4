#!/bin/sh
# SPDX-License-Identifier: MIT
# The options of --help are those of the manual, with the same letters and
# arguments; the README names no other, and the manual has no fault.
# Usage: tests/check_help.sh [GRPCTAP]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
grpctap=${1:-${GRPCTAP:-$root/build/debug/grpctap}}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

complain() {
    echo "check_help: $*" >&2
    status=1
}

# of_help and of_readme: "-l --listen ADDR" of lines such as
#     -l, --listen ADDR   text
of_help() {
    sed -n -E 's/^ +(-[a-zA-Z])?,? *(--[a-z-]+)( \[?[A-Z]+\]?)?( .*)?$/\1 \2\3/p' |
        sed 's/^ //' | sort
}

# of_man: the same of lines such as
#     .It Fl l , Fl Fl listen Ar ADDR
of_man() {
    sed -E '/^\.It Fl/s/Op Ar ([A-Z]+)$/Ar [\1]/' |
        sed -n -E 's/^\.It (Fl ([a-zA-Z]) , )?Fl Fl ([a-z-]+)( Ar (\[?[A-Z]+\]?))?$/\2 --\3 \5/p' |
        sed -E 's/^([a-zA-Z])/-\1/; s/^ //; s/ $//' | sort
}

"$grpctap" proxy --help >"$dir/help.txt"
"$grpctap" help proxy | cmp -s - "$dir/help.txt" ||
    complain "\`help proxy' and \`proxy --help' differ"
of_help <"$dir/help.txt" >"$dir/help"
of_man <"$root/docs/grpctap.1" >"$dir/man"
[ "$(wc -l <"$dir/help")" -ge 18 ] || complain "--help has too few options"
diff "$dir/help" "$dir/man" >"$dir/diff" ||
    complain "--help (<) and the manual (>) differ:
$(cat "$dir/diff")"
[ "$(awk 'length > 80' "$dir/help.txt" | wc -l)" -eq 0 ] ||
    complain "--help is wider than 80 columns"

if [ -e "$root/README.md" ]; then
    of_help <"$root/README.md" >"$dir/readme"
    if grep -q -- '--listen' "$dir/readme"; then
        diff "$dir/help" "$dir/readme" >"$dir/diff" ||
            complain "--help (<) and README.md (>) differ:
$(cat "$dir/diff")"
    fi
    grep -E 'grpctap (proxy|--)' "$root/README.md" |
        grep -o -E -- ' --[a-z][a-z-]+' | sort -u >"$dir/named" || :
    while read -r name; do
        grep -q -w -- "$name" "$dir/help" ||
            complain "README.md names $name, which --help does not have"
    done <"$dir/named"
fi

if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$root/docs/grpctap.1" >&2 ||
        complain "the manual has faults"
fi
exit $status
