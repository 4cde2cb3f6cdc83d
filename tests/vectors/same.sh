#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The committed vectors are what the generator writes.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}" "${CAUCUS_BUILD:?build directory}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$CAUCUS_BUILD/tests/make_vectors" "$dir"
if ! diff -r "$dir" "$CAUCUS_SOURCE/docs/vectors"; then
    echo "not ok: docs/vectors (>) are not what make_vectors writes (<); if they were to change:"
    echo "  $CAUCUS_BUILD/tests/make_vectors docs/vectors   (docs/VECTORS.md, \"When they change\")"
    exit 1
fi
