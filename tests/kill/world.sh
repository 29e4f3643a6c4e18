# world.sh - the whole pipeline of the smoke preset, for tests of what disturbs it. Sourced after
# tests/cli/lib.sh.
#
#   WORLD_SET="key=value ..."   settings for all stages; WORLD_SET= for the preset as it is. The
#                               default cuts short what takes the time of a smoke run and writes
#                               nothing until it is done: the search, and orbits fitted to
#                               held-out sequences
WORLD_SET=${WORLD_SET-symreg.iterations=1 symreg.enumerate=500 planets.test=4 orbits.test=8
    pretrain_planets.eval_sequences=4 pretrain.eval_sequences=8}
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
STAGES="orbits pretrain finetune symreg report"
settings=()
for setting in $WORLD_SET; do
    settings+=(--set "$setting")
done

now_ms() { # goes on when the clock is set
    local up
    read -r up _ </proc/uptime
    echo $((10#${up/./} * 10))
}

# make_world RUN THREADS: sets $command, the pipeline as make does it, as far as it is not done
make_world() {
    command=(make -s -j1 world PRESET=smoke RUN="$1" THREADS="$2" SET="$(echo $WORLD_SET)"
             BIN="$BIN" ATTENTION= ORBITS_DIR= MINUTES= DEVICE= FORCE=)
}
# stage PROGRAM RUN [OPTION...]: one of its programs, as make calls it, one thread
stage() {
    local name=$1 run=$2
    shift 2
    program "$name" --preset smoke --run "$run" "${settings[@]}" --resume --quiet \
        $(on_threads "$name" 1) "$@"
}
# kept RUN: the plan of every program is to keep everything
kept() {
    local name
    for name in $STAGES; do
        stage "$name" "$1" --plan >"$WORK/.plan" || return 1
        filled "$WORK/.plan" && ! grep -v '^keep ' "$WORK/.plan" || return 1
    done
}

# same_world A B: two runs that were made in the same folder. What holds times by design is
# compared without them: the speeds in the logs of trainings, the date in the head of the page,
# and with it the page's sum in its record.
same_world() {
    local file
    same_by files_below "$1" "$2" || return 1
    files_below "$1" >"$WORK/.world"
    while read -r file; do
        case $file in
        *.jsonl) same_by numbers "$1/$file" "$2/$file" ;;
        ./report.html) same_by undated "$1/$file" "$2/$file" ;;
        ./report.made.json) same_by without_page "$1/$file" "$2/$file" ;;
        *) same_file "$1/$file" "$2/$file" ;;
        esac || { echo "$file" && return 1; }
    done <"$WORK/.world"
}
