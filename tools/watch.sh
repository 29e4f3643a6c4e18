#!/usr/bin/env bash
# watch.sh - the losses of a training, live: drawn in the terminal, or into a picture.
#
#   tools/watch.sh RUN [FILE.png]    RUN: a run directory, a folder with logs, or one log
#                                    (make watch RUN=runs/quick [PNG=loss.png])
#
# Waits for RUN where it is not there yet. Ends when no process has had a log open for GRACE (10)
# seconds, or at Ctrl-C; a run that is over is drawn once. EVERY (2): seconds between pictures.
set -u
run=${1:?"usage: watch.sh RUN [FILE.png]"}
png=${2:-}
case $run in -*) run=./$run ;; esac # no option of what is called here
case $png in -*) png=./$png ;; esac
# absolute: gnuplot runs the rest of a name that begins with "<" or "|" as a command
script=$(cd "$(dirname -- "$0")" && pwd)/../figures/watch.gp
every=${EVERY:-2}
grace=${GRACE:-10}
# plain TEXT: on one line of the terminal, or between quotes of gnuplot. Names are a stranger's: a
# quote or a line break would end the string, and gnuplot would run what comes after it. The
# invisible characters are those of base/text.c
plain() {
    printf '%s' "$1" | LC_ALL=C tr '\000-\037\177' '?' | LC_ALL=C tr -d "'\"\`\\\\" |
        LC_ALL=C sed $'s/\xc2[\x80-\x9f]/??/g; s/\xe2\x80[\x8b-\x8f\xa8-\xae]/???/g
            s/\xe2\x81[\xa0-\xaf]/???/g; s/\xef\xbb\xbf/???/g; s/\xc2\xad/??/g'
}
refuse() {
    echo "watch: error: $*" >&2
    exit 1
}
command -v gnuplot >/dev/null || refuse "gnuplot is not installed"
[[ $every =~ ^[0-9]*\.?[0-9]+$ ]] || refuse "EVERY: expected seconds, found \"$every\""
[[ $grace =~ ^[0-9]+$ ]] || refuse "GRACE: expected whole seconds, found \"$grace\""
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-watch-XXXXXX") && work=$(cd -- "$work" && pwd) || exit 1
terminal=
[ -n "$png" ] || [ ! -t 1 ] || terminal=yes
finish() {
    [ -z "$terminal" ] || printf '\033[?25h'
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 0' INT TERM

# seconds since the machine started, which go on when the clock is set; $SECONDS does not
uptime_s() {
    local up
    read -r up _ </proc/uptime
    echo "${up%.*}"
}
# the logs of RUN, into log_list
logs() {
    log_list=()
    if [ -d "$run" ]; then
        mapfile -t -d '' log_list < <(find -H "$run" -name '*.jsonl' -type f -print0 | sort -z)
    elif [ -e "$run" ]; then
        log_list=("$run")
    fi
}
# refuses a folder that has nothing of a run, where nothing will come
not_foreign() {
    [ ! -d "$run" ] || [ ${#log_list[@]} -gt 0 ] || [ -e "$run/preset.json" ] ||
        [ -d "$run/orbits" ] ||
        refuse "$(plain "$run"): no logs in this folder (log.jsonl); expected a run directory"
}
# some process has one of the logs open
under_way() {
    local log pattern
    for log in "${log_list[@]}"; do
        # -lname takes a pattern, in which a name stands for itself
        pattern=$(readlink -f "$log" | sed 's/[][\\*?]/\\&/g')
        [ -z "$(LC_ALL=C find /proc/[0-9]*/fd -lname "$pattern" -print -quit 2>/dev/null)" ] ||
            return 0
    done
    return 1
}
# value KEY LINE: a number of a log line, or nothing
value() {
    sed -n "s/.*\"$1\": *\([-+.0-9e]*\)[,}].*/\1/p" <<<"$2"
}
# table LOG: "step loss" lines, an empty block, "step val_loss" lines; half a line at the end and
# lines that were written again after a kill are left out
table() {
    local key
    for key in loss val_loss; do
        awk -v key="\"$key\": *" '
            !/}$/ { next }
            match($0, /"step": *[0-9]+/) {
                step = substr($0, RSTART, RLENGTH); sub(/.*: */, "", step)
                if (!match($0, key "[-+.0-9e]+")) next
                x = substr($0, RSTART, RLENGTH); sub(/.*: */, "", x)
                while (n && at[n] >= step + 0) n--
                at[++n] = step + 0; y[n] = x
            }
            END { for (i = 1; i <= n; i++) print at[i], y[i]; if (!n) print "NaN NaN" }' <"$1"
        printf '\n\n'
    done
}
# one line about the newest log
headline() {
    local newest=${log_list[0]} line log
    for log in "${log_list[@]}"; do
        [ ! "$log" -nt "$newest" ] || newest=$log
    done
    line=$(grep '"tokens_per_s"' <"$newest" | tail -n 1)
    [ -n "$line" ] || return
    NAME=$(title "$newest") awk -v step="$(value step "$line")" \
        -v loss="$(value loss "$line")" -v rate="$(value tokens_per_s "$line")" \
        -v share="$(value peak_share "$line")" -v eta="$(value eta_s "$line")" \
        -v memory="$(value memory_mb "$line")" 'BEGIN {
            text = sprintf("%s: step %d, loss %.4g, %.0f positions/s", ENVIRON["NAME"], step,
                loss, rate)
            if (share != "") text = text sprintf(" (%.0f%% of peak)", 100 * share)
            left = eta >= 5400 ? sprintf("%.1f h", eta / 3600) : eta >= 90 ? sprintf("%.0f min",
                eta / 60) : sprintf("%.0f s", eta)
            text = text (eta + 0 > 0 ? ", " left " left" : "")
            print text sprintf(", %.2g GB", memory / 1000) }'
}
# runs/quick/lssar/pretrain/log.jsonl -> lssar/pretrain
title() {
    local name=${1%.jsonl}
    [ ! -d "$run" ] || name=${name#"${run%/}"/}
    [ "$name" != log ] || name=$(basename "$(realpath "$run")")
    name=${name%/log}
    plain "$name" | sed 's:.*/\([^/]*/[^/]*/[^/]*\)$:\1:'
}
# colour TITLE NUMBER: as the report has it (figures/read.c): a variant's, or one of a list
colour() {
    local list=(2a8f5b 8a4fb0 a8842c b0406e 2f8f9d 6b6f2a 5a5fc0 9c5a3c)
    case /$1 in
    */softmax*) echo d1602b ;;
    */lssar*) echo 1f6fb4 ;;
    */untrained*) echo 8a8a8a ;;
    *) echo "${list[$(($2 % 8))]}" ;;
    esac
}
draw() {
    local i=0 log
    : >"$work/plot.dat"
    for log in "${log_list[@]}"; do
        i=$((i + 1))
        table "$log" >>"$work/plot.dat"
        echo "title[$i] = '$(title "$log")'; colour[$i] = '#$(colour "$(title "$log")" $i)'" \
            >>"$work/titles"
    done
    {
        echo "curves = $i"
        echo "array title[$i]; array colour[$i]"
        cat "$work/titles"
        echo "remark = '$(headline) (thin: training, dots: validation)'"
    } >"$work/plot.set"
    rm -f "$work/titles"
    # a training that has just begun has no lines yet
    grep -q '^[0-9]' "$work/plot.dat" || return 0
    if [ -n "$png" ]; then
        gnuplot -c "$script" "$work/plot" "$work/plot.png" png 0 0 2>"$work/err" || return
        cp "$work/plot.png" "$png.$$.orrery-partial" && mv "$png.$$.orrery-partial" "$png"
    else
        local columns=80 lines=24
        [ -z "$terminal" ] || { columns=$(tput cols) lines=$(tput lines); }
        gnuplot -c "$script" "$work/plot" "$work/plot.txt" "dumb${terminal:+ansi}" "$columns" \
            "$((lines - 2))" 2>"$work/err" || return
        [ -z "$terminal" ] || printf '\033[?25l\033[H\033[J'
        echo "$(headline) (letters: validation)"
        sed 's/[[:space:]]*$//; /^$/d' "$work/plot.txt"
    fi
}

logs
not_foreign
[ ${#log_list[@]} -gt 0 ] || echo "watch: waiting for $(plain "$run") (Ctrl-C ends)" >&2
while [ ${#log_list[@]} -eq 0 ]; do
    sleep "$every" &
    wait $!
    logs
    not_foreign
done
over=$grace # at once, where nothing is under way
while :; do
    logs
    if under_way; then
        idle_since=$(uptime_s)
        over=
    elif [ -z "$over" ] && [ $(($(uptime_s) - idle_since)) -ge "$grace" ]; then
        over=yes
    fi
    if [ -n "$terminal$png$over" ]; then
        draw || refuse "gnuplot: $(head -n 1 "$work/err")"
    fi
    [ -z "$over" ] || break
    sleep "$every" &
    wait $!
done
