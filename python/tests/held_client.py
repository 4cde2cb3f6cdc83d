# SPDX-License-Identifier: Apache-2.0
"""A client that is held: it says the round and its expert, and observes only when a line comes on standard input.

held_client.py PLAN HOST:PORT CERTS STATE LOSSES
"""

import sys

import numpy as np

import caucus_dp as caucus

plan, address, certs, state, losses = sys.argv[1:]
measured = np.load(losses)[0]
with caucus.join(
    address,
    plan=plan,
    client=1,
    cert=f"{certs}/client-1.pem",
    key=f"{certs}/client-1.key",
    ca=f"{certs}/ca.pem",
    state=state,
) as member:
    for round in member:
        print(round.number, round.expert, flush=True)
        if not sys.stdin.readline():
            sys.exit("standard input has ended")
        round.observe(measured[round.number - 1])
    print("done", member.round, flush=True)
