#!/usr/bin/env bash
# 200 clients, a third of which drop out at random (SIGKILL) and come back from their states, some later than others: with a deadline and a
# quorum the run ends in bounded time, and whoever was away has played the same experts as all others.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
chaos=${CAUCUS_FAULT_SEED:-7} # who drops out when; CAUCUS_FAULT_SEED=N for others
RANDOM=$chaos
echo "crowd: CAUCUS_FAULT_SEED=$chaos"
seed=3 adversary=halving clients=200
plan=$work/plan.yaml
make_plan "$plan" --clients 200 --experts 8 --rounds 40 --interval 2 --epsilon 400 --trust coordinator
start_coordinator crowd "$plan" 0 --insecure --deadline 0.4 --quorum 120 --linger 60
fixed=$port
pid=()
start() { # start INDEX: those that may drop out have a state
    local memory=()
    [ "$1" -gt 67 ] || memory=(--state "$work/crowd.$1.state")
    start_client crowd "$plan" "$fixed" "$1" --insecure --client "$1" "${memory[@]}"
    pid[$1]=$client
}
for i in $(seq 200); do start "$i"; done
killed=0
away=()
for turn in $(seq 12); do
    for _ in 1 2 3 4 5 6; do
        i=$((1 + RANDOM % 67))
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
        for i in "${away[@]}"; do start "$i"; done
        away=()
    fi
done
for i in "${away[@]}"; do start "$i"; done
for i in $(seq 200); do
    exit_code "${pid[i]}"
    [ "$code" -eq 0 ] || bad "client $i: exit code $code: $(tail -qn 1 "$work/crowd.$i".*.err)"
done
ended "$server" "the coordinator" 0
[ "$killed" -ge 30 ] || bad "only $killed clients dropped out in time"
experts crowd 200 >"$work/reference"
[ "$(wc -l <"$work/reference")" -eq 40 ] || bad "$(wc -l <"$work/reference") rounds were played"
[ "$(sort -u "$work/reference" | wc -l)" -ge 2 ] || bad "one expert all the time: shows little"
for i in $(seq 199); do
    experts crowd "$i" | cmp -s - "$work/reference" || bad "client $i plays otherwise: $(experts crowd "$i" | paste -sd' ')"
done
[ "$(field finished "$work/crowd.out")" = true ] || bad "not finished: $(cat "$work/crowd.out")"
[ "$(field refused "$work/crowd.out")" = 0 ] || bad "honest clients were refused: $(cat "$work/crowd.err")"
awk -v spent="$(field epsilon_spent "$work/crowd.out")" -v most="$(field epsilon_choices "$work/crowd.out")" 'BEGIN { exit !(spent <= most * 1.000001) }' ||
    bad "more was spent than planned: $(cat "$work/crowd.out")"
# No number counts twice: at most one cost per client and check, one set of sums per client and selection.
awk -v up="$(field scalars_up "$work/crowd.out")" -v checks="$(field checks "$work/crowd.out")" -v chosen="$(field selections "$work/crowd.out")" \
    'BEGIN { exit !(up <= 200 * (checks + 8 * chosen) && up > 100 * checks) }' || bad "too many numbers were counted: $(cat "$work/crowd.out")"
echo "$killed dropped out; $(tail -n 1 "$work/crowd.out")"
done_with "crowd"
