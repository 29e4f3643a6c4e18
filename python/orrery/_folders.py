"""Weights of a Hugging Face folder: one file, or shards that model.safetensors.index.json lists."""

from __future__ import annotations

import pathlib

import numpy as np

from . import _safetensors
from ._tables import FileError, read_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


class Shards:
    """Files of a folder as if they were one, a _safetensors.File without metadata."""

    def __init__(self, index: pathlib.Path):
        self.path = str(index)
        self.metadata: dict[str, str] = {}
        content = read_json(index)
        places = content.get("weight_map") if isinstance(content, dict) else None
        if not isinstance(places, dict) or not places:
            raise FileError(f'{index}: expected the object "weight_map" of tensors and '
                            f"files, found {places!r:.60}")
        for name, shard in places.items():
            if not isinstance(shard, str) or shard in ("", ".", "..") or "/" in shard or (
                    "\\" in shard or "\0" in shard):
                raise FileError(f"{index}: weight_map: {name!r:.60}: expected a file beside the "
                                f"index, found {shard!r:.60}")
        files = {shard: _safetensors.File(index.parent / shard)
                 for shard in sorted(set(places.values()))}
        self._files = {name: files[shard] for name, shard in places.items()}
        for name, file in self._files.items():
            if name not in file:
                raise FileError(f"{file.path}: expected the tensor {name!r}, which {index} says is "
                                "in it, found none")

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def names(self) -> list[str]:
        return list(self._files)

    def array(self, name: str) -> np.ndarray:
        return self._files[name].array(name)


def _shards_are_there(index: pathlib.Path) -> bool:
    """Whether the index is of files that exist, and not of a save whose shards were removed."""
    try:
        Shards(index)
    except (ValueError, FileNotFoundError):
        return False
    return True


def open_weights(folder: pathlib.Path) -> _safetensors.File | Shards:
    """The weights that the folder has, of one save.

    transformers 5.24 leaves model.safetensors in the folder when it saves shards there, and then
    loads that file: the weights of the save before.
    """
    one, index = folder / WEIGHTS, folder / INDEX
    if not one.exists() and not index.exists():
        raise FileNotFoundError(f"{folder}: expected {WEIGHTS} or {INDEX}, found neither")
    if not one.exists():
        return Shards(index)
    if index.exists() and _shards_are_there(index):
        raise FileError(f"{folder}: expected {WEIGHTS} or {INDEX}, found both: the weights of two "
                        "saves; remove the one that is not wanted")
    return _safetensors.File(one)


def remove_index(folder: pathlib.Path) -> None:
    """Shards of an earlier save are then no weights of the folder, which has one file now."""
    (folder / INDEX).unlink(missing_ok=True)
