#!/usr/bin/env bash
# count.sh - adds to predict/counts.json what the loops of our fused attention kernels hold, heads
# of 64, from the machine code that nvcc makes of kernels/cuda; their counts at 226faba, before the
# backward pass had five products, are there under the names without -2. Needs nvcc, and nvdisasm
# on PATH (PyPI's nvidia-cuda-nvdisasm has one). From the repository's root:
#
#   predict/count.sh [OUT.json]
#
# CUBINS=dir keeps what nvcc makes there, and takes what is there already.
# A loop is counted as it runs for a tile that is not the last, without masks: the branches below
# are those of nvcc 13.0.88's code, found with `tools/predict loops --blocks`. Another compiler's
# addresses are others, and `loops` refuses those at which no branch is. lssar's power is p = 15.
set -u -o pipefail
out=${1:-predict/counts.json}
work=$(mktemp -d) || exit 1
cubins=${CUBINS:-$work}
trap 'rm -rf "$work"' EXIT
version=$(nvcc --version | grep -o 'V[0-9][0-9.]*')
disassembler=$(nvdisasm --version | grep -o 'V[0-9][0-9.]*')
commit=$(git log -1 --format=%h -- kernels/cuda)
source="kernels/cuda at $commit; nvcc $version, nvdisasm $disassembler"

# count NAME FILE KERNEL KIND ARCH TAKEN NEVER
count() {
    local cubin="$cubins/$2.$5.cubin" symbol index
    [ -e "$cubin" ] ||
        nvcc -std=c++17 --fmad=true -O3 -I. -Ibase -cubin -arch="sm_$5" "kernels/cuda/$2.cu" \
            -o "$cubin" || exit 1
    symbol=$3ILi64EL10fused_kind$4
    index=$(readelf -sW "$cubin" 2>/dev/null | awk -v s="$symbol" '$4 == "FUNC" && index($0, s) {
        print $1 + 0; exit }')
    nvdisasm -fun "$index" -c "$cubin" >"$work/code.sass" || exit 1
    tools/predict loops "$work/code.sass" --kernel "$symbol" --taken "$6" --never "$7" \
        --into "$out" --as "$1.sm_$5" --source "$source" || exit 1
}
count softmax-forward-2 fused_forward fused_forward 0ELb0E 80 \
    1b70,2220,2cf0,2fc0,3290,3700 17c0,1c10
count softmax-forward-2 fused_forward fused_forward 0ELb0E 90 2320,2df0,30c0,3390,3810 18e0,1d10
count lssar-forward-2 fused_forward fused_forward 3ELb1E 80 15f0,1bb0,5bd0,62c0,b280,b970 \
    17a0,22b0,55c0,5950,5eb0,b560
count lssar-forward-2 fused_forward fused_forward 3ELb1E 90 1830,1e20,5e70,6540,b500,bbd0 \
    1a10,2520,5820,5bd0,6140,b7d0
count lssar-evaluation-2 fused_forward fused_forward 3ELb0E 80 1620,1be0,5c20,6310,b000,b6f0 \
    17d0,22e0,5590,5940,5f00,b2e0
count lssar-evaluation-2 fused_forward fused_forward 3ELb0E 90 16c0,1cb0,5bf0,62c0,b060,b730 \
    18a0,23b0,55a0,5950,5ec0,b330
count softmax-backward-2 fused_backward fused_backward 0E 80 1cf0,22f0,38a0 \
    1830,1c00,1e70,3830,3860,3a00,3cc0,3d80,3da0,3df0
count softmax-backward-2 fused_backward fused_backward 0E 90 2470,3a00 \
    1940,1d30,1fe0,3990,39c0,3b50,3e10,3ed0,3f20
count lssar-backward-2 fused_backward fused_backward 3E 80 2970,2f80,3900,9b40 \
    2460,2830,2b00,3290,9ad0,9b00,9ca0,9f60,a020,a040,a090
count lssar-backward-2 fused_backward fused_backward 3E 90 3070,39f0,9c80 \
    2500,28f0,2bf0,3380,9c10,9c40,9dd0,a090,a150,a1a0
