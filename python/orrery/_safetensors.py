"""Files of the format safetensors, by NumPy alone: names, arrays and metadata."""

from __future__ import annotations

import json
import math
import os
from typing import Any, NamedTuple

import numpy as np

from ._arguments import path_of
from ._files import FileError, expect, member, parse_json

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
          "U32": "<u4", "U16": "<u2", "U8": "|u1"}
_WHOLE = {_TYPES[name]: name for name in ("I64", "I32", "U32", "U16", "U8")}
_DIMENSIONS = 8  # at most, as of base/npy.h
_HEADER = 100 << 20  # bytes at most, as the C programs have it


def _are_whole(numbers: list[Any]) -> bool:
    """Whether all are whole numbers from 0."""
    return all(type(n) is int and n >= 0 for n in numbers)


class _Tensor(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    first: int  # bytes of the data
    end: int


class File:
    """An open file, whose bytes stay readable when another file takes its name."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = str(path_of("path", path))
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"{self.path}: expected a file of the format safetensors, "
                                    f"found {'a folder' if os.path.isdir(self.path) else 'none'}")
        size = os.path.getsize(self.path)
        if size < 8:
            raise FileError(f"{self.path}: not a safetensors file: {size} bytes")
        self._bytes = np.memmap(self.path, np.uint8, "r")
        end = 8 + int(self._bytes[:8].view("<u8")[0])
        if end > size or end > _HEADER:
            raise FileError(f"{self.path}: not a safetensors file, or a part of one: its header "
                             f"has {end - 8} bytes, the file {size}")
        where = f"{self.path}: not a safetensors file: its header is no JSON object"
        header = expect(parse_json(self._bytes[8:end].tobytes(), where), dict, where)
        texts = header.pop("__metadata__", None)
        self.metadata: dict[str, str] = {} if texts is None else expect(
            texts, dict, f"{self.path}: __metadata__")
        for key, value in self.metadata.items():
            expect(value, str, f"{self.path}: __metadata__: {key}")
        self._begin = end
        self._tensors = {name: self._entry(name, entry, size - end)
                         for name, entry in header.items()}
        self._check_places(size - end)

    def _entry(self, name: str, entry: Any, bytes_: int) -> _Tensor:
        """A tensor, whose numbers lie inside the data and are as many as its shape says."""
        where = f"{self.path}: tensor {name!r}"
        dtype = member(entry, "dtype", str, where)
        shape, extent = (member(entry, key, list, where) for key in ("shape", "data_offsets"))
        if len(shape) > _DIMENSIONS or not _are_whole(shape):
            raise FileError(f"{where}: shape: expected at most {_DIMENSIONS} whole numbers, found "
                             f"{shape!r:.60}")
        if len(extent) != 2 or not _are_whole(extent) or not extent[0] <= extent[1] <= bytes_:
            raise FileError(f"{where}: data_offsets: expected two bytes of the file's {bytes_} "
                             f"bytes of data, found {extent!r:.60}")
        need = math.prod(shape) * np.dtype(_TYPES[dtype]).itemsize if dtype in _TYPES else None
        if need is not None and need != extent[1] - extent[0]:
            raise FileError(f"{where}: its shape needs {need} bytes, data_offsets have "
                             f"{extent[1] - extent[0]}")
        return _Tensor(dtype, tuple(shape), extent[0], extent[1])

    def _check_places(self, bytes_: int) -> None:
        """The tensors, in any order, fill the data without gap and overlap."""
        end = 0
        for name, t in sorted(self._tensors.items(), key=lambda item: (item[1].first, item[1].end)):
            if t.first != end:
                what = "it overlaps others" if t.first < end else "bytes before it are of no tensor"
                raise FileError(f"{self.path}: tensor {name!r}: {what}: expected at byte {end}, "
                                 f"found at {t.first}")
            end = t.end
        if end != bytes_:
            raise FileError(f"{self.path}: bytes behind the last tensor: expected {end} bytes of "
                             f"data, found {bytes_}")

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def names(self) -> list[str]:
        return list(self._tensors)

    def bytes(self) -> bytes:
        return self._bytes.tobytes()

    def array(self, name: str) -> np.ndarray:
        """A copy of a tensor; bfloat16 as float32."""
        if name not in self._tensors:
            raise FileError(f"{self.path}: expected the tensor {name!r}, found none")
        tensor = self._tensors[name]
        if tensor.dtype not in _TYPES:
            raise FileError(f"{self.path}: tensor {name!r}: expected one of {', '.join(_TYPES)}, "
                             f"found {tensor.dtype}")
        numbers = self._bytes[self._begin + tensor.first:self._begin + tensor.end].tobytes()
        array = np.frombuffer(numbers, _TYPES[tensor.dtype])
        if tensor.dtype == "BF16":
            array = (array.astype("<u4") << 16).view("<f4")
        return array.reshape(tensor.shape).copy()


def content(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The bytes of a file: float32 tensors, and arrays of whole numbers as they are."""
    header: dict[str, Any] = {"__metadata__": metadata}
    parts, place = [], 0
    for name, array in arrays.items():
        dtype = _WHOLE.get(array.dtype.str, "F32")
        part = np.ascontiguousarray(array, _TYPES[dtype]).tobytes()
        header[name] = {"dtype": dtype, "shape": list(np.shape(array)),
                        "data_offsets": [place, place + len(part)]}
        parts.append(part)
        place += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
