# SPDX-License-Identifier: Apache-2.0
"""A real browser for the tests here: chromium through chromedriver (the W3C WebDriver protocol, no library)."""
import base64
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--disable-features=OptimizationHints,MediaRouter,Translate"]
PATIENCE = 20  # seconds until a condition that must come true is given up


def check(true, what):
    print(("ok      " if true else "FAILED  ") + what, flush=True)
    if not true:
        sys.exit(1)


def until(condition, what):
    """A condition that must come true; how long it takes is not judged."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return check(True, what)
        time.sleep(0.1)
    check(False, what)


# What a person can read: text that is laid out, not hidden in any way, not clipped away, and has a size.
VISIBLE = """
    const words = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const clipped = e => {
        for (; e; e = e.parentElement)
            if (getComputedStyle(e).clipPath !== 'none') return true;
        return false; };
    for (let node; (node = walk.nextNode());) {
        const e = node.parentElement, range = document.createRange();
        if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || clipped(e)) continue;
        if (e.closest('svg') && !e.closest('text')) continue;
        range.selectNodeContents(node);
        if ([...range.getClientRects()].some(box => box.width > 1 && box.height > 1)) words.push(node.data);
    }
    return words.join(' ').replace(/\\s+/g, ' ').replace(/ ([.,;:)])/g, '$1');"""


class Browser:
    def __init__(self, folder):
        self.folder = folder
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        port = None
        for line in self.driver.stdout:
            if "successfully on port" in line:
                port = line.rstrip(".\n").split()[-1]
                break
        if not port:
            sys.exit("chromedriver does not start")
        self.base = "http://127.0.0.1:" + port
        options = {"args": FLAGS + ["--user-data-dir=" + folder + "/profile"], "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.base += "/session/" + self.session

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit("chromedriver: " + error.read().decode()[:400])

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def text(self, name):
        return self.run("return document.getElementById('%s').textContent" % name)

    def count(self, selector):
        return self.run("return document.querySelectorAll('%s').length" % selector)

    def cdp(self, command, params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def visible(self):
        """The text that can be seen. The page's own scripts may be off: this runs in the debugger."""
        answer = self.cdp("Runtime.evaluate", {"expression": "(() => {" + VISIBLE + "})()", "returnByValue": True})
        return answer["result"].get("value", "")

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": False})

    def picture(self, path, scale=1, most=16000):
        """The whole page as it is now, saved as PNG, so much smaller; in parts (-1, -2, ...) if it is higher than that
        many pixels."""
        self.run("getSelection().removeAllRanges()")
        width, height = self.run("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
        parts = -(-height // most)
        for part in range(parts):
            top = part * height // parts
            shot = self.cdp("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": {
                "x": 0, "y": top, "width": width, "height": (part + 1) * height // parts - top, "scale": scale}})
            name = path if parts == 1 else path.replace(".png", "-%d.png" % (part + 1))
            with open(name, "wb") as file:
                file.write(base64.b64decode(shot["data"]))
            print("saved   " + name)

    def scheme(self, value):
        self.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})

    def hosts(self):
        """Every host asked for over a network, from the browser's own record (its own pages have other schemes)."""
        found = set()
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if address.startswith(("http:", "https:", "ws:", "wss:")):
                    found.add(address.split("/")[2])
        return found

    def complaints(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
            if entry["level"] == "SEVERE"]

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=PATIENCE)
