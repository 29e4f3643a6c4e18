"""Tracks of other programs as a folder of data sets."""

import json

import numpy as np
import pytest

import orrery

T = np.arange(40) * 0.1


def circles(n=6, bodies=2):
    turn = T * (1 + 0.1 * np.arange(n))[:, None]
    radius = 0.3 + np.arange(bodies)
    angle = turn[..., None] + np.arange(bodies)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)


def rows(folder, name):
    return np.load(folder / f"coords_{name}.npy")


def test_arrays(tmp_path):
    x = circles()
    folder = orrery.dataset(x, tmp_path / "data", dt=0.1, mass=[1.0, 2.0], velocity=x)
    sets = {name: rows(folder, name) for name in ("train", "val", "test")}
    assert [len(s) for s in sets.values()] == [4, 1, 1]
    every = np.concatenate(list(sets.values()))
    assert every.shape == (6, 81, 2)
    assert np.allclose(every[:, 0], [np.log(0.1), 0])
    # each system once, in one set alone, step by step
    for system in x:
        same = [np.allclose(row[1:], system.reshape(80, 2), atol=1e-6) for row in every]
        assert sum(same) == 1
    assert np.load(folder / "mass_train.npy")[0, 1:5, 0].tolist() == [1, 2, 1, 2]
    assert np.load(folder / "velocity_val.npy").shape == (1, 81, 2)
    manifest = json.loads((folder / "manifest.json").read_text())
    tracks = manifest["tracks"]
    assert tracks["systems"] == 6 and tracks["how"]["units"] == "of the file"
    before = (folder / "manifest.json").stat().st_mtime_ns
    orrery.dataset(x, folder, dt=0.1, mass=[1.0, 2.0], velocity=x)  # it stays as it is
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="force"):
        orrery.dataset(x * 2, folder, dt=0.1)
    orrery.dataset(x * 2, folder, dt=0.1, force=True)
    assert np.abs(rows(folder, "train")).max() > 2.5 and not list(folder.glob("mass_*"))


def test_systems_of_different_sizes_and_times(tmp_path):
    x = [circles(1, 2)[0], circles(1, 3)[0][:30], circles(1, 2)[0]]
    time = [T, T[:30] * 2, T]
    folder = orrery.dataset(x, tmp_path / "data", time=time, steps=10, seed=3)
    every = np.concatenate([rows(folder, name) for name in ("train", "val", "test")])
    assert every.shape[1:] == (31, 2)
    assert set(np.round(np.exp(every[:, 0, 0]), 6)) == {np.float32(0.1), np.float32(0.2)}
    one = orrery.dataset(circles(1)[0], tmp_path / "one", dt=1, split_by="time")
    assert np.allclose(rows(one, "test")[0, 1:], circles(1)[0].reshape(-1, 2)[-8:], atol=1e-6)


def test_space(tmp_path):
    tilted = np.stack([circles()[..., 0], 0.6 * circles()[..., 1], 0.8 * circles()[..., 1]], -1)
    folder = orrery.dataset(tilted, tmp_path / "space", dt=0.1, velocity=tilted[..., ::-1])
    assert rows(folder, "train").shape[2] == 3
    assert np.load(folder / "velocity_train.npy").shape == rows(folder, "train").shape
    assert np.allclose(rows(folder, "train")[:, 1:, 2], 4 / 3 * rows(folder, "train")[:, 1:, 1])
    mixed = [*tilted, circles()[0]]
    with pytest.raises(ValueError, match="expected 3 coordinates"):
        orrery.dataset(mixed, tmp_path / "mixed", dt=0.1)


@pytest.mark.parametrize("change, said", [
    ({"dt": None}, "dt: expected a time step"), ({"dt": -1}, "step of -1"),
    ({"time": T**2, "dt": None}, "uneven times"),
    ({"time": T[::-1], "dt": None}, "times that rise, found"),
    ({"time": T[:5], "dt": None}, "40 times"),
    ({"mass": [1.0]}, "2 masses"), ({"mass": [1.0, 0.0]}, "mass: number 1"),
    ({"velocity": circles()[:, :3]}, "velocity of shape"), ({"val": 2}, "val, test"),
    ({"test": 0.9, "val": 0.9}, "sum below 1"), ({"split_by": "body"}, "split_by"),
    ({"steps": 50}, "50 time steps"), ({"positions": np.ones((3, 9, 2, 4))}, "two or three"),
    ({"positions": np.ones((3, 9))}, "dimensions"), ({"positions": [np.nan]}, "positions"),
    ({"positions": circles()[:2]}, "at least 3 systems"),
    ({"positions": circles() * 0 + 1}, "system 0: expected bodies apart or in motion"),
    ({"positions": circles() * 1e39}, "expected numbers within those")])
def test_refused(tmp_path, change, said):
    given = {"positions": circles(), "dt": 0.1, **change}
    with pytest.raises(ValueError, match=said):
        orrery.dataset(given.pop("positions"), tmp_path / "data", **given)
    assert not list(tmp_path.rglob("*.npy"))


def test_other_data_are_not_replaced(tmp_path):
    (tmp_path / "coords_train.npy").write_bytes(b"mine")
    with pytest.raises(ValueError, match="choose another"):
        orrery.dataset(circles(), tmp_path, dt=0.1, force=True)
    assert (tmp_path / "coords_train.npy").read_bytes() == b"mine"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "preset.json").write_text("{}")
    with pytest.raises(ValueError, match="holds a run"):
        orrery.dataset(circles(), tmp_path / "run", dt=0.1, force=True)
    assert not list(tmp_path.rglob("*.npy"))[1:]


def test_rebound(tmp_path):
    rebound = pytest.importorskip("rebound")
    archives = []
    for i in range(3):
        sim = rebound.Simulation()
        sim.add(m=1)
        sim.add(m=1e-3, a=1 + 0.1 * i)
        sim.add(m=1e-3, a=2.0, f=i, inc=0.1 if i == 2 else 0)
        sim.move_to_com()
        archives.append(tmp_path / f"a{i}.bin")
        sim.save_to_file(str(archives[-1]), interval=0.5, delete_file=True)
        sim.integrate(10.1)
    folder = orrery.dataset([*archives[:2], archives[0]], tmp_path / "data", dt=0.25)
    every = np.concatenate([rows(folder, name) for name in ("train", "val", "test")])
    assert every.shape == (3, 124, 2) and (folder / "mass_val.npy").exists()
    sim = rebound.Simulationarchive(str(archives[0]))[0]
    assert any(np.allclose(row[1], [sim.particles[0].x, sim.particles[0].y]) for row in every)
    space = orrery.dataset(archives, tmp_path / "space", dt=0.25)
    every = np.concatenate([rows(space, name) for name in ("train", "val", "test")])
    assert every.shape == (3, 124, 3) and np.any(every[:, 1:, 2])
    flat = orrery.dataset(archives, tmp_path / "flat", dt=0.25, projected=True)
    assert np.array_equal(rows(flat, "train"), rows(space, "train")[..., :2])
    archives[0].write_bytes(b"no archive")
    with pytest.raises(ValueError, match="not a Simulationarchive"):
        orrery.dataset(archives[0], tmp_path / "bad", dt=0.25)
