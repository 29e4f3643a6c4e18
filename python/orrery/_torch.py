"""What needs torch: formulas as modules, and sequences as a data set of its DataLoader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ._export import Source


class Formula(torch.nn.Module):
    """A formula of the columns of X (n, features), as a tensor (n); its numbers are trainable."""

    def __init__(self, of: Source):
        super().__init__()
        self._source = of
        self.constants = torch.nn.Parameter(torch.tensor(of.constants, dtype=torch.float64))

    @property
    def source(self) -> str:
        """The expression, of torch, the columns' names and the constants c0, c1, ..."""
        return self._source.text

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        y: Any = self._source.values(X, self.constants, {"torch": torch})
        y = torch.as_tensor(y)
        return y if y.ndim else y.expand(X.shape[0])

    def extra_repr(self) -> str:
        return self.source
