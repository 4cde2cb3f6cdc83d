#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus-client is `caucus join`: the same help, the same refusals, the same run over mutual TLS, in the middle of which
# it is stopped and started again. And it is small: one file of at most 7 MB that needs no library, less than 8 MB of
# memory with 100 experts.
# shellcheck source=tests/fault/lib.bash
. "$(dirname "$0")/../fault/lib.bash"
if [ -z "${CAUCUS_CLIENT:-}" ]; then
    echo "skipped: caucus-client is not built here (cmake/client.cmake says when it is)"
    exit 77
fi

# same NAME WORD...: join and caucus-client end alike with these words, and say the same, their names aside.
same() {
    local name=$1 a=0 b=0
    shift
    timeout 60 "$CAUCUS" join "$@" >"$work/a.out" 2>"$work/a.err" </dev/null || a=$?
    timeout 60 "$CAUCUS_CLIENT" "$@" >"$work/b.out" 2>"$work/b.err" </dev/null || b=$?
    sed -i 's/caucus join/caucus-client/g' "$work/a.out" "$work/a.err"
    { [ "$a" -eq "$b" ] && cmp -s "$work/a.out" "$work/b.out" && cmp -s "$work/a.err" "$work/b.err"; } ||
        bad "$name: exit codes $a and $b: $(diff "$work/a.out" "$work/b.out") $(diff "$work/a.err" "$work/b.err")"
    [ -s "$work/b.out" ] || [ -s "$work/b.err" ] || bad "$name: nothing is said"
}
same "help" --help
same "no option" --nonsense
same "nearly an option" --connects 127.0.0.1:1
same "a word" join
same "nothing" --connect
same "no plan" --connect 127.0.0.1:1 --plan "$work/none" --insecure --client 1
same "no address" --connect nowhere --plan "$work/none" --insecure
same "no such file of settings" --config "$work/none"
[ "$("$CAUCUS_CLIENT" --version)" = "caucus-client $(cat "$CAUCUS_SOURCE/VERSION")" ] || bad "--version"
[ "$("$CAUCUS_CLIENT" --help | grep -c 'caucus join')" -eq 0 ] || bad "its help speaks of caucus join"

# One file: no interpreter, no library, nothing of SQLite and libmicrohttpd; position independent.
bytes=$(stat -c %s "$CAUCUS_CLIENT")
[ "$bytes" -le 7000000 ] || bad "caucus-client has $bytes bytes, more than 7,000,000"
readelf -hld "$CAUCUS_CLIENT" >"$work/elf"
grep -q 'Type: *DYN' "$work/elf" || bad "caucus-client is not position independent"
if grep -qE 'NEEDED|INTERP' "$work/elf"; then bad "caucus-client needs: $(grep -E 'NEEDED|INTERP' "$work/elf")"; fi
for text in "SQLite format 3" "microhttpd"; do
    if grep -qaF "$text" "$CAUCUS_CLIENT"; then bad "caucus-client holds '$text'"; fi
done

# A run with 100 experts: client 1 is held half way, client 2 has a file.
clients=2 seed=4 patience=300
make_losses $clients 60 100
plan=$work/plan.yaml
make_plan "$plan" --algorithm svt --clients $clients --experts 100 --rounds 60 --epsilon 400 --trust coordinator
certs=$work/certs
"$CAUCUS" certify "$certs" --clients $clients >/dev/null 2>"$work/certify.err" || give_up "$(cat "$work/certify.err")"
tls() { own=(--cert "$certs/client-$1.pem" --key "$certs/client-$1.key" --ca "$certs/ca.pem"); }
memory() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/$1/status"; } # the most so far, in KiB
play() { # play NAME: with join_command; the held client is stopped in the middle, and goes on
    local name=$1 held two used
    start_coordinator "$name" "$plan" 0 --cert "$certs/coordinator.pem" --key "$certs/coordinator.key" \
        --client-ca "$certs/ca.pem"
    tls 2 && start_client "$name" "$plan" "$port" 2 "${own[@]}" && two=$client
    tls 1 && start_held "$name" "$plan" "$port" 1 "${own[@]}" --state "$work/$name.state" && held=$client
    let_play "$name" 1 30
    until_true 60 has_lines "$work/$name.1.1.out" 31 || bad "$name: the held client is not at round 31"
    used=$(memory "$held")
    [ "$name" != small ] || [ "${used:-99999}" -lt 7812 ] || bad "caucus-client uses $used KiB of memory"
    echo "$name: $used KiB"
    kill -TERM "$held"
    ended "$held" "$name: stopped" 1
    start_held "$name" "$plan" "$port" 1 "${own[@]}" --state "$work/$name.state" && held=$client
    let_play "$name" 1 60
    ended "$held" "$name: client 1" 0
    ended "$two" "$name: client 2" 0
    ended "$server" "$name: coordinator" 0
}
play whole
join_command=("$CAUCUS_CLIENT")
play small
same_run small whole
[ "$(sort -u "$work/small.1.1.out" "$work/small.1.2.out" | wc -l)" -ge 3 ] || bad "too few experts: it shows little"
for file in 1.1.err 1.2.err 2.1.err; do
    # Whether a report had been acknowledged when its client was stopped is a matter of time.
    sed -i 's/caucus join/caucus-client/; s/ ([0-9]* sent again)$//' "$work/whole.$file" "$work/small.$file"
    cmp -s "$work/whole.$file" "$work/small.$file" ||
        bad "$file: $(diff "$work/whole.$file" "$work/small.$file")"
done
done_with "caucus-client is caucus join, in $bytes bytes"
