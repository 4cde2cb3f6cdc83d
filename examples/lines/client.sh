#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client.sh LOSSES.csv OPTION...: a client in bash; the options are those of caucus join.
# shellcheck disable=SC2154 # join_PID is set by coproc
coproc join { caucus join "${@:2}"; }
pid=$join_PID # bash sets it, and forgets it with the process
while read -r expert _ <&"${join[0]}" && read -r losses <&3; do
    echo "playing $expert"; echo "$losses" >&"${join[1]}"
done 3<"$1"
wait "$pid"
