#!/usr/bin/env bash
# test_predict.sh - tools/predict's program: every line is labelled, numbers are those worked by
# hand, what is frozen stays, and bad input is named.
. tests/cli/lib.sh
PREDICT=${PREDICT:-build/predict/predict}
PROGRAMS="$PROGRAMS predict"

predict() {
    timeout "$LIMIT" "$PREDICT" "$@" </dev/null
}
# table FILE [OPTION...]: into $WORK/table
table() {
    predict table "$@" >"$WORK/table"
}
# field TEXT COLUMN: of the first row whose name is TEXT
field() {
    awk -F ' *[|] *' -v what="$1" -v c="$2" '$3 == what { print $c; exit }' "$WORK/table"
}

# A kernel that was counted: 2 products of matrices and 4 special functions a turn of its loop.
cat >"$WORK/counts.json" <<'END'
{"kernels": {"k.sm_80": {"parts": [{"part": "once", "alu": 7},
    {"part": "1", "mma": 2, "multiply_adds": 4096, "xu": 4}]}}}
END
cat >"$WORK/good.json" <<'END'
{"counts": "counts.json", "gemms": "gemms.json",
 "lists": {"a": [
    {"name": "code", "code": "k", "warps": 2, "dram": 0,
        "trips": {"once": 0, "1": "N*54*1.41e9/4"}},
    {"name": "bytes", "dram": "N*2039e9/2", "times": 4},
    {"name": "product", "gemm": ["N", 20, 30]}]},
 "cases": [{"name": "by hand", "list": "a", "machines": ["A100"], "each": {"N": [1, 2]},
    "variables": {"M": "2*N"}, "flop": "8e12*M",
    "known": {"A100": {"tflops": [2, null], "source": "a book"}}}]}
END
cat >"$WORK/gemms.json" <<'END'
{"microseconds": {"A100": [[1, 20, 30, 250000], [2, 20, 30, 500000]]}}
END
check "a table" table "$WORK/good.json" --kernels
# special functions: 2 warps x 54 x 1.41e9 / 4 turns x 4 of 32 lanes over 16 lanes x 108 x 1.41e9:
# 2 s, tensor cores 1 s, issue of 6 instructions over 4 slots 0.375 s; four times half a second of
# DRAM; the estimate of a quarter of a second.
check "lower end" equal 4250 "$(field 'by hand, N 1' 5)"
check "upper end" equal 5625 "$(field 'by hand, N 1' 6)"
check "the code's largest pipe" equal xu "$(field '- code' 8)"
check "known" equal 8000 "$(field 'by hand, N 1' 9)"
check "... lies above" equal above "$(field 'by hand, N 1' 10)"
check "twice as much" equal 8500 "$(field 'by hand, N 2' 5)"
check "nothing is known of it" equal "none" "none$(field 'by hand, N 2' 9)"
check "bytes of four calls" equal 2000 "$(field '- bytes' 5)"
check "the product's estimate" equal 250 "$(field '- product' 5)"
check "the score" grep -q '^predicted, not measured: 0 of 1 known figures lie inside' "$WORK/table"
unlabelled() {
    awk 'NR > 2 && NF && !/^[|] predicted, not measured [|]/ && !/^predicted, not measured: / {
        found = 1 } END { exit !found }' "$1"
}
check_not "every line is labelled" unlabelled "$WORK/table"
check "one case alone" table "$WORK/good.json" --only "nothing"
check_not "... which is none" grep -q 'by hand' "$WORK/table"

# What was predicted of FlashAttention-2 before our own kernels were looked at stays as it was:
# rates that move these numbers were changed afterwards.
both() { # TEXT: both ends
    echo "$(field "FlashAttention-2 $1" 5) $(field "FlashAttention-2 $1" 6)"
}
check "FlashAttention-2" table predict/flash2.json
check_not "... is labelled" unlabelled "$WORK/table"
check "... forward, H100" equal "3.648 18.25" \
    "$(both 'forward 64, T 16384')"
check "... backward, H100" equal "11.27 32.47" \
    "$(both 'backward 128, T 16384')"
check "... forward, A100" equal "7.051 26.25" \
    "$(both 'forward 128, its best')"
check "... the score of docs/predict.md" grep -q \
    '^predicted, not measured: .*: 40 of 40 .* 18% on average, 76% at most$' "$WORK/table"
check "training steps" table predict/steps.json
check "... beside the score of FlashAttention-2" grep -q \
    '^predicted, not measured: FlashAttention-2 as PyTorch .*: 40 of 40' "$WORK/table"
check_not "... are labelled" unlabelled "$WORK/table"
for model in 25M 109M 355M; do
    for attention in softmax lssar; do
        check "... $model $attention" test -n "$(field "$model $attention step, before" 5)"
    done
done

check "loops" predict loops tests/predict/small.sass --tile 1024
check "... and blocks, with what is known" predict loops tests/predict/small.sass --blocks \
    --part 'some=0-10'
check "machines" predict machines
predict loops tests/predict/small.sass --into "$WORK/made.json" --as small --source "a test" \
    >"$WORK/out"
check "counts" grep -q '"multiply_adds":	4096' "$WORK/made.json"

# ---- limits: two loops of tiles of 64 and 32 elements; 3 products, 13 slots, 1 of them local
cat >"$WORK/loops.json" <<'END'
{"kernels": {"k": {"parts": [{"part": "once", "alu": 900},
    {"part": "1", "mma": 4, "alu": 12, "local": 2}, {"part": "2", "mma": 1, "xu": 3}]}}}
END
limits() { # MMA SLOTS LOCAL [TILE]
    echo '{"limits": [{"kernel": "k", "tiles": {"'"${4:-1}"'": 64, "2": 32},
        "mma": '"$1"', "slots": '"$2"', "local_share": '"$3"'}]}' >"$WORK/limits.json"
    predict limits "$WORK/limits.json" "$WORK/loops.json" >"$WORK/table"
}
check "within limits" limits 3 13 0.077
check "... is said" grep -q '^1 passed, 0 failed$' "$WORK/table"
check "... the numbers" grep -q '^| k | 3 | 3 | 13 | 13 | 7.7% | 7.7% | yes |$' "$WORK/table"
for beyond in '3.5 13 0.077' '2 13 0.077' '3 12.9 0.077' '3 13 0.076'; do
    STDOUT=any refuse "beyond: $beyond" 1 'loops.json' '1 of 1 kernels are beyond' -- limits $beyond
done
sed -i 's|"mma": 4,|"wgmma": 1, "wgmma_multiply_adds": 8192,|' "$WORK/loops.json"
check "one product of four warps is as many as its multiply-adds" limits 3 11.5 0.087
STDOUT=any refuse "a loop that is not there" 1 'limit 1' '"3": expected a loop' -- limits 3 13 1 3
STDOUT=any refuse "a kernel that was not counted" 1 'softmax-forward' -- predict limits \
    predict/limits.json "$WORK/loops.json"
refuse "no counts" 2 'limits: expected' -- predict limits predict/limits.json
check "counts that are stored" predict limits predict/limits.json predict/counts.json

# good.json with another text in place of one
spoil() {
    sed "s|$1|$2|" "$WORK/good.json" >"$WORK/bad.json"
}
wrong() { # NAME FROM TO PATTERN...
    local name=$1 from=$2 to=$3
    shift 3
    spoil "$from" "$to"
    STDOUT=any refuse "$name" 1 "$@" -- predict table "$WORK/bad.json"
}
wrong "a name that is not known" 'N\*54' 'X*54' 'code' 'X'
wrong "trips of no part" '"1": "N' '"2": "N' 'trips of "2"'
wrong "a part without trips" '"once": 0, ' '' 'no trips of the part "once"'
wrong "a key that is not known" '"times"' '"tmes"' 'unknown key "tmes"'
wrong "a kernel that was not counted" '"code": "k"' '"code": "other"' 'other.sm_80'
wrong "a machine that is not known" 'A100"\]' 'A101"]' 'A101'
wrong "a list that is not there" '"list": "a"' '"list": "b"' 'no list "b"'
wrong "no source" ', "source": "a book"' '' '"source"'
wrong "two numbers for a product" '"N", 20, 30' '"N", 20' '"gemm" must be a list of M, N and K'
wrong "a number that is known and none" '\[2, null\]' '["two", null]' 'a positive'
wrong "not JSON" '"cases"' '"cases' 'bad.json:7' 'not valid JSON'
refuse "no such file" 1 'nowhere.json' -- predict table "$WORK/nowhere.json"
refuse "no command" 2 'which command?' -- predict
refuse "another command" 2 'unknown command "tabel"' -- predict tabel x
refuse "no file" 2 'which file?' -- predict table
refuse "an unknown option" 2 'unknown option --kernel5' -- predict loops x --kernel5 1
refuse "an option without value" 2 '--kernel needs a value' -- predict loops x --kernel
refuse "a range backwards" 2 'found "a=20-10"' -- predict loops x --part a=20-10
refuse "no address" 2 'found "zz"' -- predict loops x --never zz
refuse "counts for no file" 2 'go together' -- predict loops x --into y
finish
