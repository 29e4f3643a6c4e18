#!/usr/bin/env bash
# test_bad_input.sh - what is refused, and how: the exit status (2 usage, 1 failure), one line that
# names the option, key or file, what was expected and found, and a run folder left as it was.
. tests/cli/lib.sh
fast_pictures

run=$WORK/run
RUN=(--run "$run" --quiet)
for p in $PROGRAMS; do
    check "a good run: $p" program "$p" --preset smoke "${RUN[@]}" $(on_threads $p 1)
done
smoke() {
    local program=$1
    shift
    "$BIN/$program" --preset smoke "${RUN[@]}" $(on_threads "$program" 1) "$@" </dev/null
}

# ---- the command line, the same for every program
cp "$ORRERY_PRESETS/smoke.json" "$WORK/good.json"
sed 's/"layers"/"layres"/' "$WORK/good.json" >"$WORK/key.json"
sed 's/"layers": 1/"layers": "one"/' "$WORK/good.json" >"$WORK/type.json"
sed 's/"e_max": 0.9/"e_max": 1.5/' "$WORK/good.json" >"$WORK/range.json"
sed 's/"vector": {/"vector": {{/' "$WORK/good.json" >"$WORK/syntax.json"
brace_at=$(grep -n '{{' "$WORK/syntax.json" | cut -d: -f1)
head -c 300 "$WORK/good.json" >"$WORK/short.json"
cut_at=$(($(wc -l <"$WORK/short.json") + 1))
echo '[1, 2]' >"$WORK/list.json"
: >"$WORK/empty.json"
mkdir "$WORK/folder.json"
sed 's/"model": {/"name": "a\/b", "model": {/' "$WORK/good.json" >"$WORK/name.json"

for p in $PROGRAMS; do
    refusals "$BIN/$p" "${RUN[@]}" <<END
$p: unknown option | 2 --preste 'did you mean --preset?' | --preste smoke
$p: unknown short option | 2 'unknown option -x' | -x
$p: option without its value | 2 --seed value | --seed
$p: a flag with a value | 2 --resume value | --resume=1
$p: unknown preset | 2 smok '"smoke"' | --preset smok
$p: preset file not there | 2 '$WORK/none.json' 'cannot open' | --preset '$WORK/none.json'
$p: preset is a folder | 2 folder.json 'not a regular file' | --preset '$WORK/folder.json'
$p: empty preset file | 2 empty.json:1:1: 'not valid JSON' | --preset '$WORK/empty.json'
$p: truncated preset file | 2 short.json:$cut_at: 'not valid JSON' | --preset '$WORK/short.json'
$p: a syntax error | 2 syntax.json:$brace_at: 'not valid JSON' | --preset '$WORK/syntax.json'
$p: preset file is a list | 2 list.json object | --preset '$WORK/list.json'
$p: unknown key in a preset file | 2 key.json model.layres model.layers | --preset '$WORK/key.json'
$p: wrong type | 2 type.json model.layers 'whole number' one | --preset '$WORK/type.json'
$p: a name that is a path | 2 name.json name '"a/b"' | --preset '$WORK/name.json'
$p: out of range in a preset file | 2 range.json orbits.e_max 1.5 | --preset '$WORK/range.json'
END
    refusals "$BIN/$p" "${RUN[@]}" --preset smoke <<END
$p: unknown key | 2 --set orbits.trian orbits.train | --set orbits.trian=3
$p: no such key at all | 2 'unknown key "zzzzzzzz"' | --set zzzzzzzz=3
$p: --set without = | 2 --set key=value seed | --set seed
$p: not a number | 2 model.layers number '"two"' | --set model.layers=two
$p: number with a tail | 2 model.layers number '"3x"' | --set model.layers=3x
$p: not a whole number | 2 model.layers whole '"1.5"' | --set model.layers=1.5
$p: nothing for a number | 2 pretrain.lr number '""' | --set pretrain.lr=
$p: not finite | 2 pretrain.lr number '"nan"' | --set pretrain.lr=nan
$p: out of range | 2 orbits.e_max 'from 0 to' '"1.5"' | --set orbits.e_max=1.5
$p: a list ends with a comma | 2 attention 'list of names' '"softmax,"' | --set attention=softmax,
$p: negative size | 2 orbits.train 'from 0 to' '"-5"' | --set orbits.train=-5
$p: unknown choice | 2 model.positions 'learned|rope|none' roped | --set model.positions=roped
$p: unknown device of a preset | 2 model.device 'auto|cpu|cuda' '"gpu"' | --set model.device=gpu
$p: neither true nor false | 2 planets.enabled 'true or false' maybe | --set planets.enabled=maybe
$p: contradiction | 2 model.heads 'must divide model.width' 'found 3' | --set model.heads=3
$p: negative seed | 2 --seed 'whole number' '"-1"' | --seed -1
$p: seed above 64 bits | 2 --seed 'up to 18446744073709551615,' | --seed 18446744073709551616
$p: empty --out | 2 --out path | --out ''
$p: an argument too many | 2 'unexpected argument' | one.csv extra
$p: a file as run | 2 --run 'expected a folder, found a file' | --run Makefile
END
    [ $p = report ] || refusals "$BIN/$p" "${RUN[@]}" --preset smoke <<END
$p: no threads | 2 --threads 'from 1 to 4096' 'found "0"' | --threads 0
$p: threads that are no number | 2 --threads 'whole number' '"many"' | --threads many
END
done
for p in pretrain finetune; do
    refusals smoke $p <<END
$p: unknown device | 2 --device 'cpu, cuda, cuda:N or auto' '"gpu"' | --device gpu
$p: unknown path | 2 --attention-impl 'auto or generic' '"fused"' | --attention-impl fused
$p: no path of attention | 2 --attention-impl 'expected a value' | --attention-impl
$p: unknown attention | 2 sotfmax 'softmax, lssa, lssar, rw_softmax' | --attention sotfmax
$p: an attention twice | 2 attention '"lssar"' twice | --set attention=lssar,softmax,lssar
$p: no attention | 2 attention: 'at least one' | --set attention=
$p: unknown attention in a preset | 2 linear softmax | --set attention=linear
$p: no checkpoint | 1 none.safe 'no such checkpoint' | --attention lssar --checkpoint none.safe
END
    # the build's own backends are ref and cpu
    refuse "$p: no CUDA in this build" 1 '--device cuda:' ' no ' -- smoke $p --device cuda --force
done
# options that would do nothing are no options
no_option() {
    local p=$1 option
    shift
    for option; do
        refuse "$p has no ${option%%=*}" 2 "${option%%=*}: $p has no such option" -- \
            "$BIN/$p" --preset smoke "${RUN[@]}" "$option"
    done
}
no_option orbits --checkpoint=x --attention=softmax --device=cpu --attention-impl=fused
no_option symreg --checkpoint=x --device=cpu --attention-impl=fused
no_option report --checkpoint=x --device=cpu --attention-impl=fused --threads=1
# lists whose last item is missing
echo '{"equations": ["y", "-x"], "columns": ["x", "y"]}' >"$WORK/circle.json"
table="docs/data/planets.csv --target T_yr"
awk 'BEGIN { print "t,x"; for (i = 0; i < 30; i++) print i / 10 "," cos(i / 10) }' >"$WORK/x.csv"
states="motion $WORK/x.csv --time t --state x --threads 1"
star="orbit docs/data/velocities.csv --time bjd --velocity rv_m_s"
steps="simulate '$WORK/circle.json' --times 0:1:1"
refusals "$BIN/symreg" <<END
a list of operators | 2 --unary 'list of names' '"inv,"' | $table --unary inv,
a list of prices | 2 --complexity 'found "exp=3,"' | $table --complexity exp=3,
a list of arguments | 2 --constrain 'found "" in "^:-1,1;"' | $table --constrain '^:-1,1;'
a list of sizes | 2 --constrain 'found "-1,1,"' | $table --constrain ^:-1,1,
a list of nests | 2 --nest 'found "" in "sin:cos=0;"' | $table --nest 'sin:cos=0;'
a list of one nest | 2 --nest 'found "" in "sin:cos=0,"' | $table --nest sin:cos=0,
units of states | 2 --units 'found "" in "x=m,"' | $states --units x=m,
the mass of a star | 2 --star-mass 'found "1,"' | $star --star-mass 1,
a start | 2 --start 'found "" in "x=1,y=2,"' | $steps --start x=1,y=2,
a start in its middle | 2 --start 'found ",y=2" in "x=1,,y=2"' | $steps --start x=1,,y=2
END
refuse "a list of answers" 2 --answers 'found "' -- smoke report --answers "$WORK/none,"
PROGRAMS=probe refuse "a list of probes" 2 --probes 'found ""' -- \
    "$BIN/probe" judge --run "$run" --probes laws, --answers "$WORK/none"
PROGRAMS=probe refuse "a list of trainings" 2 --answers 'found "' -- \
    "$BIN/probe" judge --run "$run" --answers "$WORK/none,"
refuse "preset that grew a long name" 2 --preset 'no preset "' -- "$BIN/orbits" \
    --preset "$(printf '%5000s' x)"

# ---- attention, device, checkpoint, folders
refuse "report: attention that the run lacks" 1 'linear: it was made without' -- smoke report \
    --attention linear
refuse "symreg: attention that the run lacks" 1 linear/finetune finetune -- smoke symreg \
    --attention linear
refuse "finetune: unknown source" 2 --source sun oracle -- smoke finetune --source sun
refuse "pretrain: one --out for two variants" 2 --out --attention -- smoke pretrain \
    --out "$WORK/run/out"

: >"$WORK/file"
for p in $PROGRAMS; do
    one=(--attention softmax)
    [ $p != orbits ] || one=()
    refuse "$p: --out below a file" 1 "$WORK/file" 'expected a folder' -- smoke $p "${one[@]}" \
        --out "$WORK/file/out"
done
refuse "symreg FILE: --out below a file" 1 "$WORK/file" 'expected a folder' -- "$BIN/symreg" \
    "$run/truth/finetune/forces_magnitude.csv" --target F --features r,m1 --out "$WORK/file/out" \
    --set symreg.iterations=1
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 "$WORK/locked"
    for p in $PROGRAMS; do
        one=(--attention softmax)
        [ $p != orbits ] || one=()
        refuse "$p: folder without permission" 1 "$WORK/locked" -- smoke $p "${one[@]}" \
            --out "$WORK/locked/out"
    done
else
    skip "a folder without permission" "root may write everywhere"
fi

# ---- what an earlier stage should have made: the message names the command that makes it
none=(--preset smoke --quiet --run "$WORK/none")
KEEP=$WORK/none
refuse "pretrain without data" 1 "$WORK/none/orbits" \
    "make them with: $BIN/orbits --preset smoke --run $WORK/none" -- \
    "$BIN/pretrain" "${none[@]}"
refuse "finetune without data" 1 "$WORK/none/orbits" \
    "make them with: $BIN/orbits --preset smoke --run $WORK/none" -- \
    "$BIN/finetune" "${none[@]}"
refuse "finetune without data: truth" 1 "$WORK/none/orbits" \
    "make them with: $BIN/orbits --preset smoke --run $WORK/none" -- \
    "$BIN/finetune" "${none[@]}" --source truth
refuse "symreg without predictions" 1 "$WORK/none/truth" 'missing; make it with' \
    "$BIN/finetune" -- \
    "$BIN/symreg" "${none[@]}"
refuse "report without a run" 1 "$WORK/none" 'make it with: make world' -- \
    "$BIN/report" "${none[@]}"
check "these made nothing" test ! -e "$WORK/none"
unset KEEP
half=$WORK/half
mkdir "$half" && cp -r "$run/orbits" "$run/preset.json" "$half"
none=(--preset smoke --quiet --run "$half")
KEEP=$half refuse "finetune without a model" 1 softmax/pretrain 'make it with: ' \
    "/pretrain --preset smoke --run $half" -- \
    "$BIN/finetune" "${none[@]}"
cp -r "$run/softmax" "$half"
KEEP=$half refuse "finetune without the second model" 1 lssar/pretrain 'make it with: ' \
    "/pretrain --preset smoke --run $half" -- \
    "$BIN/finetune" "${none[@]}" --resume
cp -r "$run"/{truth,oracle,lssar,untrained} "$half"
rm "$half/oracle/finetune/forces_magnitude.csv"
KEEP=$half refuse "symreg without one source" 1 oracle/finetune/forces_magnitude.csv \
    "make it with: $BIN/finetune " -- "$BIN/symreg" "${none[@]}"
KEEP=$half refuse "report without laws" 1 laws/laws.json 'missing; make it with' \
    "$BIN/symreg" -- "$BIN/report" "${none[@]}"

# ---- the settings of the run, where --preset is given
cp -r "$run" "$WORK/broken"
for text in '{' '{"model": {"no_such": 1}}'; do
    echo "$text" >"$WORK/broken/preset.json"
    check "a broken preset.json beside --preset" program orbits --preset smoke --threads 1 --quiet \
        --run "$WORK/broken"
done

# ---- data sets
data=$WORK/data
# fresh: a new copy of the data sets in $data
fresh() {
    rm -rf "$data" && cp -r "$run/orbits" "$data"
}
# doubles: an array of floats with as many doubles, whatever they are
doubles() {
    head -c 128 | sed 's/<f4/<f8/'
    tail -c +129 "$run/orbits/$file" | tee "$WORK/floats"
    cat "$WORK/floats"
}
# poke FILE OFFSET BYTES(printf format)
poke() {
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
declare -A truth=([pretrain]="" [finetune]="--source truth")
for pair in pretrain:coords_train finetune:force_magnitude_two_body_train \
            finetune:full_state_planets_solar pretrain:coords_planets_val; do
    p=${pair%:*} file=${pair#*:}.npy
    bytes=$(stat -c %s "$run/orbits/$file")
    fresh; head -c $((bytes - 1)) "$run/orbits/$file" >"$data/$file"
    refuse "$p: $file one byte short" 1 "$file" "expected $bytes bytes" -- smoke $p --orbits "$data"
    fresh; head -c 60 "$run/orbits/$file" >"$data/$file"
    refuse "$p: $file cut in its header" 1 "$file" 'found 60' -- smoke $p --orbits "$data"
    fresh; : >"$data/$file"
    refuse "$p: $file empty" 1 "$file" 'found 0' -- smoke $p --orbits "$data"
    fresh; rm "$data/$file"
    refuse "$p: $file not there" 1 "$file" 'not found' -- smoke $p --orbits "$data"
    fresh; cp "$run/laws/laws.md" "$data/$file"
    refuse "$p: $file is something else" 1 "$file" "expected $bytes bytes" -- smoke $p \
        --orbits "$data"
    fresh; poke "$data/$file" $((bytes / 2)) '\125'
    refuse "$p: $file with one byte changed" 1 "$file" checksum expected found -- \
        smoke $p --orbits "$data"
    # what is complete was made from the bytes as they were; what is not is not made from these
    check "$p: $file with one byte changed, complete" smoke $p --orbits "$data" --resume
    refuse "$p: $file with one byte changed, to be made" 1 "$file" checksum -- \
        smoke $p --orbits "$data" --resume --run "$WORK/new" ${truth[$p]}
    # without a manifest and its sums the array itself is still checked
    fresh; rm "$data/manifest.json"; doubles <"$run/orbits/$file" >"$data/$file"
    refuse "$p: $file of doubles" 1 "$file" f8 -- smoke $p --orbits "$data" ${truth[$p]}
    fresh; rm "$data/manifest.json"; sed 's/False/True /' "$run/orbits/$file" >"$data/$file"
    refuse "$p: $file in Fortran order" 1 "$file" 'Fortran order' -- \
        smoke $p --orbits "$data" ${truth[$p]}
done
fresh; sed -i "s/^\t\"xxh64\"/\t\"of\"/
    /coords_train.npy/,/xxh64/ s/\"xxh64\":[[:space:]]*\"./&0/" "$data/manifest.json"
refuse "pretrain: wrong sum in the manifest" 1 coords_train.npy checksum -- \
    smoke pretrain --orbits "$data"
fresh; head -c 100 "$run/orbits/manifest.json" >"$data/manifest.json"
for p in pretrain finetune; do
    refuse "$p: truncated manifest" 1 manifest.json: 'not valid JSON' -- smoke $p --orbits "$data"
done
# without a manifest the files themselves must do (test_orbits.sh), and must all be there
fresh; rm "$data/manifest.json" "$data"/num_bodies_{val,two_body_val}.npy
for p in pretrain finetune; do
    refuse "$p: no manifest, a file missing" 1 "$data/num_bodies_" 'cannot open' -- \
        smoke $p --orbits "$data" ${truth[$p]}
done
# ... and what they hold (tests/sim/test_check_arrays.c has every defect)
fresh; rm "$data/manifest.json"; poke "$data/num_bodies_val.npy" 130 '\0'
refuse "pretrain: no bodies in a sequence" 1 num_bodies_val.npy 'sequence 2' 'found 0' -- \
    smoke pretrain --orbits "$data"
fresh; rm "$data/manifest.json"; poke "$data/coords_train.npy" $((128 + 4 * 2 * 9)) '\0\0\300\177'
KEEP=$data refuse "pretrain: a coordinate that is no number" 1 coords_train.npy 'row 9' nan -- \
    "$BIN/pretrain" --preset smoke --quiet --threads 1 --run "$WORK/foreign" --orbits "$data" \
    --set orbits.train=1 --set orbits.train_files=1
fresh; rm "$data/manifest.json"
head -c 128 "$data/full_state_two_body_test.npy" >"$WORK/states"
head -c $(($(stat -c %s "$data/full_state_two_body_test.npy") - 128)) /dev/zero >>"$WORK/states"
mv "$WORK/states" "$data/full_state_two_body_test.npy"
refuse "finetune: masses of 0" 1 full_state_two_body_test.npy 'sequence 0' 'mass above 0' -- \
    smoke finetune --orbits "$data"
fresh; rm "$data/manifest.json"
refuse "orbits: data sets made elsewhere" 1 "$data" manifest.json elsewhere -- \
    smoke orbits --out "$data"
fresh; echo '{}' >"$data/progress.json"; rm "$data/manifest.json"
refuse "pretrain: data sets not finished" 1 "$data" 'not finished' orbits -- \
    smoke pretrain --orbits "$data"
fresh
refuse "pretrain: sequences of another length" 1 coords_train.npy 'expected 43' 'found 41' -- \
    smoke pretrain --orbits "$data" --set orbits.positions=43
refuse "finetune: more positions asked for than there are" 1 finetune.sample_size \
    'expected at most 330' -- \
    smoke finetune --set finetune.sample_size=100000 --force
refuse "finetune: tokens from a run of coordinates" 1 manifest.json solar_system_two_body \
    "make it with: $BIN/orbits " \
    -- "$BIN/finetune" --preset smoke_tokens "${RUN[@]}" --source truth
# what vouches for the sets is damaged: nothing is replaced without --force
fresh; head -c 100 "$run/orbits/manifest.json" >"$data/manifest.json"
KEEP=$data refuse "orbits: truncated manifest" 1 manifest.json: 'not valid JSON' --force -- \
    smoke orbits --out "$data"
echo '{}' >"$data/manifest.json"
KEEP=$data refuse "orbits: a manifest without sets" 1 manifest.json: 'no object "sets"' --force -- \
    smoke orbits --out "$data"
rm "$data/manifest.json"; echo '{' >"$data/progress.json"
KEEP=$data refuse "orbits: damaged progress file" 1 progress.json: --force -- \
    smoke orbits --out "$data"
check "orbits --force: made again" smoke orbits --out "$data" --force
check "orbits --force: made again: as they were" same_files "$run/orbits" "$data"
fresh; cp "$data/coords_val.npy" "$data/obs_val.npy"
check "orbits: up to date beside a foreign file" smoke orbits --out "$data"
check "orbits: up to date beside a foreign file: which stays" test -e "$data/obs_val.npy"
KEEP=$data refuse "orbits: a foreign file in the way" 1 obs_val.npy elsewhere -- \
    smoke orbits --out "$data" --force --seed 3
smoke orbits --out "$data" --plan --force --seed 3 >"$WORK/planned"
check "orbits: a foreign file in the way: in the plan, too" \
    grep -q '^refuse .*/val: obs_val.npy was made elsewhere' \
    "$WORK/planned"
# orbits makes a damaged set again
fresh; rm "$data/coords_val.npy"
check "orbits makes a missing array again" smoke orbits --out "$data"
check "orbits makes a missing array again: as it was" \
    same_file "$data/coords_val.npy" "$run/orbits/coords_val.npy"

# ---- checkpoints
last=$run/lssar/pretrain/last.safetensors bad=$WORK/bad.safetensors
bytes=$(stat -c %s "$last")
bad_checkpoint() {
    local name=$1
    shift
    refuse "pretrain: $name" 1 bad.safetensors "$@" -- smoke pretrain --attention lssar \
        --checkpoint "$bad"
    refuse "finetune: $name" 1 bad.safetensors "$@" -- smoke finetune --source lssar \
        --set planets.enabled=false --set orbits.solar_system=false --checkpoint "$bad"
}
cp "$last" "$bad"; poke "$bad" $((bytes - 7)) '\125\252'
bad_checkpoint "checkpoint with two bytes changed" checksum expected found
head -c $((bytes - 4)) "$last" >"$bad"
bad_checkpoint "checkpoint four bytes short" "outside the file's"
head -c 100 "$last" >"$bad"
bad_checkpoint "checkpoint cut in its header" truncated 'a file of 100'
: >"$bad"
bad_checkpoint "empty checkpoint" 'not a safetensors file'
cp "$run/laws/laws.md" "$bad"
bad_checkpoint "checkpoint that is none" 'not a safetensors file'
cp "$last" "$bad"; poke "$bad" 0 '\377\377\377\377\377\377\377\177'
bad_checkpoint "checkpoint with an absurd header length" 'header of 9223372036854775807 bytes'
cp "$run/softmax/pretrain/last.safetensors" "$bad"
bad_checkpoint "checkpoint of another variant" 'attention is softmax' 'expected lssar'
rm "$bad"; mkdir "$bad"
bad_checkpoint "checkpoint that is a folder" 'not a regular file'
cp -r "$run" "$WORK/spoilt"
poke "$WORK/spoilt/lssar/pretrain/last.safetensors" $((bytes - 7)) '\125\252'
KEEP=$WORK/spoilt/lssar refuse "finetune: the pretrained checkpoint spoilt" 1 \
    lssar/pretrain/last.safetensors checksum -- "$BIN/finetune" --preset smoke --quiet --resume \
    --threads 1 --attention lssar --run "$WORK/spoilt"
spoilt() {
    "$BIN/$1" --preset smoke --threads 1 --run "$WORK/spoilt" --attention lssar "${@:2}" </dev/null
}
check "pretrain --plan: what is spoilt is made again" prints \
    '^remake .*pretrain/last.safetensors: it cannot be read' spoilt pretrain --plan
spoilt pretrain --resume >/dev/null 2>"$WORK/err"
check "pretrain: what is spoilt is made again" grep -q 'lssar: made anew: it cannot be read' \
    "$WORK/err"
check "pretrain: what is spoilt is made again: to the same bytes" \
    same_file "$last" "$WORK/spoilt/lssar/pretrain/last.safetensors"
head -c 99 "$run/lssar/finetune/magnitude.safetensors" \
    >"$WORK/spoilt/lssar/finetune/magnitude.safetensors"
rm "$WORK/spoilt/lssar/finetune"/forces_magnitude.*
check "finetune --plan: what is spoilt is made again" prints \
    '^remake .*finetune/magnitude.safetensors: it cannot be read' spoilt finetune --plan
check "finetune: what is spoilt is made again" spoilt finetune --resume --quiet
check "finetune: what is spoilt is made again: to the same forces" \
    same_file "$run/lssar/finetune/forces_magnitude.csv" \
    "$WORK/spoilt/lssar/finetune/forces_magnitude.csv"

# ---- tables (test_symreg_input.sh has what may be wrong in one)
refuse "symreg: table not there" 1 none.csv 'not found' -- "$BIN/symreg" "$WORK/none.csv" \
    --target y
refuse "symreg: --target without a table" 2 --target: .csv -- smoke symreg --target y
refuse "symreg: --features without a table" 2 --features: .csv -- smoke symreg --features a
for rule in 'symreg.rules=bset best' 'symreg.unary=sinn sin' 'symreg.binary=add +'; do
    refuse "symreg: ${rule% *}" 2 "${rule%%=*}" "${rule##* }" -- smoke symreg --set "${rule% *}"
done

refuse "symreg: no operator" 2 'symreg.binary, symreg.unary' 'at least one operator' -- \
    smoke symreg --set symreg.binary= --set symreg.unary=

forces=truth/finetune/forces_magnitude.csv
# spoil NAME: a copy of the run whose tables of that name nothing is known of
spoil() {
    rm -rf "$WORK/spoilt" && cp -r "$run" "$WORK/spoilt" && without_records "$WORK/spoilt" "${1:-}"
}
bad_forces() {
    local name=$1 p=$2
    shift 2
    KEEP=$WORK/spoilt refuse "$p: $name" 1 "$@" -- "$BIN/$p" --preset smoke --quiet \
        --run "$WORK/spoilt"
}
spoil forces_magnitude.csv; sed -i '4 s/,[^,]*$/,nan/' "$WORK/spoilt/$forces"
bad_forces "NaN among the predictions" symreg $forces:4 F 'finite number' nan
spoil forces_magnitude.csv; sed -i '5 s/,[^,]*$/,fast/' "$WORK/spoilt/$forces"
bad_forces "text among the predictions" symreg $forces:5 '"F"' fast
spoil forces_magnitude.csv; sed -i '1 s/m2/m3/' "$WORK/spoilt/$forces"
bad_forces "predictions without a column" symreg $forces 'no column "m2"'
spoil forces_magnitude.csv; sed -i '7 s/,[^,]*$//' "$WORK/spoilt/$forces"
bad_forces "predictions with a cell missing" symreg $forces:7 'expected 9 cells'
spoil forces_magnitude.csv; : >"$WORK/spoilt/$forces"
bad_forces "predictions that are empty" symreg $forces empty
vectors=lssar/finetune/forces_vector.csv
spoil forces_vector.csv; sed -i '1 s/fx_true/fxtrue/' "$WORK/spoilt/$vectors"
bad_forces "vectors without a column" report $vectors 'no column "fx_true"'
spoil forces_vector.csv; sed -i '9 s/,[^,]*,\([01]\)$/,nan,\1/' "$WORK/spoilt/$vectors"
bad_forces "NaN among the vectors" report $vectors ':9: "fy"' 'not a finite number'
spoil forces_vector.csv; sed -i '/earth/d' "$WORK/spoilt/$vectors"
bad_forces "vectors without a planet" report $vectors 'no rows of earth'
spoil; head -c 500 "$run/laws/laws.json" >"$WORK/spoilt/laws/laws.json"
bad_forces "truncated laws" report laws.json: 'not valid JSON'
spoil; printf 'loss\n\n' >>"$WORK/spoilt/lssar/pretrain/log.jsonl"
bad_forces "a log that is none" report lssar/pretrain/log.jsonl: 'a JSON object'
spoil; echo '{"orbits": 3}' >"$WORK/spoilt/preset.json"
KEEP=$WORK/spoilt refuse "report: the run's settings spoilt" 2 preset.json orbits -- \
    "$BIN/report" --quiet --run "$WORK/spoilt"

# ---- training that diverges
cp -r "$run/lssar" "$WORK/kept"
KEEP=$WORK/kept refuse "pretrain: a loss that is not finite" 1 'the loss is not finite' step -- \
    "$BIN/pretrain" --preset smoke --quiet --threads 1 --attention lssar --run "$WORK/diverged" \
    --orbits "$run/orbits" --set pretrain.lr=1000 --set pretrain.clip=0 --set pretrain.warmup=0 \
    --set pretrain.eval_every=0 --set pretrain.checkpoint_every=0
check "pretrain: a loss that is not finite: leaves nothing temporary" \
    clean "$WORK/diverged/lssar/pretrain"
check_not "pretrain: a loss that is not finite: and no checkpoint" \
    test -e "$WORK/diverged/lssar/pretrain/last.safetensors"

check "nothing temporary anywhere" clean "$WORK"
finish
