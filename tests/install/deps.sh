#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/install-deps installs what is missing, after an upgrade where libraries of a second architecture are wanted, and
# refuses a plan of apt that removes anything. apt and dpkg are stand-ins here, which write down what they were asked.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }

mkdir "$work/bin"
stand_in() { # stand_in NAME: a program that does what standard input says
    { echo '#!/bin/bash'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
stand_in id <<<'echo 0'
stand_in dpkg-query <<'SH'
[ "${!#}" != "$INSTALLED" ] || printf '%s install ok installed\n' arm64 ${OWN-amd64}
SH
stand_in dpkg <<'SH'
case $1 in
    --print-foreign-architectures) echo "$FOREIGN" ;;
    --print-architecture) echo amd64 ;;
    *) echo "dpkg $*" >>"$ASKED" ;;
esac
SH
stand_in apt-get <<'SH'
if [ "$1" = "-s" ]; then
    echo "$*" >>"$ASKED.simulated"
    echo "Inst gcc-aarch64-linux-gnu (4:12.2.0-3 Debian:12 [amd64])"
    [ -z "$REMOVED" ] || echo "Remv $REMOVED [1.0] (2.0 Debian:12 [arm64])"
    exit "$REFUSES"
fi
echo "apt-get $*" >>"$ASKED"
SH
# install_deps CODE WORD...: what apt and dpkg were asked for is in $work/asked, what it said in $work/said
install_deps() {
    local want=$1 code=0
    shift
    : >"$work/asked"
    : >"$work/asked.simulated"
    PATH=$work/bin:$PATH ASKED=$work/asked INSTALLED=cmake REMOVED=${removed:-} FOREIGN=${foreign:-} \
        REFUSES=${refuses:-0} "$CAUCUS_SOURCE/tools/install-deps" "$@" >"$work/said" 2>&1 || code=$?
    [ "$code" -eq "$want" ] || bad "install-deps $*: exit code $code: $(cat "$work/said")"
}
asked() { grep -qE -- "$1" "$work/asked" || bad "not asked for: $1: $(cat "$work/asked")"; }
not_asked() { if grep -E -- "$1" "$work/asked"; then bad "asked for: $1"; fi; }

install_deps 0
asked '^apt-get -y install .*Lock::Timeout.*\bgcc\b'
[ "$(sed -n 's/^apt-get -y //p' "$work/asked")" = "$(sed -n 's/^-s //p' "$work/asked.simulated")" ] ||
    bad "one thing was looked at, another installed: $(cat "$work/asked" "$work/asked.simulated")"
not_asked 'install.* cmake( |$)|upgrade|architecture|arm64'
OWN='' install_deps 0 # it is there for the other architecture alone
asked '^apt-get -y install .* cmake( |$)'

# A test skips itself where an engine is not installed, so what makes it run must be among the packages of --test.
install_deps 0 --test
for engine in libopenmpi-dev openmpi-bin nats-server libnats-dev postgresql pgbouncer libpq-dev; do
    asked "-y install .*\\b$engine( |\$)"
done

install_deps 0 --cross
asked '-y install .*libsodium-dev:arm64'
not_asked 'libpq-dev:arm64'
[ "$(grep -nE 'upgrade|add-arch|install' "$work/asked" | sed 's/:.*//' | paste -sd ' ')" = "2 3 5" ] ||
    bad "not first the upgrade, then the architecture, then the packages: $(cat "$work/asked")"
foreign=arm64 install_deps 0 --cross
not_asked architecture

for group in --cross --test; do
    removed=libpq-dev install_deps 1 "$group"
    not_asked 'apt-get -y install'
    grep -q 'apt would remove: libpq-dev$' "$work/said" || bad "what would be removed is not said: $(cat "$work/said")"
done
removed=libpq-dev install_deps 1 --cross
asked 'remove-architecture arm64'
removed=libpq-dev foreign=arm64 install_deps 1 --cross
not_asked architecture
refuses=100 install_deps 1 --cross
asked 'remove-architecture arm64'
not_asked 'apt-get -y install'
[ "$failures" -eq 0 ] && echo "ok: packages are added, none is removed"
