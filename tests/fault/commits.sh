#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The coordinator dies (SIGKILL) at every commit of a run, just before and just after it is made, and is started
# again: as if nothing had happened. Nothing is decided twice, no release is spent twice. (tests/net/test_server.c
# kills one run at all its commits, in one process.)
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 adversary=halving clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
undisturbed reference "$plan" "${flags[@]}"
commits=$(field commits "$work/reference.out")
{ [ "$commits" -ge 25 ] && [ "$(field selections "$work/reference.out")" -ge 3 ]; } ||
    bad "$commits commits, $(field selections "$work/reference.out") selections: the test shows little"
state_of reference
"$CAUCUS" privacy "$state" --releases --format json >"$work/spent"
echo "commits $commits, released $(field choices "$work/spent")"

one() { # one N[:after]
    local name=at-${1/:/-} pids=() i first
    start_coordinator "$name" "$plan" 0 "${security[@]}" --fault-commit "$1"
    first=$port
    if [ -z "$port" ]; then # commit 1 is made before it listens
        ended "$server" "$name: killed" 137
        start_coordinator "$name" "$plan" 0 "${security[@]}"
    fi
    for i in $(seq "$clients"); do
        start_client "$name" "$plan" "$port" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    if [ -n "$first" ]; then
        ended "$server" "$name: killed" 137
        start_coordinator "$name" "$plan" "$first" "${security[@]}"
    fi
    for i in "${pids[@]}" "$server"; do ended "$i" "$name" 0; done
    same_run "$name" reference
    # Two runs have two numbers, so their chains end in different hashes.
    alike() { sed 's/"ledger": .*/"ledger": "reference",/; s/"last": .*//; s/"run_id": "[^"]*"//' "$1"; }
    state_of "$name"
    "$CAUCUS" privacy "$state" --releases --format json >"$work/$name.spent"
    alike "$work/spent" | cmp -s - <(alike "$work/$name.spent") ||
        bad "$name: other releases: $(cat "$work/$name.spent")"
    [ "$failures" -eq 0 ] || exit 1
}
for n in $(seq "$commits"); do
    (trap - EXIT; one "$n") >"$work/verdict.before" &
    before=$!
    (trap - EXIT; one "$n:after") >"$work/verdict.after" &
    after=$!
    wait $before || give_up "before commit $n: $(cat "$work/verdict.before")"
    wait $after || give_up "after commit $n: $(cat "$work/verdict.after")"
done

# Noise that is not seeded, drawn anew in every life, a lot of it: each life makes one commit and dies at the second,
# before or after it is made. What was told is what was kept.
seed='' adversary=gaussian interval=2
make_plan "$work/hedge.yaml" --algorithm hedge --clients 3 --experts 20 --rounds 24 --interval 2 --epsilon 1 \
    --trust coordinator
for fault in 2 2:after; do
    name=anew-${fault/:/-} lives=1 pids=()
    start_coordinator "$name" "$work/hedge.yaml" 0 "${security[@]}" --fault-commit "$fault"
    [ -n "$port" ] || give_up "$name: $(cat "$work/$name.err")"
    fixed=$port
    for i in $(seq "$clients"); do
        start_client "$name" "$work/hedge.yaml" "$fixed" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    while exit_code "$server" && [ "$code" -eq 137 ] && [ "$lives" -lt 40 ]; do
        lives=$((lives + 1))
        start_coordinator "$name" "$work/hedge.yaml" "$fixed" "${security[@]}" --fault-commit "$fault"
    done
    [ "$code" -eq 0 ] || bad "$name: exit code $code: $(tail -n 1 "$work/$name.err")"
    for i in "${pids[@]}"; do ended "$i" "$name" 0; done
    [ "$lives" -ge 6 ] || bad "$name: only $lives lives"
    as_announced "$name"
    state_of "$name"
    "$CAUCUS" privacy "$state" --releases --format json >"$work/spent"
    [ "$(grep -c '"what": "draw"' "$work/spent")" -eq 11 ] ||
        bad "$name: $(grep -c '"what": "draw"' "$work/spent") draws are recorded, not 11"
    echo "ok: $name, $lives lives"
done
done_with "killed before and after each of $commits commits"
