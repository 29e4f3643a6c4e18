"""Peers on the systems of bench_dynamics (pip install pysindy==2.1.0 pyoperon==0.6.2 scipy).

    build/bench/bench_dynamics --keep DIR --run 'python3 bench/peer_dynamics.py PEER'

PEER pysindy: polynomials up to degree 2 or 3, or these and sin, cos of each state; finite
differences, plain and after Savitzky-Golay filters of 11, 21 and 41 rows; STLSQ with thresholds
from 0.005 to 0.5, its default alpha and 1e-6. PEER pysindy-weak: its weak form of these libraries
on 100 random windows.
Of all models that can be written in 64 nodes the one is taken whose simulation from the first row
has the least BIC against the table: pysindy itself leaves these choices to the user.
PEER pyoperon: derivatives of the smoothing spline of dynamics_by_hand.py, 3 s per equation
(SECONDS), members and its own rule of choice as in peer_laws.py. CPU_CLOCK as in dynamics_by_hand.
"""
import itertools
import os
import sys
import warnings

import numpy as np
from scipy.integrate import solve_ivp

from dynamics_by_hand import smoothed, write

THRESHOLDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
NODES = 64


def pieces(library, names):
    """Names of the library's functions in symreg's notation, and the nodes of each."""
    texts = [text.replace(" ", " * ") for text in library.get_feature_names(names)]
    return texts, [1 if text == "1" else 3 * text.count("x") + text.count("(") for text in texts]


def equation(coefficients, texts):
    terms = [f"{c:.12g} * {text}" if text != "1" else f"{c:.12g}"
             for c, text in zip(coefficients, texts) if c != 0]
    return " + ".join(terms) or "0"


def right_hand_side(equations):
    """The equations as a function of t and x."""
    code = [compile(text.replace("^", "**"), "equation", "eval") for text in equations]
    known = {"sin": np.sin, "cos": np.cos}
    return lambda _, x: [eval(c, known, {f"x{i}": v for i, v in enumerate(x)}) for c in code]


def criterion(equations, terms, t, x):
    """BIC of the simulation against the table; infinite where it diverges."""
    def far(_, at):
        return 1e3 * (1 + np.abs(x).max()) - np.abs(at).max()
    far.terminal = True
    try:
        found = solve_ivp(right_hand_side(equations), (t[0], t[-1]), x[0], t_eval=t, rtol=1e-6,
                          atol=1e-8, max_step=np.ptp(t) / 50, events=far)
    except (FloatingPointError, OverflowError, ValueError, ZeroDivisionError):
        return np.inf
    if found.status != 0 or found.y.shape[1] != len(t):
        return np.inf
    misses = ((found.y.T - x) ** 2).mean(axis=0) / x.var(axis=0)
    return len(t) * np.log(misses + 1e-14).sum() + terms * np.log(len(t))


def models(weak, t, x):
    """Fitted models of pysindy."""
    import pysindy as ps

    libraries = [ps.PolynomialLibrary(degree=2), ps.PolynomialLibrary(degree=3),
                 ps.ConcatLibrary([ps.PolynomialLibrary(degree=3),
                                   ps.FourierLibrary(n_frequencies=1)])]
    smoothing = [{"window_length": rows, "polyorder": 3} for rows in (11, 21, 41)]
    ways = [None] if weak else [ps.FiniteDifference(order=4)] + [
        ps.SmoothedFiniteDifference(smoother_kws=arguments) for arguments in smoothing]
    for library, way, alpha in itertools.product(libraries, ways, (0.05, 1e-6)):
        if weak:
            library = ps.WeakPDELibrary(function_library=library, spatiotemporal_grid=t, K=100,
                                        is_uniform=False, H_xt=[np.ptp(t) / 12])
        for threshold in THRESHOLDS:
            optimizer = ps.STLSQ(threshold=threshold, alpha=alpha)
            yield ps.SINDy(optimizer=optimizer, feature_library=library,
                           **({} if weak else {"differentiation_method": way})).fit(x, t=t)


def pysindy(names, t, x, weak):
    np.random.seed(1)  # windows of the weak form
    best, chosen = np.inf, ["0"] * len(names)
    for model in models(weak, t, x):
        texts, nodes = pieces(model.feature_library, names)
        coefficients = model.coefficients()
        sizes = [(row != 0) @ (np.array(nodes) + 2) for row in coefficients]
        if max(sizes) > NODES:
            continue
        equations = [equation(row, texts) for row in coefficients]
        found = criterion(equations, np.count_nonzero(coefficients), t, x)
        if found < best:
            best, chosen = found, equations
    return chosen


def operon(names, t, x):
    from peer_laws import pyoperon

    at, slopes = smoothed(t, x)
    return [pyoperon(names, at, slope, float(os.environ.get("SECONDS", 3)), 1)[1]
            for slope in slopes.T]


def main():
    clock = os.environ.get("CPU_CLOCK")
    if clock and "LD_PRELOAD" not in os.environ:
        os.environ["LD_PRELOAD"] = os.path.abspath(clock)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    names = os.environ["STATES"].split(",")
    values = np.loadtxt(os.environ["TABLE"], delimiter=",", skiprows=1)
    t, x = values[:, 0], values[:, 1:]
    peer = sys.argv[1]
    equations = operon(names, t, x) if peer == "pyoperon" else pysindy(names, t, x,
                                                                      peer == "pysindy-weak")
    write(os.path.join(os.environ["OUT"], "equations.json"), equations)


if __name__ == "__main__":
    main()
