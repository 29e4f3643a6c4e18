"""Training logs of a run for TensorBoard, Weights & Biases or Trackio:

    python -m orrery.log runs/quick --to tensorboard --follow
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import pathlib
import sys
import time
from functools import partial
from typing import Any, Callable, Protocol

from . import _tables as tables
from ._files import plain
from .runs import Run

HOMES = ("tensorboard", "wandb", "trackio")


class Sink(Protocol):
    """Where the lines of one training go; it has those up to step `after` already."""

    after: float

    def write(self, step: int, values: dict[str, float]) -> None: ...
    def restart(self, step: int) -> bool: ...
    def close(self) -> None: ...
    def discard(self) -> None: ...


class _TensorBoard:
    """An event file, which is written anew each time."""

    after = -1.0

    def __init__(self, folder: pathlib.Path, log: pathlib.Path, now: bool, about: dict[str, Any]):
        from ._events import EventFile

        self._wall_s = None if now else log.stat().st_mtime  # logs have no times of day
        self._file = EventFile(folder, self._time(), now)
        if about:
            self._file.hyperparameters(about, self._time())

    def _time(self) -> float:
        return time.time() if self._wall_s is None else self._wall_s

    def write(self, step: int, values: dict[str, float]) -> None:
        self._file.write(step, values, self._time())

    def restart(self, step: int) -> bool:
        """Whether steps from this one on can be replaced."""
        self._file.restart(step, self._time())
        return True

    def close(self) -> None:
        self._file.close()

    def discard(self) -> None:
        self._file.discard()


class _Service:
    """A run of Weights & Biases or Trackio, in which a step that is written stays."""

    _run: Any = None
    after = math.inf

    def restart(self, step: int) -> bool:
        return False

    def close(self) -> None:
        if self._run:
            self._run.finish()

    discard = close


def _key(run: Run, name: str, first: str) -> str:
    """A training's identity: what it is in its run, all settings, and the first line of its log,
    which has its speed. Another training has another one, whatever its folder is called."""
    about = json.dumps([name, dict(run.settings), first], sort_keys=True, default=str)
    return hashlib.sha256(about.encode()).hexdigest()[:16]


def _title(run: Run) -> str:
    return run.path.resolve().name


class _WandB(_Service):
    """Steps are a number of each line, as Weights & Biases takes none twice.

    A training has one id, by which Weights & Biases continues it. Files of --offline cannot be
    continued: what is in a folder stays as it is."""

    def __init__(self, module: Any, run: Run, name: str, key: str, options: argparse.Namespace):
        offline = options.offline or os.environ.get("WANDB_MODE") == "offline"
        folder = pathlib.Path(options.out or os.environ.get("WANDB_DIR") or ".") / "wandb"
        there = sorted(folder.glob(f"offline-run-*-{key}")) if offline else []
        if there:
            _say(f"{name}: left as it is in {there[0]}; remove this folder to write it again")
            return
        self._run = module.init(
            project=options.project, group=_title(run), name=name, config=run.settings, id=key,
            resume=None if offline else "allow", dir=options.out,
            mode="offline" if options.offline else None, reinit="create_new")
        self._run.define_metric("*", step_metric="step")
        self.after = self._run.summary.get("step", -1) if self._run.resumed else -1

    def write(self, step: int, values: dict[str, float]) -> None:
        self._run.log({"step": step, **values})


class _Trackio(_Service):
    """A run of the project, which Trackio continues by its name: the training's key is in it."""

    def __init__(self, module: Any, run: Run, name: str, key: str, options: argparse.Namespace):
        self._run = module.init(project=options.project, name=f"{_title(run)}/{name} {key[:8]}",
                                group=_title(run), config=run.settings, embed=False,
                                resume="allow", auto_log_gpu=False, auto_log_cpu=False)
        self.after = self._run._next_step - 1  # (there is no public name for it)

    def write(self, step: int, values: dict[str, float]) -> None:
        self._run.log(values, step=step)


def _say(text: str, file: Any = None) -> None:
    print(plain(text), file=file or sys.stdout)


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SystemExit(f"orrery.log: --to {name}: expected the package {name}: "
                         f"pip install {name} ({error})") from None


def values_of(line: dict[str, Any], where: str) -> tuple[int, dict[str, float]]:
    """The step of a line of a log and its numbers; texts ("skipped": "loss") are left out."""
    step = line.get("step")
    if isinstance(step, bool) or not isinstance(step, int) or not (
            0 <= step < 2**63):
        raise tables.FileError(f"{where}: step: expected a whole number from 0, found {step!r}")
    return step, {key: float(value) for key, value in line.items()
                  if key != "step" and isinstance(value, (int, float))
                  and not isinstance(value, bool) and math.isfinite(value)}


class Follower:
    """New lines of a log, read as the training writes them."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.first = ""  # line of the log
        self._at = self._line = 0

    def lines(self) -> list[tuple[int, dict[str, float]]]:
        """Whole lines since the last call; from the beginning where the file has become shorter or
        has another first line, as of a training anew."""
        with tables.there(self.path).open("rb") as file:
            first = file.readline().decode("utf-8", "replace")
            if file.seek(0, 2) < self._at or (self._at and first != self.first):
                self._at = self._line = 0
            file.seek(self._at)
            new = file.read()
        whole = new[:new.rfind(b"\n") + 1]
        self._at += len(whole)
        if self._at:
            self.first = first
        lines = []
        for text in whole.splitlines():
            self._line += 1
            where = f"{self.path}: line {self._line}"
            if text:
                lines.append(values_of(tables.json_line(text, where), where))
        return lines


def counted(lines: list[tuple[int, dict[str, float]]]) -> list[tuple[int, dict[str, float]]]:
    """Lines that count: a training that was resumed repeats the steps since its checkpoint."""
    kept: list[tuple[int, dict[str, float]]] = []
    for step, values in lines:
        while kept and kept[-1][0] > step:
            kept.pop()
        kept.append((step, values))
    return kept


class _Training:
    """A log and where it goes: one sink for all lines, or with `anew` one for each first line."""

    def __init__(self, path: pathlib.Path, sink: Callable[[str], Sink], anew: bool):
        self._follower, self._make, self._anew = Follower(path), sink, anew
        self._sink: Sink | None = None if anew else sink("")
        self._first, self._last, self._repeats = "", -1, False

    def _current(self) -> Sink:
        if self._sink is None or (self._anew and self._follower.first != self._first):
            self.close()
            self._first, self._last, self._repeats = self._follower.first, -1, False
            self._sink = self._make(self._first)
        return self._sink

    def pump(self) -> int:
        """Writes new lines; their number. A training that was resumed repeats steps, which replace
        those of before or, where a sink cannot do that, are left out."""
        lines = counted(self._follower.lines())
        if not lines:
            return 0
        sink, written = self._current(), 0
        for step, values in lines:
            if step < self._last:
                self._repeats = not sink.restart(step)
            if step <= sink.after or (self._repeats and step <= self._last):
                continue
            self._last, self._repeats = step, False
            written += 1
            if values:
                sink.write(step, values)
        return written

    def close(self) -> None:
        if self._sink:
            self._sink.close()

    def discard(self) -> None:
        if self._sink:
            self._sink.discard()


def _about(run: Run, name: str) -> dict[str, Any]:
    """Attention, settings and stage of a training, where the run has settings."""
    if not (run.path / "preset.json").is_file():
        return {}
    attention, _, stage = name.partition("/")
    settings = {key: value for key, value in run.settings.items()
                if key not in ("about", "attention")}
    return {"attention": attention, **settings, "stage": stage or name}


def _sink(run: Run, path: pathlib.Path, options: argparse.Namespace, first: str) -> Sink:
    inside = path.relative_to(run.path).with_suffix("")
    name = str(inside.parent if inside.name == "log" else inside)  # lssar/finetune/magnitude
    if options.to == "tensorboard":
        return _TensorBoard(pathlib.Path(options.out) / name, path, options.follow,
                            _about(run, name))
    kind = _WandB if options.to == "wandb" else _Trackio
    sink = kind(_module(options.to), run, name, _key(run, name, first), options)
    if 0 <= sink.after < math.inf:
        _say(f"{name}: is there up to step {sink.after:g}, and is continued")
    return sink


def _follow(run: Run, options: argparse.Namespace) -> int:
    trainings: dict[tuple[str, str], _Training] = {}
    total, quiet_since = 0, time.monotonic()
    try:
        while True:
            new = 0
            for key, path in run.log_files().items():
                if key not in trainings:
                    trainings[key] = _Training(path, partial(_sink, run, path, options),
                                               options.to != "tensorboard")
                new += trainings[key].pump()
                if not options.follow:
                    trainings.pop(key).close()
            total += new
            quiet_since = time.monotonic() if new else quiet_since
            if not options.follow or (options.idle and
                                      time.monotonic() - quiet_since > options.idle):
                break
            time.sleep(options.every)
    except KeyboardInterrupt:
        pass
    except BaseException:
        for training in trainings.values():
            training.discard()
        raise
    for training in trainings.values():
        training.close()
    return total


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m orrery.log", description=__doc__.split(":")[0],
                                     allow_abbrev=False)
    parser.add_argument("run", metavar="RUN", help="folder of the run")
    parser.add_argument("--to", required=True, choices=HOMES)
    parser.add_argument("--out", metavar="DIR",
                        help="folder of the event files (RUN/tensorboard), or of wandb's files")
    parser.add_argument("--project", default="orrery", help="of wandb and trackio (%(default)s)")
    parser.add_argument("--offline", action="store_true", help="wandb: write files, send nothing")
    parser.add_argument("--follow", action="store_true",
                        help="go on with new lines of a training under way, until Ctrl-C")
    parser.add_argument("--every", type=float, default=2.0, metavar="S",
                        help="seconds between looks (%(default)s)")
    parser.add_argument("--idle", type=float, default=0.0, metavar="S",
                        help="with --follow: end after so many seconds without a line (0: never)")
    options = parser.parse_args(arguments)
    for name in ("every", "idle"):
        if not 0 <= getattr(options, name) < math.inf:
            parser.error(f"--{name}: expected seconds from 0, found {getattr(options, name)}")
    if options.to == "tensorboard" and not options.out:
        options.out = str(pathlib.Path(options.run) / "tensorboard")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    try:
        run = Run(options.run)
        lines = _follow(run, options)
        if options.to == "tensorboard":
            from ._events import write_pictures

            pictures = write_pictures(run.path, pathlib.Path(options.out))
    except (OSError, ValueError) as error:
        _say(f"orrery.log: error: {error}", sys.stderr)
        return 1
    if not options.follow and not run.log_files():
        _say(f"orrery.log: error: {options.run}: expected training logs, found none", sys.stderr)
        return 1
    _say(f"{lines} lines to {options.to}" + (f": {options.out}" if options.out else ""))
    if options.to == "tensorboard":
        _say(f"{pictures} pictures; tensorboard --logdir {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
