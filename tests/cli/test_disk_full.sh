#!/usr/bin/env bash
# test_disk_full.sh - when a write fails: one clear error, nothing half-written under any name, what
# was there before still there, but for the training that a new one replaces. A limit on file sizes
# stands for a full disk everywhere; where file systems may be mounted, a tiny one really runs full.
. tests/cli/mounts.sh
. tests/cli/lib.sh

# limited KILOBYTES COMMAND...: no file may become larger; what it says goes through a pipe
limited() {
    local most=$1
    shift
    (ulimit -f "$most" && exec "$@" </dev/null) 2>&1 >/dev/null | cat >&2
    return "${PIPESTATUS[0]}"
}
DATA=(--preset smoke --threads 1 --quiet)
COMMON=("${DATA[@]}" --attention lssar)
run=$WORK/run
check "a run: orbits" program orbits "${DATA[@]}" --run "$run"
for p in pretrain finetune symreg; do
    check "a run: $p" program $p "${COMMON[@]}" --run "$run"
done
check "a run: report" program report --quiet --run "$run" --attention lssar

# ---- a limit on file sizes
KEEP=$run
refuse "orbits: no room for an array" 1 "$WORK/none/" .npy 'cannot write' -- \
    limited 40 "$BIN/orbits" "${DATA[@]}" --out "$WORK/none"
check "orbits: no room for an array: nothing temporary" clean "$WORK/none"
check "orbits: no room for an array: no manifest" test ! -e "$WORK/none/manifest.json"
refuse "pretrain: no room for a checkpoint" 1 "$WORK/none/last.safetensors" 'cannot write' -- \
    limited 40 "$BIN/pretrain" "${COMMON[@]}" --orbits "$run/orbits" --out "$WORK/none" \
    --set pretrain_planets.steps=0
check "pretrain: no room for a checkpoint: nothing temporary" clean "$WORK/none"
check "pretrain: no room for a checkpoint: no checkpoint" test ! -e "$WORK/none/last.safetensors"
cp -r "$run" "$WORK/kept"
KEEP=$WORK/nowhere
for kilobytes in 10 40; do # not even best.safetensors; that, but not last.safetensors
    refuse "pretrain: no room, $kilobytes kB" 1 .safetensors 'cannot write' -- limited $kilobytes \
        "$BIN/pretrain" "${COMMON[@]}" --run "$WORK/kept" --set pretrain.lr=0.01 --force
    check "pretrain: no room, $kilobytes kB: no checkpoint of the training before" test ! -e \
        "$WORK/kept/lssar/pretrain/last.safetensors"
done
rm -rf "$WORK/kept" && cp -r "$run" "$WORK/kept"
KEEP=$WORK/kept/lssar
refuse "symreg: no room for its files" 1 laws/ 'cannot write' -- \
    limited 8 "$BIN/symreg" "${COMMON[@]}" --run "$WORK/kept" \
    --set symreg.enumerate=0 --set symreg.iterations=1
# (a slow program may fail at a checkpoint of the search, before it touches any front)
no_other_fronts() { # beside laws.json
    [ ! -e "$WORK/kept/laws/laws.json" ] || for file in "$run"/laws/*.csv; do
        same_file "$file" "$WORK/kept/laws/${file##*/}" || return 1
    done
}
check "symreg: no room for its files: no laws.json beside fronts of another search" no_other_fronts
check "symreg: no room for its files: nothing temporary" clean "$WORK/kept/laws"
check "symreg: no room for its files: symreg again" \
    program symreg "${COMMON[@]}" --run "$WORK/kept" --resume
check "symreg: no room for its files: as it was" same_files "$run/laws" "$WORK/kept/laws"
KEEP=$WORK/kept
refuse "report: no room for a picture" 1 .png 'disk full' -- \
    limited 20 "$BIN/report" --quiet --attention lssar --run "$WORK/kept"
refuse "finetune: no room for a table" 1 "$WORK/none/" forces_ 'cannot write' -- \
    limited 8 "$BIN/finetune" "${COMMON[@]}" --run "$run" --source truth --out "$WORK/none"
refuse "finetune: no room for a model" 1 "$WORK/none/" magnitude.safetensors 'cannot write' -- \
    limited 30 "$BIN/finetune" "${COMMON[@]}" --run "$run" --source lssar --out "$WORK/none"
refuse "symreg FILE: no room for a file" 1 "$WORK/bare/" 'cannot write' -- \
    limited 0 "$BIN/symreg" "$run/truth/finetune/forces_magnitude.csv" --target F \
    --features r,m1 --preset smoke --quiet --threads 1 --out "$WORK/bare"
# what is written beside the front, and checkpoints, do not take the front with them
awk 'BEGIN {
    print "x,z,y"
    for (i = 1; i <= 40; i++) {
        x = 0.3 + i * 17 % 29 / 7; z = 1 + i * 11 % 23 / 5
        printf "%.6g,%.6g,%.9g\n", x, z, 2.3 * x * x / z + 0.1 * sin(i * i)
    }
}' >"$WORK/law.csv"
search() { # [OPTION...]
    timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --threads 1 --quiet --iterations 2 \
        --set symreg.enumerate=200 --set symreg.populations=2 --set symreg.cycles=20 "$@" </dev/null
}
search >"$WORK/front.txt"
check "a front" grep -q '<- .*best' "$WORK/front.txt"
for kilobytes in 0 4; do # no file at all; small files alone
    rm -rf "$WORK/none"
    { (ulimit -f $kilobytes && search --out "$WORK/none") 2>&1 >&3 | cat >"$WORK/err"; } 3>&1 |
        cat >"$WORK/out"
    check "symreg FILE with room for $kilobytes kB prints its front" \
        same_file "$WORK/front.txt" "$WORK/out"
    check "symreg FILE with room for $kilobytes kB prints its front: and ends with the error" \
        grep -q "^symreg: error: $WORK/none/.*: cannot write: File too large" "$WORK/err"
done
check "nothing temporary" clean "$WORK"

# ---- a disk that fails at any one of the operations on the files of a training
train() { # FOLDER [OPTION...]
    "$BIN/pretrain" "${COMMON[@]}" --orbits "$run/orbits" --set pretrain_planets.steps=0 \
        --set pretrain.steps=4 --set pretrain.checkpoint_every=2 --set pretrain.eval_every=2 \
        --set pretrain.ema=0.9 --run "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
}
# the file of a training whose log is left without its speeds
comparable() {
    (cd "$1" && find . -type f ! -name log.jsonl -exec cksum {} + | sort -k3 &&
        sed -E 's/, "(tokens_per_s|memory_mb)": [^}]*//' lssar/pretrain/log.jsonl)
}
# like_states FOLDER: what has a final name in the folder of a failed training is in a state that
# the undisturbed training writes (steps 2 and 4), log.jsonl excepted, which grows line by line
like_states() {
    local file known found=0
    for file in preset.json lssar/pretrain/{last.safetensors,best.safetensors,evaluation.json}; do
        [ -e "$1/$file" ] || continue
        for known in "$WORK"/states/{half,end}; do
            cmp -s "$1/$file" "$known/$file" && continue 2
        done
        echo "$file is of no state" && found=1
    done
    return $found
}
every_operation() { # HOW MESSAGE FIRST EVERY
    local how=$1 message=$2 n operation path
    for ((n = $3; n <= operations; n += $4)); do
        operation=$(sed -n "${n}p" "$WORK/counted")
        path=$(sed 's|^[^/]*||; s|\.[0-9]*\.orrery-partial$||' <<<"$operation")
        path=$WORK/failed/${path#"$WORK/states/end/"}
        operation="$how, operation ${operation%% /*} ${path##*/}"
        (export LD_PRELOAD=$FAIL_WRITE FAIL_AT=$n FAIL_HOW=$how && train "$WORK/failed")
        check "$operation: status 1" test $? -eq 1
        check "$operation: one line" test "$(wc -l <"$WORK/err")" -eq 1
        check "$operation: names the file, says why" \
            grep -q "^pretrain: error: $path: cannot .*: $message\$" "$WORK/err"
        check "$operation: nothing temporary" clean "$WORK/failed"
        check "$operation: no half-written file" like_states "$WORK/failed"
        check "$operation: goes on" train "$WORK/failed" --resume
        check "$operation: to the same files" same_by comparable "$WORK/states/end" \
            "$WORK/failed"
        rm -rf "$WORK/failed"
    done
}
# search_failing HOW N: a search whose n-th operation on files fails, without gnuplot
search_failing() {
    (export LD_PRELOAD=$FAIL_WRITE FAIL_HOW=$1 FAIL_AT=$2 FAIL_REPORT=$WORK/counted
     export ORRERY_FIGURES=/nowhere
     search --out "$WORK/none") >"$WORK/out" 2>"$WORK/err"
}
if [ ! -e "$FAIL_WRITE" ]; then
    skip "a failure at every write" "$FAIL_WRITE is not there: make check builds it"
else
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
    rm -rf "$WORK/none"
    search_failing once 0
    operations=$(wc -l <"$WORK/counted")
    check "operations of a search counted" test "$operations" -ge 15
    mv "$WORK/counted" "$WORK/operations"
    every=() step=2 least=10
    if quick; then step=8 least=5; fi
    for ((n = 2; n <= operations; n += step)); do # the first opens the log, before the search
        every+=("once $n")
    done
    reached=0 # checkpoints are by the second: a search may have fewer operations than the first
    for of in "${every[@]}" 'full 2' 'full 5' 'full 15' "full $((operations - 2))"; do
        rm -rf "$WORK/none" "$WORK/counted"
        search_failing $of
        status=$?
        [ "$(wc -l <"$WORK/counted")" -ge "${of#* }" ] || continue
        reached=$((reached + 1))
        check "a search, failing $of: status 1" test $status -eq 1
        check "a search, failing $of: no front of $(sed -n "${of#* }p" "$WORK/operations")" \
            same_file "$WORK/front.txt" "$WORK/out"
        check "a search, failing $of: not one line" test "$(wc -l <"$WORK/err")" -eq 1
        check "a search, failing $of: something temporary" clean "$WORK/none"
    done
    check "a search failed at its operations, early and late" test "$reached" -ge $least
    rm -f "$WORK/counted"
    mkdir "$WORK/states"
    (export LD_PRELOAD=$FAIL_WRITE FAIL_REPORT=$WORK/counted && train "$WORK/states/end")
    check "a training, its operations counted" test $? -eq 0
    operations=$(wc -l <"$WORK/counted")
    check "operations counted" test "$operations" -ge 30
    # the state after step 2: killed when the log gets its line of step 4
    opens=$(grep -n 'open .*/best.safetensors' "$WORK/counted" | sed -n '2s/:.*//p')
    (export LD_PRELOAD=$FAIL_WRITE FAIL_AT=$opens FAIL_HOW=kill && train "$WORK/states/half") \
        2>/dev/null
    check "operations counted: and its state after half of its steps" \
        grep -aq '"step": *"2"' "$WORK/states/half/lssar/pretrain/last.safetensors"
    if [ "${KILLS:-5}" -ge 100 ]; then
        every_operation full 'No space left on device' 1 1
        every_operation once 'Input/output error' 1 1
    elif quick; then
        every_operation full 'No space left on device' 1 24
        every_operation once 'Input/output error' 2 48
    else # samples; all of them in make check-long
        every_operation full 'No space left on device' 1 3
        every_operation once 'Input/output error' 2 6
    fi
    # what a file system says only when a file is closed (quotas, NFS)
    for file in log.jsonl last.safetensors; do
        (export LD_PRELOAD=$FAIL_WRITE FAIL_CLOSE=/$file && train "$WORK/failed")
        check "$file cannot be closed: status 1" test $? -eq 1
        check "$file cannot be closed: status 1: is said" grep -q \
            "^pretrain: error: $WORK/failed/.*/$file: cannot finish: Disk quota exceeded\$" \
            "$WORK/err"
        check "$file cannot be closed: status 1: nothing temporary" clean "$WORK/failed"
        check "$file cannot be closed: status 1: goes on" train "$WORK/failed" --resume
        check "$file cannot be closed: status 1: to the same files" \
            same_by comparable "$WORK/states/end" "$WORK/failed"
        rm -rf "$WORK/failed"
    done
    (export LD_PRELOAD=$FAIL_WRITE FAIL_CLOSE=/log.jsonl && exec "$BIN/symreg" \
        "$run/truth/finetune/forces_magnitude.csv" --target F --preset smoke --features r --quiet \
        --set symreg.iterations=1 --threads 1 --out "$WORK/none") \
        >"$WORK/out" 2>"$WORK/err" </dev/null
    check "symreg: a log that cannot be closed: status 1" test $? -eq 1
    check "symreg: a log that cannot be closed: status 1: is said" \
        grep -q '/log.jsonl: cannot finish: Disk quota exceeded$' "$WORK/err"
fi

# ---- standard output that takes nothing
if [ -c /dev/full ]; then
    for arguments in "symreg $WORK/run/truth/finetune/forces_magnitude.csv --target F --preset smoke
                      --features r --quiet --set symreg.iterations=1" \
                     "symreg --preset smoke --attention lssar --run $WORK/run --quiet" \
                     "orbits --help" "report --version"; do
        "$BIN"/$arguments >/dev/full 2>"$WORK/err" </dev/null
        check "a full standard output: $arguments" test $? -eq 1
        check "a full standard output: $arguments: is said" \
            grep -q 'error: standard output: cannot write' "$WORK/err"
    done
else
    skip "a full standard output" "no /dev/full"
fi

# ---- a file system that runs full
if [ "$MOUNTS" != yes ]; then
    skip "a file system that runs full" "this user may not mount one"
    finish
fi
disk=$WORK/disk
check "a file system of 16 kB" room 16k
KEEP=$WORK/disk
refuse "orbits: says how much is missing" 1 "$disk" 'GB needed' 'GB free' -- "$BIN/orbits" \
    "${DATA[@]}" --out "$disk/orbits"
KEEP=$WORK/nowhere
refuse "pretrain on a full disk" 1 best.safetensors 'No space left' -- "$BIN/pretrain" \
    "${COMMON[@]}" --orbits "$run/orbits" --out "$disk" --set pretrain_planets.steps=0
check "pretrain on a full disk: leaves its log" test "$(ls -A "$disk")" = log.jsonl
rm -rf "$disk"/*
# the first checkpoint fits, the second does not fit beside it
check "a file system of 112 kB" room 112k
LONG=(--orbits "$run/orbits" --set pretrain_planets.steps=0 --set pretrain.eval_every=0
      --set pretrain.checkpoint_every=7)
"$BIN/pretrain" "${COMMON[@]}" "${LONG[@]}" --out "$disk" >"$WORK/out" 2>"$WORK/err" </dev/null
check "pretrain runs into the end of the disk" test $? -eq 1
check "pretrain runs into the end of the disk: says so" \
    grep -q 'last.safetensors: cannot write: No space left' "$WORK/err"
check "pretrain runs into the end of the disk: nothing temporary" clean "$disk"
check "pretrain runs into the end of the disk: the first checkpoint is there" \
    grep -aq '"step": *"7"' "$disk/last.safetensors"
check "a larger file system" room 1m
check "a larger file system: with the same files" grep -aq '"step": *"7"' "$disk/last.safetensors"
check "a larger file system: resumes" \
    program pretrain "${COMMON[@]}" "${LONG[@]}" --out "$disk" --resume
check "a run with room" program pretrain "${COMMON[@]}" "${LONG[@]}" --out "$WORK/room"
check "a run with room: to the same bytes" \
    same_file "$disk/last.safetensors" "$WORK/room/last.safetensors"
rm -rf "$disk"/*
check "room for half a report" room 400k
echo old >"$disk/report.html"
refuse "report on a full disk" 1 gnuplot 'disk full' -- \
    "$BIN/report" --quiet --attention lssar --run "$run" --out "$disk"
check "report on a full disk: the old page is there" grep -qx old "$disk/report.html"
check "report on a full disk: and nothing else" test "$(ls -A "$disk")" = report.html
finish
