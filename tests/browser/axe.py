# SPDX-License-Identifier: Apache-2.0
"""axe, which looks for what keeps people with a screen reader, a keyboard or weak eyes from using a page.

The Python package axe-playwright-python carries axe.min.js; run.sh fetches it. CAUCUS_AXE names the file; only where it
is `none` are the checks left out, and each of them says so. Injected through the browser's debugger, it is not stopped
by the page's own policy.
"""
import os
import sys

from browser import check

SCRIPT = """
    return axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.flatMap(v =>
        v.nodes.map(n => v.id + ': ' + v.help + ': ' + n.target.join(' ') + ' ' + n.html.slice(0, 120) + ' ' +
            (n.any.concat(n.all).concat(n.none)[0] || {message: ''}).message)));"""


def finds_nothing(browser, where):
    path = os.environ.get("CAUCUS_AXE", "")
    if path == "none":
        print("LEFT OUT " + where + ": axe is not here", flush=True)
        return
    found = violations(browser, path)
    check(not found, "%s: axe finds nothing%s" % (where, "".join("\n        " + f for f in found[:8])))


def violations(browser, path):
    """One line each."""
    if not os.path.isfile(path):
        sys.exit("axe is not at '%s' (CAUCUS_AXE)" % path)
    with open(path, encoding="utf-8") as text:
        source = text.read()
    browser.cdp("Runtime.evaluate", {"expression": source + "; 0"})
    result = browser.cdp("Runtime.evaluate", {"expression": "(() => {" + SCRIPT + "})()", "awaitPromise": True,
        "returnByValue": True})
    if "exceptionDetails" in result:
        sys.exit("axe did not run: " + str(result["exceptionDetails"])[:400])
    return result["result"]["value"]
