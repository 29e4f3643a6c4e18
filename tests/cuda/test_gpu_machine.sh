#!/usr/bin/env bash
# test_gpu_machine.sh - machines with a GPU and without, as programs see them: the CUDA backend on
# the emulation ($EMULATED, built as the plugin is) without a driver, with an old one, with a GPU
# that is too old, with two; what model.device = auto does there; recordings switched off.
. tests/cli/lib.sh
export ORRERY_CUDA_PLUGIN=$EMULATED
export ORRERY_PCI=$WORK/pci
unset CUDA_VISIBLE_DEVICES ORRERY_CUDA_GRAPHS
SMOKE=(--preset smoke --threads 1 --attention softmax --set pretrain_planets.steps=0
       --set pretrain.steps=3 --set pretrain.batch=2 --set pretrain.eval_sequences=2)
check "data" program orbits --preset smoke --threads 1 --run "$WORK/data" --quiet
SMOKE+=(--orbits "$WORK/data/orbits")
last=softmax/pretrain/last.safetensors

# machine NAME VENDOR CLASS: a PCI device; machine: none
machine() {
    rm -rf "$ORRERY_PCI"
    mkdir -p "$ORRERY_PCI"
    [ $# -eq 0 ] || mkdir "$ORRERY_PCI/$1" || return 1
    [ $# -eq 0 ] || { echo "$2" >"$ORRERY_PCI/$1/vendor" && echo "$3" >"$ORRERY_PCI/$1/class"; }
}

# ---- asked for: one clear line each
KEEP=$WORK/none
on() { # on VARIABLE=VALUE... -- ARGUMENT...: pretrain there
    local variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    env "${variables[@]}" "$BIN/pretrain" "${SMOKE[@]}" --run "$WORK/none" --quiet "$@"
}
machine 0000:01:00.0 0x10de 0x030200
refuse "no driver" 1 '--device cuda: no NVIDIA driver was found' 'libcuda.so.1' '580 or later' -- \
    on ORR_CUDA_HOST_DRIVER=0 -- --device cuda
refuse "an old driver" 1 '--device cuda: the NVIDIA driver is too old' 'for CUDA 12.4' \
    'of CUDA 13.0' 'version 580 or later' -- on ORR_CUDA_HOST_DRIVER=12040 -- --device cuda
refuse "a GPU that is too old" 1 'GPU 0 is too old' 'compute capability 7.5' '8.0' -- \
    on ORR_CUDA_HOST_CAPABILITY=75 -- --device cuda
refuse "no GPU" 1 '--device cuda: no NVIDIA GPU was found' -- \
    on ORR_CUDA_HOST_DEVICES=0 -- --device cuda
refuse "a GPU beyond the last" 1 '--device cuda:2: no GPU 2' 'GPUs here are 0 to 1' -- \
    on ORR_CUDA_HOST_DEVICES=2 -- --device cuda:2
for wrong in cuda: cuda:x cuda:-1 cuda:1x cuda:100 cuda0; do
    refuse "$wrong" 2 --device 'cpu, cuda, cuda:N or auto' "\"$wrong\"" -- \
        on A=b -- --device "$wrong"
done

# ---- preferred: the CPU where there is no GPU, an error where there is one that cannot be used
auto=(-- --set model.device=auto)
refuse "auto beside an old driver" 1 'preset smoke, model.device = auto: an NVIDIA GPU is here' \
    'driver is too old' '--device cpu' -- on ORR_CUDA_HOST_DRIVER=12040 "${auto[@]}"
refuse "auto without the plugin" 1 'an NVIDIA GPU is here' 'no CUDA backend' -- \
    on ORRERY_CUDA_PLUGIN="$WORK/none.so" "${auto[@]}"
# settled NAME VARIABLE=VALUE...: auto takes the CPU there, and says why
settled() {
    local name=$1
    shift
    rm -rf "$WORK/settled"
    env "$@" "$BIN/pretrain" "${SMOKE[@]}" --run "$WORK/settled" --set model.device=auto \
        >"$WORK/out" 2>"$WORK/err"
    check "$name: status 0" test $? -eq 0
    check "$name: says so" grep -q \
        '^note: .*model.device = auto: .*; computing on the CPU$' "$WORK/err"
}
settled "auto, and the GPU is hidden" ORR_CUDA_HOST_DEVICES=0 CUDA_VISIBLE_DEVICES=
machine 0000:01:00.0 0x1002 0x030000
settled "auto beside another maker's GPU" ORR_CUDA_HOST_DRIVER=0
machine 0000:01:00.1 0x10de 0x040300
settled "auto beside a sound device of NVIDIA" ORR_CUDA_HOST_DRIVER=0
machine
settled "auto without a GPU" ORR_CUDA_HOST_DEVICES=0

# ---- training there, recorded or not, on either of two: the same bits
export ORR_CUDA_HOST_DEVICES=2
check "on a GPU" program pretrain "${SMOKE[@]}" --run "$WORK/gpu" --quiet --device cuda
check "on the second" program pretrain "${SMOKE[@]}" --run "$WORK/second" --quiet --device cuda:1
check "on the second: the same weights" same_file "$WORK/gpu/$last" "$WORK/second/$last"
# (4: cudaGraphInstantiate fails, which is seen where anything is recorded)
for graphs in 0 1; do
    env ORRERY_CUDA_GRAPHS=$graphs ORR_CUDA_HOST_GRAPHS=4 "$BIN/pretrain" "${SMOKE[@]}" \
        --run "$WORK/graphs-$graphs" --device cuda >"$WORK/out" 2>"$WORK/err"
    check "ORRERY_CUDA_GRAPHS=$graphs: status 0" test $? -eq 0
    check "ORRERY_CUDA_GRAPHS=$graphs: status 0: the same weights" \
        same_file "$WORK/gpu/$last" "$WORK/graphs-$graphs/$last"
    notes=$(grep -c '^note: passes are not recorded, .*cudaGraphInstantiate' "$WORK/err")
    check "ORRERY_CUDA_GRAPHS=$graphs: status 0: notes of recordings: $notes" \
        test "$notes" -eq $graphs
done
check "on the CPU" program pretrain "${SMOKE[@]}" --run "$WORK/cpu" --quiet --device cpu
check_not "on the CPU: other bits: the GPU did compute" \
    same_file "$WORK/gpu/$last" "$WORK/cpu/$last"
unset ORR_CUDA_HOST_DEVICES

# ---- the plugin that nvcc built, on a machine without a driver: NVIDIA's own runtime says so
if [ -e "$BIN/orrery_cuda.so" ] && ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
    refuse "nvcc's plugin without a driver" 1 '--device cuda: no NVIDIA driver was found' -- \
        on ORRERY_CUDA_PLUGIN="$PWD/$BIN/orrery_cuda.so" -- --device cuda
    # ... and with one that is older than it (tests/cuda/old_driver.c)
    old=$BUILT/tests/cuda/old_driver
    refuse "nvcc's plugin with an old driver" 1 '--device cuda: the NVIDIA driver is too old' \
        'for CUDA 12.4' 'version 580 or later' -- on LD_LIBRARY_PATH="$old" \
        ORRERY_CUDA_PLUGIN="$PWD/$BIN/orrery_cuda.so" -- --device cuda
fi
finish
