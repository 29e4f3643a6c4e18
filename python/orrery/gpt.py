"""Trained transformers from checkpoints: predictions by the C kernels, PyTorch, Hugging Face."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import tempfile
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _files, _folders, _safetensors
from . import _library as lib
from ._arguments import array_of, encoded, number, path_of, threads, whole
from ._attention import _line as _table_line
from ._attention import attention, attention_variants

if TYPE_CHECKING:
    import torch

# Metadata of checkpoints (docs/checkpoints.md) that say what the model is, and those of the C
# programs that are no longer true of other weights.
_INTEGERS = ("layers", "heads", "width", "ffn", "context", "input", "vocab", "fourier", "head",
             "outputs", "positions", "attention_window", "gate", "tied", "head_bias")
_NUMBERS = ("fourier_min_au", "rope_base", "attention_p", "init_std", "huber")
_NEWER = {"gate": 0, "tied": 0, "head_bias": 0, "init_std": 0.0, "huber": 0.0}
_OF_OTHER_WEIGHTS = ("made", "training", "xxh64", "xxh64_metadata")
_FORMAT = "orrery-gpt-1"
_INPUTS = ("bins", "coordinates", "characters", "space")
_HEADS = ("bins", "numbers", "characters")
_GATES = ("none", "sigmoid", "softplus")
_POSITIONS = ("learned", "rope", "none")


def _configuration(metadata: dict[str, str], path: str) -> dict[str, Any]:
    """The numbers of the metadata, and the variant's line of the table."""
    if metadata.get("orrery_format", metadata.get("format")) != _FORMAT:
        raise ValueError(f"{path}: not an Orrery model")
    c: dict[str, Any] = dict(_NEWER)
    for key in (*_INTEGERS, *_NUMBERS, "attention"):
        if key not in metadata and key not in _NEWER:
            raise ValueError(f"{path}: metadata lacks {key!r}")
    try:
        c.update({key: int(metadata[key]) for key in _INTEGERS if key in metadata})
        c.update({key: _files.real(metadata[key]) for key in _NUMBERS if key in metadata})
    except ValueError as error:
        raise ValueError(f"{path}: metadata: expected numbers, found {error}") from None
    c["attention"] = metadata["attention"]
    try:
        c["line"] = dict(_table_line(c["attention"]))
    except ValueError as error:
        raise ValueError(f'{path}: attention variant "{c["attention"]}" is not in the table of the '
                         "library; add its line to kernels/variants.c and run make") from error
    return c


def _weights(file: _safetensors.File | _folders.Shards) -> dict[str, np.ndarray]:
    """By their names; averages where the file has them, with which Orrery predicts. Tensors that
    are none of the model's are among them, as in files that other programs have written."""
    names = [n for n in file.names() if not n.startswith(("adam.", "average."))]
    return {name: file.array(f"average.{name}" if f"average.{name}" in file else name)
            for name in names}


def _module(c: dict[str, Any], metadata: dict[str, str], weights: dict[str, np.ndarray],
            dtype: Any = None, kernels: bool = False) -> Any:
    import torch

    from . import _torch_model

    dtype = dtype or torch.float32
    module = _torch_model.GPT(c, metadata).to(dtype)
    own = {n: torch.from_numpy(weights[n].astype(np.float32)).to(dtype)
           for n in module.state_dict() if n in weights}  # a file may have others beside them
    module.load_state_dict(own, strict=True)
    return _with_kernels(module).eval() if kernels else module.eval()


def _in_table(c: dict[str, Any]) -> bool:
    """Whether the configuration's line is that of the table under its name."""
    names = attention_variants()
    return c["attention"] in names and c["line"] == _table_line(c["attention"])


def _with_kernels(module: Any) -> Any:
    """The module, whose attention on CPUs is computed in C."""
    if not _in_table(module.c):
        raise ValueError(f"kernels: expected a variant of the table, found a line of its own, "
                         f"{module.c['attention']!r}")
    for block in module.block:
        block.attention.operator = attention
    return module


def load_torch(path: str | os.PathLike[str], dtype: Any = None) -> Any:
    """The torch module of a checkpoint; module.c is its configuration. Files that the programs in C
    refuse are refused here, too."""
    file = _safetensors.File(path)
    c = _configuration(file.metadata, file.path)
    _Handle().status("open", os.fsencode(file.path), 1, 1)
    return _module(c, file.metadata, _weights(file), dtype)


def torch_gpt(*, input: str = "coordinates", layers: int = 2, heads: int = 2, width: int = 32,
              context: int = 64, attention: str | dict[str, Any] | Callable[..., Any] = "softmax",
              p: float = 15, window: int = 0,
              positions: str = "learned", rope_base: float = 10000, gate: str = "none",
              ffn: int | None = None, vocab: int = 0, fourier: int = 0,
              fourier_min_au: float = 0.25, outputs: int | None = None,
              kernels: bool = False) -> "torch.nn.Module":
    """A new torch module, with PyTorch's random weights, that GPT.from_torch() takes.

    input: coordinates (the next position comes out, outputs=1: force magnitudes), "space" for those
    of three dimensions, bins (logits of x and y) or characters, both with vocab. attention: a name
    of the table; or a line of your own, or a function of q, k, v (B, H, T, D), which returns such a
    tensor and sees to causality itself: no
    checkpoint can state these. kernels: as of GPT.to_torch().
    """
    from . import _torch_model

    kinds = {"input": (input, _INPUTS), "positions": (positions, _POSITIONS),
             "gate": (gate, _GATES)}
    numbers = {}
    for name, (value, known) in kinds.items():
        if value not in known:
            raise ValueError(f"{name}: expected one of {', '.join(known)}, found {value!r}")
        numbers[name] = known.index(value)
    for name, size, least in (("layers", layers, 1), ("heads", heads, 1), ("width", width, 1),
                              ("context", context, 1), ("window", window, 0), ("vocab", vocab, 0),
                              ("fourier", fourier, 0), ("ffn", 1 if ffn is None else ffn, 1),
                              ("outputs", 1 if outputs is None else outputs, 1)):
        whole(name, size, least)
    if width % heads:
        raise ValueError(f"heads: expected a divisor of width {width}, found {heads}")
    if not number("p", p) >= 1:
        raise ValueError(f"p: expected at least 1, found {p}")
    kind = numbers["input"]
    numbered = kind in (lib.COORDINATES, lib.SPACE)
    if numbered == (vocab > 0):
        raise ValueError(f"vocab: expected {'0' if numbered else 'at least 1'} with "
                         f"input {input!r}, found {vocab}")
    head = (lib.HEAD_BINS, lib.HEAD_NUMBERS, lib.HEAD_CHARACTERS, lib.HEAD_NUMBERS)[kind]
    if outputs is None:
        outputs = (2 * vocab, 2, vocab, 3)[kind]
    if callable(attention):
        name = getattr(attention, "__name__", type(attention).__name__)
        line = {**_table_line("softmax"), "name": f"function {name}"}
    else:
        line = dict(attention if isinstance(attention, dict) else _table_line(attention))
    c = {"layers": layers, "heads": heads, "width": width, "context": context, "vocab": vocab,
         "ffn": ffn or (4 * width if gate == "none" else 7 * width // 2), "fourier": fourier,
         "fourier_min_au": fourier_min_au, "head": head, "outputs": outputs, **numbers,
         "rope_base": rope_base, "attention": line["name"], "attention_p": p,
         "attention_window": window, **{k: v for k, v in _NEWER.items() if k != "gate"},
         "line": line}
    stage = "pretrain" if outputs != 1 else "magnitude"
    module = _torch_model.GPT(c, {"stage": stage, "step": "0"})
    if callable(attention):
        own = attention
        for block in module.block:
            block.attention.operator = lambda q, k, v, kind, p, window: own(q, k, v)
    return _with_kernels(module) if kernels else module


def _of_torch(module: Any) -> tuple[dict[str, Any], dict[str, str], dict[str, np.ndarray]]:
    """Configuration, metadata and weights of a module."""
    module = getattr(module, "_orig_mod", module)
    c = getattr(module, "c", None)
    if not isinstance(c, dict) or "line" not in c:
        raise TypeError("module: expected one of GPT.to_torch(), torch_gpt() or a folder of "
                        f"save_pretrained(), found {type(module).__name__}")
    if not _in_table(c):
        raise ValueError(f"module: expected the variant {c['attention']!r} as it is in the table, "
                         "found a line of its own, which a checkpoint cannot state")
    weights = {}
    for name, value in module.state_dict().items():
        weights[name] = value.detach().to("cpu").float().numpy()
        if not np.isfinite(weights[name]).all():
            raise ValueError(f"module: {name}: expected finite numbers, found NaN or infinity")
    return c, dict(module.metadata), weights


def _metadata(c: dict[str, Any], known: dict[str, str]) -> dict[str, str]:
    """Of a checkpoint of other weights than those that `known` describes."""
    kept = {k: v for k, v in known.items() if k not in _OF_OTHER_WEIGHTS}
    numbers = {k: str(c[k]) for k in _INTEGERS} | {k: repr(float(c[k])) for k in _NUMBERS}
    return {"step": "0", "stage": "pretrain", **kept, "format": "pt", "orrery_format": _FORMAT,
            "version": f"{lib.version()} from_torch", **numbers, "attention": c["attention"]}


def _architecture(config: Any, path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """"architecture" and "metadata" of a config.json, of the kinds that a checkpoint needs."""
    if not isinstance(config, dict) or config.get("model_type") != "orrery":
        found = config.get("model_type") if isinstance(config, dict) else config
        raise ValueError(f"{path}: expected model_type orrery, found {found!r:.60}")
    c: dict[str, Any] = _files.member(config, "architecture", dict, path)
    metadata: dict[str, str] = _files.expect(config.get("metadata", {}), dict, f"{path}: metadata")
    for key in _INTEGERS + _NUMBERS:
        _files.member(c, key, int if key in _INTEGERS else float, f"{path}: architecture")
    _files.member(c, "attention", str, f"{path}: architecture")
    for key, value in metadata.items():
        _files.expect(value, str, f"{path}: metadata: {key}")
    return c, metadata


class _Handle(lib.Handle):
    """Threads wait for each other, as a handle of the library is used by one at a time."""

    def __init__(self) -> None:
        super().__init__("model")
        self._lock = threading.Lock()

    def status(self, name: str, *arguments: Any) -> int:
        with self._lock:
            return super().status(name, *arguments)


class GPT:
    """A trained model. Sequences are arrays (n, T, 2), or (T, 2) of one sequence, in space (n, T,
    3): coordinates in AU or bins, row 0 the time step, as `simulate` has them; characters are
    (n, T) or (T).

    Threads may share a model; a copy, and one that was pickled, has the checkpoint in itself.
    """

    def __init__(self, path: str | os.PathLike[str], *, n_jobs: int | None = None,
                 reference: bool = False):
        self.path = str(path_of("path", path))
        self._file = _safetensors.File(self.path)
        self._made_with = {"n_jobs": n_jobs, "reference": reference}
        self._attends: dict[str, Any] = {}
        self._handle = _Handle()
        self._handle.status("open", os.fsencode(self.path), threads(n_jobs), int(reference))

    @classmethod
    def from_checkpoint(cls, path: str | os.PathLike[str], *, n_jobs: int | None = None,
                        reference: bool = False) -> GPT:
        """Of a file *.safetensors, by its averaged weights where it has some.

        reference: plain loops in place of the kernels of oneDNN.
        """
        return cls(path, n_jobs=n_jobs, reference=reference)

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike[str], *, n_jobs: int | None = None) -> GPT:
        """Of a folder of save_pretrained(), also where transformers saved it again, as one file or
        in shards."""
        folder = path_of("folder", folder)
        path = folder / "config.json"
        c, metadata = _architecture(_files.read_json(path), str(path))
        file = _folders.open_weights(folder)
        if "orrery_format" in file.metadata:
            return cls(file.path, n_jobs=n_jobs)
        return cls._written(_metadata(c, metadata), _weights(file), n_jobs, file.path)

    @classmethod
    def from_torch(cls, module: Any, *, n_jobs: int | None = None) -> GPT:
        """Of a module of to_torch() or torch_gpt(), trained on; save() makes its checkpoint."""
        c, metadata, weights = _of_torch(module)
        return cls._written(_metadata(c, metadata), weights, n_jobs, "module")

    @classmethod
    def _written(cls, metadata: dict[str, str], weights: dict[str, np.ndarray],
                 n_jobs: int | None, path: str) -> GPT:
        content = _safetensors.content(weights, metadata)
        return cls._of_bytes(content, {"n_jobs": n_jobs}, {}, path)

    @classmethod
    def _of_bytes(cls, content: bytes, made_with: dict[str, Any], attends: dict[str, Any],
                  path: str = "model") -> GPT:
        """path: what messages call the file, which is a temporary one."""
        with tempfile.TemporaryDirectory() as folder:
            temporary = os.path.join(folder, "model.safetensors")
            with open(temporary, "wb") as file:
                file.write(content)
            try:
                model = cls(temporary, **made_with)  # (its file stays open)
            except lib.Error as error:
                text = str(error).replace(temporary, path)
                raise type(error)(error.status, text) from None
        model.path = model._file.path = path
        return model.attend(**attends) if attends else model

    def __reduce__(self) -> tuple[Any, ...]:
        content = self._file.bytes()
        return type(self)._of_bytes, (content, self._made_with, self._attends, self.path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the checkpoint, which bin/pretrain, bin/finetune and bin/probe read."""
        _files.replace(path, self._file.bytes())

    # --------------------------------------------------------------------------- what it is

    def _shape(self) -> lib.Shape:
        shape = lib.Shape()
        self._handle.status("describe", ctypes.byref(shape))
        return shape

    @property
    def configuration(self) -> dict[str, Any]:
        """What the model is, as it attends now."""
        shape = self._shape()
        numbers = {field[0]: getattr(shape, field[0]) for field in lib.Shape._fields_
                   if field[0] != "bytes"}
        return numbers | {
            "input": _INPUTS[shape.input], "head": _HEADS[shape.head],
            "positions": _POSITIONS[shape.positions], "gate": _GATES[shape.gate],
            "attention": shape.attention.decode(), "reference": bool(shape.reference),
            "reweight": bool(shape.reweight)}

    @property
    def metadata(self) -> dict[str, str]:
        """Texts of the checkpoint (docs/formats.md); "made": what it was made from, JSON."""
        return dict(self._file.metadata)

    def __repr__(self) -> str:
        c = self.configuration
        return (f"GPT({c['input']}, {c['layers']} layers, {c['heads']} heads, width {c['width']}, "
                f"{c['attention']}, {c['parameters']} parameters, step {c['step']})")

    def attend(self, attention: str | None = None, *, reweight: bool | None = None,
               p: float | None = None, window: int | None = None, context: int | None = None,
               ntk: bool = False) -> GPT:
        """From now on the model attends otherwise than it was trained; attend() undoes it.

        reweight: the re-weighting of LSSAR on or off. context: longer than trained, of rotary
        positions or none; ntk: with NTK-aware scaling.
        """
        if p is not None and not number("p", p) >= 1:
            raise ValueError(f"p: expected at least 1, found {p}")
        change = lib.Attend(
            attention=None if attention is None else encoded("attention", attention),
            reweight=0 if reweight is None else 1 if reweight else 2, power=p or 0,
            set_window=int(window is not None), window=whole("window", window or 0),
            context=0 if context is None else whole("context", context, 1), ntk=int(ntk))
        self._handle.status("attend", ctypes.byref(change))
        self._attends = {"attention": attention, "reweight": reweight, "p": p, "window": window,
                         "context": context, "ntk": ntk}
        return self

    # ----------------------------------------------------------------------- what it predicts

    def _sequences(self, rows: Any) -> tuple[lib.Sequences, np.ndarray, bool]:
        """The struct, the array behind it, and whether it was one sequence."""
        kind = self._shape().input
        if isinstance(rows, (bytes, bytearray)) and kind == lib.CHARACTERS:
            rows = np.frombuffer(rows, np.uint8)
        array = array_of("sequences", rows)
        axes = 3 if kind == lib.SPACE else 2
        whole = "(n, T)" if kind == lib.CHARACTERS else f"(n, T, {axes})"
        dims = 2 if kind == lib.CHARACTERS else 3
        single = array.ndim == dims - 1
        if single:
            array = array[None]
        if array.ndim != dims or (dims == 3 and array.shape[2] != axes) or array.size == 0:
            raise ValueError(f"sequences: expected {_INPUTS[kind]} {whole}, found shape "
                             f"{np.shape(rows)}")
        if kind in (lib.COORDINATES, lib.SPACE):
            if array.dtype.kind not in "fiu":
                raise TypeError(f"sequences: expected coordinates, found {array.dtype}")
            array = np.ascontiguousarray(array, np.float32)
            floats = array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
            given: dict[str, Any] = {"coordinates": floats}
        else:
            if array.dtype.kind not in "iu":
                raise TypeError(f"sequences: expected {_INPUTS[kind]}, whole numbers, found "
                                f"{array.dtype}")
            if array.min() < 0 or array.max() > 65535:
                raise ValueError(f"sequences: expected {_INPUTS[kind]} from 0 to 65535, found "
                                 f"{array.min()} to {array.max()}")
            array = np.ascontiguousarray(array, np.uint16)
            given = {"tokens": array.ctypes.data_as(ctypes.POINTER(ctypes.c_uint16))}
        struct = lib.Sequences(sequences=array.shape[0], rows=array.shape[1], stride=0, **given)
        return struct, array, single

    def _call(self, name: str, rows: Any, shape: tuple[Any, ...], dtype: type,
              *more: Any) -> np.ndarray:
        """A call that fills an array (n, ...), in which T stands for the rows of a sequence."""
        struct, array, single = self._sequences(rows)
        n, T = array.shape[:2]
        out = np.empty((n, *(T if size == "T" else size for size in shape)), dtype)
        number = ctypes.c_float if dtype is np.float32 else ctypes.c_double
        self._handle.status(name, ctypes.byref(struct), *more,
                            out.ctypes.data_as(ctypes.POINTER(number)))
        return out[0] if single else out

    def _extent(self, extent_au: float | None) -> float:
        """Half the width of the square that bins cover: as given, or as its data sets had it."""
        if extent_au is not None or self._shape().head != lib.HEAD_BINS:
            return 0.0 if extent_au is None else number("extent_au", extent_au)
        try:
            made = _files.parse_json(self._file.metadata.get("made", "{}"), "made")
            found = {float(r["settings"]["orbits.extent_au"]) for r in made["records"].values()
                     if "orbits.extent_au" in r.get("settings", {})}
        except (AttributeError, KeyError, TypeError, ValueError):
            found = set()
        if len(found) != 1:
            raise ValueError("extent_au: expected a number, as the checkpoint does not say it")
        return float(found.pop())

    def outputs(self, sequences: Any) -> np.ndarray:
        """What the head puts out at each row, float32 (n, T, outputs): logits, or numbers."""
        return self._call("outputs", sequences, ("T", self._shape().outputs), np.float32)

    def predict(self, sequences: Any, *, extent_au: float | None = None) -> np.ndarray:
        """The position that follows each row, (n, T, 2 or 3), in units of the input; of bins the
        centre of the most probable one, AU."""
        return self._call("next", sequences, ("T", self._axes()), np.float64,
                          self._extent(extent_au))

    def _axes(self) -> int:
        return 3 if self._shape().input == lib.SPACE else 2

    def forces(self, sequences: Any) -> np.ndarray:
        """Of a fine-tuned model: magnitudes (n, T), solar masses AU / yr^2, or vectors
        (n, T, 2 or 3)."""
        outputs = self._shape().outputs
        shape = ("T", outputs) if outputs > 1 else ("T",)
        return self._call("forces", sequences, shape, np.float64)

    def attention(self, sequences: Any, layer: int = 0) -> np.ndarray:
        """What each row attends, (n, heads, T, T), of a layer from 0 on."""
        shape = (self._shape().heads, "T", "T")
        return self._call("attention", sequences, shape, np.float64, whole("layer", layer))

    def rollout(self, sequences: Any, prefix: int, *, extent_au: float | None = None) -> np.ndarray:
        """Continues sequences by the model's own predictions: rows of (n, T, 2 or 3) up to
        `prefix` are the given ones, later ones are not read and come out predicted."""
        whole("prefix", prefix, 1)
        struct, array, single = self._sequences(sequences)
        path = np.zeros((*array.shape[:2], self._axes()), np.float32)
        if array.dtype == np.float32:
            path[:, :prefix] = array[:, :prefix]
        else:
            path[:, :prefix] = np.nan  # of bins: positions of given rows are not made
        self._handle.status("rollout", ctypes.byref(struct), int(prefix), self._extent(extent_au),
                            path.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return path[0] if single else path

    # -------------------------------------------------------------- PyTorch and Hugging Face

    def _configuration(self) -> dict[str, Any]:
        """Of the torch module, as the model attends now."""
        shape = self._shape()
        c = _configuration(self._file.metadata, self.path)
        c["attention"] = shape.attention.decode()
        c["line"] = _table_line(c["attention"]) | {
            "reweight": bool(shape.reweight), "unshifted_rows": shape.unshifted_rows}
        return c | {"attention_p": shape.power, "attention_window": shape.window,
                    "context": shape.context, "rope_base": shape.rope_base}

    def to_torch(self, dtype: Any = None, *, kernels: bool = False) -> "torch.nn.Module":
        """A torch module with the weights, that attends as the model does now; float32 by default.

        kernels: attention on CPUs by torch.ops.orrery.attention in place of the formulas.
        """
        module: torch.nn.Module = _module(self._configuration(), self.metadata,
                                          _weights(self._file), dtype, kernels)
        return module

    def save_pretrained(self, folder: str | os.PathLike[str]) -> None:
        """A Hugging Face folder: AutoModel.from_pretrained(folder, trust_remote_code=True) loads it
        offline and without this package. model.safetensors is a checkpoint of Orrery, too."""
        folder = path_of("folder", folder)
        folder.mkdir(parents=True, exist_ok=True)
        here = pathlib.Path(__file__).parent
        c = self._configuration()
        weights = _weights(self._file)
        metadata = _metadata(c, self.metadata)
        config = {
            "model_type": "orrery", "architectures": ["OrreryModel"], "dtype": "float32",
            "auto_map": {"AutoConfig": "modeling_orrery.OrreryConfig",
                         "AutoModel": "modeling_orrery.OrreryModel"},
            "architecture": c, "metadata": metadata}
        if not _in_table(c):  # no checkpoint says so
            metadata = {"format": "pt"}
        for name, source in (("modeling_orrery.py", "_huggingface.py"),
                             ("_torch_model.py", "_torch_model.py")):
            _files.replace(folder / name, (here / source).read_bytes())
        _files.replace(folder / "config.json", json.dumps(config, indent=2).encode() + b"\n")
        _files.replace(folder / "model.safetensors",
                             _safetensors.content(weights, metadata))
        _folders.remove_index(folder)
