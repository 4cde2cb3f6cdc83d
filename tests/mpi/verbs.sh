#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# audit and reproduce over ranks; a failure is one line of ours; a rank that is killed, and going on.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
source "$(dirname "$0")/lib.bash"

# Audits: events on cells and on reals, counted by three ranks or by one process.
audits=(audit --only 'flip,knorm,svt' --trials 2048 --format json)
"$CAUCUS" "${audits[@]}" >one.json 2>/dev/null || true # so few runs catch nothing
ranks 3 "${audits[@]}" >three.json 2>/dev/null || true
[ "$(grep -c '"lower_bound"' one.json)" -ge 3 ] || fail "the audits have run"
same "audits over ranks" one.json three.json

"$CAUCUS" reproduce --quick --only svt --out report.one >report.one.txt
ranks 2 reproduce --quick --only svt --out report.two >report.two.txt
same "a report over ranks" report.one report.two
sed -i 's/report\.two/report.one/' report.two.txt
same "and what it prints" report.one.txt report.two.txt

# refuses CODE TEXT ARGUMENTS...: two ranks, one line of ours.
refuses() {
    local code=0 expected=$1 text=$2
    shift 2
    ranks 2 "$@" >out 2>err </dev/null || code=$?
    if [ "$code" -eq "$expected" ] && [ "$(ours err | wc -l)" -eq 1 ] && ours err | grep -qF -e "$text" &&
        [ ! -s out ]; then
        pass "one line: $text"
    else
        fail "$* (exit code $code)"
        cat out err
    fi
}
refuses 2 "--epsilon x: must be" simulate --trust coordinator --epsilon x
refuses 2 "plan is one process, not 2" plan --epsilon 1
refuses 2 "must be trials or clients" simulate --trust coordinator --split rounds
refuses 2 "losses must be linear" simulate --trust coordinator --algorithm stoch --adversary cross-entropy --trees 1 \
    --split clients
refuses 2 "--resume: needs --out" simulate --trust coordinator --resume
refuses 2 "without mpirun" audit --command true --data0 one.json --data1 one.json --claimed 1
code=0
"$CAUCUS" simulate --trust coordinator --split clients >out 2>err || code=$?
[ "$code" -eq 2 ] && grep -qF 'mpirun -n 2 caucus-mpi simulate' err && pass "caucus alone splits nothing" ||
    fail "caucus --split clients ($code): $(cat err)"

# A rank that alone cannot do its part is heard: rank 1 looks for the losses in another folder.
"$python" -c 'import numpy; numpy.save("mine.npy", numpy.zeros((2, 4, 3)))'
cat >some_rank <<'S'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || cd elsewhere
exec "$CAUCUS_MPI" "$@"
S
chmod +x some_rank && mkdir elsewhere && export CAUCUS_MPI
code=0
mpirun --oversubscribe -n 3 ./some_rank simulate --losses mine.npy --trust coordinator --epsilon 1 >out 2>err || code=$?
[ "$code" -eq 2 ] && [ "$(ours err | wc -l)" -eq 1 ] && grep -q 'mine.npy: No such file' err &&
    pass "a file that only one rank misses" || { fail "a file that only one rank misses ($code)"; cat out err; }

# Or it finds other bytes there: the results would be nobody's.
differs() { # differs WHAT FILE ARGUMENTS...: rank 1 has another FILE
    local what=$1 file=$2 code=0
    shift 2
    mpirun --oversubscribe -n 3 ./some_rank "$@" --trust coordinator --epsilon 1 >out 2>err || code=$?
    [ "$code" -eq 2 ] && [ "$(ours err)" = "caucus simulate: $file: rank 1 reads something else there than rank 0 — \
give all machines the same" ] && pass "$what" || { fail "$what ($code)"; cat out err; }
}
"$python" -c 'import numpy; numpy.save("elsewhere/mine.npy", numpy.ones((2, 4, 3)) / 2)'
differs "other losses in one rank" mine.npy simulate --losses mine.npy --trials 9
differs "and with the clients dealt" mine.npy simulate --losses mine.npy --split clients
printf 'algorithm: svt\nrounds: 64\n' >short.yaml
printf 'algorithm: [svt, stoch]\nrounds: 64\n' >elsewhere/short.yaml
differs "another scenario in one rank" short.yaml simulate short.yaml --trials 9

# Killed in the middle of more trials than anybody waits for; then as many as are needed, from what was kept.
long=(simulate --algorithm svt --trust coordinator --epsilon 5 --clients 20 --experts 50 --rounds 512 --out killed)
"$CAUCUS" "${long[@]/killed/whole}" --trials 300 >whole.txt
start_ranks 3 "${long[@]}" --trials 1000000
victim=$(rank_pid "$mpirun" 1)
playing killed "$victim" || fail "the ranks do not play"
sleep 1 # some trials end meanwhile; none would be right too
kill -KILL "$victim"
code=0
wait "$mpirun" || code=$?
[ "$code" -ne 0 ] && [ "$(ours err | wc -l)" -eq 1 ] && grep -q 'rank 1 is gone, stopped after .* kept in killed' err &&
    [ -s killed/unfinished.csv ] && pass "a rank is killed: one line" || { fail "a killed rank ($code)"; cat err; }
ranks 2 "${long[@]}" --trials 300 --resume >killed.txt 2>err || { fail "--resume"; cat err; }
same "--resume after it" whole killed
same "and on the screen" whole.txt killed.txt

# Stopped by a signal to one rank alone: it says so to rank 0, all stop, with one line, and what is complete is kept.
start_ranks 2 "${long[@]/killed/stopped}" --trials 1000000
victim=$(rank_pid "$mpirun" 1)
playing stopped "$victim" || fail "the ranks do not play"
sleep 1 # as above
kill -TERM "$victim"
code=0
wait "$mpirun" || code=$?
[ "$code" -eq 1 ] && [ "$(ours err | wc -l)" -eq 1 ] &&
    grep -q 'caucus simulate: stopped after' err &&
    pass "a signal to one rank stops all" || { fail "a signal to one rank ($code)"; cat err; }
"$CAUCUS" "${long[@]/killed/stopped}" --trials 300 --resume >stopped.txt 2>err || { fail "caucus --resume"; cat err; }
same "one process goes on with what ranks have left" whole stopped

[ "$failures" -eq 0 ]
