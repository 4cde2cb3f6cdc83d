#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules at the top of caucus.h, and what the libraries show to others: every global name in our archives begins with
# caucus_, a shared library exports only what an installed header declares, and every function declared is there.
set -euo pipefail
: "${CAUCUS_BUILD:?build directory}" "${CAUCUS_SOURCE:?source directory}"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*"; exit 1; }

# archived FILE: global names of an archive that do not begin with caucus_.
archived() { nm --defined-only "$1" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ && $3 !~ /^caucus_/ { print $3 }'; }
# exported FILE: all names that a shared library offers.
exported() { nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ || $2 == "i" { print $3 }' | sort -u; }

# The checks see what they are for.
cat >"$work/a.c" <<'C'
int loose(void) { return 1; }
int caucus_x(void) { return 2; }
static int own(void) { return 3; }
int (*caucus_y)(void) = own;
C
"$cc" -fPIC -c -o "$work/a.o" "$work/a.c" && ar rc "$work/a.a" "$work/a.o" && "$cc" -shared -o "$work/a.so" "$work/a.o"
[ "$(archived "$work/a.a")" = loose ] || fail "self-test: an unprefixed global is not found"
[ "$(exported "$work/a.so" | tr '\n' ' ')" = "caucus_x caucus_y loose " ] ||
    fail "self-test: exports: $(exported "$work/a.so")"

python3 "$CAUCUS_SOURCE/tests/house/interface.py" "$CAUCUS_SOURCE/include" "$cc" ||
    fail "the headers break their own rules"
python3 "$CAUCUS_SOURCE/tests/house/interface.py" "$CAUCUS_SOURCE/include" "$cc" --names >"$work/declared"

seen=0
for library in "$CAUCUS_BUILD"/lib*.a; do
    names=$(archived "$library")
    [ -z "$names" ] || fail "$(basename "$library") has globals without the prefix caucus_: $names"
    nm --defined-only "$library" 2>/dev/null | awk 'NF == 3 { print $3 }' >>"$work/defined"
    seen=$((seen + 1))
done
[ "$seen" -ge 2 ] || fail "no archives in $CAUCUS_BUILD"
for library in "$CAUCUS_BUILD"/lib*.so; do
    names=$(exported "$library" | comm -23 - "$work/declared")
    [ -z "$names" ] || fail "$(basename "$library") exports what no installed header declares: $names"
    echo "$(basename "$library"): $(exported "$library" | wc -l) names exported"
done
# Function types (callbacks) are declared and never defined.
grep -ohE '\(\*caucus_[a-z0-9_]+\)' "$CAUCUS_SOURCE"/include/caucus/*.h | tr -d '(*)' | sort -u >"$work/types"
# caucus.h says which library has what.
python3 - "$CAUCUS_SOURCE/include" "$CAUCUS_BUILD" <<'PY' || fail "a library lacks what caucus.h says it has"
import pathlib, re, subprocess, sys
include, build = pathlib.Path(sys.argv[1]) / "caucus", pathlib.Path(sys.argv[2])
# As its first comment has it.
only = {"link.h": "link sim", "journal.h": "link sim", "plan_file.h": "link sim", "asked.h": "sim", "simulate.h": "sim",
        "advice.h": "sim", "losses.h": "sim"}
wrong, looked = 0, 0
for name, library in (("core", "libcaucus.so"), ("link", "libcaucus-link.so"), ("sim", "libcaucus-sim.so")):
    if not (build / library).exists():
        continue
    lines = subprocess.run(["nm", "-D", "--defined-only", build / library], capture_output=True, text=True, check=True)
    have = {line.split()[-1] for line in lines.stdout.splitlines()}
    for header in sorted(include.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        declared = set(re.findall(r"CAUCUS_API[^;(]*?\b(caucus_\w+)\(", text))
        due = name in only.get(header.name, "core link sim").split()
        looked += len(declared)
        for function in sorted(declared - have if due else declared & have):
            print(f"{library}: {function} of {header.name} is {'missing' if due else 'there'}")
            wrong += 1
print(f"{looked} functions looked for in the libraries")
sys.exit(wrong > 0 or looked < 100)
PY
missing=$(comm -23 "$work/declared" <(sort -u "$work/defined" "$work/types"))
[ -z "$missing" ] || fail "declared and defined nowhere: $missing"
echo ok
