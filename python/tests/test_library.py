"""The ctypes table beside the header: names, arguments, members, sizes, constants."""

import ctypes
import pathlib
import re
import shutil
import subprocess

import pytest

from orrery import _library

HEADER = pathlib.Path(__file__).resolve().parents[2] / "api" / "orrery.h"
# size_t and uint64_t are one type of ctypes on machines of 64 bits.
PLAIN = {ctypes.c_int: ["int"], ctypes.c_double: ["double"]}
PLAIN.setdefault(ctypes.c_size_t, []).append("size_t")
PLAIN.setdefault(ctypes.c_uint64, []).append("uint64_t")
pytestmark = pytest.mark.skipif(not HEADER.exists(), reason="no api/orrery.h beside the package")


def text():
    parts = sorted((HEADER.parent / "orrery").glob("*.h"))
    return re.sub(r"/\*.*?\*/", "", "\n".join(p.read_text() for p in parts), flags=re.DOTALL)


def arguments(of):
    of = " ".join(of.split())
    return [] if of == "void" else of.split(",")


def test_functions():
    header = {name: (result.strip(), arguments(args)) for result, name, args in re.findall(
        r"ORRERY_CALL\s+([\w\s]+?[\s*]+)(orrery_\w+)\((.*?)\);", text(), re.DOTALL)}
    assert sorted(header) == sorted(_library.FUNCTIONS)
    for name, (result, args) in header.items():
        ours, types = _library.FUNCTIONS[name]
        assert len(types) == len(args), name
        expected = {"int": ctypes.c_int, "double": ctypes.c_double,
                    "void": None}.get(result, ctypes.c_char_p)
        assert ours is expected, name
        for given, type_ in zip(args, types):
            assert ("*" in given) == (type_ not in PLAIN), (name, given)
            if "*" not in given:
                word = given.split()[-2] if len(given.split()) > 1 else given
                assert word in PLAIN[type_], (name, given)


def test_structs():
    header = dict(re.findall(r"struct (orrery_\w+) \{(.*?)\};", text(), re.DOTALL))
    assert sorted(header) == sorted(_library.STRUCTS)
    for name, body in header.items():
        members = [re.findall(r"(\w+)$", m.strip())[0] for m in body.split(";") if m.strip()]
        assert members == [m for m, _ in _library.STRUCTS[name]._fields_], name


def test_sizes(tmp_path):
    """sizeof and offsetof as a C compiler has them."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    lines = []
    for name, struct in _library.STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for member, _ in struct._fields_:
            where = f"offsetof(struct {name}, {member}), sizeof((struct {name} *)0)->{member}"
            lines.append(f'printf("{name}.{member} %zu %zu\\n", {where});')
    source = tmp_path / "sizes.c"
    source.write_text(f'#include <stdio.h>\n#include "{HEADER}"\nint main(void) {{'
                      + "\n".join(lines) + "return 0;}\n")
    subprocess.run([compiler, str(source), "-o", str(tmp_path / "sizes")], check=True)
    out = subprocess.run([str(tmp_path / "sizes")], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        name, *numbers = line.split()
        struct, _, member = name.partition(".")
        ours = _library.STRUCTS[struct]
        field = getattr(ours, member) if member else None
        found = [field.offset, field.size] if field else [ctypes.sizeof(ours)]
        assert found == [int(number) for number in numbers], name


def test_constants():
    for name, value in re.findall(r"\bORRERY_(\w+) = (\d+)", text()):
        assert getattr(_library, name) == int(value), name
    assert f"#define ORRERY_INTERFACE {_library.INTERFACE}\n" in text()


def test_library_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(_library, "find", lambda: [tmp_path / "none.so"])
    with pytest.raises(ImportError, match="ORRERY_LIBRARY"):
        _library.load()
    (tmp_path / "none.so").write_text("no library")
    with pytest.raises(ImportError, match="cannot load"):
        _library.load()


def test_order_of_libraries(monkeypatch):
    """The wheel's own library, then the variable, then those that make built."""
    monkeypatch.setenv("ORRERY_LIBRARY", "/elsewhere/liborrery.so.2")
    folders = [path.parent.name for path in _library.find()]
    assert folders == ["orrery", "elsewhere", "bin", "build"]


def test_errors_name_the_key():
    handle = _library.Handle("regression")
    with pytest.raises(ValueError, match="maxsize"):
        handle.status("set", b"maxsiz", b"3")
