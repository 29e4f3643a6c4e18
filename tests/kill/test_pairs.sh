#!/usr/bin/env bash
# test_pairs.sh - two programs at the same time in one run directory, each with work to do and with
# settings of its own stage that differ from the run's: each ends well, or says in one line why not
# and what to do. What one that ended well has made is what it makes alone; nothing temporary
# stays; and a world of the run's settings, in the same folder, ends in the bytes of one that was
# never disturbed: no record says of a mixture that it is of one setting.
#
#   PAIRS="a:b ..."   pairs of programs (default: one); all: every one (make check-long)
#   WORLD_SET=        see world.sh
. tests/cli/lib.sh
. tests/kill/world.sh
fast_pictures
ALL="$STAGES probe verdict"
PAIRS=${PAIRS:-finetune:symreg}
if [ "$PAIRS" = all ]; then
    PAIRS=
    for a in $ALL; do
        for b in $ALL; do
            [[ " $PAIRS " = *" $b:$a "* ]] || PAIRS+=" $a:$b"
        done
    done
fi
at_exit() {
    kill -9 $(jobs -p) 2>/dev/null
}

run=$WORK/run/smoke
for name in $STAGES; do
    check "$name, alone" stage $name "$run"
done
mv "$run" "$WORK/whole"

# other N PROGRAM: sets $command, the program with the N-th other setting of its stage
other() {
    local n=$1 name=$2
    command=("$BIN/$name")
    case $name in
    probe) command+=(attention --run "$run" --threads 1) ;;
    verdict) command+=(--cell "$run") ;;
    *)
        command+=(--preset smoke --run "$run" "${settings[@]}" --resume $(on_threads "$name" 1))
        ;;
    esac
    command+=(--quiet)
    case $name in
    orbits) command+=(--force --set "orbits.two_body_train=$((200 + n))") ;;
    pretrain) command+=(--force --set "pretrain.lr=0.00$n") ;;
    finetune) command+=(--set "finetune.sample_size=$((40 + n))") ;;
    symreg) command+=(--set "symreg.maxsize=$((8 + n))") ;;
    report) command+=(--set "about=the text of $n") ;;
    esac
}
# made PROGRAM RUN: what its stage is made of, sums by name
made() {
    local files
    case $1 in
    orbits) files='orbits/.*' ;;
    pretrain) files='[a-z]*/pretrain.*/.*s[ao][fn].*' ;; # logs hold speeds
    finetune) files='[a-z]*/finetune/.*[^l]' ;;
    symreg) files='laws/.*' ;;
    report) files='figures/.*' ;;
    probe) files='[a-z]*/probe/.*' ;;
    verdict) files='cell.json' ;;
    esac
    (cd "$2" && find . -type f -regex "\./$files" ! -name '*.jsonl' | sort | while read -r file; do
        echo "$(as_measured "$file" | cksum) $file"
    done)
}
# as_measured FILE: a probe says whether the sequences were read or made again, which are the same,
# and has a sum over that
as_measured() {
    case $1 in
    */probe/*.json) grep -v -e '"data_from":' -e '^	"xxh64":' "$1" ;;
    *) cat "$1" ;;
    esac
}
but_losses() {
    grep -v 'figures/loss\.' "$1"
}
# alone N PROGRAM: made by itself, once
alone() {
    [ ! -e "$WORK/alone-$2-$1" ] || return 0
    cp -a "$WORK/whole" "$run"
    other "$1" "$2"
    check "$2, other settings, alone" "${command[@]}"
    made "$2" "$run" >"$WORK/alone-$2-$1"
    rm -rf "$run"
}
# ends N PROGRAM STATUS: well, or with one line
ends() {
    case $3 in
    0) pass "$pair: $2 ends well" ;;
    1) check "$pair: $2 says why not in one line" prints "^1\$" \
        grep -c "^$2: error: ." "$WORK/err-$1" ;;
    *) fail "$pair: $2: expected status 0 or 1, found $3" "$(cat "$WORK/err-$1")" ;;
    esac
    [ "$3" -eq 0 ] || check "$pair: $2 says nothing else" equal 1 "$(wc -l <"$WORK/err-$1")"
}

well=0 refused=0
for pair in $PAIRS; do
    a=${pair%:*} b=${pair#*:}
    alone 1 "$a"
    alone 2 "$b"
    cp -a "$WORK/whole" "$run"
    other 1 "$a"
    "${command[@]}" >"$WORK/out" 2>"$WORK/err-1" </dev/null &
    first=$!
    other 2 "$b"
    "${command[@]}" >"$WORK/out" 2>"$WORK/err-2" </dev/null &
    wait $first
    statuses=($?)
    wait $!
    statuses+=($?)
    ends 1 "$a" ${statuses[0]}
    ends 2 "$b" ${statuses[1]}
    check "$pair: nothing temporary" clean "$run"
    n=0
    for name in "$a" "$b"; do
        n=$((n + 1))
        [ ${statuses[n - 1]} -eq 0 ] || { refused=$((refused + 1)) && continue; }
        well=$((well + 1))
        made "$name" "$run" >"$WORK/made"
        if [ "$a" = "$b" ] && [ ${statuses[0]}${statuses[1]} = 00 ]; then # one after the other
            cmp -s "$WORK/made" "$WORK/alone-$a-1" ||
                check "$pair: what one of them makes" same_file "$WORK/made" "$WORK/alone-$a-2"
        elif [[ $pair:$name =~ ^pretrain:.*:(probe|verdict)$ ]]; then # of what is there by then
            check "$pair: what $name makes is there" filled "$WORK/made"
        elif [ $pair:$name = pretrain:report:report ]; then # losses are those so far
            check "$pair: what $name makes alone, but losses" same_by but_losses "$WORK/made" \
                "$WORK/alone-$name-$n"
        else
            check "$pair: what $name makes alone" same_file "$WORK/made" "$WORK/alone-$name-$n"
        fi
    done
    # the run's own settings again: data sets and weights of others are replaced when asked for
    rm -rf "$run"/*/probe "$run/cell.json"
    for name in $STAGES; do
        force=()
        [[ $name == symreg || $name == report ]] || force=(--force)
        check "$pair: $name again" stage $name "$run" "${force[@]}"
    done
    check "$pair: the same bytes" same_world "$WORK/whole" "$run"
    rm -rf "$run"
done
# ---- a lock that is let go soon, as by the jobs of a program that was killed, is waited for
cp -a "$WORK/whole" "$run"
flock "$run/truth/finetune" sleep 1 &
until_locked() {
    until ! flock -n "$run/truth/finetune" true; do
        sleep 0.01
    done
}
until_locked
check "a lock for a second: waited for" stage finetune "$run" --source truth \
    --set finetune.sample_size=41
rm -r "$run"

# ---- what a program is going to read is made anew while it is still at something else
under_way() { # FILE: it is there, and the program is stopped
    until_true filled "$1" && kill -STOP $pid
}
goes_on() { # to its end
    kill -CONT $pid
    wait $pid
    status=$?
}
base=(--preset smoke --run "$run" "${settings[@]}" --threads 1 --quiet)
cp -a "$WORK/whole" "$run"
rm -r "$run"/*/pretrain "$run"/*/pretrain_planets
start "$BIN/pretrain" "${base[@]}"
check "pretrain: under way" under_way "$run/softmax/pretrain/log.jsonl"
check "pretrain: under way: meanwhile data sets of another law" "$BIN/orbits" "${base[@]}" --force \
    --set orbits.law=hooke
goes_on
check "pretrain: under way: which are not taken for these: status" equal 1 $status
check "pretrain: under way: the error" \
    grep -q '^pretrain: error: .*orbits.law is hooke, expected newton' "$WORK/err"
check_not "pretrain: under way: no training on them" \
    test -e "$run/softmax/pretrain_planets/last.safetensors"
rm -r "$run"
cp -a "$WORK/whole" "$run"
rm -r "$run"/*/finetune
start "$BIN/finetune" "${base[@]}" --set finetune.magnitude.steps=400
check "finetune: under way" under_way "$run/softmax/finetune/magnitude.jsonl"
check "finetune: under way: meanwhile another model" \
    "$BIN/pretrain" "${base[@]}" --attention lssar \
    --set pretrain.lr=0.1 --set pretrain_planets.steps=0 --force
goes_on
check "finetune: under way: which is not taken for the one expected: status" equal 1 $status
check "finetune: under way: the error" grep -q \
    '^finetune: error: .*lssar/pretrain/last.safetensors: .*pretrain.lr is 0.1, expected 0.003' \
    "$WORK/err"
check_not "finetune: under way: no forces of it" test -e "$run/lssar/finetune/forces_magnitude.csv"

# data sets that are replaced before the n-th look at one of their files: refused, whether it has
# been opened by then or not
by="'$BIN/orbits' $(printf "'%s' " "${base[@]}") --force --set orbits.law=hooke"
# replaced NAME FILE FOLDER RESULT OPTION...: while the program makes what is in a folder of a run
replaced() {
    local name=$1 file=$2 folder=$3 result=$4 looks look
    local swap=(env LD_PRELOAD="$SWAP" SWAP_FILE="$file")
    shift 4
    undone() {
        rm -rf "$run" && cp -a "$WORK/whole" "$run" && rm -r "$run/$folder"
    }
    undone
    rm -f "$WORK/looks"
    check "$name, its looks counted" "${swap[@]}" SWAP_REPORT="$WORK/looks" "$BIN/$name" \
        "${base[@]}" "$@"
    looks=$(wc -l <"$WORK/looks")
    check "$name, its looks counted: before it opens the file, and to open it" test "$looks" -ge 2
    for ((look = 1; look <= looks; look++)); do
        undone
        "${swap[@]}" SWAP_AT=$look SWAP_BY="$by" "$BIN/$name" "${base[@]}" "$@" >"$WORK/out" \
            2>"$WORK/err" </dev/null
        check "$name: replaced before look $look: refused" equal 1 $?
        check_not "$name: replaced before look $look: refused: nothing of it" \
            test -e "$run/$folder/$result"
    done
}
if [ ! -e "$SWAP" ] || grep -q -e __asan_init -e __tsan_init "$BIN/finetune"; then
    skip "data sets that are replaced between two looks" "no $SWAP, or a sanitizer's own open()"
else
    replaced finetune full_state_two_body_test.npy truth/finetune forces_magnitude.csv \
        --source truth
    replaced pretrain coords_train.npy lssar/pretrain last.safetensors --attention lssar --resume
fi
echo "$(wc -w <<<"$PAIRS") pairs: $well programs ended well, $refused said why not"
check "programs ended well" test $well -gt 0
finish
