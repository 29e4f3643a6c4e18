#!/usr/bin/env bash
# test_text.sh - bin/pretrain and bin/probe on text: training, resuming, every variant and gate,
# longer sequences, and what is refused.
. tests/cli/lib.sh
PROGRAMS="$PROGRAMS probe sample" # refuse() knows the programs by name

# words in a fixed, irregular order
awk 'BEGIN { n = 1; for (i = 0; i < 1500; i++) { n = (n * 48271) % 2147483647
    printf "%s%s", n % 3 ? (n % 5 ? "the orbit " : "a planet ") : "and ", n % 7 ? "" : "\n" } }' \
    >"$WORK/text.txt"
SMALL=(--preset text --threads 1 --quiet --set text.train="$WORK/text.txt" --set text.positions=33
       --set model.layers=1 --set model.width=16 --set model.heads=2 --set pretrain.batch=4
       --set pretrain.eval_sequences=16 --set pretrain.warmup=2)

# ---- training
run=$WORK/run
check "training" program pretrain "${SMALL[@]}" --run "$run" --attention softmax \
    --set pretrain.steps=60 --set pretrain.lr=5e-3
out=$run/softmax/pretrain
check "evaluation.json" awk -v loss="$(value "$out/evaluation.json" loss)" \
    -v perplexity="$(value "$out/evaluation.json" perplexity)" \
    -v bits="$(value "$out/evaluation.json" bits_per_token)" 'BEGIN { exit !(loss > 0 &&
    (perplexity - exp(loss))^2 < 1e-12 && (bits - loss / log(2))^2 < 1e-12) }'
check "evaluation.json: below bytes at random" awk -v loss="$(value "$out/evaluation.json" loss)" \
    'BEGIN { exit !(0 < loss && loss < 3.2) }'
check "evaluation.json: of bytes" test "$(value "$out/evaluation.json" vocab)" = 256 -a \
    "$(value "$out/evaluation.json" positions)" = 32
check "validation is logged" grep -q '"step": 60, "val_loss": [0-9]' "$out/log.jsonl"
check "no orbits" test -d "$run" -a ! -e "$run/orbits"
check "the same on two threads" program pretrain "${SMALL[@]}" --run "$WORK/two" --threads 2 \
    --attention softmax --set pretrain.steps=60 --set pretrain.lr=5e-3
check "the same on two threads: to the byte" same_file "$out/last.safetensors" \
    "$WORK/two/softmax/pretrain/last.safetensors"
# the text in two files, elsewhere: the same
mkdir "$WORK/parts"
head -c 5000 "$WORK/text.txt" >"$WORK/parts/1"
tail -c +5001 "$WORK/text.txt" >"$WORK/parts/2"
check "the text in parts" program pretrain "${SMALL[@]}" --run "$WORK/parted" \
    --attention softmax --set pretrain.steps=60 --set pretrain.lr=5e-3 \
    --set text.train="$WORK/parts"
check "the text in parts: the same weights" same_by tensors "$out/last.safetensors" \
    "$WORK/parted/softmax/pretrain/last.safetensors"

# ---- stopped and resumed
stopped=(pretrain "${SMALL[@]}" --attention lssar --set pretrain.steps=400 --set model.gate=softplus
         --set pretrain.checkpoint_every=20 --set pretrain.eval_every=100)
check "a run without a stop" program "${stopped[@]}" --run "$WORK/whole"
"$BIN/pretrain" "${stopped[@]:1}" --run "$WORK/cut" >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 3000; i++)); do
    [ ! -e "$WORK/cut/lssar/pretrain/last.safetensors" ] || break
    sleep 0.01
done
kill -TERM $pid
wait $pid
check "stopped" test $? -eq 0 -a ! -e "$WORK/cut/lssar/pretrain/evaluation.json"
check "resumed" program "${stopped[@]}" --run "$WORK/cut" --resume
check "resumed: to the byte" same_file "$WORK/whole/lssar/pretrain/last.safetensors" \
    "$WORK/cut/lssar/pretrain/last.safetensors"
check "resumed: the same log" same_by numbers "$WORK/whole/lssar/pretrain/log.jsonl" \
    "$WORK/cut/lssar/pretrain/log.jsonl"
check "resumed: the same evaluation" same_file "$WORK/whole/lssar/pretrain/evaluation.json" \
    "$WORK/cut/lssar/pretrain/evaluation.json"
made() { # all but the settings of the run, which know where the text is
    times "$WORK/cut" | grep -v preset.json
}
made >"$WORK/before"
cp "$WORK/text.txt" "$WORK/moved.txt"
check "complete, the text elsewhere" program "${stopped[@]}" --run "$WORK/cut" --resume \
    --set text.train="$WORK/moved.txt"
made >"$WORK/after"
check "complete, the text elsewhere: nothing is trained" same_file "$WORK/before" "$WORK/after"
sed -i '1s/./X/' "$WORK/moved.txt"
another=("${stopped[@]}" --run "$WORK/cut" --resume --set text.train="$WORK/moved.txt"
         --set pretrain.steps=2)
KEEP=$WORK/cut refuse "another text is not continued" 1 '400 of 400 steps' would be lost -- \
    program "${another[@]}" --quiet
check "another text is not continued: and trained on where that is asked for" \
    program "${another[@]}" --force
check "another text is not continued: anew" equal 2 "$(value \
    "$WORK/cut/lssar/pretrain/evaluation.json" step)"

# ---- variants, gates, positions, heads
variants=$("$BIN/pretrain" --preset text --attention none --set text.train="$WORK/text.txt" 2>&1 |
    sed 's/.*expected one of //; s/, /,/g')
check "the table has the paper's variants" test \
    "$(tr ',' '\n' <<<"$variants" | grep -cE '^[a-zA-Z_0-9]+$')" -ge 26
check "every variant" program pretrain "${SMALL[@]}" --run "$WORK/all" \
    --set attention="$variants" --set pretrain.steps=2 --set pretrain.eval_sequences=4
check "every variant: has a loss" \
    test "$(grep -l '"loss"' "$WORK"/all/*/pretrain/evaluation.json | wc -l)" \
    -eq "$(echo "$variants" | tr ',' '\n' | wc -l)"
for change in model.gate=sigmoid model.positions=none model.positions=learned model.tie=false; do
    check "$change" program pretrain "${SMALL[@]}" --run "$WORK/$change" --attention lssar \
        --set pretrain.steps=2 --set "$change"
done

# ---- probes
base=(--quiet --threads 1)
check "evaluate" program probe evaluate --checkpoint "$out/last.safetensors" "${base[@]}"
for key in loss perplexity bits_per_token; do
    check "evaluate: $key is what pretraining measured" equal \
        "$(value "$run/softmax/probe/evaluate.json" $key)" \
        "$(value "$out/evaluation.json" $key)"
done
program probe evaluate --checkpoint "$out/last.safetensors" "${base[@]}" --length 64 --ntk \
    --reweight on --p 3 >"$WORK/table"
check "longer sequences of as much text" grep -q '^| sequences | 16 | 8 |$' "$WORK/table"
check "longer sequences of as much text: their late positions" \
    grep -Eq '^\| \.\.\. beyond .* \| - \| [0-9.]+ \|$' "$WORK/table"
check "attention" program probe attention --checkpoint "$out/last.safetensors" "${base[@]}" \
    --length 40
check "attention: its rows" test "$(wc -l <"$run/softmax/probe/attention.csv")" -eq 3

# ---- continued
sample() { # ARGUMENT...
    program sample "${base[@]}" --checkpoint "$out/last.safetensors" --prompt "the orb" "$@"
}
sample --length 200 --temperature 0.8 --top-k 5 --seed 4 >"$WORK/sampled"
check "sample: the prompt and as much as was asked for" equal 208 "$(wc -c <"$WORK/sampled")"
check_not "sample: the prompt and as much as was asked for: of letters of the text" \
    grep -q '[^abdehilnoprt ]' "$WORK/sampled"
sample --length 200 --temperature 0.8 --top-k 5 --seed 4 --threads 2 >"$WORK/again"
check "sample: the prompt and as much as was asked: a seed is a text, on any number of threads" \
    same_file "$WORK/sampled" "$WORK/again"
sample --length 200 --temperature 0.8 --top-k 5 --seed 5 >"$WORK/again"
check "sample: the prompt and as much as was asked for: another seed another" \
    other_file "$WORK/sampled" "$WORK/again"
sample --length 60 --temperature 0 --count 2 >"$WORK/sampled"
check "two continuations, each under its number" equal "---- 1 ---- 2" \
    "$(grep -e ---- "$WORK/sampled" | xargs)"
check "two continuations, each under its number: by the most probable bytes: equal" equal 1 \
    "$(grep orb "$WORK/sampled" | sort -u | wc -l)"
check "a model of the run" program sample --run "$run" "${base[@]}" --attention softmax --length 9
check "help of sample is one screen" test "$(program sample --help | wc -l)" -le 40

# ---- refused
KEEP=$WORK/none
none=(--run "$WORK/none" --threads 1 --quiet)
refuse "no text" 1 text.train: 'nowhere.txt: no such file' -- \
    program pretrain --preset text "${none[@]}" --set text.train=nowhere.txt
refuse "too short" 1 text.train: 'found 4500' "$WORK/parts/1" -- program pretrain --preset text \
    "${none[@]}" --set text.train="$WORK/parts/1" --set text.positions=4600
refuse "orbits beside text" 2 --orbits: 'trains on text' -- \
    program pretrain "${SMALL[@]}" "${none[@]}" --orbits .
refuse "planet runs of text" 2 planets.enabled: needs -- \
    program pretrain "${SMALL[@]}" "${none[@]}" --set planets.enabled=true
refuse "text.val alone" 2 text.val: 'needs text.train' -- \
    program pretrain --preset smoke "${none[@]}" --set text.val=x
refuse "fine-tuning" 2 "fine-tuning needs orbits" -- program finetune "${SMALL[@]}" "${none[@]}"
refuse "laws" 2 "needs orbits" -- program symreg "${SMALL[@]}" "${none[@]}"
refuse "a preset of orbits" 1 "model of text" -- program probe evaluate --preset smoke \
    "${none[@]}" --checkpoint "$out/last.safetensors"
refuse "learned positions end" 2 "learned positions" -- program probe evaluate "${none[@]}" \
    --preset "$WORK/model.positions=learned/preset.json" --length 64 \
    --checkpoint "$WORK/model.positions=learned/lssar/pretrain/last.safetensors"
check "no orbits are made" program orbits "${SMALL[@]}" "${none[@]}"
check "no orbits are made: nor a folder for them" test ! -e "$WORK/none"
# a shard of tokens: header, then 16-bit tokens; the vocabulary is too small for one of them
{
    printf '\x88\xd8\x34\x01\x01\0\0\0\x90\x01\0\0'
    head -c 1012 /dev/zero
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "\\x%02x\\x%02x", i % 37, i == 250 }' |
        xargs -0 printf
} >"$WORK/shard.bin"
check "one step" program pretrain "${SMALL[@]}" --run "$WORK/one" --attention softmax \
    --set text.train="$WORK/shard.bin" --set text.vocab=285 --set pretrain.steps=1
refuse "a token that is too large" 1 "$WORK/shard.bin" "at byte 1524" "token 284" -- \
    program pretrain "${SMALL[@]}" "${none[@]}" --set text.train="$WORK/shard.bin" \
    --set text.vocab=284
check "token shards" program pretrain "${SMALL[@]}" --run "$WORK/tokens" --attention softmax \
    --set text.train="$WORK/shard.bin" --set text.vocab=285 --set pretrain.steps=2
# what a file was read as is said, and bare tokens are not taken for bytes in silence
read -ra LOUD <<<"${SMALL[*]/--quiet/}"
told() { # DESCRIPTION TEXT FILE OPTION...: one step on a file, and what is said of it
    local description=$1 text=$2 file=$3
    rm -rf "$WORK/told"
    program pretrain "${LOUD[@]}" --run "$WORK/told" --attention softmax \
        --set pretrain.steps=1 --set text.train="$file" "${@:4}" 2>"$WORK/said" >"$WORK/progress"
    check "$description" grep -qF "text.train: $file: read as $text" "$WORK/said"
}
tail -c +1025 "$WORK/shard.bin" >"$WORK/bare.bin"
told "read as bytes" "bytes, vocabulary 256: $(wc -c <"$WORK/text.txt")" "$WORK/text.txt"
told "tokens as bytes" "bytes, vocabulary 256: 800 (with zeros among them" "$WORK/bare.bin"
told "tokens as bytes: as tokens" "tokens, vocabulary 285: 400" "$WORK/bare.bin" \
    --set text.tokens=uint16 --set text.vocab=285
weights() { # FILE: the checksum of its numbers; the record knows where the text is
    grep -ao '"xxh64":"[0-9a-f]*"' "$1/softmax/pretrain/last.safetensors"
}
check "tokens as bytes: the same as with a header" \
    equal "$(weights "$WORK/one")" "$(weights "$WORK/told")"
tokens=$WORK/tokens/softmax/pretrain/last.safetensors last=$out/last.safetensors
check "sample: numbers of tokens" program sample "${base[@]}" --prompt "3, 77" --length 5 \
    --checkpoint "$WORK/tokens/softmax/pretrain/last.safetensors"
program sample "${base[@]}" --prompt "3, 77" --length 5 \
    --checkpoint "$WORK/tokens/softmax/pretrain/last.safetensors" >"$WORK/numbers"
check "sample: numbers of tokens: and as many more" grep -qxE '3 77( [0-9]+){5}' "$WORK/numbers"
refusals program sample "${base[@]}" <<END_OF_CASES
no token | 2 --prompt: 'numbers, 0 to 284' 'found "é' | --prompt "3 é" --checkpoint $tokens
a token that is too large | 2 --prompt: '0 to 284' 'found "285"' | --prompt 285 --checkpoint $tokens
an empty prompt | 2 --prompt: 'found none' | --prompt '' --checkpoint $last
a negative temperature | 2 --temperature: 'found "-1"' | --temperature -1 --checkpoint $last
temperature nan | 2 --temperature: 'found "nan"' | --temperature nan --checkpoint $last
a length of none | 2 --length: 'from 1 to' | --length 0 --checkpoint $last
a top k that is no number | 2 --top-k: 'found "few"' | --top-k few --checkpoint $last
no model | 1 nowhere.safetensors: 'no such checkpoint' | --checkpoint nowhere.safetensors
a variant beside a checkpoint | 2 --attention: | --attention lssar --checkpoint $last
an untrained variant | 1 "lssa/pretrain" "make it with:" pretrain | --run '$run' --attention lssa
a run of orbits | 1 'expected a run of text' 'of orbits' | --preset smoke --run '$WORK/none'
END_OF_CASES
program orbits --preset smoke --run "$WORK/orbits" --threads 1 --quiet >"$WORK/progress"
program pretrain "${TINY[@]}" --run "$WORK/orbits" --attention softmax >"$WORK/progress"
refuse "a model of orbits" 1 'expected a model of text' 'one of orbits (coordinates)' -- \
    program sample --checkpoint "$WORK/orbits/softmax/pretrain/last.safetensors"
check "a model of orbits: their vocabulary" test \
    "$(value "$WORK/tokens/softmax/pretrain/evaluation.json" vocab)" = 285
finish
