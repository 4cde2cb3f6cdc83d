# SPDX-License-Identifier: Apache-2.0
"""The simulator against the plain NumPy version (bench/reference), written from the formulas and not from the C code.

For each setting both play the same number of trials with their own losses and their own noise, and the regrets are
compared: means by a two-sample z-test, distributions by a two-sample Kolmogorov-Smirnov test. Each test alarms with
probability 1e-6 if the two laws are equal (asymptotically; ties only make it rarer). Seeds are fixed, so the outcome is
the same every time. Regret is against the best expert of every segment; where there is one segment, against the best.
Controls play the simulator at half the epsilon, or on losses of another law, against the plain version: these must be
told apart.

    compare.py PROGRAM REFERENCE_DIRECTORY
"""
import json
import math
import subprocess
import sys

Z_MAX = 4.8916  # P(|N(0,1)| > Z_MAX) = 1e-6
KS_MAX = math.sqrt(math.log(2e6) / 2)  # 2 exp(-2 x^2) = 1e-6
TRIALS = 150

# Name, what is compared, arguments of both, epsilon.
SVT = "--algorithm svt --clients 10 --experts 100 --rounds 512 --adversary realizable --trust coordinator "
STOCH = "--algorithm stoch --clients {m} --experts 50 --rounds 1024 --adversary gaussian "
COINS = "--algorithm stoch --clients 5 --experts 20 --rounds 600 --means 0.1,0.5 --trust coordinator "
CASES = [
    ("svt, tight, N = 1", "law", SVT + "--interval 1 --calibration tight", 10),
    ("svt, tight, N = 30", "law", SVT + "--interval 30 --calibration tight", 10),
    ("svt, tight, epsilon 2", "law", SVT + "--interval 1 --calibration tight", 2),
    ("svt, paper, N = 1", "law", SVT + "--interval 1 --calibration paper", 10),
    ("svt, paper, N = 30", "law", SVT + "--interval 30 --calibration paper", 10),
    ("svt, creeping", "law", SVT.replace("realizable", "creeping") + "--interval 1", 10),
    ("sparse-vector", "law", SVT.replace("svt", "sparse-vector").replace("clients 10", "clients 1"), 10),
    ("stoch, tight", "law", STOCH.format(m=4) + "--trust coordinator", 0.5),
    # The library draws an expert from the trees' mixture, the plain version is charged its loss: equal means only.
    ("stoch, paper", "mean", STOCH.format(m=4) + "--trust coordinator --calibration paper", 10),
    ("stoch, paper-local", "mean", STOCH.format(m=4) + "--trust paper-local --calibration paper", 10),
    ("stoch, vote", "law", STOCH.format(m=20).replace("1024", "512") + "--trust nobody {vote}", 2),
    ("hedge", "law",
     "--algorithm hedge --clients 10 --experts 30 --rounds 300 --adversary halving --trust coordinator", 1),
    ("bernoulli, spread", "law", COINS.replace("clients 5", "clients 2").replace("0.1,0.5", "0.4,0.5")
     + "--adversary bernoulli --spread 0.4", 2),
    ("shifting", "law", COINS + "--adversary shifting --segments 5", 0.3),
    ("drifting", "law", COINS + "--adversary drifting --segments 4 --drift 0.02", 0.3),
]
# What the simulator plays in a control that must be told apart: half the epsilon, or another law of the losses.
CONTROLS = {
    "svt, tight, N = 1": None, "stoch, tight": None, "stoch, vote": None, "hedge": None,
    "bernoulli, spread": ("--spread 0.4", "--spread 0"),
    "shifting": ("--segments 5", "--segments 2"),
    "drifting": ("--drift 0.02", "--drift 0.002"),
}


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def ours(program, arguments, epsilon):
    words = arguments.replace("{vote}", "--message vote").split()
    out = run([program, "simulate", *words, "--epsilon", str(epsilon), "--trials", str(TRIALS), "--seed", "11",
               "--format", "json"])
    return out["runs"][0]["regret"]["segments"]["values"]


def plain(reference, arguments, epsilon):
    words = arguments.replace("{vote}", "").split()
    out = run(["/usr/bin/python3", reference, *words, "--epsilon", str(epsilon), "--trials", str(TRIALS),
               "--seed", "12"])
    return out["regret"]["segments"]["values"]


def z_score(a, b):
    def moments(x):
        mean = sum(x) / len(x)
        return mean, sum((v - mean) ** 2 for v in x) / (len(x) - 1) / len(x)
    (mean_a, error_a), (mean_b, error_b) = moments(a), moments(b)
    spread = math.sqrt(error_a + error_b)
    return mean_a, mean_b, (mean_a - mean_b) / spread if spread > 0 else (0.0 if mean_a == mean_b else math.inf)


def ks_score(a, b):
    """sup |F_a - F_b| * sqrt(n_a n_b/(n_a + n_b))."""
    a, b = sorted(a), sorted(b)
    i = j = 0
    gap = 0.0
    while i < len(a) and j < len(b):
        x = min(a[i], b[j])
        while i < len(a) and a[i] == x:
            i += 1
        while j < len(b) and b[j] == x:
            j += 1
        gap = max(gap, abs(i / len(a) - j / len(b)))
    return gap * math.sqrt(len(a) * len(b) / (len(a) + len(b)))


def main(program, reference):
    failures = 0
    print(f"{TRIALS} trials each, seeds 11 and 12, limits |z| {Z_MAX:.2f}, KS {KS_MAX:.2f} (false alarm 1e-6 each)")
    for name, what, arguments, epsilon in CASES:
        b = plain(reference, arguments, epsilon)
        for control in (False, True):
            if control and name not in CONTROLS:
                continue
            other = CONTROLS[name] if control else None
            here = arguments.replace(*other) if other else arguments
            a = ours(program, here, epsilon / 2 if control and not other else epsilon)
            mean_a, mean_b, z = z_score(a, b)
            ks = ks_score(a, b)
            differ = abs(z) > Z_MAX or (what == "law" and ks > KS_MAX)
            good = differ == control
            failures += not good
            label = name + (f", {other[1] if other else 'half the epsilon'} (control)" if control else "")
            print(f"{'ok' if good else 'not ok'}: {label}: {mean_a:.3f} and {mean_b:.3f}, z {z:.2f}"
                  + (f", KS {ks:.2f}" if what == "law" else ", means only"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
