#!/usr/bin/env bash
# test_pipeline.sh - every stage of the smoke presets from an empty folder: by the programs and by
# make, what they leave, and that doing it again changes nothing.
SAMPLES=5
. tests/cli/lib.sh

smoke() {
    local preset=$1 run=$2 program
    shift 2
    for program in $PROGRAMS; do
        program "$program" --preset "$preset" --run "$run" $(on_threads $program 1) --quiet "$@" ||
            return 1
    done
}

# big enough to hold a drawing
is_picture() {
    is_png "$1" 2560
}

# no page, script, style or picture from elsewhere; names of XML namespaces load nothing
# (a link to the orbit lab is opened by a person, and loads nothing)
page_is_alone() {
    sed 's/xmlns[:a-z]*="[^"]*"//g' "$1" >"$WORK/.page" && grep -q '<html' "$WORK/.page" || return 1
    ! grep -Eio '.{0,40}//[a-z0-9.-]+\.[a-z]{2,}.{0,20}' "$WORK/.page" &&
        ! grep -Eo '(src|href)="[^"]{0,20}' "$WORK/.page" |
        grep -Ev '="(data:|#)|^(href|src)="lab\.html$' &&
        ! grep -Eio 'url\([^)#d][^)]{0,40}|@import.{0,40}|<script[^>]{0,40}src.{0,40}' "$WORK/.page"
}

artefacts() {
    local run=$1 source kinds=$2 file missing=0
    set -- preset.json orbits/manifest.json laws/laws.json laws/laws.md report.html
    for source in softmax lssar; do
        set -- "$@" $source/pretrain/{last,best}.safetensors $source/pretrain/log.jsonl
        [ "$kinds" = tokens ] ||
            set -- "$@" $source/pretrain_planets/{last,best}.safetensors \
                $source/pretrain_planets/rollouts.csv
    done
    for source in truth oracle softmax lssar untrained; do
        set -- "$@" $source/finetune/forces_{magnitude,vector}.csv \
            laws/front_${source}_{0,1,2,3,4}.csv
    done
    for source in softmax lssar untrained; do
        set -- "$@" $source/finetune/{magnitude,vector}.safetensors \
            $source/finetune/{magnitude,vector}.jsonl
    done
    [ "$kinds" = tokens ] || set -- "$@" laws/front_positions_{0,1,2,3,4}.csv
    for planet in mercury venus earth mars jupiter saturn uranus neptune \
        $([ "$kinds" = tokens ] || echo pluto icarus encke halley); do
        set -- "$@" figures/forces_$planet.{png,svg}
    done
    set -- "$@" figures/{loss,pareto,exponents}.{png,svg}
    for file in "$@"; do
        [ -s "$run/$file" ] || { echo "missing or empty: $file"; missing=1; }
    done
    return $missing
}

# every array that the manifest names is there, and every array there is named
manifest_is_complete() {
    find "$1" -name '*.npy' -printf '%f\n' | sort >"$WORK/.arrays" && filled "$WORK/.arrays" &&
        grep -o '[a-z_0-9]*\.npy' "$1/manifest.json" | sort -u | diff - "$WORK/.arrays"
}

has_keys() {
    local file=$1 key missing=0
    shift
    for key in "$@"; do
        grep -q "\"$key\":" "$file" || { echo "$file: no key $key"; missing=1; }
    done
    return $missing
}

# csv_is FILE HEADER ROWS: the CSV's first line, and at least so many rows, all of as many cells,
# none of them empty, NaN or infinite
csv_is() {
    equal "$2" "$(head -n 1 "$1")" &&
        every_row "$1" "NF == $(tr -cd , <<<"$2" | wc -c) + 1 && !/(^|,)(,|\$)|nan|inf/" "$3"
}

# ---- the programs, coordinates
run=$WORK/smoke
check "smoke, end to end" smoke smoke "$run"
check "smoke: every artefact" artefacts "$run" continuous
check "smoke: manifest names every array" manifest_is_complete "$run/orbits"
check "laws.json has its keys" has_keys "$run/laws/laws.json" laws source sample rule equation \
    complexity loss selected_true on_front constant sources r2_log median_relative_error \
    exponents r m1 m2 value low high baselines log_r log_scale_dt_r
check "positions: a row of laws.md" equal 4 "$(grep -c '^| positions |' "$run/laws/laws.md")"
check "positions: no labels, no network" grep -q 'no force labels, no network' \
    "$run/laws/laws.md"
check "positions: of the page" grep -q 'Positions (no network)</th>' "$run/report.html"
check "manifest.json has its keys" has_keys "$run/orbits/manifest.json" protocol seed version
for source in truth oracle softmax lssar untrained; do
    check "$source: forces_magnitude.csv" csv_is "$run/$source/finetune/forces_magnitude.csv" \
        sample,sequence,step,r,m1,m2,dt,F_true,F 250
    check "$source: forces_vector.csv" csv_is "$run/$source/finetune/forces_vector.csv" \
        planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled 100
    check "$source: front" equal Complexity,Loss,Equation \
        "$(head -n 1 "$run/laws/front_${source}_0.csv")"
done
# the same held-out positions for every source; truth predicts itself
positions() {
    cut -d, -f1-8 "$run/$1/finetune/forces_magnitude.csv"
}
for source in oracle softmax lssar untrained; do
    check "$source: the rows of truth" same_by positions truth $source
    check "$source: forces of its own" other_file "$run/truth/finetune/forces_magnitude.csv" \
        "$run/$source/finetune/forces_magnitude.csv"
done
# the baseline has random weights: it is not its attention's pretrained model, and ignores it
baseline=$WORK/baseline
mkdir "$baseline"
cp -r "$run/orbits" "$run/preset.json" "$baseline"
check "pretraining of another kind" program pretrain --run "$baseline" --threads 1 --quiet \
    --set pretrain.lr=0.0005 --set pretrain_planets.lr=0.0005
check "pretraining of another kind: with the baseline" \
    program finetune --run "$baseline" --threads 1 --quiet --source untrained
check "pretraining of another kind: other weights" \
    other_file "$run/softmax/pretrain/last.safetensors" \
    "$baseline/softmax/pretrain/last.safetensors"
for kind in magnitude vector; do
    check "the baseline's $kind is not softmax's" other_file \
        "$run/softmax/finetune/forces_$kind.csv" "$run/untrained/finetune/forces_$kind.csv"
    check "the baseline's $kind is not softmax's: and the same after another pretraining" \
        same_file \
        "$run/untrained/finetune/forces_$kind.csv" "$baseline/untrained/finetune/forces_$kind.csv"
done
check "truth predicts itself" every_row "$run/truth/finetune/forces_magnitude.csv" '$8 == $9' 250
for figure in "$run"/figures/*.png; do # (without any, the pattern is the name)
    check "${figure##*/} is a picture" is_picture "$figure"
done
check "report.html loads nothing" page_is_alone "$run/report.html"
holds_pictures() {
    ls "$1"/figures/*.png && equal "$(ls "$1"/figures/*.png | wc -l)" \
        "$(grep -o 'data:image/' "$1/report.html" | wc -l)"
}
check "report.html holds the pictures" holds_pictures "$run"
shows_lab() { # FOLDER: the report there shows the lab of a run, which lies beside it
    filled "$1/lab.html" && grep -q '"name": "lssar", "forces": true' "$1/lab.html" &&
        grep -q '<iframe id="lab-frame" src="lab.html"' "$1/report.html" &&
        grep -q '"lab.html":' "$1/report.made.json"
}
check "report.html shows the orbit lab with the networks of the run" shows_lab "$run"
check "nothing temporary stays" clean "$run"

# ---- again: nothing is made a second time
made() {
    times "$1" >"$2" && filled "$2"
}
remember() {
    made "$1" "$WORK/made"
}
unchanged() {
    made "$1" "$WORK/made.now" && same_file "$WORK/made" "$WORK/made.now"
}
remember "$run"
check "smoke again with --resume" smoke smoke "$run" --resume
check "a second run changes no file" unchanged "$run"
# the settings saved in the run are the settings of the run
check "preset.json repeats the run" program orbits --preset "$run/preset.json" --run "$run" --quiet
check "preset.json repeats the run: and finds it up to date" unchanged "$run"

# ---- the programs, tokens
fast_pictures # from here on, but where one is looked at
drawn() {
    local PATH=${PATH#"$WORK/.bin:"}
    "$@"
}
check "smoke_tokens, end to end" smoke smoke_tokens "$WORK/tokens"
check "smoke_tokens: every artefact" artefacts "$WORK/tokens" tokens
check "smoke_tokens: tokens, no coordinates" test -s "$WORK/tokens/orbits/obs_train.npy" -a \
    ! -e "$WORK/tokens/orbits/coords_train.npy"
check "smoke_tokens: no source of positions" test ! -e "$WORK/tokens/laws/front_positions_0.csv"
check "smoke_tokens: no source of positions: a note says why" prints \
    '^symreg: no source "positions": orbits.output is tokens: positions are rounded to bins$' \
    program symreg --run "$WORK/tokens" --threads 1 --attention lssar --out "$WORK/tokens/again"

# ---- programs on their own
# a table as spreadsheets write it
printf '\xef\xbb\xbfa b,"c,d",text,y\r\n1,2,x,5\r\n2,7,y,5\r\n3,4,"z ""z""",7\r\n6,5,,11\r\n' \
    >"$WORK/table.csv"
check "symreg FILE" program symreg "$WORK/table.csv" --target y --features 'a b' --quiet \
    --preset smoke --threads 1 --out "$WORK/fits"
check "symreg FILE: its front" grep -Eq '^1,[0-9.e+-]+,' "$WORK/fits/front.csv"
names='front(_full)?\.csv|front\.json|log\.jsonl|checkpoint\.bin|report\.(md|html)'
check "a search on a table writes nothing else" only "$names|(front|residuals)\.png" \
    "$WORK/fits"
awk 'BEGIN { print "b,y"; for (i = 1; i < 30; i++) print i * 0.37 "," i * 0.37 + 2.5 }' \
    >"$WORK/line.csv"
check "symreg finds a line" program symreg "$WORK/line.csv" --target y --quiet --preset smoke \
    --threads 1 --out "$WORK/line"
check "symreg finds a line: as it was drawn" \
    grep -Eq '^3,[0-9.]+(e-[0-9]+)?,"?\((2\.5 \+ b|b \+ 2\.5)\)' \
    "$WORK/line/front.csv"
check "finetune, one source elsewhere" program finetune --preset smoke --run "$run" --quiet \
    --source oracle --threads 1 --out "$WORK/elsewhere"
check "finetune, one source elsewhere: the same rows" \
    same_file "$WORK/elsewhere/oracle/finetune/forces_magnitude.csv" \
    "$run/oracle/finetune/forces_magnitude.csv"
check "finetune, one source elsewhere: their settings, and nothing else" \
    test "$(echo $(ls -A "$WORK/elsewhere"))" = \
    "oracle preset.json"
odd="$WORK/a b'c \"d\""
mkdir "$odd" && cp -r "$run"/. "$odd" && rm -r "$odd/figures" "$odd"/{report,lab}.html
rm "$odd"/*/{pretrain,finetune}/*.safetensors
check "report of an odd folder, elsewhere" drawn program report --run "$odd" \
    --out "$odd/out & more" --quiet
check "report of an odd folder, elsewhere: its pictures" \
    is_picture "$odd/out & more/figures/forces_earth.png"
check "report of an odd folder, elsewhere: its page" page_is_alone "$odd/out & more/report.html"
says_lab() {
    test ! -e "$1/lab.html" && ! grep -q '<iframe' "$1/report.html" &&
        grep -q 'bin/orrery lab --run ' "$1/report.html"
}
check "report of a run without networks: the panel says how to make the orbit lab" \
    says_lab "$odd/out & more"
check_not "report of an odd folder, elsewhere: not in the run" test -e "$odd/report.html"
cp "$run"/lssar/finetune/magnitude*.safetensors "$odd/lssar/finetune/"
head -c 99 "$run/lssar/finetune/magnitude.safetensors" >"$odd/lssar/finetune/magnitude.safetensors"
program report --run "$odd" --out "$odd/cut" --quiet >"$WORK/cut.out" 2>"$WORK/cut.err"
check "a report whose network is cut short has no line about it" grep -q 'magnitude' "$WORK/cut.err"
check "a report whose network is cut short has a frame" says_lab "$odd/cut"
cp "$run/lssar/finetune/magnitude.safetensors" "$odd/lssar/finetune/"
check "report once the network is whole" program report --run "$odd" --out "$odd/cut" --quiet \
    --resume
check "the lab stays away once the network is whole" shows_lab "$odd/cut"

# ---- make: one target from nothing makes what it needs and no more
stage() {
    make -s -j1 PRESET=smoke THREADS=1 SET= ATTENTION= ORBITS_DIR= "$@" </dev/null
}
check "make world" stage world RUN="$WORK/make"
check "make world: every artefact" artefacts "$WORK/make" continuous
sums() {
    (cd "$1" && cksum orbits/* */*/*.csv laws/*)
}
check "make world is what the programs make" same_by sums "$run" "$WORK/make"
remember "$WORK/make"
check "make world again" stage world RUN="$WORK/make"
check "make world again changes no file" unchanged "$WORK/make"
if quick; then finish; fi
needs() {
    local target=$1 makes=$2 leaves=$3 dir="$WORK/only-$4"
    [ ! -e "$dir/$makes" ] && stage "$target" SET=finetune.samples=1 RUN="$dir" &&
        [ -e "$dir/$makes" ] && [ ! -e "$dir/$leaves" ]
}
# from nothing, and from what an earlier target has left
check "make orbits" needs orbits orbits/manifest.json softmax/pretrain one
check "make finetune makes what it needs" needs finetune \
    lssar/finetune/forces_magnitude.csv laws one
check "make pretrain makes what it needs" needs pretrain lssar/pretrain/last.safetensors \
    softmax/finetune two
check "make symreg makes what it needs" needs symreg laws/laws.json report.html two
check "make figures makes what it needs" needs figures report.html nowhere three
check "make passes ATTENTION and SET" make -s -j1 orbits pretrain PRESET=smoke THREADS=1 \
    ORBITS_DIR= ATTENTION=lssar SET="pretrain.steps=3 seed=3" RUN="$WORK/only"
check "make passes ATTENTION and SET: only that variant" \
    test -s "$WORK/only/lssar/pretrain/last.safetensors" -a \
    ! -e "$WORK/only/softmax"
check "make passes ATTENTION and SET: that seed" \
    grep -Eq '"seed":[[:space:]]*3' "$WORK/only/preset.json"
check "make shares data sets" make -s -j1 pretrain PRESET=smoke THREADS=1 SET= ATTENTION=lssar \
    ORBITS_DIR="$WORK/shared" RUN="$WORK/sharing"
check "make shares data sets: in one place" \
    test -s "$WORK/shared/manifest.json" -a ! -e "$WORK/sharing/orbits"
make -s -j1 orbits PRESET=smoke ORBITS_DIR= ATTENTION= SET=orbits.trian=3 RUN="$WORK/none" \
    </dev/null >"$WORK/out" 2>"$WORK/err"
check "make says no when a stage fails" test $? -eq 2
check "make says no when a stage fails: and why" \
    grep -q '^orbits: error: --set: unknown key "orbits.trian"' "$WORK/err"

# ---- the preset itself
# (other tests enumerate fewer formulas than the preset: tests/cli/lib.sh. Two samples of a model
# that has hardly been trained; all five of the preset are searched above)
preset=("${TINY[@]:0:${#TINY[@]}-2}" --set finetune.samples=2 --set attention=lssar)
itself() {
    env -u ORRERY_PRESETS timeout "$LIMIT" "$BIN/$1" "${preset[@]}" --run "$WORK/preset"
}
for program in orbits pretrain finetune symreg; do
    check "$program of the preset itself" itself $program
done
check "symreg of the preset itself: finds the law of the truth" \
    grep -Eq '^\| truth \| best \| .* \| 2/2 \| 2/2 \|' \
    "$WORK/preset/laws/laws.md"
check "symreg of the preset itself: and has that of positions on each front" grep -Eq \
    '^\| positions \| best \| .* \| [0-9]/2 \| 2/2 \| 39\.4' "$WORK/preset/laws/laws.md"
finish
