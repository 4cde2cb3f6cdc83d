# SPDX-License-Identifier: Apache-2.0
"""Run the plain version and print one JSON object: see README.md beside this file."""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # one thread, before numpy starts its own

import argparse
import json
import sys
import time

import numpy as np

import calibration
import hedge
import losses
import selftest
import stoch
import svt


def options(argv):
    parser = argparse.ArgumentParser(prog="reference", description="Plain numpy version, for benchmarks and "
                                     "statistical comparison only. NOT PRIVATE: floating-point noise, seeded.")
    add = parser.add_argument
    add("--algorithm", default="svt", choices=("svt", "sparse-vector", "stoch", "limited-updates", "hedge"))
    add("--clients", type=int, default=10)
    add("--experts", type=int, default=100)
    add("--rounds", type=int, default=512)
    add("--interval", type=int, default=1, help="rounds per block (svt, hedge)")
    add("--epsilon", type=float, default=1.0)
    add("--delta", type=float, default=0.0, help="hedge only")
    add("--rho", type=float, default=0.05, help="failure probability of the regret bound (svt)")
    add("--lstar", type=float, default=0.0, help="public bound on the best expert's loss per client (svt)")
    add("--calibration", default="tight", choices=("tight", "paper"))
    add("--trust", default="coordinator", choices=("coordinator", "nobody", "paper-local"), help="stoch only")
    add("--forget", action="store_true", help="trust nobody: count the votes of the last phase alone")
    add("--adversary", default="realizable", choices=tuple(losses.ADVERSARIES))
    add("--segments", type=int, default=1, help="parts of the run; shifting: each with its own means")
    add("--means", type=lambda text: tuple(float(word) for word in text.split(",")), default=(0.3, 0.7),
        help="LO,HI: where bernoulli, shifting and drifting draw their means")
    add("--spread", type=float, default=0.0, help="how far a client's means are from the experts'")
    add("--drift", type=float, default=0.001, help="how far a mean walks in one round (drifting)")
    add("--trials", type=int, default=10)
    add("--seed", type=int, default=1)
    add("--selftest", action="store_true", help="check known values and leave")
    args = parser.parse_args(argv)
    for name in ("clients", "rounds", "interval", "trials", "segments"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if args.experts < 2:
        parser.error("--experts must be at least 2")
    if not args.epsilon > 0:
        parser.error("--epsilon must be above 0")
    if np.isinf(args.epsilon) and args.algorithm != "hedge":
        parser.error("--epsilon may be infinite for hedge only")
    if args.algorithm in ("sparse-vector", "limited-updates"):
        args.clients = 1
    if args.algorithm == "sparse-vector":
        args.interval = 1
    if args.trust == "paper-local" and args.calibration != "paper":
        parser.error("--trust paper-local needs --calibration paper")
    if args.trust == "nobody" and args.calibration != "tight":
        parser.error("--trust nobody needs --calibration tight")
    if args.trust != "coordinator" and args.algorithm not in ("stoch", "limited-updates"):
        parser.error("--trust is a choice of stoch only")
    return args


def trial(args, number):
    """One run on its own random stream. Costs are divided by the clients: loss units per client."""
    data = np.random.default_rng([args.seed, number, 0])
    noise = np.random.default_rng([args.seed, number, 1])
    start = time.perf_counter()
    source = losses.ADVERSARIES[args.adversary](data, args.clients, args.rounds, args.experts,
                                                losses.Law(args.segments, args.means, args.spread, args.drift))
    played = None
    if args.algorithm in ("svt", "sparse-vector"):
        cost, total, switches = svt.svt(noise, source, args.plan, args.interval, args.lstar)
    elif args.algorithm == "hedge":
        cost, total, switches = hedge.hedge(noise, source, args.plan, args.interval)
    else:
        cost, total, switches, played = stoch.stoch(noise, source, args.epsilon, args.trust, args.calibration,
                                                    not args.forget)
    seconds = time.perf_counter() - start
    pseudo = None
    if played is not None and source.means is not None:
        pseudo = float(played @ source.means - args.rounds * source.means.min())
    best = source.segment_totals.min(axis=1).sum() if args.segments > 1 else total.min()
    return (float(cost - total.min()) / args.clients, float(cost - best) / args.clients, pseudo, int(switches),
            seconds, source.seconds)


def summary(values):
    return {"mean": float(np.mean(values)), "std": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
            "values": list(values)}


def main(argv):
    args = options(argv)
    if args.selftest:
        return selftest.run()
    out = {name: getattr(args, name) for name in ("algorithm", "clients", "experts", "rounds", "interval", "epsilon",
                                                  "delta", "rho", "lstar", "calibration", "trust", "adversary",
                                                  "trials", "seed")}
    out["epsilon"] = "infinite" if np.isinf(args.epsilon) else args.epsilon
    if args.algorithm in ("svt", "sparse-vector"):
        args.plan = calibration.svt_plan(args.calibration, args.clients, args.rounds, args.interval, args.experts,
                                         args.epsilon, args.rho, args.lstar)
        out["plan"] = {k: None if v != v or v == float("inf") else v for k, v in vars(args.plan).items()}
    elif args.algorithm == "hedge":
        args.plan = calibration.hedge_rate(args.clients, args.rounds, args.interval, args.experts, args.epsilon,
                                           args.delta)
        out["plan"] = {"learning_rate": args.plan}
    runs = [trial(args, number) for number in range(args.trials)]
    regret, segments, pseudo, switches, seconds, seconds_losses = zip(*runs)
    out["regret"] = summary(regret)
    out["regret"]["segments"] = summary(segments)
    if pseudo[0] is not None:
        out["pseudo_regret"] = summary(pseudo)
    out["switches"] = summary(switches)
    out["seconds_per_trial"] = float(np.mean(seconds))
    out["seconds_losses_per_trial"] = float(np.mean(seconds_losses))
    json.dump(out, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
