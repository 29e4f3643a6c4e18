"""Categories of rows: labels of any kind as the numbers that the library takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arguments import is_missing, usual
from ._search import free_name


def _values(category: Any, rows: int) -> list[Any]:
    if np.ma.is_masked(category):
        raise ValueError("category: expected a category in each row, found masked ones "
                         f"({np.sum(np.ma.getmask(category))}): leave their rows out")
    values = np.asarray(usual("category", category))
    if values.shape != (rows,):
        raise ValueError(f"category: expected a value for each of {rows} rows, found the shape "
                         f"{values.shape}")
    if values.dtype.kind == "M":  # (nanoseconds would become numbers, unlike other units)
        values = values.astype("M8[us]")
    listed: list[Any] = values.tolist()
    for i, value in enumerate(listed):
        if is_missing(value) or isinstance(value, (list, dict, set)):
            raise ValueError(f"category: row {i}: expected a category, found {value!r}")
    return listed


@dataclass(frozen=True)
class Category:
    """Labels in the order of their first rows, as the library numbers them."""

    name: str
    labels: tuple[Any, ...]

    @classmethod
    def of(cls, category: Any, rows: int, names: list[str]) -> Category:
        name = getattr(category, "name", None)  # of a Series
        name = name if isinstance(name, str) and name else "category"
        return cls(free_name(name, names), tuple(dict.fromkeys(_values(category, rows))))

    def codes(self, category: Any, rows: int) -> np.ndarray:
        known = {label: i for i, label in enumerate(self.labels)}
        values = _values(category, rows)
        for i, value in enumerate(values):
            if value not in known:
                listed = ", ".join(repr(label) for label in self.labels[:10])
                raise ValueError(f"category: row {i}: expected one that fit() has seen, {listed}"
                                 f"{', ...' if len(self.labels) > 10 else ''}, found {value!r}")
        return np.array([known[value] for value in values], dtype=np.intp)

    def constants(self, count: int) -> list[str]:
        """Names of the constants in formulas."""
        return [f"c{k + 1}[{self.name}]" for k in range(count)]
