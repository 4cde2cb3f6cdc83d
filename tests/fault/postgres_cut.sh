#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The connection to the database is cut exactly after a decision was sent: the server has committed it and the answer is
# lost; it never arrived; or it arrives when its sender has long come back with a new term, and then changes nothing.
# Nothing is announced before it is known which, and the run is the undisturbed one. On the line all decisions look
# alike.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/postgres.bash"
plan_small_run
start_cluster pg
mkdir "$work/proxy"
mkfifo "$work/proxy.orders"
python3 "$(dirname "$0")/postgres_proxy.py" "$work/proxy" "$cluster" <"$work/proxy.orders" >"$work/proxy.out" &
exec {orders}>"$work/proxy.orders"
until_true 20 says "$work/proxy.out" ready || give_up "the proxy does not start"
hosts=$work/proxy

# What is sent for a decision has the same length whether a check fired or not, and whatever was chosen: whoever watches
# the line knows no verdict before it is committed. The first three changes are the opening and the start.
new_record lengths
start_coordinator lengths "$plan" 0 "${security[@]}" --state-key "$work/lengths.key"
[ -n "$port" ] || give_up "lengths: $(cat "$work/lengths.err")"
join_all lengths 0
play_all lengths
grep '^sent' "$work/proxy.out" | tail -n +4 >"$work/sent"
[ "$(wc -l <"$work/sent")" -ge 24 ] || bad "lengths: the test shows little: $(sort "$work/sent" | uniq -c)"
[ "$(sort -u "$work/sent" | wc -l)" -eq 1 ] || bad "lengths differ: $(sort "$work/sent" | uniq -c)"

declare -A outcome=([made]="it is on disk" [lost]="it is not on disk" [late]="it is not on disk")
for how in made lost late; do
    new_record "$how"
    start_coordinator "$how" "$plan" 0 "${security[@]}" --state-key "$work/$how.key"
    [ -n "$port" ] || give_up "$how: $(cat "$work/$how.err")"
    join_all "$how" 1
    play_to "$how" 9
    echo "$how" >&"$orders"
    let_play "$how" 1 12
    until_true 40 says "$work/proxy.out" "$how" || bad "$how: no decision came to the proxy"
    until_true 40 says "$work/$how.err" "${outcome[$how]}" || bad "$how: not found out: $(cat "$work/$how.err")"
    says "$work/$how.err" "nothing is announced until it is" || bad "$how: it was not unknown"
    if [ "$how" = late ]; then
        echo release >&"$orders"
        until_true 40 says "$work/proxy.out" "released 0" || bad "late: it was not fenced: $(cat "$work/proxy.out")"
    fi
    let_play "$how" 1 24
    play_all "$how"
done
says "$work/proxy.out" "made 1" || bad "made: the server had not committed it: $(cat "$work/proxy.out")"
exec {orders}>&-
end_cluster pg
done_with "cut exactly after a decision was sent"
