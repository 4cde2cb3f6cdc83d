#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every file in experiments/ runs (one trial; with data made up where it needs data), and what calls itself the paper's
# figure is what `caucus reproduce` plays.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
source=$CAUCUS_SOURCE

mkdir ml-1m
/usr/bin/python3 - <<'END'
import struct
genres = ["Drama", "War", "Western", "Comedy"]
with open("ml-1m/movies.dat", "w") as file:
    file.writelines(f"{n}::Film {n}::{g}\n" for n, g in enumerate(genres, 1))
with open("ml-1m/ratings.dat", "w") as file:
    for user in range(1, 1001):
        file.writelines(f"{user}::{film}::{(user * film) % 5 + 1}::0\n" for film in range(1, 5))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 50, 4), }"
head += ' ' * (-(11 + len(head)) % 64) + '\n'
with open("losses.npy", "wb") as file:
    file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
    file.write(struct.pack('<600f', *((k * 37 % 101) / 101 for k in range(600))))
END

ran=0
for file in "$source"/experiments/*.yaml; do
    [ "$(basename "$file")" != fleet.yaml ] || continue # many scenarios: below
    ran=$((ran + 1))
    # The command that the file's second line gives, with one trial; its paths end where the data lies here.
    command=$(sed -n '1,3s/^#   caucus //p' "$file")
    if [[ "$command" != "simulate experiments/$(basename "$file")"* ]]; then
        echo "not ok: $file says how to run another file: $command"
        failures=$((failures + 1))
    fi
    read -r -a words <<<"${command//PATH\//}"
    if (cd "$work" && "$CAUCUS" "${words[0]}" "$file" "${words[@]:2}" --trials 1) >stdout 2>err && [ -s stdout ]; then
        echo "ok: $(basename "$file")"
    else
        echo "not ok: $file"
        cat err
        failures=$((failures + 1))
    fi
done
[ "$ran" -ge 5 ] || { echo "not ok: $ran files in $source/experiments"; failures=$((failures + 1)); }

# Every row of fleet.yaml is a scenario; one trial shows nothing, so nothing is judged here (`make fleet` does).
if "$source/tools/fleet" "$CAUCUS" --trials 1 --seeds 1 --look >stdout 2>err &&
    [ "$(wc -l <stdout)" -eq "$(grep -c '^  - name: ' "$source/experiments/fleet.yaml")" ]; then
    echo "ok: fleet.yaml"
else
    echo "not ok: fleet.yaml"
    cat stdout err
    failures=$((failures + 1))
fi

# Figure 1 and 2, trial by trial: the regrets of the report are those of the files (`caucus reproduce --quick`, seed 1).
if command -v gnuplot >/dev/null; then
    "$CAUCUS" reproduce --quick --only 1,2 --out report >stdout 2>err || { cat err; failures=$((failures + 1)); }
    for calibration in tight paper; do
        "$CAUCUS" simulate "$source/experiments/figure1.yaml" --trials 12 --calibration $calibration --format csv \
            >figure1-$calibration.csv 2>err
        "$CAUCUS" simulate "$source/experiments/figure2.yaml" --trials 100 --calibration $calibration --format csv \
            >figure2-$calibration.csv 2>err
    done
    /usr/bin/python3 - <<'END' || failures=$((failures + 1))
import csv, math
def regrets(path, **wanted):
    rows = [row for row in csv.DictReader(line for line in open(path) if not line.startswith("#"))]
    found = [row for row in rows if all(row[k] == v for k, v in wanted.items())]
    return [float(row["regret"]) for row in found]
for figure, series, wanted in (("figure1", "stoch", {"algorithm": "stoch"}),
                               ("figure1", "limited-updates", {"algorithm": "limited-updates"}),
                               ("figure2", "svt-30", {"algorithm": "svt", "interval": "30"}),
                               ("figure2", "sparse-vector", {"algorithm": "sparse-vector", "interval": "1"})):
    for calibration, tail in (("tight", ""), ("paper", "-paper")):
        here = regrets(f"{figure}-{calibration}.csv", **wanted)
        there = regrets(f"report/{figure}-trials.csv", series=series + tail)
        assert len(there) >= 12 and len(here) == len(there), (figure, series + tail, len(here), len(there))
        for a, b in zip(here, there): # the report's file has nine digits
            assert math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-8), (figure, series + tail, a, b)
print("ok: the files play what the report shows")
END
fi
exit $((failures > 0))
