"""Files: JSON that a stranger may have written, read as strictly as the programs in C read it;
atomic replacement that never writes through a link; and texts of files as a terminal may show them.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any

from ._arguments import path_of

NESTING = 100  # lists and objects inside each other; files of Orrery have 6
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # what a text in UTF-8 for C cannot have


class FileError(ValueError):
    """A file that is not as docs/formats.md has it; the message begins with its path. What it
    quotes of the file is plain()."""

    def __init__(self, message: str):
        super().__init__(plain(message))


# ------------------------------------------------------------------------------------ text


def plain(text: str) -> str:
    """A text without what a terminal would obey or a reader cannot see: control characters, marks
    of writing direction, characters without width. They stand as escapes, \\x1b or \\u202e."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def there(path: pathlib.Path, hint: str = "") -> pathlib.Path:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file, found none{hint}")
    return path


def read_text(path: pathlib.Path, encoding: str = "utf-8") -> str:
    try:
        return path.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: expected UTF-8, found {error}") from None


def real(text: str) -> float:
    """A number as C reads it; float() would also take 1_000 and digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"no number: {text!r}")
    return float(text)


# ------------------------------------------------------------------------------------ JSON


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{twice!r} stands twice in one object")
    return made


def _constant(word: str) -> Any:
    raise ValueError(f"expected a number, found {word}")


def _whole(digits: str) -> int:
    if len(digits) > 300:  # which no double holds
        raise ValueError(f"expected a number, found one of {len(digits)} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), -float("inf")):
        raise ValueError(f"expected a number of 64 bits, found {digits[:40]}")
    return value


def _check(value: Any) -> None:
    """Refuses what is nested too deeply and texts that C cannot hold."""
    level, deep = [value], 0
    while level:
        deep += 1
        if deep > NESTING:
            raise ValueError(f"expected at most {NESTING} lists and objects inside each other")
        below: list[Any] = []
        for each in level:
            parts = [*each, *each.values()] if isinstance(each, dict) else (
                each if isinstance(each, list) else [each])
            for part in parts:
                if isinstance(part, (dict, list)):
                    below.append(part)
                elif isinstance(part, str) and _NO_TEXT.search(part):
                    raise ValueError(f"expected a text of Unicode without NUL, found {part!r:.60}")
        level = below


def parse_json(text: str | bytes, where: str) -> Any:
    """The value of a JSON text in UTF-8. FileError, which begins with `where`: a key that stands
    twice in an object, NaN and Infinity, numbers that no double holds, deep nesting."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(decoded, object_pairs_hook=_object, parse_constant=_constant,
                           parse_int=_whole, parse_float=_float)
        _check(value)
    except json.JSONDecodeError as error:
        raise FileError(f"{where}: line {error.lineno}: expected JSON, found {error}") from None
    except RecursionError:
        raise FileError(f"{where}: expected at most {NESTING} lists and objects inside each other"
                        ) from None
    except ValueError as error:
        raise FileError(f"{where}: {error}") from None
    return value


def read_json(path: pathlib.Path) -> Any:
    return parse_json(read_text(there(path)), str(path))


_KINDS = {str: "a text", dict: "an object", list: "a list", float: "a number",
          int: "a whole number"}


def expect(value: Any, kind: type, where: str) -> Any:
    """The value, if it is of this kind; float stands for any number."""
    kinds = (int, float) if kind is float else kind
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise FileError(f"{where}: expected {_KINDS[kind]}, found {value!r:.60}")
    return value


def member(of: Any, key: str, kind: type, where: str) -> Any:
    """of[key] of an object of a file, which must be there and of this kind."""
    if key not in expect(of, dict, where):
        raise FileError(f"{where}: expected {key!r}, found none")
    return expect(of[key], kind, f"{where}: {key}")


# ----------------------------------------------------------------------------------- write


class Replacement:
    """A file that takes its name when commit() is called. The name has the bytes of before until
    then; a link that has the name is replaced, and its target is not touched. Each writer has a
    temporary file to itself, so that any number may write one name at a time."""

    def __init__(self, path: str | os.PathLike[str]):
        import tempfile  # (7 ms)

        self.path = path_of("path", path)
        handle, self._temporary = tempfile.mkstemp(
            prefix=f".{self.path.name[:100]}.", suffix=".orrery-partial", dir=self.path.parent)
        self.file = os.fdopen(handle, "wb")

    def commit(self) -> None:
        """The file stays open."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(self._temporary, 0o666 & ~mask)
            os.replace(self._temporary, self.path)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Closes and removes the temporary file."""
        try:
            self.file.close()
        finally:
            pathlib.Path(self._temporary).unlink(missing_ok=True)


def replace(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file atomically: the name has all bytes or those of before."""
    new = Replacement(path)
    try:
        new.file.write(content)
    except BaseException:
        new.discard()
        raise
    new.commit()
    new.file.close()
