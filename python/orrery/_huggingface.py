"""Orrery's transformer for transformers.AutoModel: save_pretrained() copies this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import ModelOutput

from ._torch_model import compute, parts

SOFTMAX = {"score": "dot", "bias": "none", "phi": "exp", "norm": "l1", "transform": "none",
           "reweight": False}


class OrreryConfig(PretrainedConfig):
    """architecture: the configuration of _torch_model.GPT; metadata: that of the checkpoint."""

    model_type = "orrery"

    def __init__(self, architecture: dict[str, Any] | None = None,
                 metadata: dict[str, str] | None = None, **more: Any):
        self.architecture, self.metadata = architecture or {}, metadata or {}
        super().__init__(**more)


@dataclass
class OrreryOutput(ModelOutput):
    logits: torch.Tensor | None = None


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, kind: str, p: float,
         window: int) -> torch.Tensor:
    """Softmax attention (B, H, T, D) by PyTorch's kernels."""
    if not window or window >= q.shape[-2]:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    row = torch.arange(q.shape[-2], device=q.device)
    behind = row[:, None] - row
    return F.scaled_dot_product_attention(q, k, v, attn_mask=(behind >= 0) & (behind < window))


class OrreryModel(PreTrainedModel):
    """Outputs (B, T, outputs) as `logits`: of bins those of x, then of y; or numbers."""

    config_class = OrreryConfig
    main_input_name = "rows"
    supports_gradient_checkpointing = True

    def __init__(self, config: OrreryConfig):
        super().__init__(config)
        for name, part in parts(config.architecture).items():
            self.add_module(name, part)
        self._attend_as_configured()
        self.post_init()

    @property
    def c(self) -> dict[str, Any]:
        return self.config.architecture

    @property
    def metadata(self) -> dict[str, str]:
        return self.config.metadata

    def forward(self, rows: torch.Tensor, return_dict: bool | None = None,
                **_: Any) -> Any:
        """rows: as _torch_model.GPT takes them."""
        outputs = compute(self, self.c, rows)
        return (outputs,) if return_dict is False else OrreryOutput(logits=outputs)

    # ------------------------------------------- what transformers asks of every model

    def _sdpa_can_dispatch(self, is_init_check: bool = False) -> bool:
        """transformers takes sdpa if nothing else is asked for, and eager where this raises."""
        if {key: self.c["line"][key] for key in SOFTMAX} != SOFTMAX:
            raise ValueError('attn_implementation: expected "eager", by which every variant is '
                             f'computed, found "sdpa", which has no {self.c["attention"]}')
        return True

    def _attend_as_configured(self) -> None:
        operator = sdpa if self.config._attn_implementation == "sdpa" else None
        for block in self.block:
            block.attention.operator = operator

    def set_attn_implementation(self, *arguments: Any, **more: Any) -> None:
        super().set_attn_implementation(*arguments, **more)
        self._attend_as_configured()

    def _set_gradient_checkpointing(self, enable: bool = True,
                                    gradient_checkpointing_func: Any = None,
                                    every_n_layers: int = 1) -> None:
        from torch.utils.checkpoint import checkpoint

        for layer, block in enumerate(self.block):
            block.gradient_checkpointing = enable and layer % every_n_layers == 0
            block._gradient_checkpointing_func = gradient_checkpointing_func or checkpoint

    def get_input_embeddings(self) -> nn.Module:
        """The module whose outputs are the rows' embeddings: nn.Embedding for characters, else
        nn.Linear, of coordinates or of the embeddings of both bins."""
        embed = self.get_submodule("embed")
        return embed["combine"] if isinstance(embed, nn.ModuleDict) else embed

    def set_input_embeddings(self, value: nn.Module) -> None:
        embed = self.get_submodule("embed")
        if isinstance(embed, nn.ModuleDict):
            embed["combine"] = value
        else:
            self.add_module("embed", value)

    def get_output_embeddings(self) -> nn.Module | None:
        """The head; None of a tied model, whose head is the embedding."""
        return getattr(self, "head", None)

    def resize_token_embeddings(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("resize_token_embeddings: expected the vocabulary that the "
                                  f"model was trained with, {self.c['vocab']}")
