#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/PROTOCOL.md is enough to write a client: the Python peer, which shares no code with caucus, decodes the page's
# examples and encodes them to the same bytes. (tests/wire/test_wire.c holds the library to the same bytes.)
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
out=$(python3 "$CAUCUS_SOURCE/tests/e2e/peer.py" --check "$CAUCUS_SOURCE/docs/PROTOCOL.md")
echo "$out"
for expected in "^hello .*'client': 3, 'heard': 300}" "^welcome .*'deadline_ms': 30000, 'answered': 0}" \
    "^announcement .*'list': \[7, 0, 200\]" \
    "^report .*'values': \[1048576, 524288, -1\]}" "^goodbye .*'text': '646f6e65'}" "^refusal {'code': 2, "; do
    grep -qE "$expected" <<<"$out" || { echo "not ok: no line like $expected"; exit 1; }
done
