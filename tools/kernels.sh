#!/usr/bin/env bash
# kernels.sh FILE.cu... - the names of the kernels in CUDA sources, sorted; for compute-sanitizer.
cat "$@" | tr '\n' ' ' |
    sed -E 's@/\*[^*]*\*/@@g; s/__launch_bounds__\(([^()]|\([^()]*\))*\)//g' |
    grep -oE '__global__ void +[a-z_0-9]+\(' |
    sed -E 's/\($//; s/.* //' | LC_ALL=C sort -u
