#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A few seconds of what tools/nightly plays for an hour: clients at their own pace that come and go at random and are
# killed; every loss is in one report, every report in one decision.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_SOURCE:?source directory}"
exec python3 "$CAUCUS_SOURCE/tools/own-pace" 5 --clients 5
