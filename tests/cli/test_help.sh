#!/usr/bin/env bash
# test_help.sh - --help and --version of every program, and that they tell the truth: every option
# and every setting that is listed is accepted, and none is missing.
. tests/cli/lib.sh

COMMON="--preset --set --run --out --seed --resume --quiet --plan --help --version"
# options of some programs, which the others do not have
declare -A SOME=([orbits]="--threads --force" [symreg]="--attention --threads --orbits"
    [report]="--attention --orbits"
    [pretrain]="--attention --checkpoint --device --attention-impl --threads --orbits"
    [finetune]="--attention --checkpoint --device --attention-impl --threads --orbits")

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

for p in $PROGRAMS; do
    "$BIN/$p" --help >"$WORK/$p.help" 2>"$WORK/err" </dev/null
    check "$p --help: exit 0" test $? -eq 0
    check "$p --help: nothing on stderr" test ! -s "$WORK/err"
    for option in $COMMON ${SOME[$p]}; do
        grep -Eq -- "^ +$option( |$)" "$WORK/$p.help" || echo "$option"
    done >"$WORK/missing"
    check "$p --help: every option" diff /dev/null "$WORK/missing"
    for option in ${SOME[*]}; do
        [[ " ${SOME[$p]} " == *" $option "* ]] || ! grep -E -- "^ +$option( |$)" "$WORK/$p.help"
    done >"$WORK/surplus"
    check "$p --help: no option without use" diff /dev/null "$WORK/surplus"
    check "$p --help: usage" grep -q "^usage: $p " "$WORK/$p.help"
    check "$p --help: each option once" test -z "$(grep -oE '^ +--[a-z-]+' "$WORK/$p.help" |
        sort | uniq -d)"
    check_not "$p --help: no empty default" grep -F '[]' "$WORK/$p.help"
    # beside other options it is still help
    check "$p --help after others" diff "$WORK/$p.help" \
        <(program $p --preset smoke --quiet --seed 3 --help)
    # what is listed is accepted: a flag alone, an option with a value of no use is a usage error
    # about that value, never "unknown option"
    for option in $(grep -oE '^ +--[a-z-]+' "$WORK/$p.help"); do
        check_not "$p accepts $option" grep -q 'unknown option' <(program $p $option= --help 2>&1)
    done
    "$BIN/$p" --version >"$WORK/version" 2>"$WORK/err" </dev/null
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
check "symreg --features" grep -q -- --features "$WORK/symreg.help"
check "help and version make nothing" test ! -e "$WORK/runs"

# ---- settings
cat "$WORK"/*.help | grep -oE '^  [a-z_0-9]+(\.[a-z_0-9]+)* .*\[.*\]$' | sed 's/^  //' |
    sort -u >"$WORK/listed"
cut -d' ' -f1 "$WORK/listed" | sort -u >"$WORK/keys"
check "help lists settings" test "$(wc -l <"$WORK/keys")" -gt 80
check "a setting has one help text" test "$(wc -l <"$WORK/keys")" -eq "$(wc -l <"$WORK/listed")"
for file in presets/*.json; do
    name=$(basename "$file" .json)
    settings "$file" >"$WORK/settings"
    check "$name has settings" test "$(wc -l <"$WORK/settings")" -gt 10
    check "$name: every key is in some --help" test -z \
        "$(cut -d= -f1 "$WORK/settings" | grep -vx -e about -e name | grep -vxFf "$WORK/keys")"
    # the whole preset is accepted: --source and --target make the programs stop right after
    check "$name is accepted" grep -q 'FILE.csv' \
        <(program symreg --preset "$name" --run "$WORK/none" --target y 2>&1)
done
# every setting of a run, in the run's own words, by --set: the run is that run
check "a run" program orbits --preset smoke --quiet --threads 1 --run "$WORK/run"
settings "$WORK/run/preset.json" >"$WORK/settings"
check "preset.json and --help name the same settings" diff "$WORK/keys" \
    <(cut -d= -f1 "$WORK/settings" | grep -v -e '^about$' -e '^name$' | sort)
arguments=()
while IFS= read -r line; do
    case $line in
    name=*) ;;
    *) arguments+=(--set "$line") ;;
    esac
done <"$WORK/settings"
check "every setting by --set" grep -q 'up to date' <(program orbits --preset laptop --threads 1 \
    --run "$WORK/run" "${arguments[@]}" 2>&1)
# the defaults that help names are the defaults: a file without settings
echo '{}' >"$WORK/defaults.json"
check "defaults" program orbits --preset "$WORK/defaults.json" --quiet --threads 1 \
    --run "$WORK/defaults" --set orbits.train=2 --set orbits.val=2 --set orbits.test=2 \
    --set orbits.train_files=2 --set orbits.two_body_train=2 --set orbits.two_body_val=2 \
    --set orbits.two_body_test=2
# numbers are compared as numbers
check "help names the defaults" diff \
    <(sed -E -e 's/ .*\[(.*)\]$/=\1/' -e 's/=""$/=/' "$WORK/listed" | grep -v '^orbits\.\(t\|v\)' |
        awk -F= '{ print $1 "=" ($2 ~ /^[-+.0-9e]+$/ ? $2 + 0 : $2) }' | sort) \
    <(settings "$WORK/defaults/preset.json" | grep -v -e '^orbits\.[tv]' -e '^about=' -e '^name=' |
        awk -F= '{ print $1 "=" ($2 ~ /^[-+.0-9e]+$/ ? $2 + 0 : $2) }' | sort)

# ---- presets are found from anywhere, and a file is as good as a name
here=$(cd "$BIN" && pwd)
if [ -d "$here/../presets" ]; then
    check "presets beside the programs" grep -q 'FILE.csv' \
        <(cd "$WORK" && "$here/symreg" --preset smoke_tokens --target y 2>&1)
fi
mkdir "$WORK/mine"
sed 's/"layers": 1/"layers": 1/' presets/smoke.json >"$WORK/mine/own.json"
check "a preset from ORRERY_PRESETS" grep -q 'FILE.csv' \
    <(ORRERY_PRESETS=$WORK/mine program symreg --preset own --target y 2>&1)
check "a preset by its file" grep -q 'FILE.csv' \
    <(program symreg --preset "$WORK/mine/own.json" --target y 2>&1)

# ---- --quiet says nothing; without it progress goes to stderr, tables to stdout
for p in $PROGRAMS; do
    "$BIN/$p" --preset smoke --run "$WORK/quiet" --quiet >"$WORK/out" 2>"$WORK/err" \
        </dev/null
    check "$p --quiet: nothing on stderr" test ! -s "$WORK/err"
    case $p in
    symreg) check "$p: a table on stdout" grep -q '^|' "$WORK/out" ;;
    *) check "$p: nothing on stdout" test ! -s "$WORK/out" ;;
    esac
done
finish
