#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The status page, the report and statements in a real browser. Not part of `make test`: chromium is large. `make
# browser-test` installs it and runs this. axe is fetched once, by its hash. Where that cannot be, this fails, unless
# CAUCUS_AXE=none says that its checks are to be left out. tools/pictures takes the pictures of the documentation.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=${CAUCUS_BUILD:-$source_dir/build}
demo=$build/tests/status_demo
program=$build/caucus

for needed in chromium chromedriver python3 gnuplot; do
    command -v "$needed" >/dev/null || { echo "browser: $needed is missing: tools/install-deps --browser" >&2; exit 1; }
done
for needed in "$demo" "$program"; do
    [ -x "$needed" ] || { echo "browser: $needed is missing: make" >&2; exit 1; }
done

fetch_axe() { # FILE
    local folder
    folder=$(mktemp -d)
    python3 -m pip download --quiet --no-deps --require-hashes --dest "$folder" \
        -r "$source_dir/tests/browser/axe.txt" &&
        python3 -m zipfile -e "$folder"/axe_playwright_python-*.whl "$folder" &&
        mkdir -p "$(dirname "$1")" && mv "$folder/axe_playwright_python/axe.min.js" "$1"
    rm -rf "$folder"
}
export CAUCUS_AXE=${CAUCUS_AXE:-$build/axe/axe.min.js}
if [ "$CAUCUS_AXE" = none ]; then
    echo "browser: without axe: what it would find is not looked for"
elif [ ! -f "$CAUCUS_AXE" ] && ! { fetch_axe "$CAUCUS_AXE" && [ -f "$CAUCUS_AXE" ]; }; then
    echo "browser: axe cannot be fetched: CAUCUS_AXE=FILE names an axe.min.js, CAUCUS_AXE=none does without" >&2
    exit 1
fi

[ $# -eq 0 ] || { echo "usage: tests/browser/run.sh (tools/pictures takes pictures)" >&2; exit 2; }
python3 "$source_dir/tests/browser/drive.py" "$demo"

python3 "$source_dir/tests/browser/states.py" "$demo"
python3 "$source_dir/tests/browser/statement.py" "$program"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" reproduce --quick --out "$work/report" >"$work/said"
python3 "$source_dir/tests/browser/report.py" "$work/report"
"$program" audit --quick --out "$work/audit" >"$work/said" 2>&1
python3 "$source_dir/tests/browser/report.py" "$work/audit"
