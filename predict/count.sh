#!/usr/bin/env bash
# count.sh - writes predict/counts.json: what the loops of our fused attention kernels hold, heads
# of 64, from the machine code that nvcc makes of kernels/cuda. Needs nvcc, and nvdisasm on PATH
# (PyPI's nvidia-cuda-nvdisasm has one). From the repository's root:
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
    symbol=$3ILi64EL10fused_kind$4E
    index=$(readelf -sW "$cubin" 2>/dev/null | awk -v s="$symbol" '$4 == "FUNC" && index($0, s) {
        print $1 + 0; exit }')
    nvdisasm -fun "$index" -c "$cubin" >"$work/code.sass" || exit 1
    tools/predict loops "$work/code.sass" --kernel "$symbol" --taken "$6" --never "$7" \
        --into "$out" --as "$1.sm_$5" --source "$source" || exit 1
}
powers='b000,b020,b140,b270,b3e0,b4f0,b650,b760,d100,d120,d240,d370,d4e0,d5f0,d750,d860'
count softmax-forward fused_forward fused_forward 0 80 1e70,2520 1930,1f10,2ff0,32c0,3590,3980
count softmax-forward fused_forward fused_forward 0 90 2660 1a20,2040,3130,3400,36d0,3c30
count softmax-keys fused_backward fused_keys 0 80 1c60,20b0 1780,1da0
count softmax-keys fused_backward fused_keys 0 90 22a0 18d0,1f60
count softmax-queries fused_backward fused_queries 0 80 1bb0,1fe0 17e0,1ca0
count softmax-queries fused_backward fused_queries 0 90 2100 18e0,1dd0
count lssar-forward-first fused_forward fused_forward 3 80 2340,25b0,3bf0,eef0 1f50,3730,40b0,4330
count lssar-forward-first fused_forward fused_forward 3 90 2340,25f0,3d10,f070 1f30,3840,41e0,4470
count lssar-forward-second fused_forward fused_forward 3 80 \
    25b0,3bf0,40b0,5d40,b8a0,b9d0,d9a0,dad0 "1f50,2340,3730,eef0,$powers"
powers='b170,b190,b2b0,b3e0,b550,b660,b7c0,b8d0,d270,d290,d3b0,d4e0,d650,d760,d8c0,d9d0'
count lssar-forward-second fused_forward fused_forward 3 90 \
    25f0,3d10,41e0,5e80,ba10,bb40,db10,dc40 "1f30,2340,3840,f070,$powers"
count lssar-keys fused_backward fused_keys 3 80 25e0,38f0,3a20 \
    1af0,20c0,28e0,3050,3070,3190,32c0,3430,3540,36a0,37b0
count lssar-keys fused_backward fused_keys 3 90 26c0,39e0,3b10 \
    1b70,21a0,29c0,3140,3160,3280,33b0,3520,3630,3790,38a0
count lssar-queries fused_backward fused_queries 3 80 2590,3800,3930 \
    1cc0,20e0,2860,2f60,2f80,30a0,31d0,3340,3450,35b0,36c0
count lssar-queries fused_backward fused_queries 3 90 26c0,3940,3a70 \
    1d40,21a0,2990,30a0,30c0,31e0,3310,3480,3590,36f0,3800
