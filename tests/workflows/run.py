#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosted continuous integration does nothing that a person could not do with one command: every `run:` in
.github/workflows is exactly one `make TARGET`, and the Makefile has that target. Also read here, because nothing else
reads them before they are needed: the fronts of the issue templates and CITATION.cff. The version and the date of the
release are the same in VERSION, CITATION.cff, the manual and CHANGELOG.md.

The check is checked itself first, on workflows with one fault each.

    run.py SOURCE
"""
import re
import sys
from pathlib import Path

import yaml


def targets(makefile):
    """The Makefile's documented targets: what `make help` lists."""
    return set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))


def faults(text, known):
    """What is wrong with one workflow, a line each; and how many `run:` it has."""
    try:
        flow = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return [f"not YAML: {error}"], 0
    if not isinstance(flow, dict) or not isinstance(flow.get("jobs"), dict) or not flow["jobs"]:
        return ["no jobs"], 0
    found, runs = [], 0
    if flow.get(True, flow.get("on")) is None:  # YAML 1.1 reads the key `on` as true
        found.append("it says nowhere when it runs (`on`)")
    if "permissions" not in flow:
        found.append("it does not limit its permissions")
    for name, job in flow["jobs"].items():
        if "timeout-minutes" not in job:
            found.append(f"{name}: no timeout-minutes")
        if not job.get("steps"):
            found.append(f"{name}: no steps")
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step):
                found.append(f"{name}: a step must have either run or uses")
            if "run" not in step:
                continue
            runs += 1
            call = re.fullmatch(r"make ([a-z-]+)\n?", step["run"])
            if not call:
                found.append(f"{name}: not one call of make: {step['run']!r}")
            elif call[1] not in known:
                found.append(f"{name}: the Makefile has no target {call[1]}")
    if runs == 0:
        found.append("no step runs anything")
    return found, runs


def self_test():
    good = ("on: push\npermissions: {}\njobs:\n  a:\n    timeout-minutes: 5\n    steps:\n"
            "      - uses: actions/checkout@v4\n      - run: make test\n")
    assert faults(good, {"test"}) == ([], 1), faults(good, {"test"})
    for old, new, expected in [
        ("make test", "make tset", "no target tset"),
        ("make test", "make test && make lint", "not one call"),
        ("make test", "apt-get install make", "not one call"),
        ("make test", "|\n          make test\n          make test", "not one call"),
        ("run: make test", "uses: a/b@v1", "runs anything"),
        ("    timeout-minutes: 5\n", "", "timeout"),
        ("permissions: {}\n", "", "permissions"),
        ("on: push\n", "", "when it runs"),
        ("jobs:", "jobs: [", "not YAML"),
    ]:
        found, _ = faults(good.replace(old, new), {"test"})
        assert any(expected in fault for fault in found), (new, found)
        print(f"caught: {new!r}")


def versions(root, citation):
    """Where the version or its date is another one than elsewhere."""
    version, bad = (root / "VERSION").read_text().strip(), []
    if str(citation.get("version")) != version:
        bad.append(f"CITATION.cff: version {citation.get('version')}, VERSION says {version}")
    for page in sorted((root / "man").glob("*.1")):
        title = re.search(r"^\.TH .*$", page.read_text(), re.M)
        if not title or f'"caucus {version}"' not in title[0]:
            bad.append(f"{page.relative_to(root)}: .TH does not say caucus {version}")
    headings = re.findall(r"^## (.*)$", (root / "CHANGELOG.md").read_text(), re.M)
    if headings[:2] != ["Unreleased", f"{version} ({citation.get('date-released')})"]:
        bad.append(f"CHANGELOG.md: begins with {headings[:2]}, not with Unreleased and {version} with its date")
    numbers = [heading.split()[0] for heading in headings]
    if len(set(numbers)) != len(numbers):  # a merge that keeps both sides may bring an older arrangement back
        bad.append(f"CHANGELOG.md: a version has two headings: {headings}")
    return bad


def main(root):
    self_test()
    known = targets((root / "Makefile").read_text())
    assert {"test", "lint", "nightly"} <= known, known
    bad, runs = [], 0
    flows = sorted((root / ".github/workflows").glob("*.y*ml"))
    for path in flows:
        found, count = faults(path.read_text(), known)
        bad += [f"{path.relative_to(root)}: {fault}" for fault in found]
        runs += count
    templates = sorted((root / ".github/ISSUE_TEMPLATE").glob("*.md"))
    for path in templates:
        front = re.match(r"---\n(.*?)\n---\n", path.read_text(), re.S)
        try:
            fields = yaml.safe_load(front[1]) if front else {}
        except yaml.YAMLError as error:
            bad.append(f"{path.relative_to(root)}: not YAML: {error}")
            continue
        if not {"name", "about"} <= set(fields):
            bad.append(f"{path.relative_to(root)}: begins without name and about")
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    for key in ("cff-version", "message", "title", "authors", "version", "license", "preferred-citation"):
        if key not in citation:
            bad.append(f"CITATION.cff: no {key}")
    bad += versions(root, citation)
    print("\n".join(bad) if bad else f"ok: {len(flows)} workflows, {runs} steps, {len(templates)} issue templates")
    return 1 if bad or not flows or not templates else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
