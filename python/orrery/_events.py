"""Event files of TensorBoard: records of protobuf messages (event.proto, summary.proto, and
plugin_data.proto of its plugin hparams), each framed by its length and two masked CRC-32C
(TensorFlow, tsl/lib/io/record_writer.h)."""

from __future__ import annotations

import pathlib
import struct
from ctypes import c_float
from typing import Any, Mapping

from ._files import Replacement


def _crc_table() -> list[int]:
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)  # Castagnoli, reflected
        table.append(crc)
    return table


_TABLE = _crc_table()


def _masked(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _event(wall_s: float, rest: bytes) -> bytes:
    """Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
    SessionLog session_log = 7 }"""
    return b"\x09" + struct.pack("<d", wall_s) + rest


def _step(step: int) -> bytes:
    return b"\x10" + _varint(step)


def _hparam(key: str, value: Any) -> bytes:
    """An entry of map<string, Value>, where Value { oneof { double number_value = 2; string
    string_value = 3; bool bool_value = 4 } }; none of a list."""
    if isinstance(value, bool):
        told = b"\x20" + _varint(value)
    elif isinstance(value, (int, float)):
        told = b"\x11" + struct.pack("<d", value)
    elif isinstance(value, str):
        told = _bytes(3, value.encode())
    else:
        return b""
    return _bytes(1, _bytes(1, key.encode()) + _bytes(2, told))


def _image(path: pathlib.Path) -> bytes:
    """Image { int32 height = 1; int32 width = 2; int32 colorspace = 3, its channels; bytes
    encoded_image_string = 4 } of a PNG."""
    png = path.read_bytes()
    channels = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}.get(png[25] if len(png) > 25 else -1)
    if not png.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR") or channels is None:
        raise ValueError(f"{path}: expected a PNG, found other bytes")
    width, height = struct.unpack(">II", png[16:24])
    numbers = b"".join(_varint(field << 3) + _varint(number)
                       for field, number in ((1, height), (2, width), (3, channels)))
    return numbers + _bytes(4, png)


class EventFile:
    """One event file in a folder. live: a record is there for readers when write() returns, else
    the file of before stays until close()."""

    def __init__(self, folder: pathlib.Path, wall_s: float, live: bool, of: str = "orrery"):
        folder.mkdir(parents=True, exist_ok=True)
        self._new = Replacement(folder / f"events.out.tfevents.0.{of}")
        self._file, self._live = self._new.file, live
        if live:
            self._new.commit()
        self._record(_event(wall_s, _bytes(3, b"brain.Event:2")))

    def _record(self, event: bytes) -> None:
        head = struct.pack("<Q", len(event))
        self._file.write(head + _masked(head) + event + _masked(event))
        self._file.flush()

    def write(self, step: int, values: Mapping[str, float], wall_s: float) -> None:
        """Summary { repeated Value { string tag = 1; float simple_value = 2 } value = 1 }"""
        summary = b"".join(
            _bytes(1, _bytes(1, tag.encode()) + b"\x15" + bytes(c_float(value)))
            for tag, value in values.items())
        self._record(_event(wall_s, _step(step) + _bytes(5, summary)))

    def hyperparameters(self, values: Mapping[str, Any], wall_s: float) -> None:
        """What TensorBoard lists and sorts trainings by: SessionStartInfo { map hparams = 1; double
        start_time_secs = 5 } in the metadata of a value without numbers."""
        session = b"".join(_hparam(key, value) for key, value in values.items())
        session += b"\x29" + struct.pack("<d", wall_s)
        plugin = _bytes(1, b"hparams") + _bytes(2, _bytes(3, session))
        empty = bytes([8, 1, 18, 2, 18, 0])  # DT_FLOAT of one empty dimension
        value = _bytes(1, b"_hparams_/session_start_info") + _bytes(8, empty)
        self._record(_event(wall_s, _bytes(5, _bytes(1, value + _bytes(9, _bytes(1, plugin))))))

    def picture(self, path: pathlib.Path) -> None:
        """A PNG as the image of its name, of the time of its last change."""
        value = _bytes(1, path.stem.encode()) + _bytes(4, _image(path))
        self._record(_event(int(path.stat().st_mtime), _bytes(5, _bytes(1, value))))

    def restart(self, step: int, wall_s: float) -> None:
        """Readers drop what they have from this step on: SessionLog { status = 1: START }."""
        self._record(_event(wall_s, _step(step) + _bytes(7, b"\x08\x01")))

    def close(self) -> None:
        if not self._live:
            self._new.commit()
        self._file.close()

    def discard(self) -> None:
        """Leaves the file of before, unless this one is live."""
        if self._live:
            self._file.close()
        else:
            self._new.discard()


def write_pictures(run: pathlib.Path, out: pathlib.Path) -> int:
    """The PNG pictures of each folder of a run, in a file of that folder below `out`; how many."""
    count = 0
    folders = {path.parent for path in run.glob("**/*.png")
               if path.is_file() and not path.is_symlink() and out not in path.parents}
    for folder in sorted(folders):
        pictures = sorted(p for p in folder.glob("*.png") if p.is_file() and not p.is_symlink())
        file = EventFile(out / folder.relative_to(run), int(pictures[0].stat().st_mtime), False,
                         "figures")
        try:
            for path in pictures:
                file.picture(path)
        except BaseException:
            file.discard()
            raise
        file.close()
        count += len(pictures)
    return count
