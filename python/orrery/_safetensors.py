"""Files of the format safetensors, by NumPy alone: names, arrays and metadata."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

import numpy as np

from ._arguments import path_of

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
          "U16": "<u2", "U8": "|u1"}


class File:
    """An open file, whose bytes stay readable when another file takes its name."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = str(path_of("path", path))
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"{self.path}: expected a file of the format safetensors, "
                                    f"found {'a folder' if os.path.isdir(self.path) else 'none'}")
        size = os.path.getsize(self.path)
        if size < 8:
            raise ValueError(f"{self.path}: not a safetensors file: {size} bytes")
        self._bytes = np.memmap(self.path, np.uint8, "r")
        end = 8 + int(self._bytes[:8].view("<u8")[0])
        try:
            header = json.loads(self._bytes[8:end].tobytes()) if end <= size else None
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise ValueError(f"{self.path}: not a safetensors file: its header is no JSON object")
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        self._tensors: dict[str, Any] = header
        self._begin = end

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def names(self) -> list[str]:
        return list(self._tensors)

    def bytes(self) -> bytes:
        return self._bytes.tobytes()

    def array(self, name: str) -> np.ndarray:
        """A copy of a tensor; bfloat16 as float32."""
        tensor = self._tensors[name]
        if tensor["dtype"] not in _TYPES:
            raise ValueError(f"{self.path}: tensor {name!r}: expected one of {', '.join(_TYPES)}, "
                             f"found {tensor['dtype']}")
        first, last = (self._begin + place for place in tensor["data_offsets"])
        array = np.frombuffer(self._bytes[first:last].tobytes(), _TYPES[tensor["dtype"]])
        if tensor["dtype"] == "BF16":
            array = (array.astype("<u4") << 16).view("<f4")
        return array.reshape(tensor["shape"]).copy()


def replace(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file atomically: the name has all bytes or those of before."""
    path = path_of("path", path)
    handle, temporary = tempfile.mkstemp(prefix=path.name + ".", suffix=".orrery-partial",
                                         dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def content(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The bytes of a file of float32 tensors."""
    header: dict[str, Any] = {"__metadata__": metadata}
    parts, place = [], 0
    for name, array in arrays.items():
        part = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(np.shape(array)),
                        "data_offsets": [place, place + len(part)]}
        parts.append(part)
        place += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
