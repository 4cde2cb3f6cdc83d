# SPDX-License-Identifier: Apache-2.0
"""Look at the status page in a real browser (browser.py).

    drive.py DEMO

DEMO is the program tests/browser/status_demo. Each check prints one line; the first that fails ends it with exit code
1. states.py looks at every state of a run.
"""
import os
import re
import sys
import tempfile

from axe import finds_nothing
from browser import Browser, check, until
from demo import Demo


BLOCKS = 256  # of status_demo's plan


def width_of(browser, selector):
    return browser.run("return document.querySelector('%s').getBoundingClientRect().width" % selector)


def shows_what_is(browser, demo):
    status = demo.status()
    expert = "%s (%d)" % (status["expert_name"], status["expert"])
    check(browser.text("expert") == expert, "the expert in force is shown: %s" % expert)
    check("block %d" % status["since_block"] in browser.text("since"), "and since when")
    share = 1 - status["left_epsilon"] / status["budget_epsilon"]
    drawn = width_of(browser, "#privacy-bar .part") / width_of(browser, "#privacy-bar .whole")
    check(0 < share < 1 and abs(drawn - share) < 0.01, "the privacy bar is as long as its share: %.2f" % share)
    share = status["selections"] / status["selections_allowed"]
    drawn = width_of(browser, "#switch-bar .part") / width_of(browser, "#switch-bar .whole")
    check(0 < share < 1 and abs(drawn - share) < 0.01, "the switch bar is as long as its share: %.2f" % share)
    narrow = browser.run("return [...document.querySelectorAll('#history path')].map(e => e.getAttribute('d')).join()")
    check(browser.count("#history rect") + narrow.count("M") == len(status["history"]) > 1,
          "the strip has every expert so far")
    check(browser.count("#dots i") == status["clients"], "every client has its dot")
    check(browser.count("#dots i.reported") == status["answered"] > 0, "those that reported are filled")
    check(browser.count("#dots i.away") == status["clients"] - status["present"] > 0, "those that are away are dashes")
    check("of %d blocks done" % BLOCKS in browser.text("progress"), "how far the run is: " + browser.text("progress"))
    check(re.fullmatch(r"Not connected: client 20 \(last seen \d+ (s|min) ago\), 23 \(last seen \d+ (s|min) ago\)\.",
        browser.text("missing").strip()), "who is missing, by number, and since when: " + browser.text("missing"))
    check("in force" in browser.text("history") and "block " in browser.text("history"),
        "the strip has an axis and a key")
    check(re.search(r"block 1, \d+ (s|min) ago.*block \d+, now", browser.text("history").replace("\n", " ")),
        "the axis has times, too: " + browser.text("history"))
    check("paper" not in browser.run("return document.body.innerText").lower(), "no paper on an operator's page")
    check("{{" not in browser.run("return document.documentElement.outerHTML"), "nothing is left to fill in")
    check(browser.run("return document.querySelector('h1').textContent") == status["name"],
        "the name is shown as it is, markup and all")


def updates(browser, demo):
    browser.run("window.same = true; document.querySelector('details').open = true")
    before = browser.text("expert")
    demo.tell("steps 60")
    until(lambda: demo.status()["serial"] == 120, "the federation has gone on")  # a view is shared for a moment
    after = "%s (%d)" % (demo.status()["expert_name"], demo.status()["expert"])
    check(before != after, "and has switched: %s to %s" % (before, after))
    until(lambda: browser.text("expert") == after, "the page follows")
    until(lambda: after in browser.text("said"), "and tells a screen reader")
    check(browser.run("return window.same === true && document.querySelector('details').open"),
        "without being loaded again")
    check(" left" in browser.text("progress"), "how long it will take: " + browser.text("progress"))
    demo.tell("answer 9", "overdue")
    until(lambda: browser.count("#dots i.late") > 0, "past the deadline, those expected are late")
    check(browser.text("missing").startswith("Late: client 10"), "and named: " + browser.text("missing"))


def keeps_the_place(browser, demo):
    """Whoever reads with a keyboard, has opened a list or marked some text keeps all of it when the page changes."""
    demo.tell("steps 1", "answer 3", *("away %d" % i for i in range(8, 25)), "overdue")
    until(lambda: browser.count("#dots i.away") == 17 and browser.count("#missing-list") == 1,
        "many are missing: there is a list of them")
    browser.run("""
        document.getElementById('missing-list').open = true;
        window.place = document.querySelector('#dots i.away');
        window.place.focus();
        const range = document.createRange();
        range.selectNodeContents(document.getElementById('clients-title'));
        getSelection().removeAllRanges();
        getSelection().addRange(range);""")
    for told, reported in ((["answer 4"], 4), (["back 8", "answer 8"], 8)):  # the second one is who has the focus
        demo.tell(*told)
        until(lambda: browser.count("#dots i.reported") == reported, "the page has changed: %d reported" % reported)
        check(browser.run("return document.activeElement === window.place && place.title.startsWith('client 8:')"),
            "the focus stays where it was")
        check(browser.run("return document.getElementById('missing-list').open"), "what was opened stays open")
        check(browser.run("return String(getSelection())").upper() == "CLIENTS", "what was marked stays marked")


BUBBLES = """
    const out = [], wide = document.documentElement.clientWidth;
    for (const dot of document.querySelectorAll('#dots i')) {
        dot.tabIndex = 0;
        dot.focus();
        const style = getComputedStyle(dot, '::after'), box = dot.getBoundingClientRect();
        if (style.content === 'none') { out.push(dot.title + ' has no bubble'); continue; }
        const width = parseFloat(style.width) + (style.boxSizing === 'border-box' ? 0 :
            parseFloat(style.paddingLeft) + parseFloat(style.paddingRight));
        const left = style.left === '0px' ? box.left : box.right - width;
        if (left < 0 || left + width > wide || document.documentElement.scrollWidth > wide)
            out.push(dot.title + ': ' + left + ' to ' + (left + width));
    }
    document.activeElement.blur();
    return out;"""


def bubbles_stay_inside(browser):
    for width in (320, 390, 900):
        browser.size(width, 1400)
        found = browser.run(BUBBLES)
        check(not found, "%d pixels: every dot's bubble is on the page%s" % (width,
            "".join("\n        " + f for f in found[:8])))


def reads_well(browser):
    nameless = browser.run("""return [...document.querySelectorAll('[role=img], section')].filter(e => !e.title &&
        !e.getAttribute('aria-label') && !document.getElementById(e.getAttribute('aria-labelledby'))).length""")
    check(nameless == 0 and browser.count("[role=img]") >= 6, "every figure and section has a name for a screen reader")
    check(browser.count("main") == 1 and browser.count("h1") == 1
        and browser.run("return document.documentElement.lang") == "en",
          "one main part, one title, a language")
    for width in (390, 320, 900, 1600):
        browser.size(width, 1400)
        wide = browser.run("return document.documentElement.scrollWidth")
        check(wide <= width, "nothing sticks out at %d pixels" % width)
    contrast = """
        const rgb = c => c.match(/[0-9.]+/g).slice(0, 3).map(
            v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        const light = c => { const [r, g, b] = rgb(c); return .2126 * r + .7152 * g + .0722 * b; };
        const ground = e => {
            for (; e; e = e.parentElement) {
                const c = getComputedStyle(e).backgroundColor;
                if (!/, 0\\)$/.test(c)) return c;
            }
            return 'rgb(255,255,255)'; };
        return Math.min(...[...document.querySelectorAll('h1,h2,p,dd,dt,td,th,a,summary')].filter(e =>
            e.textContent.trim()).map(e => {
            const a = light(getComputedStyle(e).color), b = light(ground(e));
            return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }))"""
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        worst = browser.run(contrast)
        check(worst >= 4.5, "text stands out, %s: %.1f to 1 at worst" % (scheme, worst))
        finds_nothing(browser, scheme)
    browser.scheme("light")


def works_without_scripts(browser, demo):
    """states.py asks what the page says then."""
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.cdp("Page.navigate", {"url": demo.url})

    def find(selector):
        root = browser.cdp("DOM.getDocument", {})["root"]["nodeId"]
        return browser.cdp("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]

    until(lambda: find("footer a") and find("noscript > meta[http-equiv=refresh]"),
        "scripts off: the page comes again by itself")
    check(find("#history rect") and find("#dots i") and find("#privacy-bar rect"),
        "scripts off: the figures are there too")
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": False})
    browser.cdp("Page.navigate", {"url": demo.url})
    until(lambda: browser.run("return document.readyState") == "complete", "scripts on again")


def ends(browser, demo):
    demo.tell("steps 1000")
    until(lambda: browser.text("state") == "finished" and "stays in force." in browser.text("over"),
        "a finished run looks finished")
    until(lambda: browser.count("#dots") == browser.count("#clock") == 0, "and asks for nothing more")
    check("%d of %d blocks done" % (BLOCKS, BLOCKS) in browser.text("progress"), "and is all done")
    check(browser.text("missing").strip() == "", "and misses nobody")


def says_when_nobody_answers(browser, demo):
    check(demo.end() == 0, "the coordinator ends")
    until(lambda: browser.run("return !document.getElementById('lost').hidden"), "the page says that nobody answers")


def main():
    os.environ["no_proxy"] = "127.0.0.1"
    demo = Demo(sys.argv[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            demo.tell("steps 60")
            demo.status()  # a look at everybody, so that those who go then were seen
            demo.tell("answer 15", "away 20", "away 23")
            until(lambda: demo.status()["present"] == 22, "the demonstration runs")
            browser.size(900, 1400)
            browser.call("POST", "/url", {"url": demo.url})
            shows_what_is(browser, demo)
            updates(browser, demo)
            keeps_the_place(browser, demo)
            bubbles_stay_inside(browser)
            reads_well(browser)
            works_without_scripts(browser, demo)
            check(browser.hosts() == {demo.host}, "no other host was asked for anything")
            complaints = browser.complaints()
            check(not complaints, "the browser has no complaint" + "".join("\n        " + c for c in complaints))
            ends(browser, demo)
            says_when_nobody_answers(browser, demo)
        finally:
            browser.end()
            if demo.process.poll() is None:
                demo.end()


main()
