# SPDX-License-Identifier: Apache-2.0
"""Look at statements in a real browser (browser.py): one sheet of paper, a phone, dark, axe.

    statement.py PROGRAM [--screenshots FOLDER]

Each check prints one line; the first that fails ends it with exit code 1.
"""
import base64
import os
import re
import subprocess
import sys
import tempfile

from axe import finds_nothing
from browser import Browser, check

SHEETS = {"A4": (8.27, 11.69), "letter": (8.5, 11)}
LONGEST = "W" * 64
LONGEST_FILE = "p" * 75 + ".yaml"  # that stands on the page
PLANS = {
    "coordinator": ["--algorithm", "svt", "--trust", "coordinator"],
    "nobody": ["--algorithm", "stoch", "--trust", "nobody", "--message", "gauss", "--delta", "1e-6"],
    # everything that a page can say at once
    "weak": ["--algorithm", "hedge", "--trust", "coordinator", "--epsilon", "12", "--delta", "0.09", "--clients", "16",
             "--federation", LONGEST],
    "longest": ["--algorithm", "stoch", "--trust", "nobody", "--pace", "own", "--phase-time", "1d", "--unit",
                "client-block", "--message", "gauss", "--delta", "0.01", "--clients", "500", "--epsilon", "12",
                "--rounds", "endless", "--federation", LONGEST],
    "open": ["--algorithm", "leader", "--trust", "coordinator"],
}


def pages_of(browser, size):
    width, height = size
    pdf = base64.b64decode(browser.cdp("Page.printToPDF", {"paperWidth": width, "paperHeight": height})["data"])
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def look(browser, address, name, pictures):
    browser.call("POST", "/url", {"url": address})
    for sheet, size in SHEETS.items():
        check(pages_of(browser, size) == 1, "%s: one sheet of %s" % (name, sheet))
    for width in (1280, 390):
        browser.size(width, 800)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            wide = browser.run("return document.documentElement.scrollWidth")
            check(wide <= width, "%s: nothing sticks out at %d pixels" % (name, width))
            finds_nothing(browser, "%s, %d, %s" % (name, width, scheme))
            if pictures:
                browser.picture("%s/%s-%d-%s.png" % (pictures, name, width, scheme))
    text = browser.run("return document.body.innerText")
    for said in ("Who is protected", "What is not protected", "Who must be trusted", "no proof", "Signature"):
        check(said in text, "%s: it says '%s'" % (name, said))


def main():
    program = os.path.abspath(sys.argv[1])
    pictures = sys.argv[sys.argv.index("--screenshots") + 1] if "--screenshots" in sys.argv else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            for name, words in PLANS.items():
                file = LONGEST_FILE if LONGEST in words else "plan.yaml"
                for command in (["plan", *words, "--write", file, "--force"],
                                ["statement", file, "--html", name + ".html", "--date", "2026-01-31"]):
                    subprocess.run([program, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
                look(browser, "file://%s/%s.html" % (folder, name), name, pictures)
            check(browser.hosts() == set(), "no host was asked for anything")
        finally:
            browser.end()


main()
