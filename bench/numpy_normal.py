# SPDX-License-Identifier: Apache-2.0
"""What NumPy needs for one standard normal: nanoseconds, the best of several runs. Run by bench_losses."""
import time

import numpy

generator = numpy.random.Generator(numpy.random.PCG64(1))
draws = numpy.empty(1 << 16)  # as many as bench_losses times at once
best = float("inf")
for _ in range(200):
    begin = time.perf_counter()
    generator.standard_normal(out=draws)
    best = min(best, time.perf_counter() - begin)
print(best / len(draws) * 1e9)
