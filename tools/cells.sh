#!/usr/bin/env bash
# cells.sh - a grid of experiments as commands, one line per cell: for `make sweep`, for job arrays
# of a cluster, for GNU parallel. Nothing is run.
#
#   tools/cells.sh GRID [--folders]    --folders: the cells' run folders alone, in the same order
#
# PART=I/N: every N-th cell, from the I-th on (1 to N), for N machines side by side. KEPT=dir: those
# whose results are there, dir/NAME/CELL.json as study/claims.sh keeps them, are left out.
#
# A cell's command does all steps of it, each of which keeps what is there already (--resume), so
# that a cell can be stopped and run again anywhere. GRID is a file of lines, # begins a comment:
#
#   preset  quick                          settings that all cells start from
#   folder  verdict                        $RUNS/verdict instead of $RUNS/<name of GRID>: grids of
#                                          the same settings share their cells
#   set     orbits.train_files=0           settings of all cells; may be given again
#   axis    attention softmax lssar        a setting and its values; `seed` and `attention` as well
#   axis    law newton mond:orbits.law=mond,orbits.law_a0=20      levels of a free name, each with
#                                          its settings (none: as they are)
#   step    pretrain                       what is done: a program and its own options, in order;
#                                          words between blanks, which no shell looks into
#   step    probe linear --resume
#   step    cell                           results as one small file, <cell>/cell.json
#
# Folders are $RUNS/<name of GRID>/<cell> (RUNS: runs); a cell's name has the level of each axis,
# those of settings with the last word of the setting before it: softmax-noise_au0.02-seed1.
# Data sets of cells that differ in nothing that data are made from (seed, orbits, planets), and
# models of cells that differ in fine-tuning and search alone, are made once, in
# $RUNS/<grid>/.shared, by whichever cell comes first (tools/shared.sh).
# BIN (bin): where the programs are, which tell what is made from which setting. THREADS (1): of
# each. FORCE=1: data sets and trainings of other settings are replaced, as after GRID was changed;
# without it such a cell fails, and says why.
set -u
grid=${1-}
[ -n "$grid" ] && [ "${2:---folders}" = --folders ] && [ $# -le 2 ] || {
    echo "cells: error: expected GRID [--folders], found \"$*\"; make cells GRID=FILE" >&2
    exit 2
}
[ -r "$grid" ] && [ ! -d "$grid" ] || {
    moved=
    for place in "presets/$grid" "study/${grid#presets/}"; do
        [ ! -r "$place" ] || moved="; it is $place now"
    done
    echo "cells: error: $grid: no such grid$moved" >&2
    exit 3
}
part=${PART:-1/1}
if [[ ! $part =~ ^([1-9][0-9]{0,4})/([1-9][0-9]{0,4})$ ]] ||
    [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]; then
    echo "cells: error: PART: expected I/N with 1 <= I <= N, found \"$part\"" >&2
    exit 2
fi
for name in RUNS BIN THREADS; do # a command is a line
    [[ ${!name-} != *$'\n'* ]] || {
        echo "cells: error: $name: expected one line" >&2
        exit 2
    }
done
name=$(basename -- "$grid")
export GRID_FILE=$grid RUNS=${RUNS:-runs} NAME=${name%.grid} TOOLS=$(dirname "$0")
export BIN=${BIN:-bin} THREADS=${THREADS:-1}
STAGES=$("$BIN/orbits" --stages) || {
    echo "cells: error: $BIN/orbits: needed to tell what is made from a setting; make all" >&2
    exit 3
}
export STAGES
exec awk -v first="${part%/*}" -v every="${part#*/}" -v folders="$([ $# -eq 2 ] && echo 1)" '
function refuse(text) {
    printf "cells: error: %s:%d: %s\n", ENVIRON["GRID_FILE"], NR, text > "/dev/stderr"
    failed = 4
    exit failed
}
# A word as the shell reads it.
function quoted(word) {
    if (word ~ /^[A-Za-z0-9_.,:=\/+@%-]+$/)
        return word
    gsub(/\047/, "\047\\\047\047", word)
    return "\047" word "\047"
}
# Whether it can name a folder of RUNS.
function is_name(word) {
    return word ~ /^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$/
}
function check_setting(setting) {
    if (setting !~ /^[a-z_.0-9]+=./)
        refuse("expected KEY=VALUE, found \"" setting "\"")
}
# What depends on a setting first: 1 = data sets, 2 = pretraining, 3 = what comes after.
BEGIN {
    count = split(ENVIRON["STAGES"], pair)
    for (k = 1; k < count; k += 2)
        stage_of[pair[k]] = pair[k + 1] == "orbits" ? 1 : pair[k + 1] == "pretrain" ? 2 : 3
}
function stage_of_setting(setting) {
    sub(/=.*/, "", setting)
    return setting in stage_of ? stage_of[setting] : 2
}
function earlier(a, b) {
    return a < b ? a : b
}
{ sub(/(^|[ \t])#.*/, "") }
NF == 0 { next }
$1 == "preset" {
    if (NF != 2 || preset != "")
        refuse("expected one line \"preset NAME\"")
    preset = $2
    next
}
$1 == "folder" {
    if (NF != 2 || folder != "" || !is_name($2))
        refuse("expected one line \"folder NAME\"")
    folder = $2
    next
}
$1 == "set" {
    if (NF < 2)
        refuse("set: expected KEY=VALUE ...")
    for (i = 2; i <= NF; i++) {
        check_setting($i)
        common = common " --set " quoted($i)
    }
    next
}
$1 == "axis" {
    if (NF < 3)
        refuse("axis: expected a name and at least one level")
    if ($2 in seen)
        refuse("axis " $2 ": given already")
    seen[$2] = 1
    axis[++axes] = $2
    # a free name has no dot, and is not the name of a setting by itself
    free = $2 !~ /\./ && $2 != "seed" && $2 != "attention"
    levels[axes] = NF - 2
    stage[axes] = free ? 3 : stage_of_setting($2)
    for (i = 3; i <= NF; i++) {
        text = ""
        tag = value = $i
        if (free) {
            tag = $i
            sub(/:.*/, "", tag)
            count = index($i, ":") ? split(substr($i, index($i, ":") + 1), part, ",") : 0
            for (k = 1; k <= count; k++) {
                check_setting(part[k])
                stage[axes] = earlier(stage[axes], stage_of_setting(part[k]))
                text = text " --set " quoted(part[k])
            }
        } else if ($2 == "seed") {
            if (value !~ /^(0|[1-9][0-9]*)$/)
                refuse("axis seed: expected whole numbers, found \"" value "\"")
            text = " --seed " value
            tag = "seed" value
        } else {
            text = " --set " quoted($2 "=" value)
            word = $2
            sub(/.*\./, "", word)
            tag = $2 == "attention" ? value : word value
        }
        if (!is_name(tag))
            refuse("axis " $2 ": expected a level that can name a folder, found \"" tag "\"")
        if ((axes, tag) in used)
            refuse("axis " $2 ": " $i " is there twice")
        used[axes, tag] = 1
        if ((axes, "of", text) in used)
            refuse("axis " $2 ": " $i " has the settings of another level; settings are written " \
                "group.key, levels of a free name level:key=value")
        used[axes, "of", text] = 1
        settings[axes, i - 2] = text
        tags[axes, i - 2] = tag
    }
    next
}
$1 == "step" {
    if ($2 !~ /^(orbits|pretrain|finetune|symreg|report|probe|cell)$/)
        refuse("step: expected orbits, pretrain, finetune, symreg, report, probe or cell, found " \
            "\"" $2 "\"")
    step[++steps] = $2
    for (i = 3; i <= NF; i++)
        own[steps] = own[steps] " " quoted($i)
    next
}
{ refuse("expected preset, folder, set, axis or step, found \"" $1 "\"") }
# What cells of equal levels up to a stage share: its folder, "" where each cell has its own.
function shared(upto, chosen,   k, tag, others) {
    for (k = 1; k <= axes; k++)
        if (stage[k] <= upto)
            tag = tag "-" tags[k, chosen[k]]
        else
            others = 1
    return others ? base "/.shared/" (upto == 1 ? "data" : "models") tag : ""
}
function line(cell, chosen,   k, n, text, program, run, options, from, folder_of, command) {
    run = base "/" cell
    if (folders)
        return run
    for (k = 1; k <= steps; k++) {
        program = step[k]
        if (program == "cell") {
            text = text (k > 1 ? " && " : "") quoted(ENVIRON["BIN"] "/verdict") " --cell " \
                quoted(run)
            continue
        }
        from = program == "orbits" ? 1 : program == "pretrain" ? 2 : 3
        folder_of = from < 3 ? shared(from, chosen) : ""
        options = ""
        # a probe takes the settings of the run
        if (program != "probe") {
            options = " --preset " quoted(preset) common
            for (n = 1; n <= axes; n++)
                if (folder_of == "" || stage[n] <= from)
                    options = options settings[n, chosen[n]]
            options = options " --resume"
            if (ENVIRON["FORCE"] != "" && program ~ /^(orbits|pretrain|finetune)$/)
                options = options " --force"
        }
        options = options " --run " quoted(folder_of == "" ? run : folder_of)
        # a model that cells share knows no data but those of this one
        if (folder_of != "" && from == 2 && has_orbits)
            options = options " --orbits " quoted(run "/orbits")
        # a report computes next to nothing
        if (program != "report")
            options = options " --threads " quoted(ENVIRON["THREADS"])
        command = quoted(ENVIRON["BIN"] "/" program) own[k] options
        if (folder_of != "")
            command = quoted(ENVIRON["TOOLS"] "/shared.sh") " " quoted(run) " " \
                quoted(folder_of) " " command
        text = text (k > 1 ? " && " : "") command
    }
    return text
}
function walk(depth, cell, chosen,   k) {
    if (depth > axes) {
        if (cell in cells) {
            printf "cells: error: %s: two cells are named %s; give levels other names\n", \
                ENVIRON["GRID_FILE"], cell > "/dev/stderr"
            failed = 4
        }
        cells[cell] = 1
        if (failed)
            return
        made[++cells_made] = line(cell, chosen)
        name_of[cells_made] = cell
        return
    }
    for (k = 1; k <= levels[depth]; k++) {
        chosen[depth] = k
        walk(depth + 1, cell (depth > 1 ? "-" : "") tags[depth, k], chosen)
    }
}
function is_kept(cell,   file, text, there) {
    file = ENVIRON["KEPT"] "/" (folder == "" ? ENVIRON["NAME"] : folder) "/" cell ".json"
    there = ENVIRON["KEPT"] != "" && (getline text < file) >= 0
    close(file)
    return there
}
END {
    if (failed)
        exit failed
    if (preset == "" || !axes || !steps) {
        NR = 0
        printf "cells: error: %s: expected a preset, an axis and a step\n", ENVIRON["GRID_FILE"] \
            > "/dev/stderr"
        exit 4
    }
    if (folder == "" && !is_name(ENVIRON["NAME"])) {
        printf "cells: error: %s: expected a file whose name can name a folder, or a line " \
            "\"folder NAME\"\n", ENVIRON["GRID_FILE"] > "/dev/stderr"
        exit 4
    }
    base = ENVIRON["RUNS"] "/" (folder == "" ? ENVIRON["NAME"] : folder)
    for (i = 1; i <= steps; i++)
        has_orbits += step[i] == "orbits"
    walk(1, "", chosen)
    for (i = first; i <= cells_made && !failed; i += every)
        if (!is_kept(name_of[i]))
            print made[i]
    exit failed
}' <"$grid"
