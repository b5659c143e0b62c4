#!/bin/sh
# SPDX-License-Identifier: MIT
# The files of all corpora, garbage or not, cut at random, come out of the
# relay as they went in, in both directions.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/inputs.inc"

corpora=${GRPCTAP_CORPORA:-$ROOT/../shared/corpora}
[ -d "$corpora" ] || skip "no corpora"
# shellcheck disable=SC2034 # for wait_for
PATIENCE=60
relay_inputs corpora "$corpora"
[ "${RELAYED% *}" -gt 1000 ] || fail "few inputs: $RELAYED"
