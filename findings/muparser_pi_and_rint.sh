#!/usr/bin/env bash
# muParser 2.3.3: two of its built-in names are less exact than the processor's own arithmetic.
#
# Guess: a library that evaluates formulas in double precision has the constant _pi in double precision, as it has _e;
# and its rint() rounds as rint() of C and of IEEE 754 does, halves to even numbers, alike for both signs.
# Seen: _pi has the 13 digits 3.141592653589, 2.5e-13 too small in relative terms, a thousand roundings of a double;
# _e is right to the last bit. An orbit computed with 4*_pi^2 as its constant of gravity is off by 5e-13, which is 50
# times what a good integrator leaves. rint(2.5) is 3 and rint(-2.5) is -2: halves go up, towards plus infinity.
set -eu
version=2.3.3-0.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download "libmuparser2v5=$version"
dpkg-deb -x libmuparser2v5_*.deb .
echo "muParser $version (Debian's libmuparser2v5), by its C interface"
python3 - <<'PYTHON'
import ctypes, glob, math, sys

ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(glob.glob("usr/lib/*/libmuparser.so.2.3.3")[0])
library.mupCreate.restype = ctypes.c_void_p
library.mupCreate.argtypes = [ctypes.c_int]
library.mupSetExpr.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.mupEval.argtypes = [ctypes.c_void_p]
library.mupEval.restype = ctypes.c_double
parser = library.mupCreate(0)

def value(text):
    library.mupSetExpr(parser, text.encode())
    return library.mupEval(parser)

seen = {text: value(text) for text in ("_pi", "_e", "rint(2.5)", "rint(-2.5)", "rint(3.5)")}
for text, result in seen.items():
    print(f"{text:10} = {result!r}")
print(f"4*_pi^2 is {value('4*_pi^2') / (4 * math.pi ** 2) - 1:.2e} from 4 pi^2, relative")
expected = {"_pi": 3.141592653589, "_e": math.e, "rint(2.5)": 3.0, "rint(-2.5)": -2.0, "rint(3.5)": 4.0}
sys.exit(0 if seen == expected else "the behaviour has changed")
PYTHON
