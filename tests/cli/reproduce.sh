#!/usr/bin/env bash
# `caucus reproduce`: the report's files, that it is the same for a seed, replaced only when complete, and what is refused.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_SOURCE:?source directory}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok: $name"; else echo "not ok: $name"; failures=$((failures + 1)); fi
}
# runs CODE COMMAND...: exit code as expected; output in $work/stdout and $work/stderr
runs() {
    local code=$1 got=0
    shift
    "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || got=$?
    [ "$got" -eq "$code" ] || { echo "exit code $got, expected $code:"; cat "$work/stdout" "$work/stderr"; return 1; }
}
# refuses CODE TEXT COMMAND...: exit code, nothing on stdout, exactly one line on stderr, which contains TEXT
refuses() {
    local code=$1 text=$2
    shift 2
    runs "$code" "$@" || return 1
    if [ -s stdout ] || [ "$(wc -l <stderr)" -ne 1 ] || ! grep -qF -- "$text" stderr; then
        cat stderr
        return 1
    fi
}
absent() { ! grep -qE "$@"; }
nothing_else() { [ -z "$(find . -maxdepth 2 -name '*.new-*')" ]; }

check "help" runs 0 "$CAUCUS" reproduce --help
check "help names the sections" grep -q '4  scaling' stdout
check "unknown option" refuses 2 "--seed" "$CAUCUS" reproduce --sed 1
check "unknown section" refuses 2 "'5' (accepted: 1 or stoch" "$CAUCUS" reproduce --only 2,5
check "empty section" refuses 2 "'' (accepted" "$CAUCUS" reproduce --only ""
check "a seed is a number" refuses 2 "--seed -1: must be a whole number" "$CAUCUS" reproduce --seed=-1
check "threads" refuses 2 "--threads 0: must be" "$CAUCUS" reproduce --threads 0
check "format" refuses 2 "must be table or json" "$CAUCUS" reproduce --format csv
check "a word" refuses 2 "--out here" "$CAUCUS" reproduce here
check "data that is not there" refuses 2 "nowhere" "$CAUCUS" reproduce --quick --data nowhere
check "no report after that" test ! -e out/report

# The report.
check "quick" runs 0 "$CAUCUS" reproduce --quick --only 2,4 --seed 7 --threads 1 --out report
page=report/index.html
check "what holds is said" grep -q 'holds  svt with our constants' stdout
check "seeded is said" grep -q 'NOT PRIVATE (seeded): seed 7' stdout
for file in index.html figure2.csv figure2-trials.csv figure2-seeds.csv figure2.svg scaling.csv scaling.svg; do
    check "$file" test -s "report/$file"
done
check "complete" grep -q '</html>' "$page"
check "no script, nothing loaded from elsewhere" absent '<script|<link|<img|<iframe|@import|src=|url\([^#]' "$page"
check "eight pictures" test "$(grep -c '<svg role="img"' "$page")" -eq 8
check "each has a text alternative" test "$(grep -c '<desc id=' "$page")" -eq 8
check "ids are unique" test -z "$(grep -oE "\\bid=['\"][^'\"]*" "$page" | tr "'" '"' | sort | uniq -d)"
missing_links() { grep -oE 'href="[^"#:]+"' "$page" | sed 's/href="//; s/"$//' | sort -u | while read -r file; do [ -e "report/$file" ] || echo "$file"; done; }
check "links lead somewhere" test -z "$(missing_links)"
check "departures are in it" grep -q '<h2>Where we depart from the paper, and why</h2>' "$page"
check "a line per trial" test "$(grep -c '^svt-1,' report/figure2-trials.csv)" -eq 100
check "curves have 64 points" test "$(grep -c '^svt-30,' report/figure2.csv)" -eq 64

# Every test that docs/PAPER.md names as evidence exists.
unknown_tests() {
    grep -owE 'test_[a-z_0-9]+' "$CAUCUS_SOURCE/docs/PAPER.md" | sort -u | while read -r name; do
        [ -n "$(find "$CAUCUS_SOURCE/tests" -name "$name.c")" ] || grep -rqw --include='*.c' "$name" "$CAUCUS_SOURCE/tests" || echo "$name"
    done
}
check "the evidence exists" test -z "$(unknown_tests)"

# The same for a seed, whatever the threads; an older report is replaced.
cp -r report first
check "again, on two threads" runs 0 "$CAUCUS" reproduce --quick --only svt --seed 7 --threads 2 --out report/
check "nothing of the older one stays" test ! -e report/scaling.csv
for file in figure2.csv figure2-trials.csv figure2-seeds.csv figure2.svg; do
    check "$file is the same" cmp "first/$file" "report/$file"
done
check "as json, with another seed" runs 0 "$CAUCUS" reproduce --quick --only 2 --seed 8 --out report --format json
check "other numbers" test "$(cmp first/figure2.csv report/figure2.csv >/dev/null && echo same)" != same
valid_json() { python3 - stdout <<'END'
import json, sys
study = json.load(open(sys.argv[1]))
assert study["seed"] == 8 and study["private"] is False and study["report"] == "report"
assert all(claim["holds"] for claim in study["claims"]) and len(study["claims"]) == 5, study["claims"]
tight = {s["series"]: s for s in study["series"]}["svt-1"]
assert tight["regret_mean"] <= 2.5 and tight["regret_std"] > 0 and abs(tight["epsilon_choices"] - 10) < 0.01
END
}
check "json" valid_json

# Nobody's files are lost.
mkdir mine
echo precious >mine/thesis.txt
check "a folder with other files" refuses 2 "thesis.txt" "$CAUCUS" reproduce --quick --only 2 --out mine
check "is left alone" test "$(cat mine/thesis.txt)" = precious
echo file >plain
check "a file is no folder" refuses 2 "is a file" "$CAUCUS" reproduce --quick --only 2 --out plain

# Without gnuplot: one line, before any work.
mkdir bin
check "no gnuplot" refuses 1 "apt-get install gnuplot-nox" env PATH="$work/bin" "$CAUCUS" reproduce --quick --only 2 --out report2
check "and no report" test ! -e report2

# A data set that is not there is no failure: its section says how to get it.
mkdir empty
check "no MovieLens" runs 0 env --chdir=empty "$CAUCUS" reproduce --quick --only 3 --out report
check "how to get it, on the terminal" grep -q 'grouplens.org' stdout
check "how to get it, on the page" grep -q 'grouplens.org' empty/report/index.html

# Stopped: nothing half-written.
"$CAUCUS" reproduce --only 1 --threads 1 --out stopped >stdout 2>stderr &
pid=$!
sleep 1
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
check "stopped" test "$code" -eq 1
check "it says so" grep -qx 'caucus reproduce: stopped' stderr
check "and leaves nothing" test ! -e stopped
check "no folder under construction is left" nothing_else
[ "$failures" -eq 0 ]
