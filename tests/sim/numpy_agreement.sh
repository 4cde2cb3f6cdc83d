#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulator and the plain NumPy version of the same algorithms have the same law of regret: see compare.py.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_SOURCE:?path of the sources}"
python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: $python has no numpy (Debian: python3-numpy)"
    exit 77
fi
if ! "$CAUCUS" simulate --help >/dev/null 2>&1; then
    echo "skipped: this build of caucus has no verb 'simulate'"
    exit 77
fi
"$python" "$CAUCUS_SOURCE/bench/reference" --selftest >/dev/null || {
    echo "not ok: bench/reference --selftest fails: the comparison would mean nothing"
    exit 1
}
exec "$python" "$CAUCUS_SOURCE/tests/sim/compare.py" "$CAUCUS" "$CAUCUS_SOURCE/bench/reference"
