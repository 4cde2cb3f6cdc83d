#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 200 clients over mutual TLS; 67 of them, a third, drop out (SIGKILL), in random order, some more than once, and come
# back from their states, some later than others: with a deadline and a quorum the run ends in bounded time, and
# whoever was away has played the same experts as all others.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
chaos=${CAUCUS_FAULT_SEED:-7} # who drops out when; CAUCUS_FAULT_SEED=N for others
RANDOM=$chaos
echo "crowd: CAUCUS_FAULT_SEED=$chaos"
seed=3 clients=200
plan=$work/plan.yaml
make_losses 200 60 8
make_plan "$plan" --algorithm svt --clients 200 --experts 8 --rounds 60 --interval 2 --epsilon 400 --trust coordinator
certs=$work/certs
"$CAUCUS" certify "$certs" --clients 200 >/dev/null 2>"$work/certify.err" ||
    give_up "certify: $(cat "$work/certify.err")"
start_coordinator crowd "$plan" 0 --cert "$certs/coordinator.pem" --key "$certs/coordinator.key" \
    --client-ca "$certs/ca.pem" \
    --deadline 0.4 --quorum 120 --linger 600
fixed=$port
pid=()
start() { # start INDEX: those that may drop out have a state
    local memory=() how=client
    [ "$1" -gt 67 ] || memory=(--state "$work/crowd.$1.state")
    [ "$1" -lt "$held" ] || how=held
    "start_$how" crowd "$plan" "$fixed" "$1" --cert "$certs/client-$1.pem" --key "$certs/client-$1.key" \
        --ca "$certs/ca.pem" "${memory[@]}"
    pid[$1]=$client
}
# So many never drop out and are held that all others are no quorum: the run is not over before everybody has had its
# turn.
held=120
to_round() { # to_round ROUND
    local i
    for i in $(seq "$held" 200); do let_play crowd "$i" "$1"; done
}
for i in $(seq 200); do start "$i"; done
until_true 40 says "$work/crowd.err" "the run begins" || bad "it does not begin: $(cat "$work/crowd.err")"
killed=0
away=()
# All of them in random order, then some again, a turn every four rounds. The first to go comes back last: until then no
# step has all answers, and each waits for its deadline.
mapfile -t order < <(for i in $(seq 67); do echo "$RANDOM $i"; done | sort -n | cut -d' ' -f2)
for turn in $(seq 14); do
    until_true 100 has_lines "$work/crowd.200.1.out" $((4 * turn - 3)) || give_up "turn $turn: nothing is played"
    to_round $((4 * turn))
    for k in 0 1 2 3 4 5; do
        at=$((6 * (turn - 1) + k))
        i=${order[at]:-${order[1 + RANDOM % 66]}}
        if kill -9 "${pid[i]}" 2>/dev/null; then
            wait "${pid[i]}" 2>/dev/null && code=0 || code=$?
            if [ "$code" -eq 137 ]; then
                killed=$((killed + 1))
                away+=("$i")
            fi
        fi
    done
    sleep "0.$(printf %03d $((RANDOM % 300)))"
    if [ $((turn % 3)) -eq 0 ]; then
        for i in "${away[@]}"; do [ "$i" = "${order[0]}" ] || start "$i"; done
        away=("${order[0]}")
    fi
done
for i in "${away[@]}"; do start "$i"; done
to_round 60
for i in $(seq 200); do
    exit_code "${pid[i]}"
    [ "$code" -eq 0 ] || bad "client $i: exit code $code: $(tail -qn 1 "$work/crowd.$i".*.err)"
done
ended "$server" "the coordinator" 0
[ "$killed" -ge 67 ] || bad "only $killed clients dropped out"
experts crowd 200 >"$work/reference"
[ "$(wc -l <"$work/reference")" -eq 60 ] || bad "$(wc -l <"$work/reference") rounds were played"
[ "$(sort -u "$work/reference" | wc -l)" -ge 2 ] || bad "one expert all the time: shows little"
for i in $(seq 199); do
    experts crowd "$i" | cmp -s - "$work/reference" ||
        bad "client $i plays otherwise: $(experts crowd "$i" | paste -sd' ')"
done
[ "$(field finished "$work/crowd.out")" = true ] || bad "not finished: $(cat "$work/crowd.out")"
# Who was killed in the middle of a handshake, or is back before that was noticed, is counted among the refused, and on
# a busy machine a handshake can take longer than the coordinator waits for it; nobody else is.
usual="the connection was closed|unexpected eof|has connected again|slow-handshake"
if grep -F "refused " "$work/crowd.err" | grep -vE "$usual" >"$work/crowd.refused"; then
    bad "honest clients were refused: $(cat "$work/crowd.refused")"
fi
awk -v spent="$(field epsilon_spent "$work/crowd.out")" -v most="$(field epsilon_choices "$work/crowd.out")" \
    'BEGIN { exit !(spent <= most * 1.000001) }' ||
    bad "more was spent than planned: $(cat "$work/crowd.out")"
# No number counts twice: at most one cost per client and check, one set of sums per client and selection.
awk -v up="$(field scalars_up "$work/crowd.out")" -v checks="$(field checks "$work/crowd.out")" \
    -v chosen="$(field selections "$work/crowd.out")" \
    'BEGIN { exit !(up <= 200 * (checks + 8 * chosen) && up > 100 * checks) }' ||
    bad "too many numbers were counted: $(cat "$work/crowd.out")"
echo "$killed dropped out; $(tail -n 1 "$work/crowd.out")"
done_with "crowd"
