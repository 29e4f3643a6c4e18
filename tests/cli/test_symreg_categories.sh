#!/usr/bin/env bash
# test_symreg_categories.sh - --category: one formula with constants of each value of a column, in
# every output; predict, --test and --resume with it; what is refused.
. tests/cli/lib.sh
fast_pictures

# y = a[star] exp(-t / 2) + 0.5, star as a number with two spellings or as a name; deterministic
awk 'BEGIN {
    print "star,name,t,u,y"
    for (i = 1; i <= 90; i++) {
        k = 1 + (i * 7) % 3; t = 0.05 + (i * 37 % 101) / 20
        printf "%s,s%d,%.10g,%.10g,%.15g\n", i % 2 ? k : k ".0", k, t, (i * 53 % 97) / 32,
            (0.5 + 1.5 * k) * exp(-t / 2) + 0.5
    }
}' >"$WORK/law.csv"
small=(--set symreg.populations=4 --set symreg.cycles=30 --set symreg.enumerate=20000 --maxsize 12)
# search OPTION...
search() {
    timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --features t,u --quiet \
        --iterations 4 "${small[@]}" "$@"
}
run=$WORK/run
mkdir "$run"
check "a column of numbers" search --category star --threads 1 --out "$WORK/out"
value() { # FOLDER: categories, their constants in the selected row, and the shared ones
    awk -F'\t' '{ gsub(/^\t+|,$/, ""); sub(/^[^:]*:\t/, "& "); split($0, part, ":\t ") }
        /^"features"/ { features = part[2] }
        /^"values"/ && !categories { categories = part[2] }
        /^"complexity"/ { constants = ""; count = 0 }
        /^"constants"/ { constants = part[2] }
        /^"name"/ { name[++count] = part[2] }
        /^"values"/ { values[count] = part[2] }
        /^"selected_by".*"best"/ {
            print categories, features
            for (k = 1; k <= count; k++) {
                n = split(substr(values[k], 2), v, ", ")
                printf "%s", name[k]
                for (i = 1; i <= n; i++) printf " %.6f", v[i]
                print ""
            }
            print constants
        }' "$WORK/$1/front.json" | tr -d '"'
}
check "a column of numbers: one constant of each, the others shared" equal \
    "$(printf '%s\n' '[2, 3, 1] [t, u]' 'c1[star] 3.500000 5.000000 2.000000' '[-2, 0.5]')" \
    "$(value out)"
check "a column of numbers: in the report" grep -q '^| `3` | 5 +- ' "$WORK/out/report.md"
page=$WORK/out/report.html
check "a column of numbers: in the page" grep -q '^<tr><td>3</td><td>5 +- ' "$page"
check "a column of numbers: in the page: with their mean" \
    grep -q '^<tr><td><em>mean</em></td><td>3.5</td></tr>$' "$page"
check "a column of numbers: in the page: which names a way to predict that has them" \
    grep -qF 'symreg predict front.json' "$page"
check "a column of numbers: and no other" lacks 'from_file\|double predict' "$page"
check "a column of numbers: and no other: in the report with their mean" \
    grep -q '^| \*mean\* | 3.5 |' "$WORK/out/report.md"
check "a column of numbers: and no other: in other notations" \
    grep -q 'c1_star' "$WORK/out/front_full.csv"
check "a column of numbers: and no other: in LaTeX" \
    grep -q 'c_{1}\\mathrm{\[star\]}' "$WORK/out/front_full.csv"
check "threads" search --category star --threads 3 --out "$WORK/threads"
check "threads: the same front" same_files "$WORK/out" "$WORK/threads" front.csv front_full.csv \
    front.json
check "a column of text" search --category name --threads 1 --out "$WORK/text"
check "a column of text: the same constants" equal "$(printf '%s\n' '[s2, s3, s1] [t, u]' \
    'c1[name] 3.500000 5.000000 2.000000' '[-2, 0.5]')" "$(value text)"
check "--batch" search --category star --threads 1 --batch 60 --out "$WORK/batch"
check "--batch: constants from all rows" equal "$(value out)" "$(value batch)"
search --category star --threads 1 >"$WORK/printed"
check "--batch: on the terminal" grep -q '^  3  *5 +- ' "$WORK/printed"
# values of strangers are shown as text: no control, nothing invisible, nothing that turns the line
# around
odd=$'\e[31ms2\u202e\u200b\xc2\x9b'
sed "s/,s2,/,$odd,/" "$WORK/law.csv" >"$WORK/odd.csv"
timeout "$LIMIT" "$BIN/symreg" "$WORK/odd.csv" --target y --features t,u --quiet --iterations 4 \
    "${small[@]}" --category name --threads 1 --out "$WORK/odd" >"$WORK/printed" 2>"$WORK/err"
check "values with controls: status" test $? -eq 0
check "values with controls: status: are shown" grep -q '^  ?\[31ms2????????  *3.5 ' "$WORK/printed"
check_not "values with controls: status: without their controls" \
    grep -qP '\x1b|\xc2\x9b|\xe2\x80[\x8b\xae]' \
    "$WORK/printed" "$WORK/err" "$WORK/odd/report.md"
check "values with controls: status: and kept in front.json" \
    grep -q '\\u001b\[31ms2' "$WORK/odd/front.json"
sed 's/"target":\t*"y"/"target": "y\\u001b[31m"/; s/"xxh64"/"without"/' \
    "$WORK/out/front.json" >"$WORK/target.json"
refuse "predict: a target with controls" 1 target.json '"target": expected a name without' -- \
    "$BIN/symreg" predict "$WORK/target.json" "$WORK/law.csv"
check "units" search --category star --threads 1 --units 't=s, u=kg, y=m' --out "$WORK/units"
check_not "units: of wrong dimension" grep -qE '\((t [+-] u|u [+-] t)\)' "$WORK/units/front.csv"

# ---- predict and --test
largest_error() { # FRONT
    "$BIN/symreg" predict "$WORK/$1/front.json" "$WORK/law.csv" |
        paste -d, "$WORK/law.csv" - | awk -F, 'NR > 1 { d = $6 - $5; d = d < 0 ? -d : d
            if (d > most) most = d } END { print NR, most < 1e-6 }'
}
check "predict" equal '91 1' "$(largest_error out)"
check "predict by name" equal '91 1' "$(largest_error text)"
sed 's/,s3,/,s9,/' "$WORK/law.csv" >"$WORK/other.csv"
refuse "predict: an unknown category" 1 "$WORK/other.csv:3: column \"name\": expected a category" \
    'that the search has seen ("s2", "s3", "s1"), found "s9"' \
    -- "$BIN/symreg" predict "$WORK/text/front.json" "$WORK/other.csv"
cut -d, -f3-5 "$WORK/law.csv" >"$WORK/without.csv"
refuse "predict: no column of categories" 1 'no column "name"' -- \
    "$BIN/symreg" predict "$WORK/text/front.json" "$WORK/without.csv"
head -n 40 "$WORK/law.csv" >"$WORK/second.csv"
check "--test" search --category star --threads 1 --test "$WORK/second.csv" --out "$WORK/test"
check "--test: with the constants of each category" \
    awk -F, 'END { exit !($4 < 1e-12 && $5 > 0.999) }' \
    "$WORK/test/front.csv"
refuse "--test: an unknown category" 1 "$WORK/other.csv:3: column \"name\"" -- \
    search --category name --test "$WORK/other.csv"

# ---- --resume
check "stopped after 2 epochs" search --category star --threads 1 --iterations 2 \
    --set symreg.seconds=0 --out "$WORK/resumed"
check "stopped after 2 epochs: goes on" \
    search --category star --threads 1 --resume --set symreg.seconds=0 \
    --out "$WORK/resumed"
check "stopped after 2 epochs: to the same front" \
    same_files "$WORK/out" "$WORK/resumed" front.csv front_full.csv
KEEP=$WORK/resumed refuse "--resume with another category" 1 '--category was "star", is "name"' \
    -- search --category name --threads 1 --resume --out "$WORK/resumed"

# ---- 60 velocities of one star by three spectrographs, each with a zero of its own
awk 'BEGIN {
    print "jd,v,tel"
    split("k j h", tel)
    split("12 -3 2050", zero)
    for (i = 0; i < 60; i++) {
        t = 2455066 + 1200 * ((i * i * 131 + 17 * i) % 997) / 997
        noise = (i * 37 % 101 + i * i * 53 % 89 + i * 11 % 97) / 50 - 2.8
        k = 1 + i * 7 % 11 % 3
        printf "%.5f,%.3f,%s\n", t, 35 * sin(0.428886 * (t - 2455066) + 0.4) + zero[k] + noise,
            tel[k]
    } }' >"$WORK/stars.csv"
for seed in 1 2; do
    timeout "$LIMIT" "$BIN/symreg" "$WORK/stars.csv" --target v --category tel --threads 1 \
        --seed "$seed" --evaluations 8000 >"$WORK/stars" 2>"$WORK/notes"
    check "a period that only all spectrographs show together is found, seed $seed" \
        grep -q '^best: .*(period 14\.6[45]' "$WORK/stars"
done

# ---- what is refused
sed '5s/^[^,]*/ /' "$WORK/law.csv" >"$WORK/empty.csv"
refuse "an empty cell" 1 "$WORK/empty.csv:5: column \"star\": expected a category, found \" \"" -- \
    "$BIN/symreg" "$WORK/empty.csv" --target y --category star --quiet
drops() {
    "$BIN/symreg" "$WORK/empty.csv" --target y --category star --missing drop --iterations 1 \
        "${small[@]}" 2>&1 >"$WORK/printed" | grep -q '1 of 90 rows have a missing value'
}
check "an empty cell: with --missing drop" drops
sed '1s/u/c2[star]/' "$WORK/law.csv" >"$WORK/taken.csv"
awk '{ print (NR > 1 ? "r" NR : "row") "," $0 }' "$WORK/law.csv" >"$WORK/each.csv"
refuse "a category for each row" 1 'two rows a category' 'found 90 categories' -- \
    "$BIN/symreg" "$WORK/each.csv" --target y --category row --seconds 1 --out "$WORK/none"
refuse "a column with the name of a constant" 1 'column "c2[star]" has the name of a constant' -- \
    "$BIN/symreg" "$WORK/taken.csv" --target y --category star --quiet
refusals timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --quiet --out "$run/out" <<'EOF'
no such column | 1 'no column "stars"; did you mean "star"?' | --category stars
the target | 2 '--category: "y" is the target' | --category y
the weights | 2 '--category: "u" is the weights' | --category u --weights u
a feature | 2 '--features: "star" is the --category' | --category star --features star,t
--compat pysr | 2 '--category: not with --compat pysr' | --category star --compat pysr
--permutations | 2 '--permutations: not with --category' | --category star --permutations 3
EOF

finish
