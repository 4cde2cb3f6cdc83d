#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/second-run, which .ci/run calls, on a tree of its own with tests of four kinds: passing, failing once, failing
# always, and crashing once.
set -euo pipefail
source=${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir tools build
cp "$source/tools/second-run" tools/
cat >Makefile <<'END'
test:
	cmake -S . -B build -DKINDS="$(KINDS)" >cmake.log
	ctest --test-dir build --output-on-failure --no-tests=error
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(tests NONE)
enable_testing()
foreach(kind ${KINDS})
    add_test(NAME is-${kind} COMMAND bash ${CMAKE_SOURCE_DIR}/kind.sh ${kind})
endforeach()
END
cat >kind.sh <<'END'
kind=$1
echo "this is $kind"
case $kind in
passing*) exit 0 ;;
always*) exit 1 ;;
esac
if [ -e "$kind.seen" ]; then exit 0; fi
touch "$kind.seen"
case $kind in
once) echo "only now"; exit 1 ;;
crash) kill -SEGV $$ ;;
sanitizer) echo "==1==ERROR: AddressSanitizer: heap-use-after-free"; exit 1 ;;
esac
END
failures=0
# try NAME CODE KINDS PATTERN...: exit code and lines of the output
try() {
    local name=$1 expected=$2 code=0 pattern
    rm -f build/*.seen
    KINDS=$3 tools/second-run test build >out 2>&1 || code=$?
    for pattern in "${@:4}"; do
        grep -qxE -- "$pattern" out || { code="$code, and no line '$pattern'"; }
    done
    if [ "$code" = "$expected" ]; then echo "ok: $name"; return; fi
    echo "not ok: $name: exit code $code, expected $expected"
    cat out
    failures=$((failures + 1))
}
unsteady() { [ "$(cat build/unsteady 2>/dev/null)" = "$1" ] || { echo "not ok: '$1'"; failures=$((failures + 1)); }; }

try "all pass" 0 "passing" ".*100% tests passed.*"
unsteady ""
try "one fails once" 0 "passing;once" "unsteady: is-once" "only now" "second-run: 1 failed, and run .*: is-once"
unsteady "unsteady: is-once"
try "one fails always" 1 "passing;once;always" "second-run: make test: failed twice"
unsteady ""
try "a crash" 1 "passing;crash" "second-run: make test: is-crash: a crash, or the word of a sanitizer"
try "a sanitizer" 1 "once;sanitizer" "second-run: make test: is-sanitizer: a crash, or the word of a sanitizer"
try "many fail" 1 "$(printf 'always%s;' {1..11})" "second-run: make test: 11 tests failed"
echo "no cmake" >CMakeLists.txt
try "what fails is no test" 1 "passing" "second-run: make test: failed, and not in a test"
exit $((failures > 0))
