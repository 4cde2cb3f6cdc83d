# SPDX-License-Identifier: Apache-2.0
"""From a plan to a live client, in one file.

    fleet.py plan PLAN                                     calibrate, try it on losses of your own, write the plan
    fleet.py join PLAN HOST:PORT CLIENT CERTS STATE LOSSES be one client of the federation

CERTS is a folder that `caucus certify` made; LOSSES a NumPy file, clients x rounds x experts, in the place of what a
device would measure. Run beside `caucus serve --plan PLAN ...` and other clients, of this program or of `caucus join`.
"""

import sys

import numpy as np

import caucus_dp as caucus


def make(path: str) -> None:
    """Plan a run for three clients, see what it would do, and keep it."""
    plan = caucus.plan(
        algorithm="hedge",
        clients=3,
        names=["small", "distilled", "large", "huge"],
        rounds=40,
        interval=4,
        epsilon=1,
        trust="coordinator",
    )
    print(plan)
    print("for one device", plan.epsilon_device, "proved regret", plan.bound)
    losses = np.random.default_rng(1).random((3, 40, 4)) * [1, 0.2, 1, 1]
    r = caucus.simulate(plan, losses=losses, trials=100)
    print(r)
    print("regret", r.regret.mean(), "most often", np.bincount(r.expert).argmax())
    plan.write(path)


def play(plan: str, address: str, client: int, certs: str, state: str, losses: str) -> None:
    """One client: told which expert to use, it says what each would have cost. It reconnects by itself."""
    measured = np.load(losses)[client - 1]
    cert, key, ca = f"{certs}/client-{client}.pem", f"{certs}/client-{client}.key", f"{certs}/ca.pem"
    with caucus.join(address, plan=plan, client=client, state=state, cert=cert, key=key, ca=ca) as member:
        for round in member:
            print(round.number, round.expert, round.name, flush=True)
            round.observe({expert: measured[round.number - 1, expert] for expert in range(member.plan.experts)})
        print("done", member.round, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["plan"]:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["join"]:
        play(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6], sys.argv[7])
    else:
        sys.exit(__doc__)
