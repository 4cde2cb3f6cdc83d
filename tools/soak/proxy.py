#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proxy.py PORT TO PARENT RUN: passes connections on PORT to TO on this machine, until killed or left alone by the
process PARENT. SIGUSR1 cuts all of them, as a network does that breaks: each end sees a reset, in the middle of
whatever it was sending. RUN says whose it is, for who looks for processes that were left behind."""
import os, selectors, signal, socket, struct, sys

port, to, parent = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
poll = selectors.DefaultSelector()
listener = socket.create_server(("127.0.0.1", port), backlog=128)
listener.setblocking(False)
poll.register(listener, selectors.EVENT_READ, None)
pairs = {}
cut = False

def on_cut(*_):
    global cut
    cut = True

def drop(end, reset=False):
    for s in (end, pairs.get(end)):
        if s is None or s not in pairs:
            continue
        del pairs[s]
        poll.unregister(s)
        if reset:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()

def accept():
    try:
        one, _ = listener.accept()
    except OSError:
        return
    try:
        two = socket.create_connection(("127.0.0.1", to), timeout=2)
    except OSError:
        one.close()
        return
    for s in (one, two):
        s.settimeout(5)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(s, selectors.EVENT_READ, s)
    pairs[one], pairs[two] = two, one

signal.signal(signal.SIGUSR1, on_cut)
print("ready", flush=True)
while os.getppid() == parent:
    for key, _ in poll.select(0.05):
        if key.data is None:
            accept()
            continue
        end = key.data
        if end not in pairs:
            continue
        try:
            data = end.recv(65536)
            if data:
                pairs[end].sendall(data)
            else:
                drop(end)
        except OSError:
            drop(end)
    if cut:
        cut = False
        for end in list(pairs):
            drop(end, reset=True)
