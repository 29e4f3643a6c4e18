"""Adapters of judge() for torch modules."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from ._judged import Adapted, Predictor, longer
from .gpt import GPT


def _first(output: Any) -> Any:
    """The sequence of outputs: LSTMs give theirs with a state, Hugging Face's models in a dict."""
    return output if isinstance(output, torch.Tensor) else output[0]


def _parts(module: nn.Module, prefix: str = "") -> Iterator[str]:
    """Names of the children, and of those inside lists of modules."""
    for name, child in module.named_children():
        if isinstance(child, (nn.ModuleList, nn.Sequential)):
            yield from _parts(child, f"{prefix}{name}.")
        else:
            yield prefix + name


def reset_parameters(module: nn.Module) -> None:
    """Random weights by reset_parameters() of the parts of a module."""
    reset: set[nn.Parameter] = set()
    for part in module.modules():
        again = getattr(part, "reset_parameters", None) or getattr(part, "_reset_parameters", None)
        if callable(again):
            again()
            reset.update(part.parameters())
    for name, parameter in module.named_parameters():
        if parameter not in reset:
            raise ValueError(f"untrained: the parameter {name!r} is of a module without "
                             "reset_parameters(); give judge(..., untrained=False) or an "
                             "object with untrained(seed)")


@contextmanager
def _watched(module: nn.Module, names: Sequence[str]) -> Iterator[dict[str, torch.Tensor]]:
    """Outputs of submodules in the next call."""
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Any:
        return lambda _module, _inputs, output: seen.__setitem__(name, _first(output))

    hooks = [module.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _replaced(output: Any, first: torch.Tensor) -> Any:
    """The output of a module, of which the first rows are set."""
    whole = _first(output)
    changed = torch.cat([first.to(whole.dtype), whole[:, first.shape[1] :]], 1)
    return changed if whole is output else (changed, *output[1:])


@contextmanager
def _set(module: nn.Module, first: torch.Tensor, before: bool) -> Iterator[None]:
    """Sets the first rows of what a submodule puts out in the next calls, or, before, is given."""
    def given(_module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if inputs:
            return (_replaced(inputs[0], first), *inputs[1:]), named
        key = "hidden_states"
        return inputs, {**named, key: _replaced(named[key], first)}

    hook = (module.register_forward_pre_hook(given, with_kwargs=True) if before else
            module.register_forward_hook(lambda _m, _inputs, output: _replaced(output, first)))
    try:
        yield
    finally:
        hook.remove()


class TorchModel(Adapted):
    """A module of rows (n, T, d) whose output, or the first of several, is (n, T, d).

    layers: names of submodules whose outputs (n, T, width) are the activations; default: all
    children that have such outputs. The last of them but the model's own output is what a head of
    forces is put on, and all weights are trained with it for `steps` steps of AdamW, on `batch`
    sequences a step, by squared errors of ln F. untrained(seed) calls reset_parameters() of every
    submodule.
    """

    has_tune = has_untrained = True

    def __init__(self, module: nn.Module, layers: Sequence[str] | None = None, *, steps: int = 600,
                 lr: float = 1e-3, batch: int = 32):
        self.module, self.steps, self.lr, self.batch = module, steps, lr, batch
        names = list(_parts(module)) if layers is None else list(layers)
        found, out = self._found(names)
        self.layers = [name for name in names if name in found] if layers is None else names
        self.has_activations = self.has_tune = self.has_intervene = bool(self.layers)
        inner = [name for name in self.layers if found.get(name) is not out]
        self.last = (inner or self.layers or [""])[-1]  # what a head of forces is put on

    def _tensor(self, rows: np.ndarray) -> torch.Tensor:
        like = next(self.module.parameters(), torch.zeros(1))
        return torch.from_numpy(np.array(rows, np.float32)).to(like.device, like.dtype)

    def _found(self, names: Sequence[str]) -> tuple[dict[str, torch.Tensor], Any]:
        """Outputs (2, 3, width) of these submodules for 3 rows, and that of the module: of rows of
        two numbers, or where it does not take these, of three."""
        self.module.eval()
        with torch.no_grad(), _watched(self.module, names) as seen:
            try:
                out = _first(self.module(self._tensor(np.zeros((2, 3, 2), np.float32))))
            except Exception as plane:  # a module may raise anything
                seen.clear()
                try:
                    out = _first(self.module(self._tensor(np.zeros((2, 3, 3), np.float32))))
                except Exception:
                    raise plane from None
        return {name: x for name, x in seen.items() if isinstance(x, torch.Tensor)
                and x.ndim == 3 and x.shape[:2] == (2, 3)}, out

    def predict(self, rows: np.ndarray) -> np.ndarray:
        self.module.eval()
        with torch.no_grad():
            out: np.ndarray = _first(self.module(self._tensor(rows))).float().cpu().numpy()
        return out

    def activations(self, rows: np.ndarray) -> list[np.ndarray]:
        self.module.eval()
        with torch.no_grad(), _watched(self.module, self.layers) as seen:
            self.module(self._tensor(rows))
        missing = [name for name in self.layers if name not in seen]
        if missing:
            raise ValueError(f"layers: expected submodules that are called, found {missing[0]!r}")
        return [seen[name].float().cpu().numpy() for name in self.layers]

    def _place(self, layer: int) -> tuple[nn.Module, bool]:
        """The submodule whose output is the layer's, or (True) whose input."""
        return self.module.get_submodule(self.layers[layer]), False

    def intervene(self, rows: np.ndarray, layer: int, activations: np.ndarray) -> np.ndarray:
        self.module.eval()
        module, before = self._place(layer)
        with torch.no_grad(), _set(module, self._tensor(activations), before):
            out: np.ndarray = _first(self.module(self._tensor(rows))).float().cpu().numpy()
        return out

    def tune(self, rows: np.ndarray, labels: np.ndarray, mask: np.ndarray, seed: int) -> Predictor:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _Tuned(self, rows, labels, mask, seed)

    def untrained(self, seed: int) -> Adapted:
        module = copy.deepcopy(self.module)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            reset_parameters(module)
        return TorchModel(module, self.layers, steps=self.steps, lr=self.lr, batch=self.batch)


class _Tuned:
    """A copy of a module with a head of ln F on its last layer, trained; a function of rows."""

    def __init__(self, of: TorchModel, rows: np.ndarray, labels: np.ndarray, mask: np.ndarray,
                 seed: int):
        self.of = TorchModel(copy.deepcopy(of.module), of.layers)
        self.layer = of.last
        y = np.where(mask, np.log(np.where(mask, labels, 1)), 0)
        self.mean, self.scale = float(y[mask].mean()), float(y[mask].std()) or 1.0
        inputs, target = self.of._tensor(rows), self.of._tensor((y - self.mean) / self.scale)
        weight = self.of._tensor(mask)
        with torch.no_grad():
            width = self._features(inputs[:1]).shape[-1]
        self.head = nn.Linear(width, 1).to(inputs.device, inputs.dtype)
        optimizer = torch.optim.AdamW([*self.of.module.parameters(), *self.head.parameters()],
                                      lr=of.lr)
        random = np.random.default_rng(seed)
        self.of.module.train()
        for _ in range(of.steps):
            which = torch.from_numpy(random.integers(0, len(rows), min(of.batch, len(rows))))
            error = self.head(self._features(inputs[which])).squeeze(-1) - target[which]
            loss = (weight[which] * error**2).sum() / weight[which].sum().clamp(min=1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.of.module.eval()

    def _features(self, rows: torch.Tensor) -> torch.Tensor:
        with _watched(self.of.module, [self.layer]) as seen:
            self.of.module(rows)
        return seen[self.layer]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            y = self.head(self._features(self.of._tensor(rows))).squeeze(-1).double().cpu().numpy()
        F: np.ndarray = np.exp(np.clip(self.mean + self.scale * y, -80, 80))
        return F


class OrreryModel(TorchModel):
    """Orrery's GPT: predictions by the C library; activations, the residual stream of bin/probe
    linear, and fine-tuning by its torch module. Its twin has PyTorch's random weights."""

    def __init__(self, model: GPT, **options: Any):
        self.model = model
        super().__init__(model.to_torch(), ["final"], **options)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.model.predict(rows)

    def rollout(self, rows: np.ndarray, steps: int) -> np.ndarray:
        known = rows.shape[1]
        return self.model.rollout(longer(rows, steps), known)[:, known:]

    def activations(self, rows: np.ndarray) -> list[np.ndarray]:
        blocks = [f"block.{i}" for i in range(len(self.module.block))]
        streams: list[torch.Tensor] = []
        first = self.module.get_submodule(blocks[0])
        hook = first.register_forward_pre_hook(lambda _module, inputs: streams.append(inputs[0]))
        try:
            with torch.no_grad(), _watched(self.module, blocks) as seen:
                self.module(self._tensor(rows))
        finally:
            hook.remove()
        return [x.float().numpy() for x in [streams[0], *(seen[name] for name in blocks)]]

    def _place(self, layer: int) -> tuple[nn.Module, bool]:
        return self.module.block[max(layer - 1, 0)], layer == 0

    def untrained(self, seed: int) -> Adapted:
        from . import _torch_model

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            module = _torch_model.GPT(self.module.c, self.module.metadata)
        return OrreryModel(GPT.from_torch(module), steps=self.steps, lr=self.lr, batch=self.batch)
