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
        --into "$out" --as "$1.sm_${5%a}" --source "$source" || exit 1
}
count softmax-forward-2 fused_forward fused_forward 0ELb0E 80 \
    1b70,2220,2cf0,2fc0,3290,3700 17c0,1c10
count softmax-forward-2 fused_forward fused_forward 0ELb0E 90 2320,2df0,30c0,3390,3810 18e0,1d10
count lssar-forward-2 fused_forward fused_forward 3ELb1E 80 15f0,1bb0,5bf0,62e0,b2a0,b990 \
    17a0,22b0,55e0,5970,5ed0,b580
count lssar-forward-2 fused_forward fused_forward 3ELb1E 90 1830,1e20,5e70,6540,b500,bbd0 \
    1a10,2520,5820,5bd0,6140,b7d0
count lssar-evaluation-2 fused_forward fused_forward 3ELb0E 80 1620,1be0,5c20,6310,b000,b6f0 \
    17d0,22e0,5590,5940,5f00,b2e0
count lssar-evaluation-2 fused_forward fused_forward 3ELb0E 90 16c0,1cb0,5bf0,62c0,b060,b730 \
    18a0,23b0,55a0,5950,5ec0,b330
count softmax-backward-2 fused_backward fused_backward 0E 80 1d20,2320,38a0 \
    1840,1c10,1ea0,3830,3860,3a20,3ce0,3da0,3dc0,3e10
count softmax-backward-2 fused_backward fused_backward 0E 90 24a0,39e0 \
    1950,1d40,2010,3970,39a0,3b60,3e20,3ee0,3f30
count lssar-backward-2 fused_backward fused_backward 3E 80 2970,2f90,3910,9b30 \
    2460,2830,2b00,32a0,9ac0,9af0,9cb0,9f70,a030,a050,a0a0
count lssar-backward-2 fused_backward fused_backward 3E 90 30f0,3a60,9c70 \
    2520,2930,2c50,33f0,9c00,9c30,9df0,a0b0,a170,a1c0
# those of 9.0's tensor cores; what one warp of four does to have a tile fetched is counted for all
count softmax-forward-hopper hopper_forward hopper_forward 0ELb0E 90a \
    1a90,2100,2400,2b80,3200,3730 0cc0,0de0,0f30,15a0,1690,1770
count lssar-forward-hopper hopper_forward hopper_forward 3ELb1E 90a 12d0,1690,5520,5df0,ab80 \
    0cc0,0e00,12b0,1380,1460,1da0,5090,51a0,5280,59f0,a780
count lssar-evaluation-hopper hopper_forward hopper_forward 3ELb0E 90a 12d0,1690,53b0,5c80,a900 \
    0cc0,0e00,12b0,1380,1460,1da0,4f20,5030,5110,5880,a500
count softmax-backward-hopper hopper_backward hopper_backward 0E 90a 2480,43b0 \
    0a10,0b40,0cb0,0de0,1560,17a0,1900,1b30,1cc0,3710,4340,4370,43f0,4540,4800,48c0
count lssar-backward-hopper hopper_backward hopper_backward 3E 90a 2da0,3640,41b0,9e80,10390 \
    0aa0,0bc0,0d20,0e40,2550,27e0,2990,2c00,3b40,9810,f600,10320,10350,103d0,10520,107e0,108a0
