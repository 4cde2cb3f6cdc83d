# SPDX-License-Identifier: Apache-2.0
"""Look at the report page, or an audit's, in a real browser (browser.py): at the width of a phone and of a desk, light
and dark, on paper.

    report.py FOLDER [--screenshots FOLDER]

FOLDER is what `caucus reproduce --out FOLDER` made, with all of its sections, or what `caucus audit --out FOLDER` made.
Each check prints one line; the first
that fails ends it with exit code 1. With --screenshots the page is also saved as a picture at each width.
"""
import base64
import os
import re
import sys
import tempfile

from axe import finds_nothing
from browser import Browser, check

PHONE, DESK = 360, 1280
LEAST_TEXT = 11  # CSS pixels, in a figure on a phone

# Heights of the text in figures as drawn: the font's size times what the drawing was scaled by.
TEXT_SIZES = """
    return [...document.querySelectorAll('figure svg text')].filter(t => t.textContent.trim()).map(t => {
        const m = t.getScreenCTM(); return parseFloat(getComputedStyle(t).fontSize) * Math.hypot(m.b, m.d); });"""

# Whatever sticks out of the page or of a box that cuts it off; and text that ends outside of its figure.
STICKS_OUT = """
    const wide = document.documentElement.clientWidth + 0.5, out = [];
    for (const e of document.querySelectorAll('main *')) {
        const head = e.closest('thead');
        if (head && getComputedStyle(head).position === 'absolute') continue; // there for screen readers alone
        const box = e.getBoundingClientRect();
        if (box.width > 1 && (box.right > wide || box.left < -0.5) && !e.closest('defs')) out.push(e.tagName + ' ' +
            e.className + ' ' + e.textContent.slice(0, 40));
        if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1 && getComputedStyle(e).overflowX !== 'visible' &&
            !e.closest('svg'))
            out.push('cut off: ' + e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 40));
    }
    for (const t of document.querySelectorAll('figure svg text')) {
        const text = t.getBoundingClientRect(), svg = t.ownerSVGElement.getBoundingClientRect();
        if (text.left < svg.left - 1 || text.right > svg.right + 1 || text.top < svg.top - 1 ||
            text.bottom > svg.bottom + 1)
            out.push('outside of its figure: ' + t.textContent);
    }
    return out;"""

# Pairs of texts of one figure whose boxes meet.
TEXTS_THAT_MEET = """
    const out = [];
    for (const svg of document.querySelectorAll('figure svg')) {
        const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => [t.textContent,
            t.getBoundingClientRect()]);
        texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
            const across = Math.min(p.right, q.right) - Math.max(p.left, q.left), down = Math.min(p.bottom,
                q.bottom) - Math.max(p.top, q.top);
            // Lines of a key stand close: a fifth of a line's box is above and below the letters.
            if (across > 1 && down > 0.2 * Math.min(p.height, q.height)) out.push(a + ' | ' + b);
        }));
    }
    return out;"""

# Cells of tables without a name on a screen where the header is out of sight.
NAMELESS = """
    return [...document.querySelectorAll('table.cards:has(thead) td:not(:first-child):not([colspan])')].filter(td =>
        getComputedStyle(td, '::before').content === 'none').length;"""

# Tables of numbers that are not tables any more.
SCATTERED = """
    return [...document.querySelectorAll('table.compare')].filter(t =>
        getComputedStyle(t).display !== 'table' || getComputedStyle(t.tHead).position !== 'static').length;"""


def look(browser, width, pictures):
    browser.size(width, 800)
    found = browser.run(STICKS_OUT)
    check(not found, "%d pixels: nothing sticks out or is cut off%s" % (width,
        "".join("\n        " + f for f in found[:8])))
    check(browser.run("return document.documentElement.scrollWidth") <= width,
        "%d pixels: no scrolling sideways" % width)
    sizes = browser.run(TEXT_SIZES)
    check(len(sizes) > 100, "%d pixels: the figures' texts are found: %d" % (width, len(sizes)))
    print("        text in figures: %.1f to %.1f pixels" % (min(sizes), max(sizes)))
    check(min(sizes) >= LEAST_TEXT, "%d pixels: none is smaller than %d" % (width, LEAST_TEXT))
    check(max(sizes) <= 20, "%d pixels: none is larger than 20" % width)
    found = browser.run(TEXTS_THAT_MEET)
    check(not found, "%d pixels: no text of a figure meets another%s" % (width,
        "".join("\n        " + f for f in found[:8])))
    in_both_schemes(browser, "report", width, pictures)


def in_both_schemes(browser, name, width, pictures):
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        finds_nothing(browser, "%d pixels, %s" % (width, scheme))
        if pictures:
            browser.picture("%s/%s-%d-%s.png" % (pictures, name, width, scheme), 0.5)
    browser.scheme("light")


def prints_well(browser):
    """On A4, no figure is higher than a page, and nothing is wider."""
    browser.cdp("Emulation.setEmulatedMedia", {"media": "print"})
    browser.size(718, 1000)  # 190 mm at 96 pixels an inch
    heights = browser.run("""return [...document.querySelectorAll('figure, tr')].map(e =>
        e.getBoundingClientRect().height)""")
    check(max(heights) < 1000, "on paper: no figure and no row is higher than a page")
    check(browser.run("return document.documentElement.scrollWidth") <= 718, "on paper: nothing is wider than it")
    whole = browser.run("""return [...document.querySelectorAll('figure, tr, .claims li')].filter(e =>
        getComputedStyle(e).breakInside !== 'avoid').length""")
    check(whole == 0, "on paper: no figure, row or claim is cut in two")
    pdf = base64.b64decode(browser.cdp("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])
    check(len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 1, "on paper: it can be printed")
    browser.cdp("Emulation.setEmulatedMedia", {"media": ""})


def look_at_audit(browser, address, pictures):
    browser.call("POST", "/url", {"url": address})
    for width in (1280, 390, 320):
        browser.size(width, 800)
        check(browser.run("return document.documentElement.scrollWidth") <= width,
            "%d pixels: nothing sticks out" % width)
        sizes = browser.run("""return [...document.querySelectorAll('td, h2, p')].map(e =>
            parseFloat(getComputedStyle(e).fontSize))""")
        check(min(sizes) >= 13, "%d pixels: text of %.1f pixels or more" % (width, min(sizes)))
        bars = browser.run("""return [...document.querySelectorAll('td.bar svg')].map(e =>
            e.getBoundingClientRect().width)""")
        check(bars and min(bars) >= 100, "%d pixels: bars of %.0f pixels or more" % (width, min(bars)))
        in_both_schemes(browser, "audit", width, pictures if width != 320 else None)
    headings = browser.run("return [...document.querySelectorAll('h2')].map(h => h.textContent.split(':')[0])")
    check(headings == ["Must hold", "Must be caught"], "what must hold, then what must be caught")


def main():
    page = os.path.abspath(sys.argv[1]) + "/index.html"
    pictures = sys.argv[sys.argv.index("--screenshots") + 1] if "--screenshots" in sys.argv else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            browser.size(DESK, 800)
            if not os.path.exists(page):
                look_at_audit(browser, "file://" + os.path.dirname(page) + "/audit.html", pictures)
                return
            browser.call("POST", "/url", {"url": "file://" + page})
            sections = browser.count("main > section")
            check(sections >= 4, "the page has its sections: %d" % sections)
            look(browser, DESK, pictures)
            check(browser.run("return getComputedStyle(document.querySelector('thead')).position") == "static",
                "tables are tables")
            look(browser, PHONE, None)
            nameless = browser.run(NAMELESS)
            check(nameless == 0 and browser.count("td[data-label]") > 50, "as cards, every cell says what it is")
            check(browser.run(SCATTERED) == 0 and browser.count("table.compare") >= 10,
                "tables of numbers stay tables on a phone")
            browser.size(390, 800)
            in_both_schemes(browser, "report", 390, pictures)
            for width in (320, 414, 544, 560, 640, 656, 768):
                browser.size(width, 800)
                check(browser.run("return document.documentElement.scrollWidth") <= width,
                    "nothing sticks out at %d pixels" % width)
            prints_well(browser)
            check(browser.hosts() == set(), "no host was asked for anything")
            complaints = browser.complaints()
            check(not complaints, "the browser has no complaint" + "".join("\n        " + c for c in complaints))
        finally:
            browser.end()


main()
