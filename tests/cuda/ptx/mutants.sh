#!/usr/bin/env bash
# mutants.sh - spoils one thing at a time and sees a test fail; run by `make check-ptx-mutants`.
#
#   mutants.sh BUILD [PART]    of the table tests/cuda/ptx/mutants.txt; lines that match the PART
#
# A line of the table: where # file # kernel # which match # pattern # instead # test # what it is.
#
#   ptx       one line of the PTX of a kernel (file: its module; kernel: part of the mangled name)
#   source    one line of kernels/cuda/FILE (or of HEADER:FILE), compiled by nvcc; kernel: as above
#   host      one line of a file for the host's compiler, linked with the test
#   runtime   one line of tests/cuda/ptx/FILE, with which PTX written by hand is run
#
# The pattern is an extended regular expression; "which match" counts the lines that match it,
# in the kernel or the file. The test must pass without the change (where check-ptx is run first, it
# did) and fail with it, by an assertion or a trap.
set -u
build=$1
part=${2:-}
here=$(dirname "$0")
table=${MUTANTS:-$here/mutants.txt}
work=$build/ptx/mutants
jobs=${JOBS:-$(nproc)}
rm -rf "$work"
mkdir -p "$work" || exit 1
MAKEFLAGS= make -s --no-print-directory B="$build" print-ptx-flags >"$work/flags" || exit 1
. "$work/flags" # NVCC_PTX, CXX_PTX, CXX_HOST, CXX_LINK, LIBS, PTX2CC, BY_HAND

# change FILE KERNEL WHICH PATTERN INSTEAD: prints the file with the line changed; 1 if none was
change() {
    KERNEL=$2 WHICH=$3 PATTERN=$4 INSTEAD=$5 awk '
        BEGIN { inside = ENVIRON["KERNEL"] == "" }
        /\.entry/ && ENVIRON["KERNEL"] != "" { inside = index($0, ENVIRON["KERNEL"]) > 0 }
        inside && $0 ~ ENVIRON["PATTERN"] && ++seen == ENVIRON["WHICH"] {
            before = $0
            sub(ENVIRON["PATTERN"], ENVIRON["INSTEAD"])
            changed = $0 != before
        }
        { print }
        END { exit !changed }' "$1"
}

# command TEST: how a test is run; the libraries are in the environment
command_of() {
    case $1 in
    golden) echo "$build/tests/kernels/golden_attention_cuda tests/golden" ;;
    matmul | half) echo "$2" ;;
    fused:*) echo "env ORRERY_CUDA_HOPPER=0 ORRERY_TEST_ONLY=${1#fused:}" \
        "$build/tests/kernels/cuda_fused_cuda" ;;
    hopper:*) echo "env ORRERY_TEST_ONLY=${1#hopper:}" \
        "$build/tests/kernels/cuda_fused_cuda" ;;
    *) echo "$build/tests/${1}_cuda" ;;
    esac
}

# make_mutant I WHERE FILE KERNEL WHICH PATTERN INSTEAD: in $work/I; 1 and why not on stdout
make_mutant() {
    local dir=$work/$1 where=$2 file=$3 kernel=$4 which=$5 pattern=$6 instead=$7 k only=()
    mkdir -p "$dir"
    for k in $kernel; do
        only+=(--kernel "$k")
    done
    case $where in
    ptx)
        change "$build/ptx/90/$file.ptx" "$kernel" "$which" "$pattern" "$instead" >"$dir/m.ptx" ||
            { echo "no such line"; return 1; } ;;
    source)
        cp kernels/cuda/*.cu* kernels/cuda/*.h "$dir/"
        change "kernels/cuda/${file%:*}" "" "$which" "$pattern" "$instead" >"$dir/${file%:*}" ||
            { echo "no such line"; return 1; }
        $NVCC_PTX "$dir/${file#*:}" -o "$dir/m.ptx" || { echo "does not compile"; return 1; } ;;
    host)
        change "$file" "" "$which" "$pattern" "$instead" >"$dir/m.cu" ||
            { echo "no such line"; return 1; }
        $CXX_HOST -I"$(dirname "$file")" -x c++ -c "$dir/m.cu" -o "$dir/m.o" &&
            $CXX_LINK "$build/tests/cuda/host/test_matmul.o" "$dir/m.o" $LIBS -o "$dir/test" ||
            { echo "does not compile"; return 1; }
        return ;;
    runtime)
        mkdir -p "$dir/tests/cuda/ptx"
        cp tests/cuda/ptx/*.h "$dir/tests/cuda/ptx/"
        change "tests/cuda/ptx/$file" "" "$which" "$pattern" "$instead" \
            >"$dir/tests/cuda/ptx/$file" ||
            { echo "no such line"; return 1; }
        for k in $BY_HAND; do
            $CXX_PTX -I"$dir" "$k.cc" -o "$dir/$(basename "$k").so" ||
                { echo "does not compile"; return 1; }
        done
        return ;;
    esac
    "$PTX2CC" "${only[@]}" "$dir/m.ptx" "$dir/m.cc" || { echo "is not translated"; return 1; }
    $CXX_PTX "$dir/m.cc" -o "$dir/m.so" || { echo "does not compile"; return 1; }
}

# one I LINE: its line of the report, in $work/I.line
one() {
    local i=$1 where file kernel which pattern instead test what why libraries program status word
    IFS='#' read -r where file kernel which pattern instead test what < <(sed 's/ *# */#/g' <<<"$2")
    if ! why=$(make_mutant "$i" "$where" "$file" "$kernel" "$which" "$pattern" "$instead" \
        2>"$work/$i.errors"); then
        echo "BROKEN   $what ($where, $file): $why" >"$work/$i.line"
        return
    fi
    libraries=$work/$i
    case $where in
    host) program="$work/$i/test" libraries= ;;
    *) program=$build/tests/cuda/ptx/test_ptx ;;
    esac
    only=0
    [ "$where" != runtime ] || only=1
    ORR_CUDA_HOST_PTX=$libraries ORR_CUDA_HOST_PTX_ONLY=$only timeout "${MUTANT_LIMIT:-900}" \
        $(command_of "$test" "$program") >"$work/$i.log" 2>&1
    status=$?
    word=caught
    [ $status -ne 0 ] || word=SURVIVED
    [ $status -ne 97 ] || word=BROKEN # its kernel did not run
    why=$(grep -a -m1 -E 'error: |ERROR|LINE|kernel [a-z_<>0-9, ()A-Z]*: |FAILED|stand-in' \
        "$work/$i.log" | cut -c1-150)
    [ $status -ne 124 ] || { word=STOPPED why="after ${MUTANT_LIMIT:-900} s"; }
    printf '%-8s %s (%s, %s) by %s: %s\n' "$word" "$what" "$where" "$file" "$test" "$why" \
        >"$work/$i.line"
    rm -rf "${work:?}/$i"
}

count=0
while IFS= read -r line; do
    [[ $line == [a-z]* && $line =~ $part ]] || continue
    count=$((count + 1))
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    one $count "$line" 2>>"$work/errors" &
done <"$table"
wait
for ((i = 1; i <= count; i++)); do
    cat "$work/$i.line"
done | tee "$work/report"
caught=$(grep -c '^caught' "$work/report")
echo "$caught passed, $((count - caught)) failed"
[ "$count" -gt 0 ] && [ "$caught" -eq "$count" ]
