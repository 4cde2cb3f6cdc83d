#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/abi (`make abi`) on libraries of its own: what breaks a program that was linked before is refused, also by
# --update, until the soname is raised; what does not break it is reported, and taken by --update.
set -euo pipefail
source=${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
if ! command -v abidiff >/dev/null || ! command -v abidw >/dev/null; then
    echo "skipped: no abidiff; tools/install-deps --dev installs it"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p tools abi build include/caucus
cp "$source/tools/abi" tools/
cp "$source/abi/opaque.suppr" abi/
cat >include/caucus/first.h <<'END'
typedef enum kind { KIND_A, KIND_B, KIND_COUNT } kind;
typedef struct pair { int one; int two; } pair;
typedef struct settings { unsigned long size; int a; int b; kind k; } settings;
int take(settings *s);
long give(int a);
int by_value(pair p);
END
cat >first.c <<'END'
#include "include/caucus/first.h"
int take(settings *s) { return s->a + (int)s->k; }
long give(int a) { return a; }
int by_value(pair p) { return p.one; }
END
export ABI_LIBRARIES=caucus
build() { gcc -g -fPIC -shared -Wl,-soname,"libcaucus.so.$1" -o build/libcaucus.so first.c; } # build SONAME
build 0
tools/abi build --update >out
tools/abi build >out || { cat out; exit 1; }
cp -r include first.c abi build out "$(mkdir saved && echo saved)"
failures=0
# try NAME WORD SED: after the change both tools/abi and tools/abi --update refuse it (WORD breaks), or the second takes
# it (WORD fits).
try() {
    local code=0 updated=0
    rm -rf include abi build first.c
    cp -r saved/* .
    sed -i -E "$3" include/caucus/first.h first.c
    if diff -qr include saved/include >/dev/null; then echo "not ok: $1: nothing was changed"; exit 1; fi
    build 0
    tools/abi build >out 2>&1 || code=$?
    tools/abi build --update >out 2>&1 || updated=$?
    case "$2 $code $updated" in
    "breaks 1 1") grep -q 'an incompatible change' out && echo "ok: $1" && return ;;
    "fits 1 0") echo "ok: $1" && return ;;
    esac
    echo "not ok: $1: exit codes $code and $updated with --update, where it $2"
    cat out
    failures=$((failures + 1))
}
try "members change places" breaks 's/int a; int b;/int b; int a;/'
try "a member of another type" breaks 's/int b;/unsigned b;/'
try "a wider member" breaks 's/int b;/long b;/'
try "a member in the middle" breaks 's/int b;/int b; int c;/'
try "a member is gone" breaks 's/int b; //'
try "an enumerator with another value" breaks 's/KIND_B,/KIND_B = 5,/'
try "a parameter of another type" breaks 's/give\(int a\)/give(long a)/'
try "one more parameter" breaks 's/give\(int a\)/give(int a, int b)/'
try "another type is returned" breaks 's/^long give/int give/'
try "what is passed by value grows" breaks 's/int two;/int two; int three;/'
try "a function is gone" breaks '/give/d'
build 1
if tools/abi build --update >out 2>&1; then echo "ok: and is taken with another soname"
else
    echo "not ok: refused with another soname"
    cat out
    failures=$((failures + 1))
fi
try "a member at the end" fits 's/kind k; \}/kind k; long more; }/'
try "an enumerator at the end" fits 's/KIND_B,/KIND_B, KIND_C,/'
try "a function more" fits 's/^long give(\(int a\).*)$/&\nlong also\1/'
exit $((failures > 0))
