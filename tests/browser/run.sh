#!/usr/bin/env bash
# The status page in a real browser. Not part of `make test`: chromium is large. `make browser-test` installs it and runs this.
#   tests/browser/run.sh                       look and judge
#   tests/browser/run.sh --screenshot [FILE]   and save the page as a picture (docs/img/status.png)
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
demo=${CAUCUS_BUILD:-$source_dir/build}/tests/status_demo

for program in chromium chromedriver python3; do
    command -v "$program" >/dev/null || { echo "browser: $program is missing: tools/install-deps --browser" >&2; exit 1; }
done
[ -x "$demo" ] || { echo "browser: $demo is missing: make" >&2; exit 1; }

arguments=()
case ${1:-} in
    --screenshot) arguments=(--screenshot "${2:-$source_dir/docs/img/status.png}"); mkdir -p "$(dirname "${arguments[1]}")" ;;
    "") ;;
    *) sed -n '3,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
exec python3 "$source_dir/tests/browser/drive.py" "$demo" "${arguments[@]}"
