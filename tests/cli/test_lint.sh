#!/usr/bin/env bash
# test_lint.sh - the parts of make lint say yes to a small tree of two folders, and no to it as soon
# as one thing in it is not as it should be.
. tests/cli/lib.sh
tools=$PWD/tools
tree=$WORK/tree
export FOLDERS_TABLE=$tree/table

# plant: the small tree as it should be; alpha has the submodules low and high, and beta uses alpha
plant() {
    rm -rf "$tree"
    mkdir -p "$tree"/{base,alpha/low,alpha/high,beta,tests,bench,docs,build}
    cat >"$FOLDERS_TABLE" <<'END'
folder base orr_  : base
folder alpha a_  : alpha base
folder beta b_ alpha/high : beta alpha base
submodule alpha/low : alpha/low
submodule alpha/high : alpha/high alpha/low
END
    echo 'int orr_zero(void);' >"$tree/base/base.h"
    printf '#include "base.h"\nint orr_zero(void)\n{\n    return 0;\n}\n' >"$tree/base/zero.c"
    printf '#include "alpha/high/high.h"\n' >"$tree/alpha/alpha.h"
    printf 'int a_low(void); /* not a_none(void); */\n' >"$tree/alpha/low/low.h"
    cat >"$tree/alpha/low/low.c" <<'END'
#include "base/base.h"
#include "low.h"
int a_low(void)
{
    return orr_zero();
}
END
    cat >"$tree/alpha/high/high.h" <<'END'
#pragma once
#include "alpha/low/low.h"
#define A_MACRO(x) \
    a_macro(x);
struct a_shape {
    int (*area)(void);
};
extern const int a_sizes[3], a_size;
static inline int a_inline(void)
{
    return a_low();
}
int a_high(const struct a_shape *shape, int (*f)(void));
int a_tested(void);
END
    cat >"$tree/alpha/high/high.c" <<'END'
#include "high.h"
const int a_sizes[3] = {1, 2, 3}, a_size = 3;
int a_high(const struct a_shape *shape, int (*f)(void))
{
    return shape->area() + f() + a_inline();
}
int a_tested(void)
{
    return 1;
}
END
    printf '#include "alpha/alpha.h"\n#include "alpha/high/high.h"\n' >"$tree/beta/main_beta.c"
    printf 'int main(void)\n{\n    return a_high(0, 0) + a_size;\n}\n' >>"$tree/beta/main_beta.c"
    echo 'int b_unlinked;' >"$tree/beta/beta.c"
    echo 'int main(void) { return a_tested(); }' >"$tree/tests/test_high.c"
    echo 'int main(void) { return a_sizes[0] + b_unlinked; }' >"$tree/bench/bench_high.c"
    echo 'a_tested  an example' >"$tree/only_tests.txt"
    printf '# The guide\n[zero](../base/zero.c), `low.c`, `alpha/{low,high}/`, tests/*.c.\n' \
        >"$tree/docs/guide.md"
    printf 'See [there](docs/guide.md#the-guide), [web](https://a.b/c.h), `beta/x.json`.\n' \
        >"$tree/README.md"
    mkdir -p "$tree/bench/results"
    echo '{}' >"$tree/bench/results/a.json.gz"
    printf '| file | command |\n|---|---|\n| a.json.gz, _b.json.gz | `c --out d.json` |\n' \
        >"$tree/bench/results/README.md"
}
# build: as the Makefile does, objects and one library a folder
build() {
    local file object folder
    for file in {base,alpha/low,alpha/high,beta}/*.c; do
        object=build/${file%.c}.o
        mkdir -p "${object%/*}"
        ${CC:-gcc} -w -I. -c "$file" -o "$object" || return
    done
    for folder in base alpha beta; do
        find "build/$folder" -name '*.o' ! -name 'main_*' -exec ar rcs "build/lib$folder.a" {} +
    done
}
# in_tree PART: one part of lint on the tree
in_tree() {
    cd "$tree" || return 2
    case $1 in headers | unused | state | circles) build || return 2 ;; esac
    case $1 in
    headers) "$tools/lint_headers.sh" build ;;
    unused) ONLY_TESTS=only_tests.txt "$tools/lint_unused.sh" build ;;
    includes) "$tools/lint_includes.sh" ;;
    state) "$tools/lint_state.sh" build alpha ;;
    circles) "$tools/lint_circles.sh" build base alpha/low alpha/high ;;
    links) "$tools/lint_links.sh" README.md docs/guide.md bench/results/README.md ;;
    size) "$tools/lint_size.sh" base alpha beta ;;
    tracked)
        git init -q . && git add -A && echo "Git keeps ${said:-$(git ls-files -z | xargs -0 cat |
            wc -c | awk '{ print $1 / 1e6 }')} MB (here)" >"$WORK/size.md" &&
            DOCUMENT=$WORK/size.md LARGE_FILES=$large "$tools/lint_tracked.sh" 2000000
        ;;
    esac
}
run() { # PART: its output is in $WORK/out
    (in_tree "$1") >"$WORK/out" 2>&1
}
# complains PART PATTERN: it ends with status 1, with one line, which holds the text PATTERN
complains() {
    local status
    run "$1"
    status=$?
    check "$1: $2" equal "1 1 1" \
        "$status $(wc -l <"$WORK/out") $(grep -cF -- "$2" "$WORK/out")"
    plant
}

plant
for part in includes headers unused state circles links size; do
    check "$part: nothing to say of a tree as it should be" run $part
done

echo '#include "beta/beta.h"' >>"$tree/alpha/low/low.h"
touch "$tree/beta/beta.h"
complains includes 'alpha/low/low.h: alpha may not use beta'
echo '#include "alpha/high/high.h"' >>"$tree/alpha/low/low.c"
complains includes 'alpha/low/low.c: submodule alpha/low may not use alpha/high'
echo '#include "alpha/alpha.h"' >>"$tree/alpha/high/high.c"
complains includes 'alpha/high/high.c: submodule alpha/high may not use alpha ('
echo '#include "alpha/low/low.h"' >>"$tree/beta/beta.c"
complains includes 'beta/beta.c: beta may not enter alpha/low'
mkdir "$tree/alpha/new" && touch "$tree/alpha/new/new.h"
complains includes 'alpha/new is not in the table'
sed -i 's/^folder base.*/folder base orr_ : base beta/' "$FOLDERS_TABLE"
run includes
check "includes: a cycle" grep -q '^folders.mk: base and beta use each other$' "$WORK/out"
plant
with_study() { # a user of the product, whose tests are not in the table
    mkdir -p "$tree/study/tests"
    echo 'folder study s_  : study beta alpha base' >>"$FOLDERS_TABLE"
    echo '#include "beta.h"' >"$tree/study/study.h"
    echo '#include "base/base.h"' | tee "$tree/study/tests/test_study.c" >"$tree/study/beta.h"
}
with_study
check "includes: the study uses the product, and its tests stand in it" run includes
echo '#include "study/study.h"' >>"$tree/beta/beta.c"
complains includes 'beta/beta.c: beta may not use study ("study/study.h")'
with_study
sed -i 's/^folder beta.*/& study/; s/^\(folder study.*\) beta/\1/' "$FOLDERS_TABLE"
complains includes 'folders.mk: beta uses study, which uses the product and is used by none of it'
sed -i 's:"low.h":"alpha/low/lower.h":' "$tree/alpha/low/low.c"
(cd "$tree" && "$tools/lint_includes.sh") >"$WORK/out"
check "includes: a header that is not there" test $? -eq 1
check "includes: a header that is not there: is named" \
    grep -qF 'there is no "alpha/low/lower.h"' "$WORK/out"
plant

echo 'int a_none(void);' >>"$tree/alpha/low/low.h"
complains headers 'alpha/low/low.h: declares a_none'
echo 'int a_high(void);' >"$tree/alpha/low/other.h"
complains headers 'alpha/low/other.h: declares a_high, which no source file of alpha/low'
echo 'extern int a_object[2];' >>"$tree/alpha/high/high.h"
complains headers 'declares a_object'
echo 'int a_low(void);' >>"$tree/alpha/alpha.h"
check "headers: that of a folder speaks for its submodules" run headers
plant

echo 'int a_alone(void) { return 1; }' >>"$tree/alpha/low/low.c"
complains unused 'low.o: no other file uses a_alone'
: >"$tree/only_tests.txt"
complains unused 'high.o: only tests use a_tested'
echo 'a_size  no reason at all' >>"$tree/only_tests.txt"
complains unused 'a_size is used by programs'
echo 'a_tested # why not' >"$tree/only_tests.txt"
complains unused 'a_tested has no reason'
echo 'a_gone  it was tested' >>"$tree/only_tests.txt"
complains unused 'there is no symbol a_gone'

echo 'int a_next(void) { static int calls; return ++calls; }' >>"$tree/alpha/low/low.c"
complains state 'low.o: calls'
echo 'static int first = 3; int a_first(void) { return first++; }' >>"$tree/alpha/high/high.c"
complains state 'high.o: first is a variable of the whole process'
echo 'int a_open;' >>"$tree/alpha/low/low.c"
complains state 'low.o: a_open'
echo 'int a_own(void) { static _Thread_local int calls; return ++calls; }' >>"$tree/alpha/low/low.c"
echo 'static int (*const a_table[])(void) = {a_low}; int a_call(void) { return (*a_table)(); }' \
    >>"$tree/alpha/low/low.c"
check "state: constants and what belongs to a thread" run state
plant

echo 'int a_side(void) { return a_high(0, 0) + a_tested(); }' >"$tree/alpha/high/side.c"
check "circles: a file that needs another" in_tree circles
echo 'int a_round(void) { return a_side(); }' >>"$tree/alpha/high/high.c"
complains circles 'alpha/high: a circle of files: high.c side.c'
echo 'int a_side(void) { return a_high(0, 0) + a_more(); }' >"$tree/alpha/high/side.c"
echo 'int a_more(void) { return a_round(); }' >"$tree/alpha/high/more.c"
echo 'int a_round(void) { return a_side(); }' >>"$tree/alpha/high/high.c"
run circles
check "circles: of three files" grep -q '^alpha/high: a circle of files: .* .* ' "$WORK/out"
plant
(cd "$tree" && "$tools/lint_circles.sh" build alpha/none) >"$WORK/out"
check "circles: a folder without object files" equal \
    'alpha/none: its object files are not in build' "$(cat "$WORK/out")"

echo '[gone](gone.md)' >>"$tree/docs/guide.md"
complains links 'docs/guide.md:3: a link to gone.md'
echo '[gone](docs/guide.md#the-end)' >>"$tree/README.md"
complains links 'README.md:2: a link to docs/guide.md#the-end, but there is no such heading'
echo 'As `alpha/low/gone.c` says.' >>"$tree/README.md"
complains links 'README.md:2: there is no alpha/low/gone.c'
echo 'As gone.c says.' >>"$tree/README.md"
complains links 'README.md:2: there is no file gone.c'
echo 'As `alpha/{low,middle}/` say.' >>"$tree/README.md"
complains links 'README.md:2: there is no alpha/middle/'
printf '\n| a | b |\n|---|---|\n| \\| | 1 |\n| |x| | 1 |\n' >>"$tree/README.md"
complains links 'README.md:6: a row of 4 cells in a table of 2'
echo '| gone.txt | `c` |' >>"$tree/bench/results/README.md"
complains links 'bench/results/README.md:4: there is no bench/results/gone.txt'
rm "$tree/docs/guide.md"
run links
check "links: a document that is not there" grep -q '^docs/guide.md is not there$' "$WORK/out"
printf 'print("%095d")\n' 0 >"$tree/beta/wide.py"
complains size 'beta/wide.py:1: longer than 100 columns'
yes '# a line' | head -n 801 >"$tree/beta/high.sh"
complains size 'beta/high.sh: 801 lines, more than 800'
printf '%0101d\n' 0 >"$tree/beta/wide.gp"
check "size: gnuplot may be wider" run size
check "size: Python, scripts and examples of this repository" "$tools/lint_size.sh" python tools \
    docs bench tests

# ---- what git keeps
large='big.bin 700000 a picture'
keep_big() { head -c 700000 /dev/zero >"$tree/big.bin"; } # plant() takes it away
keep_big
check "tracked: nothing to say of a named file and small ones" run tracked
keep_big && head -c 500001 /dev/zero >"$tree/other.bin"
complains tracked 'other.bin: 500001 bytes, more than 500000'
head -c 700001 /dev/zero >"$tree/big.bin"
complains tracked 'big.bin: 700001 bytes, more than 700000'
head -c 400000 /dev/zero >"$tree/big.bin" && large='big.bin 500000 a picture'
complains tracked 'tools/lint_tracked.sh: big.bin is not larger than 500000 bytes: no row for it'
large='big.bin 900000 a picture' && keep_big
complains tracked 'tools/lint_tracked.sh: big.bin: a bound of 900000 bytes is more than 5/4 of it'
large='big.bin 700000 a picture' said=1.3 && keep_big
complains tracked 'size.md: git keeps "1.3" MB; it has'
said='' && keep_big && large='big.bin 700000'
complains tracked 'tools/lint_tracked.sh: big.bin has no reason'
large='big.bin 700000 a picture'
keep_big && for i in 1 2 3; do head -c 450000 /dev/zero >"$tree/$i.bin"; done
run tracked
check "tracked: the sum of all files" grep -qE \
    '^tracked files have 20[0-9]{5} bytes, more than 2000000$' "$WORK/out"
rm -rf "$tree/.git"
check "tracked: nothing to say where there is no checkout" env -C "$tree" \
    GIT_DIR="$tree/.none" "$tools/lint_tracked.sh" 1
finish
