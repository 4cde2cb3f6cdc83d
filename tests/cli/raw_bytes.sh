#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever a command line, a file's name or a file's contents hold: no control character and nothing that is no UTF-8
# comes out on standard error, and one complaint is one line. Words that are printable come out as they are.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
hostile=$(printf 'a\033[2J\nb\r\x80\xff\xc2\x9b\xe2\x80c')
"$CAUCUS" plan --algorithm svt --clients 2 --experts 2 --rounds 8 --epsilon 1 --trust coordinator \
    --write plan.yaml >/dev/null 2>&1
printf '%s: 1\n' "$hostile" >scenario.yaml
printf 'caucus-plan: 2\n%s: 1\n' "$hostile" >bad.yaml
printf '%s\n' "$hostile" >list

# clean NAME COMMAND...: what it complains of is one clean line
clean() {
    local name=$1 code=0
    shift
    timeout 60 "$@" >out 2>err </dev/null || code=$?
    [ "$code" -ne 0 ] || fail "$name: accepted"
    "$python" - "$name" <<'PY' || failures=$((failures + 1))
import sys
bytes = open("err", "rb").read()
try:
    text = bytes.decode("utf-8")
except UnicodeDecodeError as error:
    sys.exit(f"not ok: {sys.argv[1]}: no UTF-8: {bytes!r}: {error}")
wrong = [c for c in text[:-1] if ord(c) < 32 or 127 <= ord(c) < 160]
if wrong or not text.endswith("\n"):
    sys.exit(f"not ok: {sys.argv[1]}: {bytes!r}")
PY
}
clean verb "$CAUCUS" "$hostile"
clean option "$CAUCUS" plan "--$hostile"
for verb in plan simulate up audit reproduce privacy certify serve join statement compare; do
    clean "$verb, a word" "$CAUCUS" "$verb" "$hostile" "$hostile"
done
for option in algorithm epsilon clients trust; do
    clean "plan --$option" "$CAUCUS" plan --losses-are iid --trust coordinator --"$option" "$hostile"
    clean "simulate --$option" "$CAUCUS" simulate --trust coordinator --"$option" "$hostile"
done
clean "simulate, a file" "$CAUCUS" simulate scenario.yaml
clean "up --keep" "$CAUCUS" up --clients 1 --rounds 4 --keep "/nowhere/$hostile"
clean "serve, a plan" "$CAUCUS" serve --plan bad.yaml --state state --insecure
for option in plan state listen ledger budget deadline quorum tick loops http format fault-commit revoked; do
    words=(--plan plan.yaml --state "/nowhere/$hostile" --insecure)
    [ "$option" != plan ] || words=(--state state --insecure)
    [ "$option" != state ] || words=(--plan plan.yaml --insecure)
    clean "serve --$option" "$CAUCUS" serve "${words[@]}" --"$option" "/nowhere/$hostile"
done
clean "serve, a list" "$CAUCUS" serve --plan plan.yaml --state state --insecure --listen 127.0.0.1:0 --revoked list
for option in connect plan client give-up tick losses adversary seed pace; do
    words=(--connect 127.0.0.1:9 --plan plan.yaml --insecure --client 1 --give-up 0)
    [ "$option" != connect ] || words=(--plan plan.yaml --insecure --client 1)
    [ "$option" != plan ] || words=(--connect 127.0.0.1:9 --insecure --client 1)
    [ "$option" != client ] || words=(--connect 127.0.0.1:9 --plan plan.yaml --insecure)
    clean "join --$option" "$CAUCUS" join "${words[@]}" --"$option" "$hostile"
done
# What is printable stays.
"$CAUCUS" plan --algorithm 'größer ≠ —' --trust coordinator 2>err && fail "größer: accepted"
grep -qF 'größer ≠ —' err || fail "printable words: $(cat err)"
[ "$failures" -eq 0 ] && pass "no raw bytes"
