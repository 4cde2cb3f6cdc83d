#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus reproduce`: the report's files, that it is the same for a seed, replaced only when complete, and what is
# refused.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

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
nothing_else() { [ -z "$(find . -maxdepth 2 -name '*.draft*')" ]; }

check "help" runs 0 "$CAUCUS" reproduce --help
check "help names the sections" grep -q '4  scaling' stdout
check "unknown option" refuses 2 "--seed" "$CAUCUS" reproduce --sed 1
check "unknown section" refuses 2 "'6' (accepted: 1 or stoch" "$CAUCUS" reproduce --only 2,6
check "empty section" refuses 2 "'' (accepted" "$CAUCUS" reproduce --only ""
check "a seed is a number" refuses 2 "--seed -1: must be a whole number" "$CAUCUS" reproduce --seed=-1
check "threads" refuses 2 "--threads 0: must be" "$CAUCUS" reproduce --threads 0
check "format" refuses 2 "must be table or json" "$CAUCUS" reproduce --format csv
check "a word" refuses 2 "--out here" "$CAUCUS" reproduce here
check "data that is not there" refuses 2 "nowhere" "$CAUCUS" reproduce --quick --data nowhere
check "data that is not there, and not needed" refuses 2 "--data nowhere: No such file" "$CAUCUS" reproduce \
    --quick --only 1 --data nowhere
mkdir small other
touch small/u.data
check "the small MovieLens" refuses 2 "needs the 6,040 users of MovieLens-1M" "$CAUCUS" reproduce --quick --data small
check "a directory of something else" refuses 2 "--data other: no ratings.dat in it" "$CAUCUS" reproduce \
    --quick --only 3 --data other
printf '1::A::Drama\n2::B::War\n' >other/movies.dat
printf '1::1::4::0\n2::2::3::0\n' >other/ratings.dat
check "a part of MovieLens-1M" refuses 2 "--data other: not MovieLens-1M, whose 6,040 users" "$CAUCUS" reproduce \
    --quick --only 3 --data other
check "no report after that" test ! -e out/report

# The report.
check "quick" runs 0 "$CAUCUS" reproduce --quick --only 2,4 --seed 7 --threads 1 --out report
page=report/index.html
check "what holds is said" grep -q 'holds  svt with our constants' stdout
head -n 1 stdout >first-line
check "seeded is said first" grep -q 'NOT PRIVATE (seeded): .* seed 7' first-line
for file in index.html figure2.csv figure2-trials.csv figure2-seeds.csv figure2-paper.svg figure2.svg figure2-30.svg \
    figure2-50.svg scaling.csv scaling.svg; do
    check "$file" test -s "report/$file"
done
check "complete" grep -q '</html>' "$page"
check "no script, nothing loaded from elsewhere" absent '<script|<link|<img|<iframe|@import|src=|url\([^#]' "$page"
check "eleven pictures" test "$(grep -c '<svg role="img"' "$page")" -eq 11
check "each has a text alternative" test "$(grep -c '<desc id=' "$page")" -eq 11
check "ids are unique" test -z "$(grep -oE "\\bid=['\"][^'\"]*" "$page" | tr "'" '"' | sort | uniq -d)"
missing_links() { grep -oE 'href="[^"#:]+"' "$page" | sed 's/href="//; s/"$//' | sort -u | while read -r file; do
    [ -e "report/$file" ] || echo "$file"; done; }
check "links lead somewhere" test -z "$(missing_links)"
check "departures are in it" grep -q '<h2>Where we depart from the paper, and why</h2>' "$page"
# On a screen of 360 pixels a figure is 356 wide, and a small one of two beside each other 174 (src/study/page.c); the
# browser's own measure is in tests/browser.
legible() { python3 - "$page" <<'END'
import re, sys
figures = re.findall(r'<svg role="img"[^>]*viewBox="0 0 (\d+) \d+"(.*?)</svg>', open(sys.argv[1]).read(), re.S)
texts = [(int(width), float(size)) for width, body in figures for size in re.findall(r'font-size="([0-9.]+)"', body)]
small = [size * (174 if width < 300 else 356) / width for width, size in texts]
assert len(figures) == 11 and len(texts) > 40 and min(small) >= 11, (len(figures), len(texts), min(small))
END
}
check "figures can be read on a phone" legible
check "cells say what they are" test "$(grep -c '<td data-label="regret per client" class="number">' "$page")" -ge 9
# Figures first, the paper's before ours; claims in groups, below; a table of contents whose entries lead somewhere;
# every term is explained once.
composed() { python3 - "$page" <<'END'
import re, sys
page = open(sys.argv[1]).read()
sections = re.findall(r'<section id="(\w+)">', page)
assert sections == ["paper", "ours", "scaling", "holds", "run", "departures"], sections
contents = page[page.index("<nav"):page.index("</nav>")]
anchors = re.findall(r'href="#([^"]+)"', contents)
assert len(anchors) >= 8 and all('id="%s"' % a in page for a in anchors), anchors
assert page.index("</nav>") < page.index("<figure") < page.index('class="claims"')
groups = re.findall(r"<h3>([^<]*)</h3>\s*<ul class=\"claims\">", page)
assert len(groups) == 3 == len(re.findall('<ul class="claims">', page)), groups
terms = re.findall(r"<dfn>(.*?)</dfn>", page)
assert len(terms) == len(set(terms)) and {"Regret", "ε", "Fed-SVT", "realizable", "Proven"} <= set(terms), terms
END
}
check "figures first, contents, groups of claims, terms" composed
check "a line per trial" test "$(grep -c '^svt-1,' report/figure2-trials.csv)" -eq 100
check "curves have 64 points" test "$(grep -c '^svt-30,' report/figure2.csv)" -eq 64

# Every test that docs/PAPER.md names as evidence exists.
unknown_tests() {
    grep -owE 'test_[a-z_0-9]+' "$CAUCUS_SOURCE/docs/PAPER.md" | sort -u | while read -r name; do
        [ -n "$(find "$CAUCUS_SOURCE/tests" -name "$name.c")" ] ||
            grep -rqw --include='*.c' "$name" "$CAUCUS_SOURCE/tests" || echo "$name"
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
assert all(claim["holds"] for claim in study["claims"]) and len(study["claims"]) == 7, study["claims"]
assert study["fleet"] == [] and {s["experiment"] for s in study["series"]} == {"figure2"}
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
check "no gnuplot" refuses 1 "apt-get install gnuplot-nox" env PATH="$work/bin" "$CAUCUS" reproduce --quick --only 2 \
    --out report2
check "and no report" test ! -e report2

# A data set that is not there is no failure unless it was asked for: its section says how to get it.
mkdir empty
check "no MovieLens" runs 0 env --chdir=empty "$CAUCUS" reproduce --quick --threads 1 --out report
check "how to get it, on the terminal" grep -q 'grouplens.org' stdout
check "how to get it, on the page" grep -q 'grouplens.org' empty/report/index.html
check "not run, on the terminal" grep -q 'NOT RUN, and so not checked: MovieLens-1M' stdout
check "not run, at the top of the page" grep -q 'Not run, and not checked: MovieLens-1M' empty/report/index.html
check "not run, beside the claims" grep -q 'Not run, and so not checked.</b> MovieLens-1M is not here' \
    empty/report/index.html
rm -r empty/report
check "asked for, and not there" refuses 2 \
    "no MovieLens-1M in data/ml-1m or ../shared/data/ml-1m — get ml-1m.zip from https://" \
    env --chdir=empty "$CAUCUS" reproduce --quick --only 2,movielens --out report
check "and no report" test ! -e empty/report

# "Make it again": every command on a page is taken, and a report's own command makes the same numbers. With data of
# MovieLens-1M's size in a directory whose name needs quotes.
films="films of o'hara, 100 %"
mkdir "$films"
python3 - "$films" <<'END'
import random, sys
genres = ["Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Fantasy",
          "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"]
random.seed(1)
with open(sys.argv[1] + "/movies.dat", "w") as file:
    file.writelines(f"{n}::Film {n}::{g}\n" for n, g in enumerate(genres, 1))
with open(sys.argv[1] + "/ratings.dat", "w") as file:
    for user in range(1, 6041):
        file.writelines(f"{user}::{film}::{random.randint(1, 5)}::0\n" for film in range(1, 19) if film % 3 != user % 3)
END
# Checks may fail on such data.
"$CAUCUS" reproduce --quick --only 1,2,3,4,5 --seed 3 --data "$films" --out whole >stdout 2>stderr || true
python3 - >commands <<'END'
import html, re
for text in re.findall(r"<pre>(caucus .*?)</pre>", open("whole/index.html").read(), re.S):
    print(html.unescape(text))
END
check "two to four commands per section" test "$(grep -c '^caucus ' commands)" -eq 12
check "the directory that was used" test "$(grep -cF -- "--data 'films of o'\\''hara, 100 %'" commands)" -eq 2
check "trials as they were" test "$(grep -c -- '--clients 1,2,4,8,16,32 .*--trials 5 ' commands)" -eq 1
taken() { # taken COMMAND OPTIONS: exit code 0, or 1 from a check that fails on data that was made up
    local got=0
    eval "\"\$CAUCUS\" ${1#caucus } $2" >stdout 2>stderr </dev/null || got=$?
    case "$1" in
    "caucus reproduce"*) [ "$got" -le 1 ] && [ -s again/index.html ] ;;
    *) [ "$got" -eq 0 ] && [ -s stdout ] ;;
    esac || { echo "exit code $got"; cat stderr; return 1; }
}
while read -r -u 3 command; do
    case "$command" in
    "caucus reproduce"*)
        rm -rf again
        check "taken: $command" taken "$command" "--out again"
        for file in again/*.csv; do check "the same ${file#again/}" cmp "$file" "whole/${file#again/}"; done
        ;;
    *) check "taken: $command" taken "$(sed -E 's/--trials [0-9]+/--trials 1/' <<<"$command")" "" ;;
    esac
done 3<commands

# Stopped: nothing half-written.
"$CAUCUS" reproduce --only 1 --threads 1 --out stopped >stdout 2>stderr &
pid=$!
# It has begun when it catches the signal; a folder is made only when all is played. Until it is the program it is a
# shell, which catches the signal and dies of it.
is_program() { [ "$(readlink "/proc/$pid/exe")" = "$(realpath "$CAUCUS")" ]; }
catches_term() { (($(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$pid/status" 2>/dev/null || echo 0) & 1 << 14)); }
until { is_program && catches_term; } || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
check "stopped" test "$code" -eq 1
check "it says so" grep -qx 'caucus reproduce: stopped' stderr
check "and leaves nothing" test ! -e stopped
check "no folder under construction is left" nothing_else
[ "$failures" -eq 0 ]
