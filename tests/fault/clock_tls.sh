#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The coordinator's time of day jumps by ten years, ahead and behind, under TLS: every certificate has expired by its
# clock, or is not valid yet. That is not the clients' fault: they are cut off, come again until the clock is right, and
# the run is the undisturbed one. The log tells how many were cut off at once.
# The run is held (lib.bash, start_held): it stands at round 6 while the clock is wrong.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
if nm -D "$CAUCUS" 2>/dev/null | grep -c 'asan\|tsan' >/dev/null; then
    echo "skipped: a sanitizer does not like another library loaded before it"
    exit 77
fi
seed=24 clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 40 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_losses 3 40 8
undisturbed reference "$plan" "${flags[@]}"
"$CAUCUS" certify "$work/certs" --clients 3 >/dev/null 2>"$work/certify.err" || give_up "$(cat "$work/certify.err")"
"${CC:-cc}" -shared -fPIC -O1 -o "$work/jumps.so" "$(dirname "$0")/clock_jumps.c" -ldl ||
    give_up "cannot build the jumping clock"
set_clock() { # set_clock SECONDS: so far off from now on; a file is replaced whole
    echo "$1" >"$work/offset.new"
    mv "$work/offset.new" "$work/offset"
}
years=315360000
set_clock 0
export LD_PRELOAD=$work/jumps.so CLOCK_OFFSET=$work/offset
start_coordinator run "$plan" 0 --cert "$work/certs/coordinator.pem" --key "$work/certs/coordinator.key" \
    --client-ca "$work/certs/ca.pem" --loops 1
unset LD_PRELOAD CLOCK_OFFSET
join() { # join HOW INDEX
    "start_$1" run "$plan" "$port" "$2" --cert "$work/certs/client-$2.pem" --key "$work/certs/client-$2.key" \
        --ca "$work/certs/ca.pem" --state "$work/run.$2.state"
    pid[$2]=$client
}
for i in 1 2; do join client "$i"; done
join held 3
let_play run 3 5
until_true 20 has_lines "$work/run.3.1.out" 6 || give_up "no 5 rounds were played: $(cat "$work"/run*err)"

cut_off() { # cut_off INDEX LIFE TEXT: the client has said so, and tries again
    until_true 60 says "$work/run.$1.$2.err" "$3" || bad "client $1 did not say '$3': $(cat "$work/run.$1.$2.err")"
    kill -0 "${pid[$1]}" 2>/dev/null || bad "client $1 has ended: $(cat "$work/run.$1.$2.err")"
}
set_clock $years # every certificate has expired
for i in 1 2 3; do
    cut_off "$i" 1 "the certificate has expired, by the clock here: come again later — trying again"
    cut_off "$i" 1 "alert certificate expired — trying again"
done
until_true 20 says "$work/run.err" "2 more since (expired)" ||
    bad "of three that were cut off at once the log tells one: $(cat "$work/run.err")"
set_clock -$years # none is valid yet: seen by who has no session to resume
kill -9 "${pid[3]}"
exit_code "${pid[3]}"
join held 3
cut_off 3 2 "alert bad certificate — trying again"
set_clock 0
let_play run 3 40
for i in 1 2 3; do ended "${pid[i]}" "client $i" 0; done
ended "$server" "the coordinator" 0
same_run run reference
done_with "the coordinator's clock may jump under TLS"
