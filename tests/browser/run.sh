#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The status page and the report in a real browser. Not part of `make test`: chromium is large. `make browser-test`
# installs it and runs this.
#   tests/browser/run.sh                       look and judge
#   tests/browser/run.sh --screenshot [FILE]   and save the status page as a picture (docs/img/status.png)
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

arguments=()
case ${1:-} in
    --screenshot) arguments=(--screenshot "${2:-$source_dir/docs/img/status.png}");
        mkdir -p "$(dirname "${arguments[1]}")" ;;
    "") ;;
    *) sed -n '5,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
python3 "$source_dir/tests/browser/drive.py" "$demo" "${arguments[@]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" reproduce --quick --out "$work/report" >"$work/said"
python3 "$source_dir/tests/browser/report.py" "$work/report"
