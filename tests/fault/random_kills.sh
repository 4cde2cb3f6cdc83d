#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGKILL for the coordinator, for clients, and for both at once, at random moments of a run over mutual TLS; each is
# started again. The same experts as undisturbed, and the same state: no loss is lost, none is counted twice, no noise
# is drawn twice. Once more with noise that is not seeded: what clients were told is what was kept.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
chaos=${CAUCUS_FAULT_SEED:-7} # who dies when; CAUCUS_FAULT_SEED=N for others
RANDOM=$chaos
echo "random kills: CAUCUS_FAULT_SEED=$chaos"
seed=24 clients=3 security=(--insecure)
certs=$work/certs
"$CAUCUS" certify "$certs" --clients 3 >/dev/null 2>&1
tls=(--cert "$certs/coordinator.pem" --key "$certs/coordinator.key" --client-ca "$certs/ca.pem")

# start NAME INDEX: client 1 is held, so that the run lasts until the last kill; client 3 of a run with a trusted
# coordinator has no state: it begins again and again at round 1.
start() {
    local how=client memory=(--state "$work/$1.$2.state")
    [ "$2" -ne 1 ] || how=held
    [ "$2" -ne 2 ] || memory+=(--delay 6)
    if [ "$2" -eq 3 ] && [ "$forgetful" = yes ]; then memory=(); fi
    "start_$how" "$1" "$plan" "$fixed" "$2" --cert "$certs/client-$2.pem" --key "$certs/client-$2.key" \
        --ca "$certs/ca.pem" "${memory[@]}"
    pid[$2]=$client
    [ "$2" -ne 1 ] || let_play "$1" 1 "$allowed"
}
disturbed() { # disturbed NAME KILLS FORGETFUL LOSSES ROUNDS EXPERTS FLAGS...
    local name=$1 kills=$2 rounds=$5 killed=0 allowed=0 both i victim turn
    forgetful=$3
    make_losses 3 "$5" "$6" "$4"
    set -- "${@:7}" --clients 3 --rounds "$5" --experts "$6"
    pid=()
    plan=$work/$name.yaml
    make_plan "$plan" "$@"
    [ -z "$seed" ] || undisturbed "$name-reference" "$plan" "$@"
    start_coordinator "$name" "$plan" 0 "${tls[@]}"
    fixed=$port
    for i in 1 2 3; do start "$name" "$i"; done
    for turn in $(seq "$kills"); do
        allowed=$((turn * rounds / (kills + 1)))
        let_play "$name" 1 "$allowed"
        sleep "0.$(printf %03d $((RANDOM % 150)))" # any moment will do: it plays as far as it may, or has
        victim=$((RANDOM % 5)) # 0: the coordinator; 4: it and a client
        both=$((1 + RANDOM % 3))
        i=$victim
        [ "$victim" -ne 4 ] || i=$both
        if [ "$i" -gt 0 ]; then
            kill -9 "${pid[i]}" 2>/dev/null || true
            ended "${pid[i]}" "$name: client $i, killed" 137
            killed=$((killed + 1))
        fi
        if [ "$victim" -eq 0 ] || [ "$victim" -eq 4 ]; then
            kill -9 "$server" 2>/dev/null || true
            ended "$server" "$name: the coordinator, killed" 137
            killed=$((killed + 1))
            start_coordinator "$name" "$plan" "$fixed" "${tls[@]}"
        fi
        [ "$i" -eq 0 ] || start "$name" "$i"
    done
    let_play "$name" 1 "$rounds"
    for i in 1 2 3; do ended "${pid[i]}" "$name: client $i" 0; done
    ended "$server" "$name: coordinator" 0
    if [ -n "$seed" ]; then same_run "$name" "$name-reference"; else as_announced "$name"; fi
    # Who was killed in the middle of a handshake, or is back before that was noticed, is counted among the refused;
    # nobody else is.
    if grep -F "refused " "$work/$name.err" | grep -vE "the connection was closed|unexpected eof|has connected again" \
        >"$work/$name.refused"; then
        bad "$name: honest clients were refused: $(cat "$work/$name.refused")"
    fi
    [ "$(field finished "$work/$name.out")" = true ] || bad "$name: not finished"
    echo "ok: $name, $killed kills"
}
disturbed svt 16 yes turning 240 8 --algorithm svt --epsilon 60 --trust coordinator
disturbed hedge 8 yes drawn 240 6 --algorithm hedge --interval 3 --epsilon 40 --trust coordinator
disturbed stoch 8 no drawn 255 6 --algorithm stoch --epsilon 20 --trust nobody
seed='' interval=3
disturbed anew 10 yes drawn 240 20 --algorithm hedge --interval 3 --epsilon 1 --trust coordinator
done_with "random kills"
