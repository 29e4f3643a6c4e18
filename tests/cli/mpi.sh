# mpi.sh - what tests of several ranks share. Sourced after lib.sh.
#
# Settings of Open MPI for two cores that do other things, too; no rank is tied to a core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
# seconds that the launcher waits, twice, before it kills the ranks of a job that has failed
export OMPI_MCA_odls_base_sigkill_timeout=0
# the library keeps memory to its end, which is no matter of ours
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# mpi_missing: says why there can be no ranks here; false where there can
mpi_missing() {
    if [ ! -e "$BIN/orrery_mpi.so" ]; then
        echo "no MPI plugin $BIN/orrery_mpi.so"
    elif ! command -v mpirun >/dev/null; then
        echo "no mpirun"
    else
        return 1
    fi
}

# ranks N ARGUMENT...: bin/pretrain as N ranks; one is a process by itself
ranks() {
    local count=$1
    shift
    if [ "$count" -eq 1 ]; then
        program pretrain "$@"
    else
        timeout "$LIMIT" mpirun -np "$count" "$BIN/pretrain" "$@" </dev/null
    fi
}

# stopped_ranks N ARGUMENT... --out DIR: the same, stopped by --minutes before its end, however fast
# the machine is; status 1 if no limit of time is short enough
stopped_ranks() {
    local minutes out=${!#}
    for minutes in 0.003 0.001 0.0003 0.0001; do
        rm -rf "$out"
        ranks "$@" --minutes $minutes || return
        [ -e "$out/evaluation.json" ] || return 0
    done
    return 1
}

# same_training A B: checkpoints, evaluation, and the log but for its times
same_training() {
    same_files "$1" "$2" last.safetensors best.safetensors evaluation.json &&
        same_by numbers "$1/log.jsonl" "$2/log.jsonl"
}

# close_losses A B SHARE STEPS: the logs of the first steps differ by no more than this share
close_losses() {
    local folder
    for folder in "$1" "$2"; do
        filled "$folder/log.jsonl" || return 1
        sed -nE 's/.*"step": ([0-9]+), "loss": ([^,]*),.*"grad_norm": ([^,]*),.*/\1 \2 \3/p' \
            "$folder/log.jsonl"
    done | awk -v share="$3" -v steps="$4" '
        $1 > steps { next }
        !($1 in loss) { loss[$1] = $2; norm[$1] = $3; next }
        { seen++; if (off($2, loss[$1]) || off($3, norm[$1])) { print; bad = 1 } }
        function off(a, b) { d = a > b ? a - b : b - a; return !(d <= share * b) }
        END { exit bad || !seen }'
}

# refuse_ranks NAME STATUS PATTERN... -- COMMAND...: the job exits with STATUS, exactly one line is
# an error of the program and holds every pattern, and there is no folder $WORK/refused after it
refuse_ranks() {
    local name=$1 status=$2 patterns=() pattern got
    shift 2
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    timeout "$LIMIT" "$@" >"$WORK/.out" 2>&1 </dev/null
    got=$?
    grep '^pretrain: ' "$WORK/.out" >"$WORK/.err"
    if [ $got -ne "$status" ] || [ "$(wc -l <"$WORK/.err")" -ne 1 ]; then
        fail "$name" "expected status $status and one error, found $got and:" "$(cat "$WORK/.out")"
        return
    fi
    for pattern in "${patterns[@]}"; do
        if ! holds_words "$(cat "$WORK/.err")" "$pattern"; then
            fail "$name" "expected \"$pattern\" in:" "$(cat "$WORK/.err")"
            return
        fi
    done
    if [ -e "$WORK/refused" ]; then
        fail "$name" "left files:" "$(find "$WORK/refused")"
        rm -rf "$WORK/refused"
        return
    fi
    pass "$name"
}
