#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""postgres_export.py SOCKET SCHEMA OUT.db KEYFILE...: a state in PostgreSQL as a SQLite file, unsealed.

Written from the words of src/store/coordinator/mark.h and sealed.h alone, with libsodium by ctypes: what the program
keeps is what it says it keeps, and it is readable with the key file of its last commit. Of
several copies of that the newest counts.
"""
import ctypes
import ctypes.util
import hashlib
import os
import sqlite3
import struct
import subprocess
import sys

socket, schema, out, *key_files = sys.argv[1:]
sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))


def keyed(key, text, size=32):
    return hashlib.blake2b(text, key=key, digest_size=size).digest()


def opened(sealed, associated, nonce, key):
    text = ctypes.create_string_buffer(len(sealed))
    size = ctypes.c_ulonglong()
    code = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        text, ctypes.byref(size), None, sealed, ctypes.c_ulonglong(len(sealed)), associated,
        ctypes.c_ulonglong(len(associated)), nonce, key)
    assert code == 0, "cannot be opened"
    return text.raw[:size.value]


def rows(query):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", socket, "-U", "caucus", "-d", "caucus",
                           "-c", f'SET search_path = "{schema}"', "-c", query], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def marks():
    """The places of the key files that are whole: count, term, chain, keys."""
    data = b"".join(open(name, "rb").read() for name in key_files)
    for at in range(0, len(data), 256):
        place = data[at:at + 256]
        if place[:8] == b"CAUCmark" and hashlib.sha256(place[:160]).digest() == place[160:192]:
            count, chain, term = struct.unpack("<Q32sQ", place[48:96])
            yield count, term, chain, place[96:128], place[128:160], place[16:48]


count, _, chain, state_key, fixed_key, plan = max(marks())
(run,) = rows("SELECT encode(plan, 'hex'), seeded::int, begun::int, announcements, lines, chunks, encode(root, 'hex'), "
              "term FROM caucus_run")
assert bytes.fromhex(run[0]) == plan
announcements, lines, chunks = map(int, run[3:6])
assert count == announcements, f"the key file is at {count}, the database at {announcements}"
# Hexadecimal, so that a tab in a line is not a column's end.
ledger = [(int(n), bytes.fromhex(text).decode())
          for n, text in rows("SELECT line, encode(convert_to(text, 'UTF8'), 'hex') FROM caucus_ledger ORDER BY line")]
last = hashlib.sha256(ledger[-1][1].encode()).digest()
root = bytes.fromhex(run[6])
if root:
    assert root[0] == 1
    associated = plan + root[1:9] + struct.pack("<QQ", announcements, lines) + chain + last
    assert struct.unpack("<Q", root[1:9])[0] <= int(run[7])
    text = opened(root[33:], associated, root[9:33], keyed(state_key, b"caucus: root of a state"))
    assert len(text) % 1024 == 0
    size, = struct.unpack("<Q", text[:8])
    root = text[8:8 + size]
    assert not any(text[8 + size:])
parts = []
for number, text in rows("SELECT number, encode(bytes, 'hex') FROM caucus_chunk ORDER BY number"):
    text = bytes.fromhex(text)
    parts.append((int(number), opened(text[24:], plan + struct.pack("<I", int(number)), text[:24],
                                      keyed(fixed_key, b"caucus: chunks of a state")) if text else text))
if os.path.exists(out):
    os.remove(out)
with sqlite3.connect(out) as db:
    db.execute("CREATE TABLE run(plan, seeded, begun, announcements, lines, chunks, root)")
    db.execute("INSERT INTO run VALUES(?, ?, ?, ?, ?, ?, ?)",
               (plan, int(run[1]), int(run[2]), announcements, lines, chunks, root))
    db.execute("CREATE TABLE chunk(number, bytes)")
    db.executemany("INSERT INTO chunk VALUES(?, ?)", parts)
    db.execute("CREATE TABLE announcement(serial, expert, epoch, ask, block, leaf, list)")
    for row in rows("SELECT serial, expert, epoch, ask, block, leaf, encode(list, 'hex') FROM caucus_announcement "
                    "ORDER BY serial"):
        db.execute("INSERT INTO announcement VALUES(?, ?, ?, ?, ?, ?, ?)",
                   (*map(int, row[:6]), bytes.fromhex(row[6])))
    db.execute("CREATE TABLE ledger(line, text)")
    db.executemany("INSERT INTO ledger VALUES(?, ?)", ledger)
