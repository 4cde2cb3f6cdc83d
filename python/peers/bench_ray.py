# SPDX-License-Identifier: Apache-2.0
"""Simulated rounds: `caucus.simulate()` beside Flower's simulation, which plays the same machines with ray."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import caucus_dp as caucus

APP = Path(__file__).parents[2] / "examples" / "flower"


def simulation(work: Path) -> None:
    """The same plan and losses, once in each."""
    from bench_live import CLIENTS, prepare  # noqa: PLC0415 (which imports Flower)

    rounds = 20
    os.environ.update(FLWR_TELEMETRY_ENABLED="0", FLWR_DISABLE_UPDATE_CHECK="1", RAY_USAGE_STATS_ENABLED="0")
    os.environ["PYTHONPATH"] = str(APP)  # of ray's workers
    os.environ["FLWR_HOME"] = str(work / "home")
    sys.path.insert(0, str(APP))
    from caucus_flower import client_app, server_app  # noqa: PLC0415
    from flwr.app import Context, Message, UserConfig  # noqa: PLC0415
    from flwr.clientapp import ClientApp  # noqa: PLC0415
    from flwr.serverapp import Grid, ServerApp  # noqa: PLC0415
    from flwr.simulation import run_simulation  # noqa: PLC0415

    folder = work / "ray"
    plan = prepare(folder, rounds)
    settings = {"plan": str(folder / "plan.yaml"), "losses": str(folder / "losses.npy")}
    run: UserConfig = {"plan": settings["plan"], "deadline": 0.0, "out": str(folder / "out.json"), "seed": 1}
    node, coordinator = ClientApp(), ServerApp()

    @node.query()
    def answer(message: Message, context: Context) -> Message:
        # Contexts must come back as they were, but for their state.
        own = {**context.node_config, **settings, "client": int(context.node_config["partition-id"]) + 1, "seed": 1}
        return client_app.answer(message, Context(context.run_id, context.node_id, own, context.state, run))

    @coordinator.main()
    def main(grid: Grid, context: Context) -> None:
        server_app.main(grid, Context(context.run_id, context.node_id, {}, context.state, run))

    print(f"simulation: a round of {CLIENTS} clients in one machine's memory; Flower with ray plays the machines of")
    print("  examples/flower and begins with the first message; ours is the whole call. Both give the same experts")
    trials = 1000
    began = time.perf_counter()
    ours = caucus.simulate(plan, losses=settings["losses"], trials=trials, seed=1)
    own = (time.perf_counter() - began) / trials / rounds
    backend = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    with contextlib.redirect_stdout(sys.stderr):  # what the app prints
        run_simulation(coordinator, node, num_supernodes=CLIENTS, backend_config=backend)  # type: ignore[arg-type]
    result = json.loads((folder / "out.json").read_text())
    if result["experts"][-1] != ours.expert[0]:
        raise RuntimeError(f"Flower played {result['experts'][-1]}, the simulation {ours.expert[0]}")
    theirs = result["seconds"] / rounds
    print(
        f"  caucus.simulate, {trials} trials {own * 1e6:.3f} us a round, Flower with ray {theirs * 1e3:.3f} ms:",
        end=" ",
    )
    print(f"{theirs / own:.3g} x")
