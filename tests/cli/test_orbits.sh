#!/usr/bin/env bash
# test_orbits.sh - bin/orbits: killed at any moment and run again, it ends with the same bytes;
# damage is found by verify; show, stat and checksum; data sets made elsewhere are read.
. tests/cli/lib.sh

SETS=(--preset smoke_tokens --quiet --set orbits.train=9000 --set orbits.train_files=9000
      --set orbits.shard_sequences=250)
orbits() {
    program orbits "${SETS[@]}" "$@"
}

# ---- killed
check "orbits, never stopped" orbits --threads 2 --out "$WORK/whole"
check "36 shards" equal 36 \
    "$(ls "$WORK/whole" | grep -c '^obs_train-000[0-9][0-9]-of-00036.npy$')"
check "36 shards: of 250 sequences" equal $((128 + 250 * 60 * 2 * 2)) \
    "$(stat -c %s "$WORK/whole/obs_train-00000-of-00036.npy")"
check_not "no file that only unfinished sets have" test -e "$WORK/whole/progress.json"
# killed as soon as FILE is there, PAUSE later
killed() {
    local dir=$1 file=$2 pause=$3 pid tries
    "$BIN/orbits" "${SETS[@]}" --threads 2 --out "$dir" </dev/null >/dev/null 2>&1 &
    pid=$!
    for ((tries = 0; tries < 4000; tries++)); do
        [ ! -e "$dir/$file" ] && kill -0 $pid 2>/dev/null || break
        sleep 0.002
    done
    sleep "$pause"
    kill -KILL $pid
    { wait $pid; } 2>/dev/null
}
unfinished=0 gone_on=0
for moment in progress.json:0 obs_train-00000-of-00036.npy:0 obs_train-00003-of-00036.npy:0.003 \
              num_bodies_train-00010-of-00036.npy:0.001 obs_train-00030-of-00036.npy:0.005 \
              obs_two_body_train.npy:0 state_two_body_test.npy:0 .:0.02; do
    file=${moment%:*} dir=$WORK/killed-${moment%%[:-]*}-$RANDOM
    killed "$dir" "$file" "${moment#*:}" 2>/dev/null
    [ ! -e "$dir/progress.json" ] || unfinished=$((unfinished + 1))
    check_not "killed at $file: no manifest yet, or the end" \
        test -e "$dir/manifest.json" -a ! -e "$dir/num_bodies_solar_system_two_body.npy"
    first=$(stat -c %Y.%i "$dir/obs_train-00000-of-00036.npy" 2>/dev/null)
    listed=$(grep -c obs_train-00000 "$dir/progress_train-00000-of-00036.json" 2>/dev/null)
    # once more on the way, then to the end
    killed "$dir" obs_train-00020-of-00036.npy 0 2>/dev/null
    check "killed at $file: again" orbits --threads 3 --out "$dir"
    check "killed at $file: again: to the same bytes, and nothing else" \
        same_files "$WORK/whole" "$dir"
    if [ "${listed:-0}" -gt 0 ]; then
        gone_on=$((gone_on + 1))
        check "killed at $file: again: going on after the finished shards" test \
            "$first" = "$(stat -c %Y.%i "$dir/obs_train-00000-of-00036.npy")"
    fi
    check "killed at $file: again: and complete" \
        prints 'up to date' program orbits "${SETS[@]//--quiet/--threads=1}" \
        --out "$dir"
    rm -rf "$dir"
done
check "most were killed on the way" test $unfinished -ge 4 -a $gone_on -ge 3
# ---- in parts
parts=$WORK/parts
for part in 3/3 1/3 2/3; do
    orbits --threads 1 --out "$parts" --part $part &
done
wait
check "parts side by side: the bytes of one process, and nothing else" \
    same_files "$WORK/whole" "$parts"
two=$WORK/two-of-three
check "part 2/3" orbits --threads 2 --out "$two" --part 2/3
check "part 2/3: vouches for nothing" test ! -e "$two/manifest.json"
check "part 2/3: has every third file" equal \
    "obs_train-00001-of-00036.npy obs_train-00004-of-00036.npy" \
    "$(cd "$two" && echo obs_train-0000[0-5]*)"
check_not "part 2/3: and no small set" test -e "$two/num_bodies_val.npy"
first=$(stat -c %i "$two/obs_train-00001-of-00036.npy")
cp -r "$two" "$WORK/parts-cut" && cp -r "$two" "$WORK/parts-other" || exit
check "the rest" orbits --out "$two"
check "the rest: to the same bytes, and nothing else" same_files "$WORK/whole" "$two"
check "the rest: without part 2 once more" equal "$first" \
    "$(stat -c %i "$two/obs_train-00001-of-00036.npy")"
truncate -s 1000 "$WORK/parts-cut/obs_train-00004-of-00036.npy"
check "with a file cut short" orbits --out "$WORK/parts-cut"
check "with a file cut short: the same bytes" same_files "$WORK/whole" "$WORK/parts-cut"
# killed parts, one of them twice at a time, and another number of parts
part=$WORK/killed-part
killed_part() { # FILE I/N
    "$BIN/orbits" "${SETS[@]}" --threads 1 --out "$part" --part "$2" </dev/null >/dev/null 2>&1 &
    local pid=$! tries
    for ((tries = 0; tries < 4000; tries++)); do
        [ ! -e "$part/$1" ] && kill -0 $pid 2>/dev/null || break
        sleep 0.002
    done
    kill -KILL $pid
    { wait $pid; } 2>/dev/null
}
killed_part obs_train-00008-of-00036.npy 1/2 2>/dev/null
first=$(stat -c %Y.%i "$part/obs_train-00000-of-00036.npy")
for twice in 1 2; do
    orbits --threads 1 --out "$part" --part 1/2 &
    pids[twice]=$!
done
killed_part obs_train-00011-of-00036.npy 2/3 2>/dev/null
for twice in 1 2; do
    check "a part that was killed, run twice, $twice" wait "${pids[twice]}"
done
check "with a file cut short: goes on" \
    equal "$first" "$(stat -c %Y.%i "$part/obs_train-00000-of-00036.npy")"
check "with a file cut short: the rest is made" orbits --out "$part" --part 2/2
check "with a file cut short: to the same bytes" same_files "$WORK/whole" "$part"
KEEP=$WORK/parts-other refuse "a part of another seed" 1 'data set train: seed' --force -- \
    "$BIN/orbits" "${SETS[@]}" --seed 9 --out "$WORK/parts-other" --part 1/3
mkdir -p "$WORK/parts-other/parts/2-of-3"
KEEP=$WORK/parts-other refuse "a part of an earlier version" 1 parts/2-of-3 'earlier version' -- \
    "$BIN/orbits" "${SETS[@]}" --out "$WORK/parts-other"
for wrong in 0/3 4/3 2 2/ /3 2/3x -1/3 "2 /3" ""; do
    KEEP=$WORK/whole refuse "--part $wrong" 2 I/N -- \
        "$BIN/orbits" "${SETS[@]}" --out "$WORK/wrong-part" --part "$wrong"
done
KEEP=$WORK/whole refuse "--part of a command" 2 --part -- "$BIN/orbits" verify "$WORK/whole" \
    --part 1/2
KEEP=$WORK/whole refuse "--part and --plan" 2 --plan -- "$BIN/orbits" "${SETS[@]}" --plan \
    --part 1/2 --out "$WORK/wrong-part"
check_not "nothing is written" test -e "$WORK/wrong-part"

cp -r "$WORK/whole" "$WORK/left"
touch "$WORK/left/obs_train-00004-of-00036.npy.123.orrery-partial" "$WORK/left/progress.json"
check "complete beside leftovers" orbits --out "$WORK/left"
check "complete beside leftovers: which go" same_files "$WORK/whole" "$WORK/left"

# ---- verify
check "verify" program orbits verify "$WORK/whole"
check "verify: a line per set and the total" equal \
    "$(program orbits verify "$WORK/whole" | awk '{ print $1 }' | tr '\n' ' ')" \
    "train val test two_body_train two_body_val two_body_test solar_system "\
"solar_system_two_body total "
KEEP=$WORK/left
shard=obs_train-00017-of-00036.npy
refuse "verify: which folder" 2 'orbits verify DIR' -- "$BIN/orbits" verify
refuse "verify: no sets" 1 "$WORK/none/manifest.json" 'not found' -- \
    "$BIN/orbits" verify "$WORK/none"
printf '\377' | dd of="$WORK/left/$shard" bs=1 seek=5000 conv=notrunc 2>/dev/null
refuse "verify: a byte" 1 "$WORK/left/$shard" 'checksum expected' 'found' -- \
    "$BIN/orbits" verify "$WORK/left"
size=$(stat -c %s "$WORK/whole/$shard")
truncate -s $((size - 9)) "$WORK/left/$shard"
refuse "verify: cut" 1 "$WORK/left/$shard" "expected $size bytes" "found $((size - 9))" -- \
    "$BIN/orbits" verify "$WORK/left"
rm "$WORK/left/$shard"
refuse "verify: not there" 1 "$WORK/left/$shard" 'not found' -- "$BIN/orbits" verify "$WORK/left"
check "what verify found is made again" orbits --out "$WORK/left"
check "what verify found is made again: as it was" same_files "$WORK/whole" "$WORK/left"
flip "$WORK/left/$shard" 5000
check "other bytes: up to date by their size" orbits --out "$WORK/left"
check "other bytes: up to date by their size: with --force made again" \
    orbits --out "$WORK/left" --force
check "other bytes: up to date by their size: as it was, with --force" \
    same_files "$WORK/whole" "$WORK/left"
touch -d 2001-01-01 "$WORK/left/manifest.json"
check "--force on good bytes" orbits --out "$WORK/left" --force
check_not "--force on good bytes: writes nothing" \
    test "$WORK/left/manifest.json" -nt "$WORK/left/$shard"

# ---- full: no half shard, and with room the same bytes
KEEP=$WORK/nowhere
(ulimit -f 20 && exec "$BIN/orbits" "${SETS[@]}" --set orbits.two_body_train=600 \
    --out "$WORK/full" </dev/null >"$WORK/out" 2>"$WORK/err")
check "no room: status 1" test $? -eq 1
check "no room: one error" grep -q '^orbits: error: .*cannot write' "$WORK/err"
check "no room: nothing temporary" clean "$WORK/full"
check "no room: no manifest" test ! -e "$WORK/full/manifest.json"
check "with room" program orbits "${SETS[@]}" --out "$WORK/full"
check "with room: the same bytes" same_files "$WORK/whole" "$WORK/full"

# ---- checksum: no files, any threads, that of the files' rows
sum() {
    program orbits checksum "${SETS[@]}" --out "$WORK/never" "$@"
}
check "checksum: its line" prints '^train: 9000 sequences, xxh64 [0-9a-f]{16}$' sum --threads 2
check "checksum: 1 and 3 threads" equal "$(sum --threads 1)" "$(sum --threads 3)"
check "checksum: another seed" differ "$(sum --seed 5)" "$(sum)"
check "checksum writes nothing" test ! -e "$WORK/never"

# ---- prior: what is known before any training
prior=$(program orbits prior --preset quick)
# values: tests/sim/test_identifiability.c; here that each stands in its place (ln m is uniform over
# ln 30: deviation 0.98, and 5,000 systems give a correlation below 4 / sqrt(5000) = 0.057)
masses='^  ln m1, ln m2 +standard deviations (0\.9[789][0-9], ){2}correlation [-+]0\.0[0-5]'
check "prior: comparable bodies" grep -Eq "$masses" <<<"$prior"
check "prior: condition number" grep -Eq 'labelled rows: condition number 2\.[89][0-9], ' \
    <<<"$prior"
check "prior: deviations left" grep -Eq ' leave 0\.3[45][0-9], 0\.9[456][0-9], 0\.9[456][0-9]$' \
    <<<"$prior"
check "prior: baselines" grep -Eq \
    '^  baselines, R\^2 of ln F  on ln r 0\.0[2345][0-9], .* mean r 0\.0[567][0-9]$' <<<"$prior"
check "prior: planet runs" grep -Eq \
    '^  period, time step    R\^2 of ln T on ln dt 0\.9[0-9]{2}$' <<<"$prior"
check "prior: the study's" prints 'R\^2 of ln T on ln dt 0\.00[0-9]$' \
    program orbits prior --preset vafa2025
check "prior: one that spreads less" differ "$prior" \
    "$(program orbits prior --preset quick --set orbits.mass_prior=uniform)"
refusals "$BIN/orbits" prior <<END
prior: of text | 2 text.train | --preset text
prior: no folder | 2 'unexpected argument "runs"' | runs
END

# ---- show and stat
KEEP=$WORK/whole
show() {
    program orbits show --preset vafa2025 "$@"
}
check "show" prints '^train 3 of preset vafa2025, seed 0: [0-9]+ bodies, ' show --sequence 3
check "show: solar system" prints 'note: body 1 is sampled 12.7 times per orbit, below 40' \
    show --split solar_system
check "show: Nyquist" prints 'warning: body 1 is sampled 0.5 times per orbit, below 2 \(Nyquist\)' \
    show --split solar_system_two_body
check "show: elements of Mercury" prints '^1 +1.652e-07 +0.3870 +0.2050 .* 0.2408 ' \
    show --split solar_system
eight='--preset smoke_tokens --split solar_system_two_body'
refusals "$BIN/orbits" show <<END
show: no such set | 2 --split 'unknown data set "trian"' train | --split trian
show: no such sequence | 2 --sequence 'has 8 sequences' 'found 9' | $eight --sequence 9
show: no number | 2 --sequence: 'a whole number' '"3x"' | --sequence 3x
show: a split that is empty | 2 --split: smoke solar_system | --preset smoke --split solar_system
show: what picture | 2 --out: FILE.png '"orbit.pdf"' | --out orbit.pdf
END
# a folder shows what it holds, whatever made it
check "show: a folder" prints '^train 3 of .*/whole: [0-9]+ bodies, ' \
    program orbits show "$WORK/whole" --sequence 3
refuse "show: a folder of other settings" 1 "$WORK/whole" 'data set train' 'expected' -- \
    "$BIN/orbits" show "$WORK/whole" --preset smoke
held=$WORK/held
check "sets of another law" program orbits --preset smoke --quiet --threads 1 --seed 5 \
    --out "$held" --set orbits.law=yukawa --set orbits.law_alpha=2 --set orbits.train=8 \
    --set orbits.train_files=6
for set in train two_body_test planets_val planets_solar; do
    check "show: $set, whose elements are Newton's" \
        prints "^law yukawa: a, e and period are those of Newton's law" \
        program orbits show "$held" --split $set
done
refusals "$BIN/orbits" show <<END
show: a sequence that is not there | 2 --sequence: '$held has 6 sequences' | '$held' --sequence 6
show: no set | 1 '$held/manifest.json' 'no data set "solar_system"' | '$held' --split solar_system
show: no folder | 1 '$WORK/nowhere/obs_train.npy' 'cannot open' | '$WORK/nowhere'
END
check "show: with its settings" program orbits show "$held" --preset smoke --seed 5 \
    --set orbits.law=yukawa --set orbits.law_alpha=2
printf '\0\0\300\77' | dd of="$held/coords_train.npy" bs=1 seek=200 conv=notrunc status=none
program orbits show "$held" >"$WORK/shown" 2>&1
check "show: rows of the files" grep -q 'rows of train 0 differ from what its settings make' \
    "$WORK/shown"
rm "$held/manifest.json"
check "show: a folder made elsewhere" prints 'not known: no manifest.json, made elsewhere' \
    program orbits show "$held"
refuse "no such command" 2 'unexpected argument "verfy"' verify -- "$BIN/orbits" verfy
refuse "--split without show" 2 --split 'orbits show' -- "$BIN/orbits" --split train
if command -v gnuplot >/dev/null; then
    check "show: a picture" program orbits show --preset smoke_tokens --out "$WORK/one.png"
    check "show: a picture: is a PNG" is_png "$WORK/one.png" 1000
    check "show: an SVG" program orbits show --preset smoke --split planets_train \
        --out "$WORK/one.svg"
    check "show: an SVG: is whole" grep -q '</svg>' "$WORK/one.svg"
    # the look of the other figures: font, axes, a legend of all bodies, a panel for the inner ones
    program orbits show --preset vafa2025 --split solar_system --out "$WORK/nine.svg" \
        >"$WORK/printed" 2>"$WORK/err"
    check "show: nine bodies" test $? -eq 0
    check "show: nine bodies: gnuplot has no complaint" test ! -s "$WORK/err"
    for text in 'DejaVu Sans' 'x (AU)' 'y (AU)' 'body 1: a = 0.39 AU, e = 0.20' \
                'body 8: a = 30.07 AU, e = 0.01' '>star<' 'the small square: 4 of 8 planets'; do
        check "show: nine bodies: $text" grep -qF "$text" "$WORK/nine.svg"
    done
    check "show: nine bodies: one body and a star that moves" program orbits show --preset quick \
        --split two_body_test --out "$WORK/two.svg"
    check "show: nine bodies: have one panel" lacks 'small square' "$WORK/two.svg"
    check "show: nine bodies: law and nbody" \
        program orbits show --preset vafa2025 --set orbits.nbody=true \
        --sequence 7 --out "$WORK/nbody.svg"
    check "show: nine bodies: has no ellipses" \
        grep -q 'lines: from sample to sample' "$WORK/nbody.svg"
    name="q'u\"o\\t\`e.svg"
    check "show: a name with quotes" program orbits show --preset smoke --split planets_train \
        --out "$WORK/$name"
    check "show: a name with quotes: the same picture" same_file "$WORK/one.svg" "$WORK/$name"
    check "show: a name with quotes: nothing temporary" clean "$WORK"
    # one writer was killed before, another is at work on the same picture
    mkdir "$WORK/pictures"
    touch "$WORK/pictures/one.png.123.orrery-partial" "$WORK/pictures/one.png.124.orrery-partial"
    exec 8<"$WORK/pictures/one.png.124.orrery-partial"
    flock 8
    check "show: beside other writers" program orbits show --preset smoke_tokens \
        --out "$WORK/pictures/one.png"
    check "show: beside other writers: the same picture" \
        same_file "$WORK/one.png" "$WORK/pictures/one.png"
    check "show: beside other writers: only the abandoned file is gone" test \
        "$(leftovers "$WORK/pictures")" = "$WORK/pictures/one.png.124.orrery-partial"
    exec 8<&-
    rm "$WORK/pictures/one.png.124.orrery-partial"
    # a gnuplot that leaves half a picture, and sees whether its file is locked
    mkdir "$WORK/fake"
    cat >"$WORK/fake/gnuplot" <<'END'
#!/bin/sh
file=$4
flock -n "$file" true && touch "$SEEN.unlocked" || touch "$SEEN.locked"
printf '\211PNG\r\n half a picture' >"$file"
exit "$STATUS"
END
    chmod +x "$WORK/fake/gnuplot"
    KEEP=$WORK/pictures
    for status in 0 1; do
        expected=('gnuplot: ' one.png)
        [ $status -eq 0 ] && expected+=(incomplete) || expected+=('exit status 1 while drawing')
        STDOUT=any refuse "show: gnuplot leaves half, status $status" 1 "${expected[@]}" -- env \
            "PATH=$WORK/fake:$PATH" STATUS=$status "SEEN=$WORK/seen$status" \
            "$BIN/orbits" show --preset smoke_tokens --out "$WORK/pictures/one.png"
        check "show: gnuplot leaves half, status $status: its file was locked" \
            test -e "$WORK/seen$status.locked"
    done
    KEEP=$WORK/whole
else
    skip "show: a picture" "no gnuplot"
fi
program orbits stat "$WORK/whole" >"$WORK/stat"
check "stat: sets" test "$(grep -c '^[a-z_]*: [0-9]* sequences of 60 positions' "$WORK/stat")" -eq 8
check "stat: train" grep -q '^train: 9000 sequences of 60 positions, 36 files per array' \
    "$WORK/stat"
check "stat: bodies" grep -q '^  bodies .*9: 1 (100.0%)' "$WORK/stat"
check "stat: clipped as in the manifest" test \
    "$(awk '/clipped/ { print $2; exit }' "$WORK/stat")" -eq \
    "$(grep -o '"clipped_coordinates":[^,}]*' "$WORK/whole/manifest.json" | grep -om1 '[0-9]*')"
check "stat: time steps" grep -Eq '^  time step    7 days: 4[0-9]{3}, 180 days: 4[0-9]{3}' \
    "$WORK/stat"
check "stat: forces" grep -q '^  |F| ' "$WORK/stat"
check "stat: of coordinates" program orbits --preset smoke --quiet --out "$WORK/smoke"
check "stat: of coordinates, scaled" prints 'separations at step 0' \
    program orbits stat "$WORK/smoke"
refuse "stat: nothing there" 1 "$WORK/none" 'no data sets there' -- "$BIN/orbits" stat "$WORK/none"
cp -r "$WORK/whole" "$WORK/lies" && cp -r "$WORK/smoke" "$WORK/nan" || exit
bare='s/^\t"xxh64"/\t"of"/' # a manifest of another program states no sum
lie() { # KEY VALUE: in its first place
    sed "$bare;0,/\"$1\":/s/\"$1\":[^,}]*/\"$1\": $2/" "$WORK/whole/manifest.json" \
        >"$WORK/lies/manifest.json"
    KEEP=$WORK/lies refuse "stat: $1 $2" 1 manifest.json "\"$1\": expected" -- \
        "$BIN/orbits" stat "$WORK/lies"
}
lie bins 0
lie bins 65533
lie bins 200.5
lie bins '"many"'
lie extent_au -50
lie extent_au 1e300
lie clipped_coordinates -3
sed "$bare;"'/"bins":/d' "$WORK/whole/manifest.json" >"$WORK/lies/manifest.json"
KEEP=$WORK/lies refuse "stat: no bins" 1 manifest.json '"bins": expected' -- \
    "$BIN/orbits" stat "$WORK/lies"
sed "$bare;"'s/"bins":[^,]*/"bins": 100/' "$WORK/whole/manifest.json" >"$WORK/lies/manifest.json"
KEEP=$WORK/lies refuse "stat: tokens of other bins" 1 obs_train 'expected a time step, 100' -- \
    "$BIN/orbits" stat "$WORK/lies"
not_finite() { # FILE BYTE: the number there
    printf '\0\0\300\177' |
        dd of="$WORK/nan/$1.npy" bs=1 seek=$((128 + $2)) conv=notrunc status=none
}
not_finite state_two_body_train $((41 * 5 * 4 - 20))
KEEP=$WORK/nan STDOUT=any refuse "stat: a state that is no number" 1 state_two_body_train \
    'found nan' -- "$BIN/orbits" stat "$WORK/nan"
not_finite coords_train $((8 * 41 * 7 + 80))
KEEP=$WORK/nan refuse "stat: coordinates that are no numbers" 1 coords_train.npy \
    'sequence 7: row 10: expected a finite coordinate, found nan' -- "$BIN/orbits" stat "$WORK/nan"

# ---- data sets made elsewhere: files with NumPy's headers, whole numbers of 64 bits, no manifest
# numpy FILE VERSION DESCR SHAPE: a header in front of standard input
numpy() {
    local text="{'descr': '$3', 'fortran_order': ${ORDER:-False}, 'shape': ($4), }" prefix=10
    [ "$2" -eq 1 ] || prefix=12
    local length=$(((prefix + ${#text} + 1 + 63) / 64 * 64 - prefix))
    {
        printf '\x93NUMPY\x'"$2"'\0\x'"$(printf %x $length)"'\0'
        [ "$2" -eq 1 ] || printf '\0\0'
        printf "%-$((length - 1))s\n" "$text"
        cat
    } >"$1"
}
# bytes to 64-bit numbers
widen() {
    printf "$(od -An -v -tx1 | tr -s ' \n' '\n\n' |
        sed '/^$/d; s/.*/\\x&\\0\\0\\0\\0\\0\\0\\0/' | tr -d '\n')"
}
DATA=(--preset smoke_tokens --threads 1 --set orbits.train=200)
RUN=("${DATA[@]}" --set pretrain.steps=3 --set finetune.magnitude.steps=3
     --set finetune.vector.steps=3 --attention lssar)
ours=$WORK/ours theirs=$WORK/theirs
check "a run of our own" program orbits "${DATA[@]}" --quiet --out "$ours"
mkdir "$theirs"
for set in train:200 val:16 test:16 two_body_train:60 two_body_val:16 two_body_test:24 \
           solar_system:1 solar_system_two_body:8; do
    n=${set#*:} set=${set%:*}
    rows() {
        tail -c +129 "$ours/$1_$set.npy"
    }
    rows obs | numpy "$theirs/obs_$set.npy" 2 '<u2' "$n, 60, 2"
    rows num_bodies | widen | numpy "$theirs/num_bodies_$set.npy" 1 '<i8' "$n,"
    [ -e "$ours/state_$set.npy" ] || continue
    for kind in full_state:6 state:5 force_magnitude:1 force_vector:2; do
        rows ${kind%:*} | numpy "$theirs/${kind%:*}_$set.npy" 1 '<f4' "$n, 60, ${kind#*:}"
    done
done
for data in ours theirs; do
    check "pretrain on $data" program pretrain "${RUN[@]}" --orbits "$WORK/$data" \
        --run "$WORK/run-$data" --quiet
    check "finetune on $data" program finetune "${RUN[@]}" --orbits "$WORK/$data" \
        --run "$WORK/run-$data" --quiet
done
check "the same model" same_by tensors "$WORK"/run-{ours,theirs}/lssar/pretrain/last.safetensors
check "the same model: which knows whose" grep -q 'data set made elsewhere' \
    "$WORK/run-theirs/lssar/pretrain/last.safetensors"
check "the same forces" same_file "$WORK"/run-{ours,theirs}/lssar/finetune/forces_magnitude.csv
program pretrain "${RUN[@]}" --orbits "$theirs" --run "$WORK/run-again" >/dev/null 2>"$WORK/err"
check "a note says so" grep -q 'no manifest.json: made elsewhere, not verified' "$WORK/err"
mkdir "$WORK/untested"
ln "$theirs"/*.npy "$WORK/untested"
rm "$WORK/untested"/*_test.npy
KEEP=$WORK/untested
refuse "theirs without a test set" 1 obs_test.npy 'cannot open' -- "$BIN/pretrain" "${RUN[@]}" \
    --quiet --orbits "$WORK/untested" --run "$WORK/run-not"
check "theirs without a test set: which orbits.test=0 does without" \
    program pretrain "${RUN[@]}" --quiet \
    --orbits "$WORK/untested" --run "$WORK/run-untested" --set orbits.test=0
check "theirs without a test set: judged by the validation sequences" equal '"val"' \
    "$(value "$WORK/run-untested/lssar/pretrain/evaluation.json" split)"
check "stat of theirs" prints '^train: 200 sequences' program orbits stat "$theirs"
KEEP=$theirs
refuse "verify of theirs" 1 "$theirs/manifest.json" 'not found' -- "$BIN/orbits" verify "$theirs"
refuse "orbits leaves them alone" 1 "$theirs" elsewhere -- "$BIN/orbits" "${DATA[@]}" --quiet \
    --out "$theirs"
tail -c +129 "$ours/obs_val.npy" | ORDER=True numpy "$theirs/obs_val.npy" 1 '<u2' "16, 60, 2"
refuse "theirs in Fortran order" 1 obs_val.npy 'found Fortran order' -- \
    "$BIN/pretrain" "${RUN[@]}" --quiet --orbits "$theirs" --run "$WORK/run-not"
tail -c +129 "$ours/obs_val.npy" | numpy "$theirs/obs_val.npy" 1 '<f2' "16, 60, 2"
refuse "theirs of another type" 1 obs_val.npy "unsupported dtype '<f2'" -- \
    "$BIN/pretrain" "${RUN[@]}" --quiet --orbits "$theirs" --run "$WORK/run-not"
finish
