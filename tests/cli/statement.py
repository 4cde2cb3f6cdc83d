# SPDX-License-Identifier: Apache-2.0
"""statement.py: what `caucus statement` may say, over plans of all kinds, as text and as HTML.

Its words are held against overclaims.txt; its numbers are computed again from the plan's JSON; what must be said of a
plan is looked for. Then the list is tested itself: a sentence for each line of it has to be caught.
"""
import html
import json
import math
import os
import re
import subprocess
import sys

CAUCUS = os.environ["CAUCUS"]
LIST = os.path.join(os.environ["CAUCUS_SOURCE"], "tests", "cli", "overclaims.txt")
LINES, COLUMNS = 66, 80  # a page of text
SMALL = "--algorithm svt --clients 4 --experts 6 --rounds 40"
PLANS = [
    "--trust coordinator", "--trust coordinator --epsilon 0.01", "--trust coordinator --epsilon 20",
    "--trust coordinator --delta 0.01 --front-load", "--trust coordinator --unit client-block --interval 4",
    "--trust coordinator --rounds 1", "--trust coordinator --renew 8 --rounds endless",
    "--trust coordinator --calibration paper", "--trust coordinator --algorithm stoch",
    "--trust coordinator --algorithm stoch --convex 1,0.5 --trees 2",
    "--trust coordinator --algorithm stoch --longest-phase 8 --rounds endless",
    "--trust coordinator --algorithm stoch --unit client-block",
    "--trust nobody --algorithm stoch", "--trust nobody --algorithm stoch --message gauss --delta 1e-6",
    "--trust nobody --algorithm stoch --message shortlist --epsilon 3 --rounds 2",
    "--trust nobody --algorithm stoch --unit event", "--trust paper-local --algorithm stoch --calibration paper",
    "--trust coordinator --algorithm hedge",
    "--trust coordinator --algorithm hedge --epsilon infinite", "--trust coordinator --algorithm leader",
    "--trust coordinator --algorithm sparse-vector", "--trust coordinator --algorithm limited-updates",
    "--trust coordinator --algorithm stoch --clients 500 --show-loss 0.2 --rounds 400",
    "--trust nobody --algorithm stoch --clients 5000 --message knorm --rounds 400",
    "--trust coordinator --algorithm stoch --clients 500 --pace own --unit client-block --rounds endless",
    "--trust nobody --algorithm stoch --clients 500 --pace own --unit client-block --rounds endless",
    "--trust coordinator --algorithm stoch --clients 5000 --pace own --unit client-block --rounds endless "
    "--show-loss 0.2",
    "--trust coordinator --federation " + "W" * 60 + " --epsilon 11 --delta 0.05 --algorithm hedge",
]


def overclaims():
    with open(LIST, encoding="utf-8") as text:
        return [line.rstrip("\n").split("\t") for line in text if line.strip() and not line.startswith("#")]


PATTERNS = [(re.compile(pattern, re.IGNORECASE), why) for pattern, why in overclaims()]


def overclaimed(text):
    flat = " ".join(text.split())
    return [f"'{found.group()}': {why}" for pattern, why in PATTERNS for found in [pattern.search(flat)] if found]


def run(*words, **more):
    done = subprocess.run([CAUCUS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          **more)
    if done.returncode != 0:
        sys.exit(f"not ok: {' '.join(words)}: {done.stderr}")
    return done.stdout


def hold(true, what):
    if not true:
        sys.exit("not ok: " + what)


def guess(epsilon, delta):
    """Of 100 guesses, how many are right at most; and no more than a tenth above it may be printed."""
    if epsilon is None:
        return 100
    return 100 * ((1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon)))


def check_numbers(plan, text, what):
    g = plan["guarantee"]
    bars = [float(n) for n in re.findall(r"^ *(?:\S.*?)? +([\d.]+)  #[#.]*$", text, re.M)]
    hold(len(bars) == 4 and bars[0] == 50, f"{what}: four bars, the first at 50: {bars}")
    seen = g["epsilon_messages"] if plan["settings"]["trust"] != "coordinator" else None
    if seen is not None:
        seen = max(seen, g["epsilon_choices"])
    for bar, epsilon in zip(bars[1:], (g["epsilon_choices"], seen, plan["epsilon_device"])):
        true = guess(epsilon, g["delta"])
        hold(true - 1e-9 <= bar <= min(100, true + 0.1 + 1e-6), f"{what}: {bar} of 100 is said, it is {true}")


def check_words(plan, text, what):
    flat = " ".join(text.split())
    g, open_plan = plan["guarantee"], plan["guarantee"]["epsilon_choices"] is None
    for said in ("What is not protected", "that a client takes part", "Who must be trusted with what", "no proof",
                 "docs/PRIVACY.md", plan["plan"], "caucus audit --plan", "Signature", "2026-02-03", "add up"):
        hold(said in flat, f"{what}: '{said}' is not said")
    hold(("Nobody. This plan adds no noise" in flat) == open_plan, f"{what}: whether anybody is protected")
    if not open_plan:
        trusted = plan["settings"]["trust"] == "coordinator"
        hold(("Not against the coordinator" in flat) == trusted, f"{what}: what the coordinator sees")
        hold(("nor a relay: each sees its clients' sums" in flat) == trusted, f"{what}: what a relay sees")
        hold(("a relay, where there are any: with its clients' sums" in flat) == trusted, f"{what}: trust in a relay")
        hold(("Against the coordinator and relays, which see" in flat) != trusted, f"{what}: messages at a relay")
        noted = g["epsilon_choices"] > 0 and plan["settings"]["trust"] != "paper-local"
        hold((" a relay " in plan["meaning"]["note"]) == noted, f"{what}: what the plan's note says of relays")
        hold(("lost its state: a lie there costs twice the epsilon" in flat) != trusted, f"{what}: what a lie costs")
        hold(f"epsilon {g['epsilon_choices']:.4g}" in flat, f"{what}: its epsilon")
        if plan["epsilon_device"] is None:
            hold("the run has no end" in flat, f"{what}: that nothing bounds a device")
        else:
            hold(f"one client contributes to the run: epsilon {plan['epsilon_device']:.4g}" in flat,
                 f"{what}: epsilon of a device")
        hold((g["epsilon_choices"] > 10) == ("it protects little" in flat), f"{what}: a weak epsilon is said")
    shows = re.search(r"^ *Look  ", run("plan", plan["file"]), re.M) is not None
    own = plan["settings"].get("pace") == "own"
    hold(('"A private look"' in flat) == shows, f"{what}: where the proof of the figures shown is")
    hold(("figures of their loss are shown" in flat) == shows, f"{what}: that figures are seen")
    hold(("its clock" in flat) == own and ("no old copy of its state" in flat) == own, f"{what}: the device's clock")
    hold(("reproducing a paper" in flat) == (plan["settings"]["trust"] == "paper-local"), f"{what}: paper-local")


def plain(page):
    """What a reader of the HTML sees."""
    page = re.sub(r"<style>.*?</style>", " ", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", " ", page)).replace("\u00a0", " ")


for number, words in enumerate(PLANS):
    split = words.split()
    sizes = [w for pair in zip(SMALL.split()[::2], SMALL.split()[1::2]) if pair[0] not in split for w in pair]
    run("plan", *sizes, *split, "--write", f"plan{number}.yaml")
    plan = json.loads(run("plan", f"plan{number}.yaml", "--format", "json"))
    plan["file"] = f"plan{number}.yaml"
    text = run("statement", f"plan{number}.yaml", "--date", "2026-02-03")
    found = overclaimed(text)
    hold(not found, f"{words}: it says " + "; ".join(found))
    check_numbers(plan, text, words)
    check_words(plan, text, words)
    lines = text.split("\n")
    hold(len(lines) <= LINES, f"{words}: {len(lines)} lines are more than a page")
    hold(max(map(len, lines)) <= COLUMNS, f"{words}: a line of {max(map(len, lines))} columns")
    narrow = run("statement", f"plan{number}.yaml", env=dict(os.environ, COLUMNS="60"))
    wide = [line for line in narrow.split("\n") if len(line) > 60]
    hold(not wide, f"{words}: wider than 60 columns: {wide}")
    hold(text.isascii(), f"{words}: plain characters only")
    run("statement", f"plan{number}.yaml", "--date", "2026-02-03", "--html", "page.html")
    with open("page.html", encoding="utf-8") as page:
        page = page.read()
    seen = plain(page)
    found = overclaimed(seen)
    hold(not found, f"{words}, HTML: it says " + "; ".join(found))
    check_words(plan, seen, words + ", HTML")
    hold(not re.search(r"<script|https?:|\burl\(|@import|\bon\w+=", page), f"{words}: the page stands alone")
print(f"ok: {len(PLANS)} plans overclaim nothing and say what must be said")

CAUGHT = """Your data is anonymous. It is fully private. That is impossible. Losses cannot be inferred.
Nobody can tell. Nothing is revealed. It never reveals anything. GDPR compliant. There is no risk. Risk-free.
Privacy is guaranteed. It is safe. The audit proves it. The audit confirms it. Certified private. Trust nobody.
Zero-trust. It protects everybody. Military-grade. Without any leak. Always. For the result alone. 100 % of people."""
for pattern, why in PATTERNS:
    hold(pattern.search(" ".join(CAUGHT.split())), f"the list would not catch: {pattern.pattern}")
print(f"ok: each of {len(PATTERNS)} overclaims would be caught")
