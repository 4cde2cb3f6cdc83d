#!/usr/bin/env bash
# The program's first words: exact output and exit codes of the overview, --version and wrong use.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect NAME EXIT_CODE STDOUT STDERR COMMAND...: all three exactly.
expect() {
    local name=$1 code=$2 out=$3 err=$4 got=0
    shift 4
    "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    printf '%s' "$out" >"$work/want-out"
    printf '%s' "$err" >"$work/want-err"
    if [ "$got" -ne "$code" ] || ! diff -u "$work/want-out" "$work/out" || ! diff -u "$work/want-err" "$work/err"; then
        echo "not ok: $name (exit code $got, expected $code)"
        failures=$((failures + 1))
    else
        echo "ok: $name"
    fi
}

# A new verb in src/cli/verbs.h belongs here, too.
overview='caucus: pick the best of d experts for a fleet, online, with differential privacy

  Try it        reproduce   the paper'"'"'s experiments, as a report with figures
                up          a live federation on this machine, ten clients over TLS
  Plan          plan        calibrate a run: noise, budget, regret bound, bytes
                audit       measure whether the privacy claims hold
  Research      simulate    any algorithm against any adversary or your own losses
  Run           serve       the coordinator of a live federation
                join        a client: losses in, experts out
                privacy     what has been spent
                certify     certificates to try things with

caucus VERB --help shows a verb'"'"'s options with an example. Manual: man caucus
'
expect "overview" 0 "$overview" "" "$CAUCUS"
expect "--help is the overview" 0 "$overview" "" "$CAUCUS" --help
expect "--version" 0 $'caucus 0.1.0\n' "" "$CAUCUS" --version
expect "a verb nobody knows" 2 "" $'caucus: unknown verb \'frobnicate\' — \'caucus --help\' lists what there is\n' "$CAUCUS" frobnicate
expect "an option mistyped" 2 "" $'caucus: unknown option \'--versoin\' — did you mean \'--version\'?\n' "$CAUCUS" --versoin
expect "a verb mistyped" 2 "" $'caucus: unknown verb \'simualte\' — did you mean \'simulate\'?\n' "$CAUCUS" simualte
expect "help without dashes" 2 "" $'caucus: unknown verb \'help\' — did you mean \'--help\'?\n' "$CAUCUS" help
expect "an empty word" 2 "" $'caucus: unknown verb \'\' — \'caucus --help\' lists what there is\n' "$CAUCUS" ""
long=$(printf 'x%.0s' {1..5000})
expect "a very long word" 2 "" "caucus: unknown verb '$long' — 'caucus --help' lists what there is"$'\n' "$CAUCUS" "$long"
if [ -w /dev/full ]; then
    code=0
    "$CAUCUS" --version >/dev/full 2>"$work/err" || code=$?
    if [ "$code" -ne 1 ] || ! grep -q '^caucus: writing the output: ' "$work/err"; then
        echo "not ok: a full disk is a failure (exit code $code)"
        failures=$((failures + 1))
    else
        echo "ok: a full disk is a failure"
    fi
fi
version=$(cat "${CAUCUS_SOURCE:?source directory}/VERSION")
expect "the version is that of the file VERSION" 0 "caucus $version"$'\n' "" "$CAUCUS" --version
[ "$failures" -eq 0 ]
