#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client.sh LOSSES.csv OPTION...: a client in bash; the options are those of caucus join. It gives a row of losses
# for each line that it gets, so it is for plans in rounds; for a plan with pace: own take own-pace.sh.
# shellcheck disable=SC2094 # what is read and written in one pipeline is a pipe
fifo=$(mktemp -d)/losses && mkfifo "$fifo"
caucus join "${@:2}" <"$fifo" | while read -r expert ask && IFS=, read -ra row <&3; do
    [[ $ask =~ ^evaluate=([^ ]+) ]] && mapfile -t row < <(for e in ${BASH_REMATCH[1]//,/ }; do echo "${row[e]}"; done)
    echo "playing $expert" && (IFS=, && echo "${row[*]}" >&4)
done 4>"$fifo" 3<"$1"
code=${PIPESTATUS[0]} && rm -r "${fifo%/*}" && exit "$code"
