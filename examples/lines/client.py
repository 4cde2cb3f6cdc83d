# SPDX-License-Identifier: Apache-2.0
# client.py LOSSES.csv OPTION...: a client in Python; the options are those of caucus join.
import subprocess
import sys

losses = open(sys.argv[1])  # yours: one line per round, one number per expert, small is good
join = subprocess.Popen(["caucus", "join", *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in join.stdout:
    expert = int(line.split()[0])  # the expert to play in this round
    print("playing", expert, flush=True)
    join.stdin.write(next(losses))
    join.stdin.flush()
sys.exit(join.wait())
