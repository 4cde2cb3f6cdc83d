# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share: an empty directory to work in, a count of failures, two ways to report.
# The last line of a script is `[ "$failures" -eq 0 ]`.
set -euo pipefail
: "${CAUCUS:?path of the program}"
CAUCUS=$(realpath "$CAUCUS")
CAUCUS_SOURCE=$(realpath "${CAUCUS_SOURCE:-$(dirname "${BASH_SOURCE[0]}")/../..}")
export CAUCUS CAUCUS_SOURCE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
python=/usr/bin/python3 # Debian's: the one that tools/install-deps installs modules for

pass() { echo "ok: $1"; }
fail() {
    echo "not ok: $*"
    failures=$((failures + 1))
}
