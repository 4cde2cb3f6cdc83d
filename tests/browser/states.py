# SPDX-License-Identifier: Apache-2.0
"""Look at the status page in every state of a run (browser.py): scripts off, visible text only.

    states.py DEMO [--screenshots FOLDER]

DEMO is the program tests/browser/status_demo. In each state the page must say which expert, since when, how far, how
private and who is missing; be no larger than 60 KB with all that it loads; have nothing that sticks out and nothing
that axe finds, at the width of a desk and of a phone, light and dark. Each check prints one line; the first that fails
ends it with exit code 1. With --screenshots each of them is saved as a picture.
"""
import base64
import os
import re
import sys
import tempfile
import time

from axe import violations
from browser import Browser, check, until
from demo import Demo

MOST_BYTES = 60000
LATE = r"Late: client 10( \(last report \d+ s ago\))?, 11"
HOUR = [word for minute in range(20) for word in ("steps %d" % (1 + minute * 7 % 5), "minutes 1", "look")]
# name: (arguments of the program, commands before a look, commands after it, what the page must say, what it must not)
STATES = {
    "waiting": (["24", "waiting"], [], ["away 3", "away 24"],
        ["none yet", "The run starts when the clients have joined: 22 of 24 are here", "Waiting: 22 of 24",
         r"Reserved 10 of 30", r"Not connected: client 3 \(last seen \d+ s ago\), 24"],
        ["This run is finished", "Late:"]),
    "running": (["24"], ["look", *HOUR, "refuse 3"], ["answer 15", "away 20"],
        [r"since block \d+", r"\d+ of 256 blocks done", r"Reserved 10 of 30", "Not connected: client 20",
         "15 of 24 reported", r"block 1, \d+ min ago", r"block \d+, now"],
        ["This run is finished", "Late:", "Rolled back"]),
    "late": (["24"], ["steps 60"], ["answer 9", "overdue"],
        [r"since block \d+", r"\d+ of 256 blocks done", LATE, "Past the deadline: waiting for a quorum"],
        ["Not connected", "Every client is connected"]),
    "overdue": (["24"], ["steps 60"], ["answer 3"] + ["away %d" % i for i in range(8, 25)] + ["overdue"],
        ["Past the deadline: waiting for a quorum", r"Late: client 4", r"Not connected: client 8 \(last seen",
         "and 5 more", "3 of 24 reported, 7 connected"],
        ["Every client is connected"]),
    "rollback": (["24"], ["steps 60"], ["claim 5"],
        ["Rolled back. 5 clients have heard more than this state holds", "Nothing more is decided", r"since block \d+"],
        ["This run is finished"]),
    "finished": (["24"], ["look", "steps 1000"], [],
        [r"This run is finished. Expert \d+ stays in force", "256 of 256 blocks done", r"Reserved 10 of 30",
         r"block 255, \d+ s ago"],
        ["Not connected", "Late:", "stays open", "done, about"]),
    "endless": (["24", "endless"], ["steps 100"], ["answer 20"],
        [r"since block \d+", r"\d+ blocks done; this run has no end", "endless rounds", "20 of 24 reported"],
        ["This run is finished", r"blocks done, about"]),
    "ten": (["10"], ["steps 60"], ["answer 4", "away 9"],
        [r"since block \d+", "4 of 10 reported, 9 connected", "Not connected: client 9"], ["Each square"]),
    "ten-thousand": (["10000"], ["steps 3"], ["answer 7000", "away 7001", "away 9999"],
        ["7000 of 10000 reported, 9998 connected", "Each square is 100 clients", "Not connected: client 7001", "9999"],
        ["This run is finished"]),
}
WIDTHS = {1280: 0.5, 390: 0.75}  # and how much smaller the pictures are


def visible(browser):
    """The text of the page, from outside of it, since nothing runs in it: without what is hidden or a tooltip."""
    root = browser.cdp("DOM.getDocument", {})["root"]["nodeId"]
    body = browser.cdp("DOM.querySelector", {"nodeId": root, "selector": "body"})["nodeId"]
    html = browser.cdp("DOM.getOuterHTML", {"nodeId": body})["outerHTML"]
    html = re.sub(r"<title>.*?</title>|<details.*?</details>|<p [^>]*hidden[^>]*>.*?</p>", "", html, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def picture(browser, path, width, scale):
    height = min(browser.run("return document.documentElement.scrollHeight"), 2600)
    shot = browser.cdp("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True,
        "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}})
    with open(path, "wb") as file:
        file.write(base64.b64decode(shot["data"]))


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


def words(browser, demo, name, said, unsaid):
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.cdp("Page.navigate", {"url": demo.url})
    until(lambda: "metrics" in visible(browser), name + ": scripts off, the page is there")
    text = visible(browser)
    for pattern in said:
        check(re.search(pattern, text), "%s: it says '%s'%s" % (name, pattern,
            "" if re.search(pattern, text) else "\n        " + text))
    for pattern in unsaid:
        check(not re.search(pattern, text), "%s: it does not say '%s'" % (name, pattern))
    for number in ("Steps decided", "Reports counted", "Refusals"):
        check(number in text, "%s: the last hour has '%s'" % (name, number))
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": False})


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
            found = violations(browser)
            check(not found, "%s, %d, %s: axe finds nothing%s" % (name, width, scheme,
                "".join("\n        " + f for f in found)))
            if pictures:
                picture(browser, "%s/status-%s-%d-%s.png" % (pictures, name, width, scheme), width, scale)


def main():
    pictures = sys.argv[sys.argv.index("--screenshots") + 1] if "--screenshots" in sys.argv else None
    os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            for name, (arguments, before, after, said, unsaid) in STATES.items():
                demo = Demo(sys.argv[1], *arguments)
                try:
                    for command in before:
                        look(demo) if command == "look" else demo.tell(command)
                    look(demo)  # at everybody, so that those who go then were seen
                    demo.tell(*after)
                    until(lambda: is_so(demo.status(), int(arguments[0]), after), name + ": it is so")
                    words(browser, demo, name, said, unsaid)
                    looks(browser, demo, name, pictures)
                finally:
                    demo.end()
            strangers = [host for host in browser.hosts() if not host.startswith("127.0.0.1:")]
            check(not strangers, "no other host was asked for anything")
        finally:
            browser.end()


main()
