#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The JSON of every verb keeps to its schema in docs/schemas; see schemas.py.
set -euo pipefail
python=/usr/bin/python3
if ! "$python" -c 'import jsonschema' 2>/dev/null; then
    echo "skipped: python3-jsonschema is missing (tools/install-deps --test)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" "$CAUCUS_SOURCE/tests/cli/schemas.py"
