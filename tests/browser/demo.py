# SPDX-License-Identifier: Apache-2.0
"""The program tests/browser/status_demo: a federation that moves only when it is told to."""
import json
import subprocess
import sys
import urllib.request

from browser import PATIENCE


class Demo:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.host = "127.0.0.1:" + self.process.stdout.readline().split()[1]
        self.url = "http://" + self.host + "/"

    def tell(self, *commands):
        for command in commands:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            if self.process.stdout.readline().strip() != "done":
                sys.exit("status_demo did not do: " + command)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return answer.read()

    def status(self):
        return json.loads(self.get("api/v1/status"))

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE)
