"""What judge() takes for a model: a protocol, and adapters of functions and objects; those of torch
and Orrery's GPT are in _judged_torch.py, of other packages in _judged_huggingface.py and
_judged_sklearn.py.

Rows (n, T, d) are those of docs/exchange.md: row 0 is ln(dt / yr) and zeros, then come positions in
AU of body 1 and body 2 of each step, d = 2 coordinates, or 3 of a run in three dimensions. No
output may depend on later rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]  # rows (n, T, d) -> sizes of forces (n, T)


def numbers(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The value as an array of real numbers of this shape; what: which answer of the model it is,
    for the ValueError of another value."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # lists of different lengths, and the like
        array = np.asarray(None)
    found = "None" if value is None else f"{type(value).__name__} of no numbers"
    if array.dtype.kind in "fiub":
        found = str(array.shape)
    elif array.dtype.kind == "c":
        found = "complex numbers"
    if array.dtype.kind not in "fiub" or array.shape != shape:
        raise ValueError(f"{what}: expected an array {shape}, found {found}")
    return array


def longer(rows: np.ndarray, steps: int) -> np.ndarray:
    """The rows, and so many rows of zeros after them."""
    return np.concatenate([rows, np.zeros((len(rows), steps, rows.shape[2]), np.float32)], 1)


class Adapted:
    """A model as judge() uses it; has_... says what it can do."""

    has_activations = has_tune = has_untrained = has_intervene = False

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """(n, T, d): at each row the position that follows."""
        raise NotImplementedError

    def rollout(self, rows: np.ndarray, steps: int) -> np.ndarray:
        """(n, steps, d): rows after the given ones, each of the model's own predictions."""
        path = longer(rows, steps)
        known = rows.shape[1]
        for t in range(known, known + steps):
            path[:, t] = np.asarray(self.predict(path[:, :t]))[:, -1]
        return path[:, known:]

    def activations(self, rows: np.ndarray) -> list[np.ndarray]:
        """Of each layer (n, T, width)."""
        raise NotImplementedError

    def intervene(self, rows: np.ndarray, layer: int, activations: np.ndarray) -> np.ndarray:
        """predict(rows), where the activations of a layer at the first rows are set to these, (n,
        k, width) with k at most T; those of later rows are computed."""
        raise NotImplementedError

    def tune(self, rows: np.ndarray, labels: np.ndarray, mask: np.ndarray, seed: int) -> Predictor:
        """A predictor of forces, learned from labels (n, T) where mask is true."""
        raise NotImplementedError

    def untrained(self, seed: int) -> Adapted:
        """A model of the same shape with random weights."""
        raise NotImplementedError


class _Object(Adapted):
    """An object with `predict`, and what else of the protocol it has."""

    def __init__(self, model: Any):
        self.model = model
        self.has_activations = callable(getattr(model, "activations", None))
        self.has_tune = callable(getattr(model, "tune", None))
        self.has_intervene = self.has_activations and callable(getattr(model, "intervene", None))
        self.has_untrained = callable(getattr(model, "untrained", None))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return numbers("predict", self.model.predict(rows), rows.shape)

    def rollout(self, rows: np.ndarray, steps: int) -> np.ndarray:
        own = getattr(self.model, "rollout", None)
        if not callable(own):
            return super().rollout(rows, steps)
        return numbers("rollout", own(rows, steps), (len(rows), steps, rows.shape[2]))

    def activations(self, rows: np.ndarray) -> list[np.ndarray]:
        layers = self.model.activations(rows)
        if not isinstance(layers, (list, tuple)) or not layers:
            raise ValueError("activations: expected a list of arrays, one for each layer, found "
                             f"{'None' if layers is None else type(layers).__name__}")
        return [np.asarray(layer) for layer in layers]

    def intervene(self, rows: np.ndarray, layer: int, activations: np.ndarray) -> np.ndarray:
        return numbers("intervene", self.model.intervene(rows, layer, activations), rows.shape)

    def tune(self, rows: np.ndarray, labels: np.ndarray, mask: np.ndarray, seed: int) -> Predictor:
        predictor: Predictor = self.model.tune(rows, labels, mask, seed)
        if not callable(predictor):
            raise TypeError(f"tune: expected a function of rows, found {type(predictor).__name__}")
        return lambda rows: numbers("predictor", predictor(rows), rows.shape[:2])

    def untrained(self, seed: int) -> Adapted:
        return adapt(self.model.untrained(seed))


class _Function(Adapted):
    def __init__(self, function: Callable[[np.ndarray], Any]):
        self.function = function

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return numbers("predict", self.function(rows), rows.shape)


def adapt(model: Any) -> Adapted:
    """The adapter of what judge() was given."""
    from .gpt import GPT

    if isinstance(model, Adapted):
        return model
    if isinstance(model, GPT):
        from ._judged_torch import OrreryModel

        return OrreryModel(model)
    modules = [base.__module__ for base in type(model).__mro__]
    if any(name.startswith("sklearn.") for name in modules):
        from ._judged_sklearn import SklearnModel

        return SklearnModel(model)
    if "transformers.modeling_utils" in modules and getattr(
            model, "main_input_name", None) != "rows":
        raise TypeError(f"model: {type(model).__name__} takes no rows; give orrery.judging."
                        "HuggingFaceModel(model, into, out) with the layers before and after it")
    if any(name.startswith("torch.nn.") for name in modules):
        from ._judged_torch import TorchModel

        return TorchModel(model)
    if callable(getattr(model, "predict", None)):
        return _Object(model)
    if callable(model):
        return _Function(model)
    raise TypeError("model: expected a function, a torch.nn.Module, an orrery.GPT, a fitted "
                    "regressor of scikit-learn, or an object "
                    f"with predict(), found {type(model).__name__}")
