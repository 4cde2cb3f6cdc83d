# SPDX-License-Identifier: Apache-2.0
"""Look at the status page in every state of a run (browser.py): scripts off, visible text only.

    states.py DEMO [--screenshots FOLDER]

DEMO is the program tests/browser/status_demo. In each state the page must say which expert, since when, how far, how
private and who is missing; be no larger than 60 KB with all that it loads; have nothing that sticks out and nothing
that axe finds, at the width of a desk and of a phone, light and dark. Each check prints one line; the first that fails
ends it with exit code 1. With --screenshots each of them is saved as a picture.
"""
import os
import re
import sys
import tempfile
import time

from axe import finds_nothing
from browser import Browser, check, until
from demo import Demo

MOST_BYTES = 60000
LATE = r"Late: client 10( \(last report \d+ s ago\))?, 11"
HOUR = [word for minute in range(20) for word in ("steps %d" % (1 + minute * 7 % 5), "minutes 1", "look")]
EXPERT = r"[a-z]+-[a-z0-9]+ \(\d+\)"  # a name and a number
RESERVED = (r"Reserved [0-9.]+ of [0-9.]+ by this run \([0-9.]+ used( so far)?; the rest is not given back\), "
            r"[0-9.]+ left")
DONE = r"\d+ of 256 blocks done"
QUESTIONS = ("which expert", "since when", "how far", "how private", "who is missing")


class State:
    """How a state comes about, what answers each of the five questions there, what else it must and must not say."""
    def __init__(self, arguments, before, after, far, missing, said=(), unsaid=(), expert="Expert in force " + EXPERT,
                 since=r"since (block \d+|the start)"):
        self.arguments, self.before, self.after = arguments, before, after
        self.answers = (expert, since, far, RESERVED, missing)
        self.said, self.unsaid = said, unsaid


STATES = {
    "waiting": State(["24", "waiting"], [], ["away 3", "away 24"],
        far="Waiting: 22 of 24 clients are here", missing=r"Not connected: client 3 \(last seen \d+ s ago\), 24",
        expert="Expert in force none yet", since="The run starts when the clients have joined",
        unsaid=["finished", "Late:", "reported, 22", "Step in hand"]),
    "running": State(["24"], ["look", *HOUR, "refuse 3"], ["answer 15", "away 20"],
        far=DONE + ", about .* left", missing=r"Not connected: client 20 \(last seen \d+ s ago\)\.",
        said=["15 of 24 reported, 23 connected", r"block 1, \d+ min ago", r"block \d+, now",
              EXPERT + r", in force: \d+ %"],
        unsaid=["finished", "Late:", "Rolled back"]),
    "late": State(["24"], ["look", "steps 60"], ["answer 9", "overdue"],
        far=DONE, missing=LATE,
        said=["run overdue", r"Past the deadline: waiting for a quorum\. 9 of 24", "All 15 that are missing"],
        unsaid=["Not connected", "Every client is connected", r"blocks done, about", "running"]),
    "overdue": State(["24"], ["look", "steps 60"], ["answer 3"] + ["away %d" % i for i in range(8, 25)] + ["overdue"],
        far=DONE, missing=r"Late: client 4.*Not connected: client 8 \(last seen.*and 5 more, listed under Clients",
        said=["run overdue", r"Past the deadline: waiting for a quorum\. 3 of 24", "3 of 24 reported, 7 connected",
              "All 21 that are missing", "Step in hand"],
        unsaid=["Every client is connected", r"blocks done, about", "running"]),
    "rollback": State(["24"], ["look", "steps 60"], ["claim 5"],
        far=DONE, missing="Every client is connected",
        said=["run stopped", "Rolled back. 5 clients have heard more than this state holds", "Nothing more is decided"],
        unsaid=["finished", "running", r"blocks done, about", "stays open", "Step in hand"]),
    "finished": State(["24"], ["look", "steps 1000"], [],
        far="256 of 256 blocks done", missing="Nothing more is asked of anybody.*24 clients; 24 still connected",
        said=["run finished", EXPERT + r" stays in force\.", r"block 256, \d+ s ago", r"Ran for \d+ min"],
        unsaid=["finished.*finished", "used so far",
                "Decisions committed", "asked.*asked", "Not connected", "Late:", "stays open", "done, about",
                "reported,", "Running for"]),
    "endless": State(["24", "endless"], ["look", "steps 100"], ["answer 20"],
        far=r"\d+ blocks done; this run has no end", missing="Every client is connected",
        said=["endless rounds", "20 of 24 reported"], unsaid=["finished", r"blocks done, about"]),
    "hedge": State(["24", "hedge"], ["look", "steps 200"], ["answer 20", "away 24"],
        far=DONE, missing="Not connected: client 24",
        said=[EXPERT + r", in force: (below )?\d+ %", EXPERT + r": \d+ %", r"others: \d+ %",
              r"Changes of expert \d+ so far; this algorithm selects anew in every block"],
        unsaid=["finished", "Checks made"]),
    "long-names": State(["200", "long"], ["look", *["steps 10", "look"] * 20], ["answer 100"] + ["away %d" % i
        for i in range(101, 201, 2)],
        far=DONE, missing="Not connected: client 101.* and 38 more, listed under Clients",
        said=[r"Expert in force (?=.{64} \()" + EXPERT, "100 of 200 reported, 150 connected"], unsaid=["finished"]),
    "relays": State(["24"], ["look", "steps 60"], ["relays 5", "answer 20"],
        far=DONE, missing="Every client is connected",
        said=["4 of 5 relays here, with 24 clients; [0-9,]+ reports came through them", "Not here: relay 5",
              "Relay by relay", "what relays send is not in it"],
        unsaid=["NATS is not connected", "Cut off"]),
    "ten": State(["10"], ["look", "steps 60"], ["answer 4", "away 9"],
        far=DONE, missing="Not connected: client 9", said=["4 of 10 reported, 9 connected"], unsaid=["Each square"]),
    "ten-thousand": State(["10000"], ["look", "steps 3"],
        ["answer 7000"] + ["away %d" % i for i in [*range(7001, 7041), 9999]],
        far=DONE, missing=r"Not connected: client 7001 .* and 29 more, listed under Clients",
        said=["7000 of 10000 reported, 9959 connected", "Each square is 100 clients", "All 41 that are missing",
              "A corner: somebody there is late. A dash: somebody is away"],
        unsaid=["finished"]),
}
WIDTHS = {1280: 0.5, 390: 0.75}  # and how much smaller the pictures are


def look(demo):
    """A view of its own: the last one is shared for a tenth of a second."""
    time.sleep(0.12)
    demo.status()


def is_so(status, clients, commands):
    """What was told last is in the view that JSON and page share for a moment."""
    told = {command.split()[0]: int((command + " 0").split()[1]) for command in commands}
    away = sum(command.startswith("away") for command in commands)
    return (status["present"] == clients - away and status["answered"] == told.get("answer", 0)
        and status["overdue"] == ("overdue" in told) and status["rollback_claims"] == told.get("claim", 0))


def words(browser, demo, name, state):
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.cdp("Page.navigate", {"url": demo.url})
    until(lambda: "metrics" in browser.visible(), name + ": scripts off, the page is there")
    text = browser.visible()

    def says(what, pattern, true):
        check(true, "%s: %s'%s'%s" % (name, what, pattern, "" if true else "\n        " + text))

    for question, pattern in zip(QUESTIONS, state.answers):
        says(question + "? ", pattern, re.search(pattern, text))
    for pattern in [*state.said, "Steps decided", "Reports counted", "Refusals"]:
        says("it says ", pattern, re.search(pattern, text))
    for pattern in state.unsaid:
        says("it does not say ", pattern, not re.search(pattern, text))
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": False})


def keyboard(browser, demo, clients):
    """Each client has a place that the keyboard comes to: in the page itself, or in what a square opens."""
    links = re.findall(r'<a href="(/\?clients=\d+)#some"', demo.get("").decode()) or [""]
    reached = set()
    for link in links[::33] if len(links) > 1 else links:
        browser.cdp("Page.navigate", {"url": demo.url + link.lstrip("/")})
        until(lambda: browser.count(".dots i") > 0, "the page%s has clients" % link)
        reached |= set(browser.run("""return [...document.querySelectorAll('.dots i')].filter(e => {
            e.focus(); return document.activeElement === e; }).map(e => parseInt(e.title.split(' ')[1]))"""))
    many = len(links) > 1
    if many:
        finds_nothing(browser, "a square's clients")
        check(len(demo.get(links[0].lstrip("/"))) < MOST_BYTES, "and the page stays small")
    firsts, each = (range(1, clients + 1, 3300), 100) if many else ([1], clients)
    want = {first + i for first in firsts for i in range(each)}
    check(reached == want, "the keyboard reaches %d clients%s" % (len(want), " of those that squares open" * many))


def looks(browser, demo, name, pictures):
    browser.cdp("Page.navigate", {"url": demo.url})
    until(lambda: browser.run("return document.readyState") == "complete", name + ": scripts on")
    loaded = sum(len(demo.get(path)) for path in ("", "style.css", "app.js", "icon.svg"))
    check(loaded < MOST_BYTES, "%s: %d bytes in all" % (name, loaded))
    for width, scale in WIDTHS.items():
        browser.size(width, 800)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            wide = browser.run("return document.documentElement.scrollWidth")
            check(wide <= width, "%s: nothing sticks out at %d pixels" % (name, width))
            finds_nothing(browser, "%s, %d, %s" % (name, width, scheme))
            if pictures:
                browser.picture("%s/%s-%d-%s.png" % (pictures, name, width, scheme), scale)
    if pictures and name == "running":
        browser.size(900, 800)
        browser.scheme("light")
        browser.picture(pictures + "/status.png")


def main():
    pictures = sys.argv[sys.argv.index("--screenshots") + 1] if "--screenshots" in sys.argv else None
    os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            for name, state in STATES.items():
                demo = Demo(sys.argv[1], *state.arguments)
                try:
                    for command in state.before:
                        look(demo) if command == "look" else demo.tell(command)
                    look(demo)  # at everybody, so that those who go then were seen
                    demo.tell(*state.after)
                    until(lambda: is_so(demo.status(), int(state.arguments[0]), state.after), name + ": it is so")
                    words(browser, demo, name, state)
                    if name in ("ten", "running", "ten-thousand"):
                        keyboard(browser, demo, int(state.arguments[0]))
                    looks(browser, demo, name, pictures)
                finally:
                    demo.end()
            strangers = [host for host in browser.hosts() if not host.startswith("127.0.0.1:")]
            check(not strangers, "no other host was asked for anything")
        finally:
            browser.end()


main()
