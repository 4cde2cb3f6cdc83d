#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One run, played four ways (equality.bash), where nobody is: the noise is the clients'.
set -euo pipefail
: "${CAUCUS_SOURCE:?source directory}"
# shellcheck source=tests/e2e/equality.bash
. "$CAUCUS_SOURCE/tests/e2e/equality.bash"
equal stoch-nobody stoch nobody drawn 1 --epsilon 30 # shortlist
serve_more=(--tick 30) join_more=(--tick 20) # when something leaves changes nothing
equal stoch-nobody-vote stoch nobody drawn 1 --epsilon 2 # vote, which is what auto means here
serve_more=() join_more=()
equal stoch-nobody-longest stoch nobody drawn 1 --epsilon 30 --longest-phase 6 --changes 2 # shortlist, last phase alone
endless stoch-nobody-endless stoch nobody drawn 1 --epsilon 30 --longest-phase 6 # shortlist
equal stoch-nobody-client stoch nobody drawn 1 --epsilon 40 --unit client --growth 4 # shortlist
equal stoch-nobody-laplace stoch nobody drawn 1 --epsilon 30 --message laplace-d
ended
