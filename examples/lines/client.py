# SPDX-License-Identifier: Apache-2.0
# client.py LOSSES.csv OPTION...: a client in Python; the options are those of caucus join. It gives a row of losses
# for each line that it gets, so it is for plans in rounds; for a plan with pace: own take own-pace.sh.
import subprocess
import sys

losses = open(sys.argv[1])  # yours: one line per round, one number per expert, small is good
join = subprocess.Popen(["caucus", "join", *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line, row in zip(join.stdout, losses):
    print("playing", line.split()[0], flush=True)  # the expert to play in this round
    values = row.strip().split(",")
    wanted = line.partition(" name=")[0].partition(" evaluate=")[2].split()  # only these experts' losses, or nothing
    chosen = [values[int(expert)] for expert in wanted[0].split(",")] if wanted else values
    print(*chosen, sep=",", file=join.stdin, flush=True)
join.communicate()  # closes its input: if the losses have ended before the run, join says so
sys.exit(join.returncode)
