#!/usr/bin/env bash
# test_library.sh - liborrery as it is installed: programs in C and C++ compile against it by
# pkg-config and run, it shows nothing but orrery_*, needs GSL alone, leaves the caller's state as
# it was, and its interface is the one that is written down.
. tests/cli/lib.sh
unset ORRERY_PRESETS
tree=$WORK/tree root=$WORK/tree/usr
check "install" env BIN="$BIN" B="$BUILT" PREFIX=/usr DESTDIR="$tree" LIBDIR=lib \
    tools/install.sh install
library=$root/lib/liborrery.so.2
check "the soname" prints 'SONAME.*\[liborrery\.so\.2\]' readelf -d "$library"
sanitized=$(nm -D "$library" | grep -cE '__(asan|tsan|lsan|gcov)') # such a build needs more
symbols() {
    nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//'
}
check "symbols: there are some" test "$(symbols | wc -l)" -gt 20
check "symbols: nothing but orrery_*" equal "ORRERY_2" "$(symbols | grep -v '^orrery_' | sort -u)"
inner() { # symbols inside that begin with a prefix
    nm "$library" | awk -v prefix="$1" 'index($3, prefix) == 1' | wc -l
}
check "the library has readers of runs" test "$(inner compare_)" -gt 5
check "the library has nothing of the study" equal 0 "$(inner verdict_)"
declared() {
    cat api/orrery/*.h | grep -A1 '^ORRERY_CALL ' | grep -oE 'orrery_[a-z_]+\(' |
        tr -d '(' | sort -u
}
check "symbols: those of the header" equal "$(declared)" "$(symbols | grep '^orrery_' | sort -u)"
if [ "$sanitized" -eq 0 ]; then
    needed() {
        readelf -d "$library" | sed -nE 's/.*NEEDED.*\[([a-z0-9-]+)\.so.*/\1/p' |
            grep -vx -e ld-linux-x86-64 -e libgslcblas | sed 's/libomp/libgomp/' | sort
    }
    check "it needs GSL, OpenMP and the C library" equal "libc libgomp libgsl libm" \
        "$(echo $(needed))"
    strip -o "$WORK/stripped" "$library"
    check "it needs GSL, OpenMP and the C library: and is below 5 MB" \
        test "$(stat -c %s "$WORK/stripped")" -lt 5000000
fi

# ---- the interface that is written down
tools/abi.sh api/orrery/*.h >"$WORK/abi" 2>"$WORK/err"
check "the interface is as tests/api/abi.txt has it (a new one: ORRERY_INTERFACE, tools/abi.sh)" \
    same_file tests/api/abi.txt "$WORK/abi"
changed() { # COMMAND of sed: the interface of changed headers
    rm -rf "$WORK/changed" && mkdir "$WORK/changed" &&
        for header in api/orrery/*.h; do
            sed "$1" "$header" >"$WORK/changed/$(basename "$header")" || return
        done
    (cd "$WORK/changed" && "$OLDPWD/tools/abi.sh" ./*.h) >"$WORK/abi" 2>"$WORK/err"
}
changed 's/    size_t columns; .*/    int columns;/'
check "the interface is as tests/api/abi.txt has it: and notices another member" \
    other_file tests/api/abi.txt "$WORK/abi"
changed 's/int row, int notation,/int row, long notation,/'
check "the interface is as tests/api/abi.txt has it: and another argument" \
    other_file tests/api/abi.txt "$WORK/abi"
changed ''
check "tools/abi.sh: headers in another folder have the same interface" \
    same_file tests/api/abi.txt "$WORK/abi"

# ---- programs of others
if command -v pkg-config >/dev/null; then
    flags() {
        PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tree \
            PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
            pkg-config --cflags --libs orrery
    }
    version=$("$BIN/orrery" --version | grep -oE '[0-9.]+' | head -n 1)
    check "pkg-config knows the version" prints "^$version$" env \
        PKG_CONFIG_PATH="$root/lib/pkgconfig" pkg-config --modversion orrery
else
    skip "pkg-config" "it is not installed"
    flags() {
        echo "-I$root/include -L$root/lib -lorrery"
    }
fi
case ${CC:-cc} in *clang*) CXX=${CC/clang/clang++} ;; esac
command -v "${CXX:=c++}" >/dev/null || skip "examples in C++" "there is no compiler"
if [ "$sanitized" -ne 0 ]; then # programs would need the same sanitizer
    skip "programs that link the library" "it is built with a sanitizer"
    finish
fi
build() { # FILE NAME FLAG...
    local compiler="${CC:-cc} -std=c11" file=$1 name=$2
    shift 2
    [[ $file != *.cpp ]] || compiler="$CXX -std=c++17"
    $compiler -O1 -Wall -Wextra -Wpedantic -Werror "$file" -o "$WORK/$name" $(flags) "$@" \
        -Wl,-rpath,"$root/lib"
}
run_it() { # NAME ARGUMENT...
    (cd "$WORK" && timeout "$LIMIT" ./"$@" </dev/null)
}
check "orbits.c compiles" build docs/examples/orbits.c orbits -lm
check "orbits.c compiles: and simulates" \
    prints '^1000 sequences of 65 rows, 24000 rows with a force$' \
    run_it orbits
check "regress.c compiles" build docs/examples/regress.c regress -lm
check "regress.c compiles: and finds Kepler's third law" \
    prints '17.655333, expected 17.655333$' run_it regress
check "fit.c compiles" build docs/examples/fit.c fit -lm
check "fit.c finds the law in one call" prints '^T = (\(a \* sqrt|sqrt).*' run_it fit
check "options.c compiles" build docs/examples/options.c options
run_it options >"$WORK/options.md"
check "docs/symreg_options.md is what the rows of options give (make options-page)" \
    same_file docs/symreg_options.md "$WORK/options.md"
if command -v "$CXX" >/dev/null; then
    check "threads.cpp compiles" build docs/examples/threads.cpp threads -pthread
    check "threads.cpp fits two tables beside a simulation" \
        prints '^\(3 \* square\(x1\)\)$' run_it threads
fi

# ---- the same front as the program's
cat >"$WORK/same.c" <<'END'
#include <orrery.h>
#include <stdio.h>
int main(void)
{
    double x[2 * 30], y[30];
    struct orrery_regression *r = NULL;
    struct orrery_counts counts = {.bytes = sizeof counts};
    int status = orrery_regression_create(ORRERY_INTERFACE, &r);
    FILE *table = fopen("table.csv", "w");
    if (status || !table)
        return 1;
    fprintf(table, "u,v,w\n");
    for (int i = 0; i < 30; i++) {
        x[i] = (i + 1) / 8.0;
        x[30 + i] = (i * 7 % 11 + 1) / 4.0;
        y[i] = x[i] * x[i] / x[30 + i] + (i * 13 % 17) / 64.0;
        fprintf(table, "%.17g,%.17g,%.17g\n", x[i], x[30 + i], y[i]);
    }
    fclose(table);
    const char *const names[] = {"u", "v"};
    const struct orrery_table t = {.bytes = sizeof t, .rows = 30, .columns = 2,
                                   .order = ORRERY_COLUMNS, .x = x, .y = y,
                                   .names = names, .target = "w"};
    status = orrery_regression_set(r, "iterations", "4") ||
             orrery_regression_set(r, "enumerate", "5000") ||
             orrery_regression_set(r, "maxsize", "12") || orrery_regression_data(r, &t) ||
             orrery_regression_search(r, 2, NULL, NULL) || orrery_regression_counts(r, &counts);
    printf("Complexity,Loss,Equation\n");
    for (int i = 0; i < counts.rows && !status; i++) {
        char text[4000];
        struct orrery_row f = {.bytes = sizeof f};
        status = orrery_regression_row(r, i, &f) ||
                 orrery_regression_print(r, i, ORRERY_TEXT, text, sizeof text, NULL);
        printf("%d,%.9g,\"%s\"\n", f.complexity, f.loss, text);
    }
    if (status)
        fprintf(stderr, "%s\n", orrery_message(r));
    orrery_regression_free(r);
    return status;
}
END
check "same.c compiles" build "$WORK/same.c" same
run_it same >"$WORK/library.csv"
check "the program on the same table" program symreg "$WORK/table.csv" --target w --maxsize 12 \
    --iterations 4 --set symreg.enumerate=5000 --threads 1 --quiet --out "$WORK/out"
check "the program on the same table: has the same front" \
    same_file "$WORK/library.csv" "$WORK/out/front.csv"
if quick; then finish; fi

# ---- models
check "predict.c compiles" build docs/examples/predict.c predict -lm
for stage in orbits pretrain finetune; do
    check "a run: $stage" "$BIN/orrery" stage $stage PRESET=smoke RUN="$WORK/run" \
        THREADS=1 SET="attention=lssar model.precision=fp32 finetune.samples=1"
done
model=$WORK/run/lssar/finetune/magnitude.safetensors
sed -n '/"orbits": {/,/}/p' presets/smoke.json | grep -oE '"[a-z_0-9]+": [^{,}]+' |
    sed 's/"//g; s/^/orbits./; s/: */=/' >"$WORK/settings"
# forces of held-out rows as the run has them: at most the digits that are printed apart
same_forces() {
    awk -F, 'FNR == 1 { next }
        NR == FNR { force[$1 "," int(($2 - 1) / 2)] = $4; next }
        { n++; d = force[$2 "," $3] / $9 - 1; bad += d > 2e-5 || d < -2e-5 }
        END { print n, bad + 0; exit !(n == 50 && bad == 0) }' "$1" \
        "$WORK/run/lssar/finetune/forces_magnitude.csv"
}
said() { # what it says before it ends with status 1
    "$@" 2>&1
    [ $? -eq 1 ]
}
predict() { # FILE [VARIABLE=VALUE]
    local to=$1
    shift
    (cd "$WORK" && env "$@" ./predict "$model" settings 60) >"$to"
}
check "forces from a checkpoint" predict "$WORK/forces.csv"
check "forces from a checkpoint: are those of the run" same_forces "$WORK/forces.csv"
mkdir "$WORK/without" && echo none >"$WORK/without/libdnnl.so.2" # no library
cp "$WORK/without/libdnnl.so.2" "$WORK/without/libdnnl.so.3"
check "forces from a checkpoint: and without oneDNN" \
    predict "$WORK/plain.csv" LD_LIBRARY_PATH="$WORK/without"
check "forces from a checkpoint: are those of the run, too" same_forces "$WORK/plain.csv"
echo none >"$WORK/without/libcjson.so.1"
check "without cJSON a checkpoint is refused" prints \
    'predict: .*safetensors: reading it needs the library cJSON' said predict /dev/null \
    LD_LIBRARY_PATH="$WORK/without"

# ---- results
check "results.c compiles" build docs/examples/results.c results -lm
results() { # TO FILE [COLUMN]...
    local to=$1
    shift
    (cd "$WORK" && ./results "$@") >"$to"
}
check "a table of forces as columns" results "$WORK/columns.csv" \
    run/lssar/finetune/forces_magnitude.csv
same_table() { # lines and names of both, and their numbers as far as nine digits tell
    awk -F, 'NR == FNR { line[FNR] = $0; lines = FNR; next }
        FNR == 1 { bad += $0 != line[1] }
        { n = split(line[FNR], of)
          for (c = 1; c <= NF; c++) bad += FNR > 1 && (of[c] - $c) ^ 2 > (1e-8 * $c) ^ 2
          bad += n != NF }
        END { exit !(lines > 1 && FNR == lines && !bad) }' "$1" "$2"
}
check "a table of forces as columns: has its rows and numbers" same_table \
    "$WORK/run/lssar/finetune/forces_magnitude.csv" "$WORK/columns.csv"
check "a training log as columns" results "$WORK/columns.csv" run/lssar/pretrain/log.jsonl \
    step val_loss
check "a training log as columns: has its lines" \
    equal "$(wc -l <"$WORK/run/lssar/pretrain/log.jsonl")" \
    $(($(wc -l <"$WORK/columns.csv") - 1))
check "a run without laws is refused" prints 'results: .*laws\.json: missing; make it with' \
    said results /dev/null run
check "laws of the run" "$BIN/orrery" stage symreg PRESET=smoke RUN="$WORK/run" THREADS=1 \
    SET="attention=lssar model.precision=fp32 finetune.samples=1 symreg.enumerate=5000 \
         symreg.iterations=3"
check "a run as the long table" results "$WORK/columns.csv" run model quantity value
check "a run as the long table: says what the truth is" \
    prints '^"attention=truth","selected_share",1$' \
    cat "$WORK/columns.csv"
check "a probe of the run" program probe rollout --run "$WORK/run" --attention lssar \
    --sequences 4 --quiet
check "a run with a probe as the long table" results "$WORK/columns.csv" run model quantity value
check "rows of the probe are those of its own file" results "$WORK/probe.csv" \
    run/lssar/probe/rollout.json model quantity value
own=$(tail -n +2 "$WORK/probe.csv" | sort) # where a run has them, they end its table
check "the table of the run has the rows of its probe" equal "$own" \
    "$(tail -n "$(wc -l <<<"$own")" "$WORK/columns.csv" | sort)"
sed -i -E 's/("checkpoint_xxh64":.")[0-9a-f]{4}/\10000/; /^\t"xxh64"/d; s/\],$/]/' \
    "$WORK/run/lssar/probe/rollout.json"
check "a run with a probe of another checkpoint as the long table" results "$WORK/columns.csv" run \
    model quantity value
check "rows of a probe of another checkpoint are left out" equal 0 \
    "$(grep -c 'stage=pretrain' "$WORK/columns.csv")"
if command -v cmake >/dev/null; then
    mkdir "$WORK/cmake" && cat >"$WORK/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.10)
project(example C)
find_package(orrery 0.1 REQUIRED)
add_executable(predict $PWD/docs/examples/predict.c)
target_link_libraries(predict orrery::orrery m)
END
    with_cmake() {
        (cd "$WORK/cmake" && cmake -DCMAKE_PREFIX_PATH="$root" . && cmake --build . &&
            ./predict "$model" "$WORK/settings" 60) >"$WORK/cmake.out" 2>&1
    }
    check "find_package(orrery) of CMake" with_cmake
    check "find_package(orrery) of CMake: and the program runs" \
        prints '^59,' tail -n 5 "$WORK/cmake.out"
else
    skip "find_package(orrery) of CMake" "it is not installed"
fi
header_is() { # LANGUAGE: the header alone compiles
    echo "#include <orrery.h>" | ${CC:-cc} -x $1 -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
        -I"$root/include" -
}
check "the header alone is C11" header_is "c -std=c11"
! command -v "$CXX" >/dev/null || check "the header alone is C++11" header_is "c++ -std=c++11"
check "a caller of its own compiles" build tests/api/caller.c caller -fopenmp -lgsl \
    -lgslcblas -lm -pthread
check "several searches and simulations at once" run_it caller threads
check "several searches and simulations at once: and readers of results" run_it caller threads run
check "the caller's state is as it was" run_it caller
check "the caller's state is as it was: nothing is printed" \
    equal nothing "$(run_it caller 2>&1 && echo nothing)"
if command -v localedef >/dev/null &&
    localedef -i de_DE -f UTF-8 "$WORK/de_DE.UTF-8" 2>/dev/null; then
    check "the caller's state is as it was: with commas for decimals" \
        env LOCPATH="$WORK" LC_ALL=de_DE.UTF-8 "$WORK/caller"
else
    skip "the caller's state is as it was: with commas for decimals" "no localedef"
fi
if command -v valgrind >/dev/null; then
    check "no fault under valgrind" env ORRERY_ISA=avx2 valgrind -q --error-exitcode=9 \
        --leak-check=full --errors-for-leak-kinds=definite "$WORK/orbits"
else
    skip "no fault under valgrind" "it is not installed"
fi
finish
