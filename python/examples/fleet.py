# SPDX-License-Identifier: Apache-2.0
"""From a plan to a live client, in one file.

    fleet.py plan PLAN                                     calibrate, try it on losses of your own, write the plan
    fleet.py join PLAN HOST:PORT CLIENT CERTS STATE LOSSES be one client of the federation
    fleet.py bare PLAN                                     one choice, exact noise, and the machines without a network

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
            round.observe({expert: measured[round.number - 1, expert] for expert in round.evaluate})
        print("done", member.round, flush=True)


def bare(path: str) -> None:
    """What needs no network: one private choice, noise, and one block of the machines."""
    scores = np.random.default_rng(2).random((1000, 3)) * [1, 0.5, 1]
    print("picked", caucus.pick(scores, epsilon=1, range=(0, 1)))
    print("noise", caucus.laplace(3, scale=2.5), caucus.gaussian(3, scale=10))
    plan = caucus.Plan.read(path)
    coordinator, clients = caucus.Coordinator(plan), [caucus.Client(plan, i + 1) for i in range(plan.clients)]
    for client in clients:  # whatever carries announcements and reports is the transport
        client.hear(coordinator.announcement)
        client.observe(np.random.default_rng(client.index).random((client.rounds_left, plan.experts)))
        report = client.report()
        if report is not None:
            coordinator.receive(report)
    print("then expert", coordinator.decide().expert)


if __name__ == "__main__":
    if sys.argv[1:2] == ["plan"]:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["join"]:
        play(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6], sys.argv[7])
    elif sys.argv[1:2] == ["bare"]:
        bare(sys.argv[2])
    else:
        sys.exit(__doc__)
