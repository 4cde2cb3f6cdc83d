#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/soak/run that is ended in the middle leaves nothing behind: neither coordinator nor clients, neither the proxy
# nor the strangers, and no full disk. One that is killed cannot tidy up, but its helpers end by themselves.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
set -euo pipefail
here=$(dirname "$0")
clients=0 security=() seed=0 adversary=none # lib.bash wants to know
. "$here/lib.bash"
: "$clients" "${security[@]}" "$seed" "$adversary"

helper() { pgrep -f -- "$1 .*$work/soak/" >"$work/found" && [ "$(wc -l <"$work/found")" -eq 1 ]; } # helper NAME
gone() { ! kill -0 "$1" 2>/dev/null; }
left() { pgrep -af "$work/soak/" >"$work/left"; }
nothing_left() { ! left; }
unmounted() { ! grep -q " $work/soak/" /proc/mounts; }

# soak: started; its helpers are $proxy and $flood
soak() {
    mkdir -p "$work/soak"
    TMPDIR=$work/soak SOAK_MINUTES=60 SOAK_SEED=3 "$here/../../tools/soak/run" >"$work/soak.out" 2>&1 &
    soak=$!
    until_true 100 helper proxy.py || give_up "no proxy: $(cat "$work/soak.out")"
    proxy=$(cat "$work/found")
    until_true 100 helper flood.py || give_up "no strangers: $(cat "$work/soak.out")"
    flood=$(cat "$work/found")
}

soak
kill -TERM "$soak"
wait "$soak" 2>/dev/null || true
until_true 20 gone "$proxy" || bad "SIGTERM: the proxy is left"
until_true 20 gone "$flood" || bad "SIGTERM: the strangers are left"
until_true 20 nothing_left || bad "SIGTERM: left: $(cat "$work/left")"
unmounted || bad "SIGTERM: a disk is left"

soak
kill -KILL "$soak"
wait "$soak" 2>/dev/null || true
until_true 20 gone "$proxy" || bad "SIGKILL: the proxy is left"
until_true 20 gone "$flood" || bad "SIGKILL: the strangers are left"
for pid in $(pgrep -f "$work/soak/"); do kill -9 "$pid" 2>/dev/null || true; done
until_true 20 nothing_left || bad "SIGKILL: left: $(cat "$work/left")"
while read -r _ at _; do case $at in "$work"/*) umount "$at" ;; esac; done </proc/mounts
done_with "soak"
