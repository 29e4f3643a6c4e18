#!/usr/bin/env bash
# test_help.sh - --help and --version of every program, and that they tell the truth: every option
# and every setting that --help all lists is accepted, none is missing, and the values are those
# that a run without options has. --help alone fits on a screen.
. tests/cli/lib.sh
fast_pictures

COMMON="--preset --set --run --out --seed --resume --quiet --plan --help --version"
# options of some programs, which the others do not have
declare -A SOME=([orbits]="--threads --force" [symreg]="--attention --threads --orbits"
    [report]="--attention --orbits"
    [pretrain]="--attention --checkpoint --device --attention-impl --threads --orbits --force"
    [finetune]="--attention --checkpoint --device --attention-impl --threads --orbits --force")

# settings FILE: key=value per line of a JSON file as the programs write it, lists as a,b,c
settings() {
    local space='[[:space:]]*' value='("[^"]*"|\[[^]]*\]|\{|[^],}{[:space:]]+)'
    tr '\n' ' ' <"$1" | grep -oE "\"[^\"]*\"$space:$space$value|\\}" |
    awk '/^}/ { depth--; next }
         { split($0, part, /"/); key = part[2]; value = $0
           sub(/^"[^"]*"[[:space:]]*:[[:space:]]*/, "", value)
           if (value == "{") { path[++depth] = key; next }
           gsub(/[]["]/, "", value); gsub(/,[[:space:]]+/, ",", value)
           name = ""
           for (i = 1; i <= depth; i++) if (path[i] != "") name = name path[i] "."
           print name key "=" value }'
}

operators() { # ARITY: of the table
    sed -n "s/^OP(SR_[A-Z0-9_]*, *\"\([^\"]*\)\", *$1,.*/\1/p" formula/ops_table.h | sort
}
listed() { # KEY: in the row of the setting
    sed -n "s/.*NAMES(symreg.$1, \"[^\"]*\", \"\([^\"]*\)\".*/\1/p" stage/settings_table.c |
        tr '|' '\n' | sort
}
check "symreg.binary lists the operators of two arguments" equal "$(operators 2)" "$(listed binary)"
check "symreg.unary lists the operators of one argument" equal "$(operators 1)" "$(listed unary)"

here=$(cd "$BIN" && pwd)
mkdir "$WORK/empty"
# help_of PROGRAM: in a folder of its own, so that what it leaves is seen
help_of() {
    (cd "$WORK/empty" && "$here/$1" --help all </dev/null)
}
# fits FILE: on a screen of 45 lines
fits() {
    filled "$1" && [ "$(wc -l <"$1")" -le 45 ] &&
        awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' "$1"
}
# narrow COMMAND: every line of its --help fits on a terminal of 80 columns
narrow() {
    "$BIN"/$1 --help </dev/null >"$WORK/narrow" 2>&1 && filled "$WORK/narrow" &&
        awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$WORK/narrow"
}
for p in "$BIN"/*; do
    [[ $p == *.so ]] || commands+=("${p##*/}")
done
check "programs of which --help is looked at: at least ten" test ${#commands[@]} -ge 10
for p in "${commands[@]}" "orrery judge" "orrery lab" "symreg motion" "symreg orbit" \
    "compare effects" "probe labels"; do
    check "a line of $p --help is wider than 80 columns" narrow "$p"
done
# names COMMAND NAME: an error of what `orrery COMMAND` hands to another program
names() {
    ! "$BIN/orrery" $1 </dev/null >"$WORK/out" 2>"$WORK/err" && grep "^$2: error: " "$WORK/err"
}
check "an error of orrery judge is not told as of judge" names "judge" judge
check "an error of orrery lab is not told as of lab" names "lab --run $WORK/none" lab
check "an error of orrery watch is not told as of watch" names "watch $WORK/none $WORK/a.txt" watch
check "an error of orrery probe is not told as of probe" names "probe none" probe
check "an error of orrery compare is not told as of compare" names "compare seeds" compare
# options_in HELP: without the settings, whose values --preset changes
options_in() {
    sed '/^settings/,$d' "$1"
}
# accepts PROGRAM OPTION: given with an empty value before --help, it is help, or an error about
# that value; an option that is not known is another error
accepts() {
    program "$1" "$2=" --help=all >"$WORK/out" 2>"$WORK/err"
    case $? in
    0) same_by options_in "$WORK/$1.help" "$WORK/out" ;;
    2) grep -E -- "^$1: error: $2: (expected|takes)" "$WORK/err" ;;
    *) return 1 ;;
    esac
}

for p in $PROGRAMS; do
    help_of "$p" >"$WORK/$p.help" 2>"$WORK/err"
    check "$p --help: exit 0" test $? -eq 0
    check "$p --help: nothing on stderr" test ! -s "$WORK/err"
    for option in $COMMON ${SOME[$p]}; do
        check "$p --help: $option" grep -Eq -- "^ +(-[oh], )?$option( |$)" "$WORK/$p.help"
    done
    for option in ${SOME[*]}; do
        [[ " ${SOME[$p]} " == *" $option "* ]] ||
            check "$p --help: no $option" lacks "^ +$option( |\$)" "$WORK/$p.help"
    done
    check "$p --help: usage" grep -q "^usage: $p " "$WORK/$p.help"
    check "$p --help: each option once" each_once "$WORK/$p.help"
    check "$p --help: no empty default" lacks '\[\]' "$WORK/$p.help"
    # beside other options it is still help
    program $p --preset quick --quiet --seed 3 --help all >"$WORK/out"
    check "$p --help after others" same_file "$WORK/$p.help" "$WORK/out"
    for word in --help -h; do
        (cd "$WORK/empty" && "$here/$p" $word </dev/null) >"$WORK/$p$word" 2>"$WORK/err"
        check "$p $word: exit 0" test $? -eq 0
        check "$p $word: nothing on stderr" test ! -s "$WORK/err"
        check "$p $word: one screen" fits "$WORK/$p$word"
        check "$p $word: usage" grep -q "^usage: $p " "$WORK/$p$word"
        check "$p $word: says how to see all" grep -qE -- '--help \[?all' "$WORK/$p$word"
    done
    for option in $(grep -oE '^ +(-[oh], )?--[a-z-]+' "$WORK/$p.help" | grep -oE -- '--.*'); do
        check "$p accepts $option" accepts "$p" "$option"
    done
    check_not "$p does not accept --none" accepts "$p" --none
    (cd "$WORK/empty" && "$here/$p" --version) >"$WORK/version" 2>"$WORK/err" </dev/null
    check "$p --version: exit 0" test $? -eq 0
    check "$p --version: nothing on stderr" test ! -s "$WORK/err"
    check "$p --version: one line" test "$(wc -l <"$WORK/version")" -eq 1
    check "$p --version: name and number" grep -Eq "^orrery $p [0-9]+\.[0-9]+\.[0-9]+" \
        "$WORK/version"
    sed "s/ $p / /" "$WORK/version" >>"$WORK/versions"
done
check "one version for all" test "$(sort -u "$WORK/versions" | wc -l)" -eq 1
check "the options of their own" grep -q -- --orbits "$WORK/pretrain.help"
check "finetune --source" grep -q -- --source "$WORK/finetune.help"
check "symreg --target" grep -q -- --target "$WORK/symreg.help"
# (a FILE has a preset of its own, whose values stand beside the defaults)
file_defaults() {
    settings presets/table.json | grep '^symreg\.' >"$WORK/of_file"
    [ "$(wc -l <"$WORK/of_file")" -gt 8 ] || return 1
    while IFS='=' read -r key value; do
        grep -F -- "  $key " "$WORK/symreg.help" |
            grep -qF -e "(with a FILE: $value) [" -e " [$value]" ||
            { echo "$key is $value" && return 1; }
    done <"$WORK/of_file"
}
check "symreg --help: defaults of a FILE" file_defaults
program symreg motion --help >"$WORK/motion.help"
for option in --time --position --body --system --mass --centre; do
    check "symreg motion --help: $option" grep -q -- "^  $option " "$WORK/motion.help"
done
check "symreg --help: defaults of a FILE: without --target" lacks '^  --target' "$WORK/motion.help"
program symreg predict --help >"$WORK/predict.help"
check "symreg predict --help: --index" grep -q '^  --index ' "$WORK/predict.help"
check "symreg predict --help: --index: without settings" lacks '^settings' "$WORK/predict.help"
check "symreg predict --help: --index: where they differ" \
    grep -q 'symreg.seconds .*(with a FILE: 60) \[0\]$' \
    "$WORK/symreg.help"
check "symreg --features" grep -q -- --features "$WORK/symreg.help"
check "help and version make nothing" test "$(ls -A "$WORK/empty" && echo nothing)" = nothing

# ---- settings
# listed PRESET: what the programs list with it, a line a setting
listed() {
    local p
    for p in $PROGRAMS; do
        program "$p" --preset "$1" --help all
    done | grep -oE '^  [a-z_0-9]+(\.[a-z_0-9]+)* .*\[.*\]$' | sed 's/^  //' | sort -u
}
# assigned: key=value of such lines
assigned() {
    sed -E -e 's/ .*\[(.*)\]$/=\1/' -e 's/=""$/=/'
}
echo '{}' >"$WORK/defaults.json"
listed "$WORK/defaults.json" >"$WORK/listed"
cut -d' ' -f1 "$WORK/listed" | sort -u >"$WORK/keys"
check "help lists settings" test "$(wc -l <"$WORK/keys")" -gt 80
check "a setting has one help text" test "$(wc -l <"$WORK/keys")" -eq "$(wc -l <"$WORK/listed")"
for file in presets/*.json; do
    name=$(basename "$file" .json)
    settings "$file" >"$WORK/settings"
    check "$name has settings" test "$(wc -l <"$WORK/settings")" -gt 10
    cut -d= -f1 "$WORK/settings" | grep -vx -e about -e name | sort -u >"$WORK/named"
    check "$name: every key is in some --help" equal "$(wc -l <"$WORK/named")" \
        "$(grep -cxFf "$WORK/keys" "$WORK/named")"
    # the whole preset is accepted: without FILE.csv symreg refuses --target, right after it
    KEEP=$WORK/none refuse "$name is accepted" 2 --target: FILE.csv -- \
        program symreg --preset "$name" --run "$WORK/none" --target y
done
sed 's/"layers"/"layres"/' presets/smoke.json >"$WORK/wrong.json"
KEEP=$WORK/none refuse "a setting has one help text: another is not" 2 layres -- \
    program symreg --preset "$WORK/wrong.json" --run "$WORK/none" --target y
# every setting of a run, in the run's own words, by --set: the run is that run
check "a run" program orbits --preset smoke --quiet --threads 1 --run "$WORK/run"
settings "$WORK/run/preset.json" >"$WORK/settings"
cut -d= -f1 "$WORK/settings" | grep -vx -e about -e name | sort >"$WORK/named"
# (those that follow another setting are in the file where they were given)
grep -E '\[pretrain\.[a-z_0-9]+\]$' "$WORK/listed" | cut -d' ' -f1 | sort >"$WORK/follow"
check "settings of planet runs follow" test "$(wc -l <"$WORK/follow")" -gt 10
# (a setting that is later than files of runs is in no file where it has its default)
LATER='^orbits\.dimensions(=2)?$'
grep -vxFf "$WORK/follow" "$WORK/keys" | grep -vE "$LATER" >"$WORK/own_keys"
grep -vxFf "$WORK/follow" "$WORK/named" >"$WORK/own_named"
check "preset.json and --help name the same settings" same_file "$WORK/own_keys" "$WORK/own_named"
arguments=()
while IFS= read -r line; do
    case $line in
    name=* | orbits.law_* | orbits.expression=*) ;; # those that its law does not read are refused
    *) arguments+=(--set "$line") ;;
    esac
done <"$WORK/settings"
check "every setting by --set" prints 'up to date' program orbits --preset laptop --threads 1 \
    --run "$WORK/run" "${arguments[@]}"
# the values that help names are those of a run: without settings, and without options (quick)
few=()
sets=(orbits.{train,val,test,train_files,two_body_{train,val,test}} planets.{train,val,test})
for key in "${sets[@]}"; do
    few+=(--set "$key=2")
done
# numbers are compared as numbers, without what was set
comparable() {
    grep -vE -e '^orbits\.[tv]' -e '^planets\.(train|val|test)=' -e '^(about|name)=' |
        grep -v -e '=pretrain\.' | grep -vE "$LATER" |
        awk -F= '{ print $1 "=" ($2 ~ /^[-+.0-9e]+$/ ? $2 + 0 : $2) }' | sort
}
for preset in "$WORK/defaults.json" quick; do
    rm -rf "$WORK/made"
    check "a run of $preset" program orbits --preset "$preset" --quiet --threads 1 \
        --run "$WORK/made" "${few[@]}"
    listed "$preset" | assigned | comparable >"$WORK/named"
    settings "$WORK/made/preset.json" | comparable >"$WORK/used"
    check "--help names the values of $preset" same_file "$WORK/named" "$WORK/used"
done
check "without options those of quick" grep -q '^  pretrain.steps .* \[1080\]$' \
    "$WORK/pretrain.help"
check "every setting has a text" lacks '^[a-z_0-9.]+ +[[(]' "$WORK/listed"
grep -E '^[a-z_0-9.]+_(au|yr) ' "$WORK/listed" >"$WORK/lengths"
check "lengths and times have their unit" test "$(wc -l <"$WORK/lengths")" -gt 8 -a \
    "$(grep -cE 'AU|years' "$WORK/lengths")" -eq "$(wc -l <"$WORK/lengths")"

# ---- presets are found from anywhere, and a file is as good as a name
KEEP=$WORK/empty
from_elsewhere() {
    (cd "$WORK/empty" && "$here/symreg" --preset "$1" --target y </dev/null)
}
if [ -d "$here/../presets" ]; then
    refuse "presets beside the programs" 2 --target: FILE.csv -- from_elsewhere smoke_tokens
else
    skip "presets beside the programs" "no folder presets beside $BIN"
fi
ORRERY_PRESETS=presets program symreg --preset grids --target y 2>"$WORK/err" </dev/null
check "presets are named, folders beside them are not" grep -qE \
    'one of gpu, laptop, .*, vafa2025$' "$WORK/err"
check_not "grids are no presets" grep -q 'one of .*grids' "$WORK/err"
mkdir "$WORK/mine"
cp presets/smoke.json "$WORK/mine/own.json"
refuse "no preset of that name" 2 --preset: 'no preset "own"' -- from_elsewhere own
refuse "a preset from ORRERY_PRESETS" 2 --target: FILE.csv -- \
    env ORRERY_PRESETS="$WORK/mine" "$BIN/symreg" --preset own --target y
refuse "a preset by its file" 2 --target: FILE.csv -- from_elsewhere "$WORK/mine/own.json"

# ---- --quiet says nothing; without it progress goes to stderr, tables to stdout
for p in $PROGRAMS; do
    "$BIN/$p" --preset smoke --run "$WORK/quiet" --quiet >"$WORK/out" 2>"$WORK/err" \
        </dev/null
    check "$p --quiet: status 0" test $? -eq 0
    check "$p --quiet: nothing on stderr" test ! -s "$WORK/err"
    case $p in
    symreg) check "$p: a table on stdout" grep -q '^|' "$WORK/out" ;;
    *) check "$p: nothing on stdout" test ! -s "$WORK/out" ;;
    esac
done
finish
