#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own-pace.sh LOSSES.csv OPTION...: a client in bash for a plan with pace: own, where losses go in whenever there are
# some, and an expert comes out when it takes the place of another: nothing may wait for a line before it gives losses.
caucus join "${@:2}" <"$1" | while read -r expert _; do echo "playing $expert"; done
exit "${PIPESTATUS[0]}"
