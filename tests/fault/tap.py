#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tap.py PORT LOG: stands between a client and the coordinator at PORT, prints its own port, and writes every report
that the client sends to LOG, one line each: connection, kind, first, block, step, and the frame in hexadecimal."""
import socket, sys, threading

port, log = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

def fields(data):
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            found[key >> 3], at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            found[key >> 3], at = data[at:at + size], at + size
        elif key & 7 == 1:
            found[key >> 3], at = data[at:at + 8], at + 8
        else:
            raise ValueError("wire type")
    return found

def note(number, frame):
    envelope = fields(frame)
    if 4 in envelope:
        report = fields(envelope[4])
        print(number, *(report.get(i, 0) for i in (2, 3, 4, 5)), frame.hex(), file=log)

def pump(source, target, number=None):
    rest = b""
    try:
        while data := source.recv(65536):
            if number is not None:
                rest += data
                while len(rest) >= 4 and len(rest) >= 4 + int.from_bytes(rest[:4], "little"):
                    size = int.from_bytes(rest[:4], "little")
                    note(number, rest[4:4 + size])
                    rest = rest[4 + size:]
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
number = 0
while True:
    client, _ = listener.accept()
    number += 1
    try:
        server = socket.create_connection(("127.0.0.1", port))
    except OSError:
        client.close()
        continue
    threading.Thread(target=pump, args=(client, server, number), daemon=True).start()
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
