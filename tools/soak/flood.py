#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flood.py PORT SEED PARENT COUNT: strangers at PORT, again and again, until killed or left alone by the process
PARENT: connections that say nothing, bytes that are no frames, frames that are cut short; closed in order or with a
reset. The file COUNT says how many there were."""
import os, random, socket, struct, sys, time

port, dice, parent, count = int(sys.argv[1]), random.Random(int(sys.argv[2])), int(sys.argv[3]), sys.argv[4]
held, made = [], 0
while os.getppid() == parent:
    try:
        s = socket.socket()
        s.settimeout(1)
        s.bind(("127.0.0.%d" % dice.randint(2, 9), 0))
        s.connect(("127.0.0.1", port))
        kind = dice.randrange(4)
        if kind > 0:
            s.sendall(dice.randbytes(dice.randrange(1, 200)) if kind > 1 else b"\x16\x03\x01\x02\x00\x01\x00")
        if dice.random() < 0.5:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        held.append(s)
        made += 1
        if made % 20 == 0:
            with open(count + ".draft", "w") as draft:
                print(made, file=draft)
            os.replace(count + ".draft", count)
        while len(held) > 16:
            held.pop(dice.randrange(len(held))).close()
    except OSError:
        time.sleep(0.05)
    time.sleep(0.005)
