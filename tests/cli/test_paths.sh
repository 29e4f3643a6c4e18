#!/usr/bin/env bash
# test_paths.sh - names in files lead nowhere outside their folder, nothing is written through a
# link, files are as open as umask says and none can be executed, and a run's folder may have any
# name, or be one that nothing can be written to.
. tests/cli/mounts.sh
. tests/cli/lib.sh

SMALL=("${TINY[@]}" --set symreg.enumerate=2000 --set orbits.train=40 --set orbits.train_files=40
       --set orbits.two_body_train=40 --set planets.train=20 --set finetune.samples=2)
# stage PROGRAM OPTION...: with the settings of this test, and one variant where there are any
stage() {
    local p=$1 options=("${SMALL[@]}")
    shift
    [ "$p" != report ] || options=(--quiet)
    [ "$p" = orbits ] || options+=(--attention lssar)
    program "$p" "${options[@]}" "$@"
}

# ---- a folder of any name, with a umask; a report has pictures, which gnuplot draws
odd="$WORK/a b'c\"d\$e %s/ü"
mkdir -p "$odd"
umask 027
for p in $PROGRAMS; do
    check "$p: a folder with spaces, quotes and UTF-8" stage "$p" --run "$odd/run"
done
umask 022
long=$WORK/$(printf 'n%.0s' {1..255})
check "orbits: a folder of 255 bytes" stage orbits --run "$long"
check "orbits: a folder of 255 bytes: with the same files" \
    same_files "$odd/run/orbits" "$long/orbits"
modes() { # FOLDER MODE: every file has it
    find "$1" -type f -printf '%m\n' | sort -u
}
check "files are as open as umask says" equal "$(modes "$odd/run")" 640
check "files are as open as umask says: those of another umask, too" equal "$(modes "$long")" 644
KEEP=$WORK/no refuse "orbits: a folder of 256 bytes" 1 'File name too long' -- \
    "$BIN/orbits" "${SMALL[@]}" --run "${long}n"
line=$'a\nb'
check "orbits: a folder with a line break" stage orbits --run "$WORK/$line"
KEEP=$WORK/$line refuse "orbits: a folder with a line break: whose errors are one line" \
    1 'a b/orbits' 'seed is 0, expected 3' -- \
    "$BIN/pretrain" "${SMALL[@]}" --run "$WORK/$line" --seed 3
run=$odd/run
KEEP=$run

# ---- names in presets are names of folders
names() { # NAME JSON KEY
    printf '{%s}\n' "$2" >"$WORK/preset.json"
    refuse "preset: $1" 2 preset.json "$3" 'without "/"' -- "$BIN/orbits" --preset \
        "$WORK/preset.json" --quiet
}
names "a name that leads upwards" '"name": ".."' name:
names "a name from the root" '"name": "/tmp"' name:
names "a name of two lines" '"name": "a\nb"' name:
names "a variant that leads upwards" '"attention": ["lssar", "../../up"]' attention:
names "a variant from the root" '"attention": ["/tmp"]' attention:
refuse "--attention that leads upwards" 2 --attention 'without "/"' -- \
    "$BIN/symreg" "${SMALL[@]}" --run "$run" --attention ../lssar

# ---- names in manifests are names of files in their folder
data=$WORK/data
echo precious >"$WORK/precious"
outside() { # NAME: a folder of data sets whose manifest lists this file in a set nobody asks for
    rm -rf "$data" && cp -r "$run/orbits" "$data"
    sed -i 's/^\t"xxh64"/\t"of"/' "$data/manifest.json" # of another program: it states no sum
    sed -i "0,/\"sets\":/s|\"sets\":[[:space:]]*{|&\"more\": {\"files\": {\"$1\":\
        {\"bytes\": 9, \"xxh64\": \"0\"}}},|" "$data/manifest.json"
}
for name in ../precious "$WORK/precious" '..' 'a\\nb'; do
    outside "$name"
    KEEP=$data refuse "orbits: a manifest that lists $name" 1 manifest.json 'set "more"' \
        'names of files in that folder' -- "$BIN/orbits" "${SMALL[@]}" --out "$data" --seed 3
    KEEP=$data refuse "orbits verify: a manifest that lists $name" 1 manifest.json \
        'names of files in that folder' -- "$BIN/orbits" verify "$data"
    check "orbits --force: the sets are made again" stage orbits --out "$data" --force --seed 3
    check "orbits --force: the sets are made again: and $name is left alone" \
        grep -qx precious "$WORK/precious"
done
# a name of this folder that is none of a data set
outside notes.txt
echo mine >"$data/notes.txt"
check "orbits: another file that a manifest lists" stage orbits --out "$data" --force --seed 3
check "orbits: another file that a manifest lists: stays" grep -qx mine "$data/notes.txt"
# other lists of files have a sum; test_results.c asks what becomes of names in one that is sealed
cp "$run/laws/laws.json" "$WORK/laws.json"
sed -i 's|"front_truth_0.csv"|"../../precious"|' "$run/laws/laws.json"
KEEP=$run refuse "report: laws that list a file outside" 1 laws.json \
    'it has been changed since it was made' -- "$BIN/report" --quiet --attention lssar --run "$run"
mv "$WORK/laws.json" "$run/laws/laws.json"

# ---- nothing is written through a symbolic link
links=$WORK/links
cp -r "$run" "$links"
folder=$links/lssar/pretrain
for file in preset.json lssar/pretrain/{log.jsonl,last.safetensors,evaluation.json}; do
    ln -sf "$WORK/precious" "$links/$file"
done
check "pretrain where files are links" stage pretrain --run "$links" --set pretrain.lr=0.01 \
    --force
check "pretrain where files are links: what they lead to is untouched" \
    grep -qx precious "$WORK/precious"
check_not "pretrain where files are links: they are files now" \
    test -L "$folder/log.jsonl" -o -L "$folder/last.safetensors"
ln -sf "$WORK/precious" "$folder/log.jsonl"
check "pretrain goes on beside a log that is a link" stage pretrain --run "$links" --resume \
    --set pretrain.lr=0.01 --set pretrain.steps=4
check "pretrain goes on beside a log that is a link: what it leads to is untouched" \
    grep -qx precious "$WORK/precious"
check_not "pretrain goes on beside a log that is a link: it is a file now" \
    test -L "$folder/log.jsonl"

if quick; then finish; fi
# ---- make hands names on as they stand: its recipes, with a program that shows its arguments
printf '#!/bin/sh\nprintf "[%%s]" "$@"\necho\n' >"$WORK/show" && chmod +x "$WORK/show" || exit
show() { # NAME=VALUE...: what programs and tools of these recipes would get
    make -n -j1 world probe plan watch sweep cells verdict claims CUDA=0 BIN="$BIN" JOBS= "$@" \
        2>"$WORK/err" >"$WORK/made"
    sed -nE -e "s:^$BIN/orrery :./bin/orrery :p" -e "s:^RUNS=:./show &:p" \
        "$WORK/made" >"$WORK/recipes"
    (cd "$WORK" && sh recipes) >"$WORK/out"
}
# the programs of the recipes, which show how they are called
mkdir "$WORK/bin"
for p in $PROGRAMS laws probe compare; do
    printf '#!/bin/sh\nprintf "[%%s]" "bin/${0##*/}" "$@"\necho\n' >"$WORK/bin/$p"
    chmod +x "$WORK/bin/$p"
done
cp "$BIN/orrery" "$WORK/bin/orrery"
name='a\b$$c$d e  f`touch canary`g$(touch canary)h'"'i\"j;k&l*?[m]#n,o)p%q|r>s=t:u~/v"
check "make with odd names" show PRESET="1$name" RUN="2$name" ATTENTION="3$name" DEVICE="4$name" \
    ORBITS_DIR="5$name" MINUTES="6$name" THREADS="7$name" RUNS="8$name" GRID="9$name" PNG="0$name" \
    KEPT="k$name" SET='a=$b`touch canary`  c='"'d\""
check_not "make with odd names: runs nothing of them" test -e "$WORK/canary"
run="[--preset][1$name][--run][2$name][--set][a=\$b\`touch][--set][canary\`][--set][c='d\"]"
model="[--attention][3$name][--orbits][5$name]"
train="[--threads][7$name][--device][4$name]"
stages="[bin/orbits]$run[--resume][--threads][7$name][--out][5$name]
[bin/pretrain]$run$model[--resume]$train[--minutes][6$name]
[bin/finetune]$run$model[--resume]$train[--minutes][6$name]
[bin/laws]$run$model[--resume][--threads][7$name]"
check "make with odd names: and says them to the programs" equal "$stages
[bin/report]$run$model[--resume]
[bin/probe][attention]$run$model$train
${stages//$'\n'/[--plan]$'\n'}[--plan]
[bin/report]$run$model[--resume][--plan]
[bin/compare][losses][2$name][--follow][--out][0$name]
[RUNS=8$name][BIN=$BIN][JOBS=][KEPT=k$name][exec][$BIN/orrery][sweep][9$name]
[RUNS=8$name][BIN=$BIN][KEPT=k$name][$BIN/orrery][cells][9$name]
[RUNS=8$name][BIN=$BIN][JOBS=][exec][study/verdict.sh][long]
[RUNS=8$name][BIN=$BIN][study/claims.sh][study/results][study/cells.csv.xz]" "$(cat "$WORK/out")"
check "make where PRESET is in a folder" show PRESET="my/own.one.json" SET= ATTENTION= ORBITS_DIR=
check "make where PRESET is in a folder: has a run of its name" \
    grep -qF '[my/own.one.json][--run][runs/own.one][--resume]' "$WORK/out"
check "make where PRESET is in a folder: also where both have spaces" \
    show PRESET="my own/a  b.x.json"
check "make where PRESET is in a folder ('my own')" \
    grep -qF '[my own/a  b.x.json][--run][runs/a  b.x][--resume]' "$WORK/out"
make -n orbits RUN=$'a\nb' >"$WORK/out" 2>"$WORK/err"
check "make with a name of two lines: status" equal 2 $?
check "make with a name of two lines: status: says so" \
    grep -q 'expected one line, found "a' "$WORK/err"
HOME=/home/of make --no-print-directory -n watch RUN='~/a b' >"$WORK/out"
check "make with a name of two lines: and a ~/ that the shell left is the home folder's" \
    equal "bin/orrery watch ~/'a b' ''" \
    "$(cat "$WORK/out")"
run=$odd/run
KEEP=$run

# ---- nor does make run what stands in a variable: one that it uses, one that it only exports, one
# of the environment; and what names goals, tests and folders has to be plain
evil() { # GOAL HOW STATUS NAME...: each with NAME='$(shell touch canary)'; nothing is run
    local goal how=$2 status=$3 word words=()
    for word in "${@:4}"; do
        words+=("$word=\$(shell touch $WORK/canary.$word)")
    done
    for goal in "-n $1" help; do # (a variable is exported where a recipe is run)
        if [ "$how" = environment ]; then
            env "${words[@]}" make -j1 $goal CUDA=0 BIN="$BIN" >"$WORK/out" 2>"$WORK/err"
        else
            make -j1 $goal CUDA=0 BIN="$BIN" "${words[@]}" >"$WORK/out" 2>"$WORK/err"
        fi
        check "make $goal with \$(shell ...) in $how (${*:4}): status" equal "$status" $?
    done
    for word in "${@:4}"; do
        check_not "make $1 $word=\$(shell ...) in $how runs nothing of it" \
            test -e "$WORK/canary.$word"
    done
    rm -f "$WORK"/canary.*
}
# (a name that is not plain ends make: each of these by itself)
for word in B T PART FUZZ CORPUS STEPS WATCHED NOVA V; do
    evil plan arguments 2 "$word"
done
evil plan arguments 0 ATTENTION THREADS DEVICE MINUTES PROBE FORCE PRESET RUN JOBS KEPT VERDICT \
    UNKNOWN_WORD CI
evil install arguments 0 PREFIX DESTDIR LIBDIR
evil plan environment 0 THREADS PREFIX BENCH_ARGS
evil plan environment 2 T
evil check-asan-unit arguments 0 UNKNOWN_WORD # of a make below this one
for word in B T FUZZ NOVA; do
    make -n -j1 plan CUDA=0 "$word=x;touch $WORK/canary" >"$WORK/out" 2>"$WORK/err"
    check "make $word='x;...': status" equal 2 $?
    check "make $word='x;...': status: says what is wrong" \
        grep -qF "$word: expected plain names, found" "$WORK/err"
done
make -n -j1 install CUDA=0 BIN="$BIN" PREFIX="/p'q" DESTDIR='d e$f' LIBDIR='l;m' >"$WORK/out" \
    2>"$WORK/err"
check "make install hands odd folders on" grep -qF \
    "PREFIX='/p'\\''q' DESTDIR='d e\$f' LIBDIR='l;m' tools/install.sh" "$WORK/out"

# ---- no name is a command of gnuplot, whose own names of files may be ("<touch x", "|touch x")
mkdir "$WORK/here" && cd "$WORK/here" || exit
[[ $BIN == /* ]] || BIN=$OLDPWD/$BIN
printf 'x,y\n1,1.1\n2,2.2\n3,2.9\n4,4.3\n' >t.csv
picture() { # NAME COMMAND...: succeeds, and nothing runs
    local name=$1
    shift
    check "$name" timeout "$LIMIT" "$@"
    check_not "$name: and runs nothing" test -e canary
}
for sign in '<' '|'; do
    picture "orbits show --out '${sign}touch ...'" "$BIN/orbits" show --preset smoke --split test \
        --sequence 1 --out "${sign}touch canary;.png"
    check "orbits show --out '${sign}touch ...': the picture has that name" \
        test -s "${sign}touch canary;.png"
    picture "symreg --out '${sign}touch ...'" "$BIN/symreg" t.csv --target y --evaluations 500 \
        --threads 1 --quiet --out "${sign}touch canary;"
    check "symreg --out '${sign}touch ...': the folder has its picture" \
        test -s "${sign}touch canary;/front.png"
    cp -r "$run/." "${sign}touch canary;"
    picture "report --run '${sign}touch ...'" "$BIN/report" --run "${sign}touch canary;" \
        --attention lssar --quiet
    check "report --run '${sign}touch ...': the run has its pictures" \
        test -s "${sign}touch canary;/figures/pareto.png"
    TMPDIR="${sign}touch canary;" picture "watch" "$BIN/compare" losses \
        "${sign}touch canary;" --follow --out "${sign}touch canary;.png"
done
mkdir -p figures "$WORK/else/lone" # (not beside figures/, where a program looks: P/..)
printf 'system("touch canary")\n' | tee figures/{forces,symreg_front,symreg_residuals}.gp >/dev/null
cp "$BIN/report" "$WORK/else/lone/"
env -u ORRERY_DATA "$WORK/else/lone/report" --run "<touch canary;" --body earth --out e.png \
    >"$WORK/out" 2>"$WORK/err"
check_not "a program without data runs no scripts of the current folder" test -e canary
check "a program without data runs no scripts of the current folder: and says where they would be" \
    grep -qF ORRERY_DATA "$WORK/err"
cd "$OLDPWD" || exit

# ---- a folder that nothing can be written to
if [ "$MOUNTS" != yes ]; then
    skip "a read-only run directory" "this user may not mount one"
    finish
fi
fixed=$WORK/fixed
cp -r "$run" "$fixed"
at_exit() {
    umount "$fixed"
}
read_only() {
    mount --bind "$fixed" "$fixed" && mount -o remount,ro,bind "$fixed"
}
check "a read-only run directory" read_only
KEEP=$fixed
for p in $PROGRAMS; do
    force=()
    [[ $p != pretrain && $p != finetune ]] || force=(--force)
    refuse "$p: a read-only run directory" 1 "$fixed" 'Read-only file system' -- stage "$p" \
        --run "$fixed" "${force[@]}"
done
refuse "symreg FILE: a read-only folder" 1 "$fixed/fit" 'Read-only file system' -- "$BIN/symreg" \
    "$fixed/truth/finetune/forces_magnitude.csv" --target F --features r,m1 --preset smoke \
    --quiet --set symreg.iterations=1 --out "$fixed/fit"
check "symreg FILE: a read-only folder: is still read" \
    stage report --run "$fixed" --out "$WORK/report"
check "symreg FILE: a read-only folder: and verified" program orbits verify "$fixed/orbits"
finish
