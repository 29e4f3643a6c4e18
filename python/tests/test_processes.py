"""The same front in threads, in processes made in every way, and beside another OpenMP runtime."""

import concurrent.futures
import multiprocessing
import os
import signal

import numpy as np
import pytest

from orrery import GPT, SymbolicRegressor, attention, simulate


def front(jobs):
    X = np.random.default_rng(0).uniform(0.5, 2, size=(200, 3))
    model = SymbolicRegressor(niterations=2, populations=2, enumerate=500, maxsize=9,
                              n_jobs=jobs, timeout_in_seconds=None, verbosity=0)
    return str(model.fit(X, np.sin(X[:, 0] * X[:, 1]) + X[:, 2] ** 2))


@pytest.fixture(scope="module")
def expected():
    return front(1)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(expected, method):
    """After a search of the parent with several threads."""
    assert front(2) == expected
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(front, (1, 2))) == [expected] * 2


def test_threads_at_once(expected):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(front, (1, 2, 1))) == [expected] * 3


def test_joblib(expected):
    joblib = pytest.importorskip("joblib")
    for backend in ("loky", "threading", "multiprocessing"):
        found = joblib.Parallel(2, backend=backend)(joblib.delayed(front)(n) for n in (1, 2))
        assert found == [expected] * 2, backend


def test_torch_has_its_own_openmp(expected):
    """torch's threads before, between and after, and a fork."""
    torch = pytest.importorskip("torch")
    a = torch.ones(600, 600)
    assert (a @ a)[0, 0] == 600
    assert front(2) == expected
    assert (a @ a)[0, 0] == 600
    pid = os.fork()
    if pid == 0:
        os._exit(front(2) != expected)
    assert os.waitpid(pid, 0)[1] == 0


def test_simulation_after_fork():
    whole = simulate(n=20, n_jobs=2)["state"]
    with concurrent.futures.ProcessPoolExecutor(
            1, mp_context=multiprocessing.get_context("fork")) as pool:
        assert np.array_equal(pool.submit(_state).result(), whole)


def _state():
    return simulate(n=20, n_jobs=2)["state"]


def _attends():
    q = np.random.default_rng(1).normal(size=(4, 4, 128, 16)).astype(np.float32)
    return attention(q, q, q, n_jobs=2)


def _forks(expected, call, seconds=60):
    """Whether a child of fork() has the same array; one that waits for ever is killed."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        os._exit(not np.array_equal(call(), expected))
    return os.waitpid(pid, 0)[1] == 0


def test_attention_after_fork():
    assert _forks(_attends(), _attends)


def test_a_model_after_fork():
    pytest.importorskip("torch")
    from orrery.gpt import torch_gpt

    rows = np.random.default_rng(2).normal(size=(64, 32, 2))
    model = GPT.from_torch(torch_gpt(layers=1, width=16, context=32), n_jobs=2)
    assert _forks(model.predict(rows), lambda: model.predict(rows))
