"""95% intervals of the shares of laws found, from the printed output of bench_symreg_laws.

    python3 bench/laws_interval.py bench/results/symreg_laws.txt.gz    (Python without packages)

Searches of one law are alike, so whole laws are resampled (bootstrap, 40,000 times, percentiles).
Prints CSV: for each noise the number of searches, the percentage in which `best` selects the law
and in which the front has it, and the interval of each.
"""

import gzip
import random
import re
import sys

SEARCH = re.compile(r" *(\d+) +\d+ columns +([\d.]+)% +sample +\d+ +(found|front)?")
TIMES = 40_000


def interval(laws):
    """laws: (searches, hits) of each law. Percentages: 2.5th and 97.5th percentile."""
    rng = random.Random(0)
    shares = []
    for _ in range(TIMES):
        drawn = rng.choices(laws, k=len(laws))
        shares.append(100 * sum(hits for _, hits in drawn) / sum(n for n, _ in drawn))
    shares.sort()
    return shares[int(0.025 * TIMES)], shares[int(0.975 * TIMES)]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: laws_interval.py FILE")
    counts = {}  # noise: {law: [searches, selected, on the front]}
    how = gzip.open if sys.argv[1].endswith(".gz") else open
    with how(sys.argv[1], "rt", encoding="utf-8") as file:
        for found in filter(None, map(SEARCH.match, file)):
            law, noise, result = found.groups()
            count = counts.setdefault(float(noise), {}).setdefault(int(law), [0, 0, 0])
            count[0] += 1
            count[1] += result == "found"
            count[2] += result is not None
    if not counts:
        sys.exit(f"{sys.argv[1]}: expected lines of searches, found none")
    print("noise_percent,searches,best,best_low,best_high,front,front_low,front_high")
    for noise, laws in sorted(counts.items()):
        n = sum(count[0] for count in laws.values())
        cells = [f"{noise:g}", str(n)]
        for k in (1, 2):
            hits = [(count[0], count[k]) for count in laws.values()]
            cells += [f"{v:.1f}" for v in (100 * sum(h for _, h in hits) / n, *interval(hits))]
        print(",".join(cells))


main()
