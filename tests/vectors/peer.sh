#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/vectors replayed by the Python peer, which shares no code with caucus; and altered vectors are noticed.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
python3 "$CAUCUS_SOURCE/tests/vectors/replay.py" "$CAUCUS_SOURCE/docs/vectors"
python3 "$CAUCUS_SOURCE/tests/vectors/replay.py" "$CAUCUS_SOURCE/docs/vectors" --spoil
