#!/usr/bin/env bash
# sass.sh - what the machine code of our fused attention holds, heads of 64, by this machine's nvcc:
# registers, spilled bytes and static shared memory of each kernel, as its assembler reports them.
# Run by `make check-sass`; a kernel that spills more than LIMIT bytes fails. Passed over by name
# where nvcc is not there.
set -u -o pipefail
limit=${LIMIT:-96} # lssar's backward kernels spill up to 68 by nvcc 13.0.88
if ! command -v nvcc >/dev/null; then
    echo "skipped: check-sass: no nvcc on PATH"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
nvcc --version | grep -o 'release.*'
passed=0 failed=0
echo "| kernel | for | registers | spilled bytes | static shared bytes |"
echo "|---|---|---|---|---|"
for source in fused_forward:80 fused_forward:90 fused_backward:80 fused_backward:90 \
    hopper_forward:90a hopper_backward:90a; do
    file=kernels/cuda/${source%:*}.cu arch=sm_${source#*:}
    log=$(nvcc -std=c++17 --fmad=true -O3 -I. -cubin -arch="$arch" -Xptxas -v "$file" \
        -o /dev/null 2>&1) || { echo "$log"; exit 1; }
    # softmax and lssar (kinds 0 and 3) of heads of 64
    while read -r kernel registers spilled shared; do
        echo "| $kernel | $arch | $registers | $spilled | $shared |"
        if [ "$spilled" -le "$limit" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "check-sass: $kernel of $arch spills $spilled bytes, expected at most $limit" >&2
        fi
    done < <(awk '/Compiling entry function/ { name = $7; gsub(/\047/, "", name); shared = 0 }
        /bytes spill stores/ { spilled = $5 }
        /Used [0-9]+ registers/ {
            for (i = 2; i < NF; i++) if ($(i + 2) ~ /^smem/) shared = $i
            if (name ~ /ILi64E.*fused_kind[03]E/) print name, $5, spilled, shared
        }' <<<"$log")
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
