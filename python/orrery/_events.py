"""Event files of TensorBoard, as bin/report --tensorboard writes them: records of protobuf
messages, each framed by its length and two masked CRC-32C (TensorFlow,
tsl/lib/io/record_writer.h)."""

from __future__ import annotations

import pathlib
import struct
from ctypes import c_float
from typing import Mapping

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


class EventFile:
    """One event file in a folder. live: a record is there for readers when write() returns, else
    the file of before stays until close()."""

    def __init__(self, folder: pathlib.Path, wall_s: float, live: bool):
        folder.mkdir(parents=True, exist_ok=True)
        self._new = Replacement(folder / "events.out.tfevents.0.orrery")
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
