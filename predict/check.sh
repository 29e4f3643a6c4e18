#!/usr/bin/env bash
# check.sh - counts the loops of our fused attention kernels in the machine code that this machine's
# nvcc makes of them, and holds them against predict/limits.json. Run by `make check-sass`; from the
# repository's root. Passed over by name where nvcc or nvdisasm (PyPI's nvidia-cuda-nvdisasm) is not
# there, or nvcc is another than the one whose branches predict/count.sh knows.
set -u -o pipefail
expected=V13.0.88
skip() {
    echo "skipped: check-sass: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v nvcc >/dev/null || skip "no nvcc on PATH"
command -v nvdisasm >/dev/null || skip "no nvdisasm on PATH (PyPI's nvidia-cuda-nvdisasm has one)"
found=$(nvcc --version | grep -o 'V[0-9][0-9.]*')
[ "$found" = $expected ] ||
    skip "nvcc $found; the branches that are settled are those of $expected's code"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
assembler=$(dirname "$(realpath "$(command -v nvcc)")")/ptxas
echo "nvcc $found, ptxas $("$assembler" --version | grep -o 'V[0-9][0-9.]*')," \
    "nvdisasm $(nvdisasm --version | grep -o 'V[0-9][0-9.]*')"
echo
CUBINS=$work predict/count.sh "$work/counts.json" >"$work/log" || {
    cat "$work/log"
    exit 1
}
# registers and shared memory of a block, and what is spilled, as ptxas stored them
command -v cuobjdump >/dev/null || echo "without cuobjdump on PATH (PyPI's nvidia-cuda-cuobjdump):"
echo "| kernel, heads of 64 | registers | static shared bytes | stack bytes |"
echo "|---|---|---|---|"
for cubin in "$work"/*.cubin; do
    cuobjdump --dump-resource-usage "$cubin" 2>/dev/null |
        awk -v arch="$(basename "$cubin" .cubin)" '/^ *Function / { name = $2; sub(/:$/, "", name) }
            /REG:/ && name ~ /ILi64E.*fused_kind[03]E/ { split($0, f, /[ :]+/)
                for (i in f) { if (f[i] == "REG") r = f[i + 1]; if (f[i] == "STACK") s = f[i + 1]
                    if (f[i] == "SHARED") m = f[i + 1] }
                printf "| %s %s | %s | %s | %s |\n", arch, name, r, m, s }'
done
echo
tools/predict limits predict/limits.json "$work/counts.json"
