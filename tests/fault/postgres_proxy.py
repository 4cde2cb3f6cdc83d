#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""postgres_proxy.py FOLDER SERVER: a socket in FOLDER in front of the PostgreSQL whose socket is in SERVER.

Everything goes through as it is, until a line on standard input says what becomes of the next decision that is sent
(the program's prepared statement, bound and executed):
  made   it reaches the server, which commits it; the answer never comes back
  lost   it never reaches the server
  late   it reaches the server after the line "release"; for its sender the connection is lost long before
Each is answered by one line on standard output when it has happened; "made" and "release" with the number of rows that
the server has changed. Of every change that is sent a line says its length, as it can be seen on the way: "sent
BYTES".
"""
import os
import select
import socket
import struct
import sys
import threading

folder, server = sys.argv[1:]
STATEMENT = b"caucus_change"
order = None
lock = threading.Lock()
held = []  # the server's side, and what is late


def say(*words):
    with lock:
        print(*words, flush=True)


def receive(source, size):
    data = b""
    while len(data) < size:
        more = source.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def message(source):
    """One message, with its type and length."""
    head = receive(source, 5)
    return head + receive(source, struct.unpack("!I", head[1:])[0] - 4)


def execute(upstream, request):
    """Send it; the number in the row that comes back, once the server is ready for the next."""
    rows = None
    upstream.sendall(request)
    while True:
        got = message(upstream)
        if got[:1] == b"D":
            rows = int.from_bytes(got[11:11 + struct.unpack("!I", got[7:11])[0]], "big")
        if got[:1] == b"Z":
            return rows


def taken_order(got):
    """What was ordered, if this message begins a decision; an order is for one."""
    global order
    with lock:
        fate = order if got[:1] == b"B" and STATEMENT in got[:64] else None
        if fate:
            order = None
    return fate


def fulfil(fate, client, upstream, request):
    while request[-5:-4] != b"S" or request[-4:] != b"\0\0\0\4":  # up to its Sync
        request += message(client)
    if fate == "made":  # first: its sender comes back at once, and would be faster
        say("made", execute(upstream, request))
    client.shutdown(socket.SHUT_RDWR)
    if fate == "late":
        held.append((upstream, request))
    else:
        upstream.close()
    if fate != "made":
        say(fate)


def carry(client, upstream):
    size = receive(client, 4)  # the first message has no type
    upstream.sendall(size + receive(client, struct.unpack("!I", size)[0] - 4))
    while True:
        ready, _, _ = select.select([client, upstream], [], [])
        if upstream in ready:
            data = upstream.recv(65536)
            if not data:
                raise EOFError
            client.sendall(data)
        if client in ready:
            got = message(client)
            if got[:1] == b"B" and STATEMENT in got[:64]:
                say("sent", len(got))
            fate = taken_order(got)
            if fate:
                fulfil(fate, client, upstream, got)
                return
            upstream.sendall(got)


def connection(client):
    upstream = socket.socket(socket.AF_UNIX)
    try:
        upstream.connect(os.path.join(server, ".s.PGSQL.5432"))
        carry(client, upstream)
    except (EOFError, OSError):
        client.close()
        upstream.close()


def accept(listener):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=connection, args=(client,), daemon=True).start()


own = socket.socket(socket.AF_UNIX)
own.bind(os.path.join(folder, ".s.PGSQL.5432"))
own.listen()
threading.Thread(target=accept, args=(own,), daemon=True).start()
say("ready")
for line in sys.stdin:
    if line.strip() == "release":
        say("released", execute(*held.pop()))
    else:
        with lock:
            order = line.strip()
