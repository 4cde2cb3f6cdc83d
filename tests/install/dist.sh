#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The release's tarball is a function of the commit: made by tools/dist in two clones, under another umask, time zone
# and name of the folder, it has the same bytes; and what has not been committed is refused.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
if ! git -C "$CAUCUS_SOURCE" rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: this tree is no git clone"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*"; exit 1; }
export HOME=$work GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
# copy NAME: HEAD alone, without the history
copy() { git clone --quiet --depth 1 "file://$(git -C "$CAUCUS_SOURCE" rev-parse --show-toplevel)" "$work/$1"; }
copy one
(umask 022 && TZ=UTC "$work/one/tools/dist" "$work/out-one" >"$work/said")
copy another-name
(umask 077 && TZ=Asia/Tokyo "$work/another-name/tools/dist" "$work/out-two" >>"$work/said")
tarball=caucus-$(git -C "$CAUCUS_SOURCE" show HEAD:VERSION).tar.gz
[ -s "$work/out-one/$tarball" ] || fail "no $tarball: $(cat "$work/said")"
cmp "$work/out-one/$tarball" "$work/out-two/$tarball" || fail "two tarballs of one commit differ"
(cd "$work/out-two" && sha256sum --quiet -c "$work/out-one/$tarball.sha256") || fail "the checksum is another file's"

echo "changed" >>"$work/one/VERSION"
if "$work/one/tools/dist" "$work/out-one" >"$work/said" 2>&1; then fail "a tree with changes is taken"; fi
grep -q '^dist: commit or remove' "$work/said" || fail "it does not say why: $(cat "$work/said")"
echo "ok: $tarball, $(stat -c %s "$work/out-two/$tarball") bytes"
