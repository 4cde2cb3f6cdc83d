# SPDX-License-Identifier: Apache-2.0
"""A device at its own pace: it observes losses when there are some, and goes away when it likes.

    device.py PLAN HOST:PORT CLIENT CERTS STATE LOSSES

The plan says `pace: own`. CERTS is a folder that `caucus certify` made. It leaves after so many LOSSES. What the device
serves, and what each expert would have cost, is made up here.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import caucus_dp as caucus


def served(experts: int) -> Iterator[NDArray[np.float64]]:
    """What came in since the last look, a few requests or none: of each, what every expert would have cost."""
    draws = np.random.default_rng()
    for _ in range(draws.integers(4)):
        yield draws.random(experts) * np.linspace(1, 0.2, experts)


def play(plan: str, address: str, client: int, certs: str, state: str, most: int) -> None:
    """Be there for a while. A later start goes on from the state."""
    cert, key, ca = f"{certs}/client-{client}.pem", f"{certs}/client-{client}.key", f"{certs}/ca.pem"
    with caucus.join(address, plan=plan, client=client, cert=cert, key=key, ca=ca, state=state) as me:
        while not me.done and me.round < most:
            if me.wait(0.1):  # back at once if there is another expert
                print("expert", me.expert, me.expert_name, flush=True)
            if me.expert is not None:
                for losses in served(me.plan.experts):
                    me.observe(losses)
        print("observed", me.round, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    play(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5], int(sys.argv[6]))
