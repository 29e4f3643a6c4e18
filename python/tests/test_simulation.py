"""Data sets, force laws and orbits as arrays."""

import numpy as np
import pytest

import orrery

G = 4 * np.pi**2


def test_arrays():
    sets = orrery.simulate(n=50, seed=3)
    shapes = {name: (array.shape, array.dtype.name) for name, array in sets.items()}
    assert shapes == {
        "coordinates": ((50, 33, 2), "float32"), "bodies": ((50,), "uint8"),
        "full_state": ((50, 33, 6), "float32"), "state": ((50, 33, 5), "float32"),
        "force_magnitude": ((50, 33), "float32"), "force": ((50, 33, 2), "float32"),
        "scale": ((50,), "float32")}
    assert "tokens" in orrery.simulate("val", preset="smoke_tokens", n=2)
    assert "state" not in orrery.simulate("val", n=2)
    assert len(orrery.simulate("planets_val", n=3)["coordinates"]) == 3
    assert len(orrery.simulate(preset="smoke", n=100000)["scale"]) == 100000


def test_sequences_are_functions_of_their_number():
    whole = orrery.simulate(n=30, seed=1, n_jobs=1)
    part = orrery.simulate(n=10, first=20, seed=1, n_jobs=2)
    for name, array in part.items():
        assert np.array_equal(array, whole[name][20:], equal_nan=True), name
    assert not np.array_equal(whole["state"], orrery.simulate(n=30, seed=2)["state"])


def test_laws():
    r = np.linspace(0.5, 3, 7)
    assert np.allclose(orrery.law(r, 0.5, 2), G / r**2, rtol=1e-14)
    assert isinstance(orrery.law(1, 1, 1), float)
    assert np.allclose(orrery.law(r, 1, 1, "power", law_exponent=-1.5), G * r**-1.5, rtol=1e-13)
    m = np.array([[1.0], [2.0]])
    assert np.allclose(orrery.law(r, m, 3), G * m * 3 / r**2, rtol=1e-14)
    assert orrery.law(10, 1, 1, "lambda", law_constant=10) < 0
    assert orrery.law(1, 1, 1, "post_newtonian", velocity=(0, 1000)) != pytest.approx(G, rel=1e-6)


@pytest.mark.parametrize("law, settings", [
    ("newton", {}), ("yukawa", {"law_alpha": 0.5, "law_lambda_au": 3}), ("G*m1*m2/r^2.1", {})])
def test_forces_of_sequences_are_the_law(law, settings):
    sets = orrery.simulate(n=20, law=law, **settings)
    force = sets["force_magnitude"]
    known = np.isfinite(force) & (sets["full_state"][..., 4] > 0)
    x, y, _, _, m1, m2 = sets["full_state"][known].T.astype(float)
    name = law if law in ("newton", "yukawa") else "expression"
    more = settings if name != "expression" else {"expression": law}
    assert len(x) > 100
    assert np.allclose(force[known], orrery.law(np.hypot(x, y), m1, m2, name, **more), rtol=1e-5)


def test_orbit():
    state = orrery.orbit(1, 0.3, 1e-9, 1, dt_yr=1 / 16, n=17)
    assert state.shape == (17, 4)
    assert np.allclose(state[0], state[16], atol=1e-7)
    x, y, vx, vy = state.T
    moment = x * vy - y * vx
    assert np.allclose(moment, moment[0], rtol=1e-12)


def test_space():
    """Data sets, own starts and orbits in three dimensions are those of the plane, turned."""
    flat = orrery.simulate("two_body_test", preset="smoke", n=3)
    space = orrery.simulate("two_body_test", preset="smoke", n=3, dimensions=3)
    positions = flat["coordinates"].shape[1]
    assert {key: space[key].shape[2:] for key in ("coordinates", "full_state", "state", "force")
            } == {"coordinates": (3,), "full_state": (8,), "state": (7,), "force": (3,)}
    assert space["coordinates"].shape[1] == positions
    known = np.isfinite(flat["force_magnitude"])
    assert np.allclose(space["force_magnitude"][known], flat["force_magnitude"][known], rtol=1e-6)
    r = [np.linalg.norm(made["full_state"][..., :d], axis=-1)
         for made, d in ((flat, 2), (space, 3))]
    assert np.allclose(*r, rtol=1e-6)

    state = orrery.orbit(1, 0.3, 0.1, 1, 0.02, 50, inclination_rad=1.0, node_rad=0.5)
    plane = orrery.orbit(1, 0.3, 0.1, 1, 0.02, 50)
    assert np.allclose(np.linalg.norm(state[:, :3], axis=1), np.hypot(*plane[:, :2].T))
    moment = np.cross(state[:, :3], state[:, 3:])
    assert np.allclose(moment / np.linalg.norm(moment[0]),
                       [np.sin(1) * np.sin(0.5), -np.sin(1) * np.cos(0.5), np.cos(1)])

    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    start = np.array([[0.001, 1, 0, 0, 6.2], [1, 0, 0, 0.1, 0]])
    tilted = np.concatenate([start[:, :1], start[:, 1:3] @ turn[:2], start[:, 3:] @ turn[:2]], 1)
    given = [dict(zip(("m", "x", "y", "z", "vx", "vy", "vz"), tilted.T)), start]
    made = orrery.simulate(systems=given, steps=9, dt_yr=0.1, law="yukawa", law_alpha=0.3)
    assert [one.shape for one in made] == [(2, 9, 6), (2, 9, 4)]
    assert np.allclose(made[0][..., :3], made[1][..., :2] @ turn[:2], atol=1e-9)


@pytest.mark.parametrize("call, message", [
    (lambda: orrery.simulate(preset="vafa2025", dimensions=3), "orbits.dimensions"),
    (lambda: orrery.simulate(systems=[np.ones((2, 5))], steps=3, dt_yr=1, dimensions=3),
     "dimensions: expected 2"),
    (lambda: orrery.law(1, 1, 1, dimensions=3), "dimensions: expected 2"),
    (lambda: orrery.orbit(1, 0.1, 1, 1, 0.1, 3, node_rad=float("inf")), "node_rad"),
    (lambda: orrery.simulate("two_body_trian"), "two_body_train"),
    (lambda: orrery.simulate(preset="quik"), "quick"),
    (lambda: orrery.simulate(positionss=3), "positions"),
    (lambda: orrery.simulate(n=-1), "n: expected a whole number from 0"),
    (lambda: orrery.simulate(positions="5\nseed=3"), "one line"),
    (lambda: orrery.law(1, 1, 1, "yukawa", law_exponent=1), "law_exponent"),
    (lambda: orrery.orbit(1, 1.5, 1, 1, 0.1, 3), "e"),
])
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_systems_of_ones_own():
    circle = np.array([[0.5, 0.5, 0, 0.3, np.pi], [0.5, -0.5, 0, 0.3, -np.pi]])
    three = {"m": [0.001, 0.002, 1], "x": [1, -2, 0], "y": [0, 0.1, 0], "vx": [0, 0.1, 0],
             "vy": [6.2, -4.4, 0]}
    newton = orrery.simulate(systems=[circle, three], steps=21, dt_yr=[0.05, 0.02])
    assert [states.shape for states in newton] == [(2, 21, 4), (3, 21, 4)]
    moved = circle[:, 1:] + [0.3, 0, 0, 0]  # after a period of 1 yr
    assert np.allclose(newton[0][:, 20], moved, atol=1e-7)
    yukawa = orrery.simulate(systems=[circle, three], steps=21, dt_yr=[0.05, 0.02], law="yukawa",
                             law_alpha=0.5)
    for a, b in zip(newton, yukawa):
        assert np.array_equal(a[:, 0], b[:, 0])
        assert not np.allclose(a[:, 20], b[:, 20], atol=1e-3)
    for wrong, said in [([np.ones((2, 4))], "systems\\[0\\]: expected rows m, x, y, vx, vy"),
                        ([{"m": [1, 2]}], "found no x"), ([circle, circle[:1]], "systems\\[1\\]"),
                        ([circle * [[-1], [1]]], "above 0")]:
        with pytest.raises(ValueError, match=said):
            orrery.simulate(systems=wrong, steps=5, dt_yr=0.1)
    with pytest.raises(ValueError, match="steps"):
        orrery.simulate(systems=[circle], dt_yr=0.1)
    assert len(orrery.simulate(n=2, dt_yr=0.02)["coordinates"]) == 2  # a setting of the preset
