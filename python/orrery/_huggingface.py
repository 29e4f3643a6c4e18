"""Orrery's transformer for transformers.AutoModel: save_pretrained() copies this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import ModelOutput

from ._torch_model import compute, parts


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


class OrreryModel(PreTrainedModel):
    """Outputs (B, T, outputs) as `logits`: of bins those of x, then of y; or numbers."""

    config_class = OrreryConfig
    main_input_name = "rows"

    def __init__(self, config: OrreryConfig):
        super().__init__(config)
        for name, part in parts(config.architecture).items():
            self.add_module(name, part)
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
