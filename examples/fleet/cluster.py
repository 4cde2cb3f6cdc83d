# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL servers of an example's own: a primary, and a standby of it that every commit waits for.

Each lives in a folder, listens on a socket in that folder and nowhere else, and is called by the folder's name, under
which it also streams. PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`.
"""
import glob
import os
import pathlib
import pwd
import signal
import subprocess
import time

PATIENCE_S = 120 * int(os.environ.get("CAUCUS_PATIENCE", "1"))


class Failed(Exception):
    """Something that had to happen did not."""


def until(what, happened):
    """Wait for it; not for ever."""
    end = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {PATIENCE_S} s")
        time.sleep(0.02)


def programs():
    """The folder of PostgreSQL's programs, the newest one."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise Failed("PostgreSQL is not installed (Debian: postgresql)")
    return found[-1]


def other_user():
    """Whom to run as, where we are root: keyword arguments of subprocess."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    def __init__(self, folder):
        self.folder, self.data, self.process = folder, folder / "data", None
        self.name, self.bin, self.who = folder.name, pathlib.Path(programs()), other_user()
        folder.mkdir(mode=0o755)
        if "user" in self.who:
            os.chown(folder, self.who["user"], self.who["group"])

    def run(self, program, *arguments):
        done = subprocess.run([self.bin / program, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **self.who)
        if done.returncode != 0:
            raise Failed(f"{program}: {done.stdout.strip()}")

    def settings(self, *lines):
        own = [f"unix_socket_directories = '{self.folder}'", "listen_addresses = ''", f"cluster_name = '{self.name}'"]
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write("\n".join([*own, *lines]) + "\n")

    def make(self):
        """A new one, with a role and a database of the name caucus."""
        self.run("initdb", "-D", self.data, "-U", "caucus", "-A", "trust", "--locale=C", "-E", "UTF8")
        self.settings("shared_buffers = 16MB")
        self.start()
        self.run("createdb", "-h", self.folder, "-U", "caucus", "caucus")

    def follow(self, primary):
        """A standby of that one, made from it."""
        subprocess.run(["rm", "-rf", str(self.data)], check=True)
        self.run("pg_basebackup", "-D", self.data, "-R", "-h", primary.folder, "-U", "caucus", "--checkpoint=fast")
        self.settings()
        self.start()

    def start(self):
        # pylint: disable=consider-using-with
        log = open(self.folder / "log", "a", encoding="utf-8")
        self.process = subprocess.Popen([self.bin / "postgres", "-D", str(self.data)], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.who)
        log.close()
        until(f"{self.name} starts", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} does not start: see {self.folder}/log")
        return subprocess.run([self.bin / "pg_isready", "-q", "-h", str(self.folder)], check=False).returncode == 0

    def kill(self):
        """As its machine would go: all of its processes at once, and nothing written."""
        self.process.send_signal(signal.SIGSTOP)
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], stdout=subprocess.PIPE, text=True, check=False)
        children = [int(pid) for pid in found.stdout.split()]
        for pid in [*children, self.process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        until(f"{self.name} is gone", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children))

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def ask(self, sql):
        """The first value of the answer."""
        done = subprocess.run(["psql", "-XqAt", "-h", str(self.folder), "-U", "caucus", "-d", "caucus", "-c", sql],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{self.name}: {done.stderr.strip()}")
        return done.stdout.strip()

    def wait_for(self, names):
        """From now on every commit waits for these standbys."""
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.ask("SELECT pg_reload_conf()")
        until("the setting is in force", lambda: self.ask("SHOW synchronous_standby_names") == names)

    def promote(self):
        self.ask("SELECT pg_promote(false)")
        until(f"{self.name} takes writes", lambda: self.ask("SELECT pg_is_in_recovery()") == "f")
