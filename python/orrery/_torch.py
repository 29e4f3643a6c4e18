"""What needs torch: formulas as modules, and sequences as a data set of its DataLoader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from .simulation import Sequences

if TYPE_CHECKING:
    from ._export import Source


class Formula(torch.nn.Module):
    """A formula of the columns of X (n, features), as a tensor (n); its numbers are trainable."""

    def __init__(self, of: Source):
        super().__init__()
        self._source = of
        self._function = of.function({"torch": torch})
        self.constants = torch.nn.Parameter(torch.tensor(of.constants, dtype=torch.float64))

    @property
    def source(self) -> str:
        """The expression, of torch, the columns' names and the constants c0, c1, ..."""
        return self._source.text

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        if not X.is_floating_point():  # whole numbers would overflow
            X = X.to(torch.promote_types(self.constants.dtype, torch.float32))
        elif X.element_size() < 4:  # float16 would, and bfloat16 has 3 digits
            X = X.float()
        columns = [X[:, i] for i in self._source.columns]
        y: Any = self._function(*columns, *self.constants.unbind())
        values: torch.Tensor = torch.as_tensor(y)
        return values if values.ndim else values.expand(X.shape[0])

    def extra_repr(self) -> str:
        return self.source

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: without the function, which follows from the source."""
        return {k: v for k, v in self.__dict__.items() if k != "_function"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._function = self._source.function({"torch": torch})


def _tensor(array: np.ndarray) -> torch.Tensor:
    """Tokens are indices, which torch wants as int64."""
    return torch.from_numpy(array.astype(np.int64) if array.dtype == np.uint16 else array)


class Stream(IterableDataset[dict[str, torch.Tensor]]):
    """Batches of simulated sequences; orrery.stream() makes one.

    Batch b has the sequences first + b batch_size to first + (b + 1) batch_size - 1. Worker w of
    all those of all processes makes the batches w, w + workers, w + 2 workers ...
    """

    def __init__(self, name: str, settings: dict[str, str], batch_size: int, first: int,
                 end: int | None, keys: tuple[str, ...] | None, rank: int, world_size: int):
        super().__init__()
        self.name, self.settings, self.batch_size = name, settings, batch_size
        self.first, self.end, self.keys = first, end, keys
        self.rank, self.world_size = rank, world_size

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = get_worker_info()
        workers, number = (worker.num_workers, worker.id) if worker else (1, 0)
        stride = self.world_size * workers * self.batch_size
        at = self.first + (self.rank * workers + number) * self.batch_size
        made: Sequences | None = None
        while self.end is None or at < self.end:
            n = min(self.batch_size, self.end - at) if self.end is not None else self.batch_size
            if made is None or made.count < at + n:  # a set of twice the size, and so on
                least = self.end if self.end is not None else 2 * (at + stride)
                made = Sequences(self.name, self.settings, least)
            arrays = made.arrays(at, n, 1 if worker else 0)
            yield {key: _tensor(array) for key, array in arrays.items()
                   if self.keys is None or key in self.keys}
            at += stride

    def __len__(self) -> int:
        """Batches of this process."""
        if self.end is None:
            raise TypeError("a stream without n has no length")
        batches = -(-(self.end - self.first) // self.batch_size)
        return len(range(self.rank, batches, self.world_size))
