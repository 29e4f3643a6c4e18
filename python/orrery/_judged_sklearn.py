"""Adapter of judge() for regressors of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import whole
from ._judged import Adapted, Predictor, longer


def windows(rows: np.ndarray, window: int) -> np.ndarray:
    """Features (n T, 2 + d window) of rows (n, T, d): ln(dt / yr); 1 where body 2 comes next, else
    0; coordinates of the last `window` rows, the latest first, 0 before the first position."""
    n, T, d = rows.shape
    out = np.zeros((n, T, 2 + d * window), np.float32)
    out[:, :, 0] = rows[:, :1, 0]
    out[:, 1::2, 1] = 1
    for k in range(min(window, T - 1)):
        out[:, k + 1 :, 2 + d * k : 2 + d * (k + 1)] = rows[:, 1 : T - k]
    return out.reshape(n * T, -1)


class SklearnModel(Adapted):
    """A regressor of windows of rows, as windows() makes them, to the next coordinates.

    regressor: a scikit-learn regressor of two targets, or three of a run in three dimensions;
    fitted, or one that is fitted to `train`, rows (n, T, d) of training sequences. window: rows of
    a window; default: of a fitted regressor.
    Forces are learned by a copy of the regressor from windows and what the model predicts there.
    The untrained twin is fitted to the windows of `train` with targets in random order; without
    `train` there is none.
    """

    has_tune = True

    def __init__(self, regressor: Any, window: int | None = None, *,
                 train: np.ndarray | None = None):
        self.train = None if train is None else np.asarray(train, np.float32)
        self.window = self._of(regressor) if window is None else whole("window", window, 1)
        self.regressor = regressor if train is None else self._fitted(regressor, None)
        self.has_untrained = train is not None
        self._of(self.regressor)

    def _of(self, regressor: Any) -> int:
        """The window of a fitted regressor."""
        features = getattr(regressor, "n_features_in_", None)
        if features is None:
            raise ValueError("regressor: expected a fitted one, or train=rows and window=N to fit "
                             "it to")
        d = np.asarray(regressor.predict(np.zeros((1, features)))).size
        if d not in (2, 3):
            raise ValueError("regressor: expected one of two targets, or three of a run in three "
                             f"dimensions, found {d}")
        window = getattr(self, "window", (features - 2) // d)
        if features != 2 + d * window or window < 1:
            raise ValueError(f"regressor: expected one of 2 + {d} window features (orrery.judging."
                             f"windows), found {features}")
        return int(window)

    def _fitted(self, regressor: Any, seed: int | None) -> Any:
        """A copy fitted to the training sequences; with a seed, to targets in random order."""
        from sklearn.base import clone

        assert self.train is not None
        if self.train.ndim != 3 or self.train.shape[2] not in (2, 3) or self.train.shape[1] < 2:
            raise ValueError(f"train: expected rows (n, T, 2) or (n, T, 3), found "
                             f"{self.train.shape}")
        x = windows(self.train[:, :-1], self.window)
        y = self.train[:, 1:].reshape(-1, self.train.shape[2])
        if seed is not None:
            y = np.random.default_rng(seed).permutation(y)
        return clone(regressor).fit(x, y)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        out = np.asarray(self.regressor.predict(windows(rows, self.window)))
        if out.size != rows.size:
            raise ValueError(f"regressor: expected {rows.shape[2]} targets, found predictions "
                             f"{out.shape}")
        return out.reshape(rows.shape)

    def rollout(self, rows: np.ndarray, steps: int) -> np.ndarray:
        path = longer(rows, steps)
        known = rows.shape[1]
        for t in range(known, known + steps):  # the last windows alone
            last = windows(path[:, :t], self.window).reshape(len(rows), t, -1)[:, -1]
            path[:, t] = np.asarray(self.regressor.predict(last)).reshape(len(rows), -1)
        return path[:, known:]

    def _features(self, rows: np.ndarray) -> np.ndarray:
        predicted = self.predict(rows).reshape(-1, rows.shape[2])
        return np.concatenate([windows(rows, self.window), predicted], 1)

    def tune(self, rows: np.ndarray, labels: np.ndarray, mask: np.ndarray, seed: int) -> Predictor:
        from sklearn.base import clone

        learned = clone(self.regressor)
        if "random_state" in learned.get_params():
            learned.set_params(random_state=seed)
        learned.fit(self._features(rows)[mask.ravel()], np.log(labels[mask]))

        def predictor(rows: np.ndarray) -> np.ndarray:
            y = np.asarray(learned.predict(self._features(rows)), np.float64)
            F: np.ndarray = np.exp(np.clip(y, -80, 80)).reshape(rows.shape[:2])
            return F

        return predictor

    def untrained(self, seed: int) -> Adapted:
        twin = SklearnModel(self._fitted(self.regressor, seed), self.window)
        return twin
