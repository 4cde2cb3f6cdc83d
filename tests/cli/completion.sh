#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus completion`: what bash, zsh and fish complete with the scripts, in the shells themselves.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' is wanted, '$3' is what there is"; fi
}

mkdir zsh
"$CAUCUS" completion bash >caucus.bash
"$CAUCUS" completion zsh >zsh/_caucus
"$CAUCUS" completion fish >caucus.fish

# Every option that a verb's help shows is there, and none else.
for verb in $("$CAUCUS" --help | sed -n 's/^  .\{12\}  \([a-z]*\) .*/\1/p'); do
    "$CAUCUS" "$verb" --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' | grep -v '^fault-' | sort >wanted || true
    sed -n "s/.*from $verb; and not .* -l \([a-z0-9-]*\) .*/\1/p" caucus.fish | sort >got
    cmp -s wanted got || { fail "$verb: other options than its help shows"; diff wanted got; }
    sed -n "s/^    $verb) options='\\([^']*\\)'.*/\\1/p" caucus.bash | tr ' ' '\n' | sed 's/^--//' | grep -vx help |
        sort >got || true
    cmp -s wanted got || { fail "$verb: other options in bash than its help shows"; diff wanted got; }
    sed -n "/^    $verb) _arguments/,/;;\$/s/^        '--\\([a-z0-9-]*\\).*/\\1/p" zsh/_caucus | sort >got
    cmp -s wanted got || { fail "$verb: other options in zsh than its help shows"; diff wanted got; }
done
[ "$failures" -gt 0 ] || pass "the options that help shows, of every verb"

# in_bash WORD...: what bash proposes for the last word, by the function that the first word has.
in_bash() {
    bash --norc -c 'set -u; source ./caucus.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        $(complete -p "$1" | sed "s/.*-F \([a-z_]*\) .*/\1/")
        [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s " "${COMPREPLY[@]}"' bash "$@"
}
touch plan.yaml
same "bash: a verb" "simulate " "$(in_bash caucus sim)"
same "bash: verbs after help" "statement stop store " "$(in_bash caucus help st)"
same "bash: options" "--trees --trials --trust " "$(in_bash caucus simulate --tr | tr ' ' '\n' | sort | tr '\n' ' ' |
    sed 's/^ //')"
same "bash: words" "nobody " "$(in_bash caucus plan --trust no)"
same "bash: words after =" "hedge " "$(in_bash caucus plan --algorithm = he)"
same "bash: the words of this verb" "table json csv " "$(in_bash caucus simulate --format '')"
same "bash: and of another" "text json " "$(in_bash caucus plan --format '')"
same "bash: words of a relay" "text json " "$(in_bash caucus relay --log-format '')"
same "bash: what a verb takes first" "init check migrate " "$(in_bash caucus store '')"
same "bash: and after it" "--state --state-key " "$(in_bash caucus store init --st)"
for word in init check migrate; do
    "$CAUCUS" store $word 2>err || true
    grep -q 'state' err || fail "store does not know $word: $(cat err)"
done
same "bash: files" "plan.yaml " "$(in_bash caucus serve --plan pl)"
same "bash: nothing for a number" "" "$(in_bash caucus plan --epsilon '')"
same "bash: nothing of another verb" "" "$(in_bash caucus privacy --epsi)"
same "bash: caucus-client" "--give-up " "$(in_bash caucus-client --seed 3 --gi)"
same "bash: caucus-client, files" "plan.yaml " "$(in_bash caucus-client --plan pl)"
same "bash: caucus-client, words" "halving " "$(in_bash caucus-client --adversary ha)"
same "bash: caucus-client, no verbs" "" "$(in_bash caucus-client simul)"
same "bash: not what is for tests" "" "$(in_bash caucus serve --fault)"

if ! command -v zsh >/dev/null; then
    echo "skipped: zsh is not here (tools/install-deps --test)"
elif ! zsh -f -c 'zmodload zsh/zpty && zpty shell true' 2>/dev/null; then
    echo "skipped: zsh has no pseudo-terminal here"
else
    timeout $((120 * ${CAUCUS_PATIENCE:-1})) zsh -f "$CAUCUS_SOURCE/tests/cli/completion.zsh" "$PWD/zsh" \
        'caucus simul' 'caucus simulate --trust nob' 'caucus plan --algorithm=hed' 'caucus serve --client-' \
        'caucus serve --plan pl' 'caucus-client --give' 'caucus store mi' 'caucus certify --ren' >out
    same "zsh" "$(printf '%s|' simulate 'simulate --trust nobody' plan\ --algorithm=hedge 'serve --client-ca' \
        'serve --plan plan.yaml' --give-up 'store migrate' 'certify --renew')" "$(tr '\n' '|' <out)"
fi

# in_fish LINE: what fish proposes, without the descriptions.
in_fish() { HOME=$PWD fish --no-config -c 'source caucus.fish; complete -C "'"$1"'"' | cut -f 1 | sort | tr '\n' ' '; }
if command -v fish >/dev/null; then
    same "fish: a verb" "simulate " "$(in_fish 'caucus simul')"
    same "fish: options" "--trees --trials --trust " "$(in_fish 'caucus simulate --tr')"
    same "fish: words" "coordinator nobody paper-local " "$(in_fish 'caucus plan --trust ')"
    same "fish: files" "plan.yaml " "$(in_fish 'caucus serve --plan pl')"
    same "fish: what a verb takes first" "bash fish zsh " "$(in_fish 'caucus completion ')"
    same "fish: caucus-client" "--give-up " "$(in_fish 'caucus-client --gi')"
    same "fish: nothing of another verb" "" "$(in_fish 'caucus privacy --epsi')"
else
    echo "skipped: fish is not here (tools/install-deps --test)"
fi

code=0
"$CAUCUS" completion tcsh 2>err || code=$?
same "another shell is refused" "2 caucus completion: 'tcsh': must be bash, zsh or fish" "$code $(cat err)"
[ "$failures" -eq 0 ]
