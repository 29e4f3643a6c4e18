"""How fast the Python package starts: medians over fresh processes.

    PYTHONPATH=python python3 bench/python_start.py [rounds]

import: `import orrery` beyond `import numpy`, within a process. estimator:
`orrery.SymbolicRegressor` beyond that, which imports scikit-learn where it is installed; without
it, as if it were not. law: from the start of the process until Kepler's law is found in the table
of the eight planets.
"""
import statistics
import subprocess
import sys
import time

IMPORT = """import numpy, time
t = time.perf_counter()
import orrery
a = time.perf_counter()
orrery.SymbolicRegressor
print(a - t, time.perf_counter() - a)"""
LAW = """import sys
{hidden}
import numpy as np, orrery
a = np.array([0.387, 0.723, 1.0, 1.524, 5.203, 9.537, 19.19, 30.07])
T = np.array([0.241, 0.615, 1.0, 1.881, 11.86, 29.45, 84.02, 164.8])
model = orrery.SymbolicRegressor(maxsize=7, niterations=1)
model.fit(a[:, None], T, variable_names=["a"])
assert "(a * sqrt(a))" in str(model)"""
HIDDEN = "sys.modules['sklearn'] = sys.modules['pandas'] = None"


def run(code):
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return time.perf_counter() - begun, done.stdout.split()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    rows = {"import": [], "estimator": [], "estimator without scikit-learn": [],
            "numpy alone, process": [], "law": [], "law without scikit-learn": []}
    for _ in range(rounds):
        first, second = run(IMPORT)[1]
        rows["import"].append(float(first))
        rows["estimator"].append(float(second))
        second = run(f"import sys\n{HIDDEN}\n{IMPORT}")[1][1]
        rows["estimator without scikit-learn"].append(float(second))
        rows["numpy alone, process"].append(run("import numpy")[0])
        rows["law"].append(run(LAW.format(hidden=""))[0])
        rows["law without scikit-learn"].append(run(LAW.format(hidden=HIDDEN))[0])
    for name, values in rows.items():
        print(f"{name:32} {statistics.median(values):8.4f} s, {min(values):.4f} to "
              f"{max(values):.4f}, n = {rounds}")


if __name__ == "__main__":
    main()
