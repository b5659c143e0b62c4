#!/bin/sh
# SPDX-License-Identifier: MIT
# The bytes of all vectors, cut at random, come out of the relay as they went
# in, in both directions.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/inputs.inc"

seeds=$(dirname "$GRPCTAP")/tests/seeds
[ -x "$seeds" ] || skip "no program seeds beside $GRPCTAP"
mkdir "$DIR/vectors"
"$seeds" --all "$DIR/vectors" "$ROOT"/tests/vectors/*.txt >"$DIR/seeds.log"
relay_inputs vectors "$DIR/vectors"
[ "${RELAYED% *}" -eq "$(grep -ch '^== ' "$ROOT"/tests/vectors/*.txt |
    paste -sd + | bc)" ] || fail "not every vector was sent"
