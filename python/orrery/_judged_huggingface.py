"""Adapter of judge() for models of Hugging Face's transformers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from ._judged import Adapted
from ._judged_torch import TorchModel, reset_parameters


class _Embedded(nn.Module):
    """rows (n, T, d) -> into -> the model, by inputs_embeds -> out: (n, T, d)."""

    def __init__(self, model: nn.Module, into: nn.Module, out: nn.Module):
        super().__init__()
        self.into, self.model, self.last, self.out = into, model, nn.Identity(), out

    def states(self, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Hidden states (n, T, width): of the embedding, and after every block."""
        found: tuple[torch.Tensor, ...] = self.model(
            inputs_embeds=self.into(rows), output_hidden_states=True).hidden_states
        return found

    def forward(self, rows: torch.Tensor) -> Any:
        return self.out(self.last(self.states(rows)[-1]))


class HuggingFaceModel(TorchModel):
    """A transformers.PreTrainedModel that is given embeddings of rows (n, T, d) as inputs_embeds.

    into: a module (n, T, d) -> (n, T, hidden_size), as torch.nn.Linear(d, hidden_size); out: one
    (n, T, hidden_size) -> (n, T, d); both trained with the model. Activations are its hidden
    states. untrained(seed) is the model of the same configuration, as transformers initialises it.
    `module` is all three in one torch module of rows, for the training; steps, lr and batch are
    those of TorchModel.
    """

    def __init__(self, model: nn.Module, into: nn.Module, out: nn.Module, *, steps: int = 600,
                 lr: float = 1e-3, batch: int = 32):
        from transformers import PreTrainedModel

        if not isinstance(model, PreTrainedModel):
            raise TypeError("model: expected a transformers.PreTrainedModel, found "
                            f"{type(model).__name__}")
        self.model = model
        super().__init__(_Embedded(model.base_model, into, out), ["last"], steps=steps, lr=lr,
                         batch=batch)

    def activations(self, rows: np.ndarray) -> list[np.ndarray]:
        self.module.eval()
        with torch.no_grad():
            states = self.module.states(self._tensor(rows))
        return [state.float().cpu().numpy() for state in states]

    def _place(self, layer: int) -> tuple[nn.Module, bool]:
        """Hidden state l is what block l is given; the last one what `out` is given."""
        lists = [part for part in self.module.model.modules() if isinstance(part, nn.ModuleList)]
        blocks = max(lists, key=len, default=nn.ModuleList())
        return (blocks[layer] if layer < len(blocks) else self.module.last), True

    def untrained(self, seed: int) -> Adapted:
        like = next(self.module.parameters())
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = type(self.model)(copy.deepcopy(self.model.config))
            ends = [copy.deepcopy(end) for end in (self.module.into, self.module.out)]
            for end in ends:
                reset_parameters(end)
        model.to(like.device, like.dtype)
        return HuggingFaceModel(model, *ends, steps=self.steps, lr=self.lr, batch=self.batch)
