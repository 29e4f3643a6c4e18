#!/usr/bin/env bash
# test_symreg_templates.sh - --template: unknown functions and constants of a given form, in every
# output; units, guesses, predict, --test, --resume and --compat pysr with it; what is refused.
. tests/cli/lib.sh
fast_pictures

# deterministic tables: y = sin(x) / r^2 + 2 m, a potential, a velocity and a Yukawa force
awk 'BEGIN {
    print "x,r,m,phi,v,F,y,class"
    for (i = 1; i <= 120; i++) {
        x = 6 * (i * 37 % 101) / 101; r = 0.5 + 3.5 * (i * 53 % 97) / 97
        m = 1 + 4 * (i * 29 % 89) / 89
        printf "%.10g,%.10g,%.10g,%.15g,%.15g,%.15g,%.15g,%d\n", x, r, m,
            -3.2 / (r + 0.6) + 1.7 * x * x, 21.3 + 35 * cos(6.28 * x + 0.4),
            x * m / r ^ 2 * exp(-r / 5), sin(x) / r ^ 2 + 2 * m, i % 3
    }
}' >"$WORK/law.csv"
run=$WORK/run
mkdir "$run"
small=(--quiet --iterations 6 --set symreg.populations=6 --set symreg.cycles=60
    --set symreg.seconds=0)
search() { # TEMPLATE OPTION...
    timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --features x,r,m "${small[@]}" \
        --template "$@"
}
form='sin(x)*f(r) + g(m)'
parts() { # FOLDER: the smallest loss, and the columns of each part in all rows
    python3 - "$WORK/$1/front.json" <<'EOF'
import json, re, sys
front = json.load(open(sys.argv[1]))
print("exact" if front["front"][-1]["loss"] < 1e-12 else front["front"][-1])
for name in front["front"][0]["parts"]:
    used = " ".join(row["parts"][name] for row in front["front"])
    print(name, *sorted(set(re.findall(r"\b(?:x|r|m)\b", used))))
EOF
}

check "two functions" search "$form" --threads 1 --out "$WORK/out"
check "two functions: of their own columns" \
    equal "$(printf '%s\n' exact 'f(r) r' 'g(m) m')" "$(parts out)"
check_not "two functions: and no other form" \
    grep -vqE '^Complexity|"\(\(sin\(x\) \* .*\) \+ .*\)"$' \
    "$WORK/out/front.csv"
check "two functions: in the report" grep -q '^| `g(m)` | `(.*m.*)` |' "$WORK/out/report.md"
check "two functions: with the template" \
    grep -qF "Formulas have the form \`$form\`." "$WORK/out/report.md"
check "two functions: in the page" grep -qF "Formulas have the form <code>$form</code>." \
    "$WORK/out/report.html"
check "two functions: its parts in the page" \
    grep -q '^<tr><td><code>g(m)</code></td><td><code>(.*m.*)</code>' "$WORK/out/report.html"
check "two functions: its parts in the page: in other notations" \
    grep -q 'torch.sin(x)\*' "$WORK/out/front_full.csv"
search "$form" --threads 1 >"$WORK/printed"
check "$form: on the terminal" grep -qE '^  f\(r\) = .*r' "$WORK/printed"
for threads in 2 7; do
    check "$threads threads" search "$form" --threads $threads --out "$WORK/threads"
    check "$threads threads: the same front" \
        same_files "$WORK/out" "$WORK/threads" front.csv front_full.csv \
        front.json
done
check "a potential" search 'f(r) + g(x)' --target phi --out "$WORK/phi"
check "a potential: of two columns" equal "$(printf '%s\n' exact 'f(r) r' 'g(x) x')" "$(parts phi)"
check "a velocity with constants" search 'v0 + K*f(x)' --target v --unary sin,cos \
    --iterations 20 --out "$WORK/v"
check "a velocity with constants: which are numbers" \
    equal "$(printf '%s\n' exact v0 K 'f(x) x')" "$(parts v)"
check "a known force and a correction" search 'x*m/r^2 * f(r)' --target F --out "$WORK/force"
check "a known force and a correction: is found" \
    equal "$(printf '%s\n' exact 'f(r) r')" "$(parts force)"
check_not "a known force and a correction: with the numbers of the template" \
    grep -vqE '^Complexity|\(r \^ 2\)' \
    "$WORK/force/front.csv"
# one function that enters linearly: the seeds are those of its own table, before any island
awk -F, 'NR == 1 { print "x,r,m,y,w" } NR > 1 {
    printf "%s,%s,%s,%.15g,%d\n", $1, $2, $3,
        500 * $1 * $3 / $2 ^ 2 / (exp(1.85 * $2) - 1) - 3, NR % 4 }' \
    "$WORK/law.csv" >"$WORK/steep.csv"
steep() {
    program symreg "$WORK/steep.csv" --target y --features x,r,m --quiet --iterations 0 \
        --set symreg.seconds=0 --set symreg.enumerate=30000 --template 'x*m/r^2 * f(r) - 3' "$@"
}
check "a steep function" steep --threads 1 --out "$WORK/steep"
check "a steep function: is among the seeds" \
    equal "$(printf '%s\n' exact 'f(r) r')" "$(parts steep)"
check "a steep function: for any number of threads" steep --threads 3 --out "$WORK/threads"
check "a steep function: the same front" \
    same_file "$WORK/steep/front_full.csv" "$WORK/threads/front_full.csv"
check "a steep function: with weights" steep --weights w --out "$WORK/weighted"
check "a steep function: too" equal "$(printf '%s\n' exact 'f(r) r')" "$(parts weighted)"
awk 'BEGIN { print "x,m,y,w"; for (i = 1; i <= 90; i++)
    print i / 30 "," (i % 3) "," (i % 3) * sin(i / 30) "," (i % 3 == 0) }' >"$WORK/nothing.csv"
check "a steep function: which are 0 wherever it has an effect" \
    program symreg "$WORK/nothing.csv" --target y \
    --weights w --quiet --iterations 2 --set symreg.seconds=0 --template 'm * f(x)' \
    --out "$WORK/nothing"
awk -F, 'NR == 1 { print "x,m,y" } NR > 1 {
    printf "%s,%s,%.15g\n", $1, $3, ($3 * $3 + 1.003) * sin($1 + 7) }' "$WORK/law.csv" \
    >"$WORK/phase.csv"
check "a number of the template that is a phase" program symreg "$WORK/phase.csv" --target y \
    --quiet --iterations 2 --set symreg.seconds=0 --template 'f(m) * sin(x + 7)' \
    --out "$WORK/phase"
check "a number of the template that is a phase: stays, and others are rounded" \
    grep -qE '\(1\.003 \+ square\(m\)\)|square\(m\) \+ 1\.003\)' "$WORK/phase/front.csv"
check "a function that does not enter linearly" search 'exp(f(r))' --target F --iterations 2 \
    --out "$WORK/inner"
search 'h + pi*f(r)' --iterations 1 >"$WORK/printed" 2>&1
check "pi is a number" grep -qE '\+ \(3\.141592653589793 \* ' "$WORK/printed"
check "no product among the operators" search "$form" --binary + --unary square,inv,exp \
    --out "$WORK/sums"
check_not "no product among the operators: none in the functions" \
    grep -qE '\* [^+]*\*' "$WORK/sums/front.csv"
check "--batch" search "$form" --batch 60 --out "$WORK/batch"
check "--batch: gives functions of their columns" equal "$(parts out)" "$(parts batch)"
check "--compat pysr" search "$form" --compat pysr --out "$WORK/pysr"
check "--compat pysr: of their columns, too" equal "$(printf '%s\n' 'f(r) r' 'g(m) m')" \
    "$(parts pysr | sed 1d)"

# ---- units, guesses
check "units" search 'f(r) + g(x)' --target phi --units 'r=m, x=s, phi=m' --out "$WORK/units"
check_not "units: without factors of wrong dimension" grep -qE '\(r [+-] x|\+ x\)"' \
    "$WORK/units/front.csv"
check "a guess" search "0.5*$form" --guess '0.5*sin(x)*(1.5/square(r)) + m' --iterations 1 \
    --out "$WORK/guess"
check "a guess: whose other numbers are fitted" equal exact "$(parts guess | head -n 1)"
check_not "a guess: and not those of the template" grep -vqE '^Complexity|\(0\.5 \* sin\(x\)\)' \
    "$WORK/guess/front.csv"

# ---- bounds of constants
constants() { # FOLDER: the values of A in all rows
    python3 - "$WORK/$1/front.json" <<'EOF'
import json, sys
rows = json.load(open(sys.argv[1]))["front"]
print(*sorted({float(row["parts"]["A"]) for row in rows}))
EOF
}
check "a constant without bounds" search 'f(r)*sin(x) + A*m' --out "$WORK/free"
check "a constant without bounds is fitted" equal exact "$(parts free | head -n 1)"
check "bounds beside the optimum" search 'f(r)*sin(x) + A*m' --out "$WORK/bounded" \
    --constrain-constants '0 < A <= 1.5, A>-7'
check "bounds beside the optimum stop the constant, in every row" equal 1.5 "$(constants bounded)"
check "bounds around the optimum" search 'f(r)*sin(x) + A*m' --out "$WORK/around" \
    --constrain-constants '5>=A>1.75'
check "bounds around the optimum leave the constant" equal exact "$(parts around | head -n 1)"

# ---- a form of constants alone: v = 21.3 + 35 cos(6.28 x + 0.4)
wave() { # OPTION...
    "$BIN/symreg" "$WORK/law.csv" --target v --features x "${small[@]}" --threads 1 \
        --template 'v0 + A*cos(w*x + p)' "$@"
}
numbers() { # FOLDER: the values of the constants of the last row
    python3 - "$WORK/$1/front.json" <<'EOF'
import json, sys
parts = json.load(open(sys.argv[1]))["front"][-1]["parts"]
print(*(f"{name}={float(parts[name]):.6g}" for name in parts))
EOF
}
check "a form of constants alone" wave --out "$WORK/wave" --constrain-constants 'A>0,0<p<3,6<w<6.5'
check "a form of constants alone: they are fitted" \
    equal 'v0=21.3 A=35 w=6.28 p=0.4' "$(numbers wave)"
check "a bound beside the optimum, and a guess beyond it" wave --out "$WORK/beside" \
    --constrain-constants '0<A<30,6<w<6.5' --guess '20 + 33*cos(6.2*x + 0.3)'
check "a bound beside the optimum stops the constant" grep -q 'A=30 ' <<<"$(numbers beside)"
check "a bound that stops a constant is remarked on" \
    grep -q 'number 2, 30, is at its bound 30 ' "$WORK/beside/report.md"

# ---- predict, --test, --resume
check "predict" equal '121 1' "$("$BIN/symreg" predict "$WORK/out/front.json" "$WORK/law.csv" |
    paste -d, "$WORK/law.csv" - | awk -F, 'NR > 1 { d = $9 - $7; d = d < 0 ? -d : d
        if (d > most) most = d } END { print NR, most < 1e-6 }')"
check "--test" search "$form" --threads 1 --test "$WORK/law.csv" --out "$WORK/test"
check "--test: on the second table" awk -F, 'END { exit !($4 < 1e-12 && $5 > 0.999) }' \
    "$WORK/test/front.csv"
check "stopped after 3 epochs" search "$form" --iterations 3 --out "$WORK/resumed"
check "stopped after 3 epochs: goes on" search "$form" --resume --out "$WORK/resumed"
check "stopped after 3 epochs: to the same front" \
    same_files "$WORK/out" "$WORK/resumed" front.csv front_full.csv
KEEP=$WORK/resumed refuse "--resume with another template" 1 '--template was "sin(x)*f(r) + g(m)"' \
    -- search 'f(r) + g(m)' --resume --out "$WORK/resumed"

# ---- what is refused
refusals timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --features x,r,m,phi --quiet \
    --out "$run/out" --template <<'EOF'
no such column | 2 'g: expected a column' '"phy" (did you mean "phi"?)' | 'f(r) + g(phy)'
the target | 2 'in the brackets, found "y"' | 'f(y)'
the target as a constant | 2 '--template: "y" is the target or a column' | 'y + f(r)'
no feature | 2 '--template: "v" is the target or a column' | 'v*f(r)'
a constant and a function | 2 '"h" is both a constant and a function' | 'h(r) + h'
twice, other columns | 2 '"f" stands twice, with different columns' | 'f(r) - f(m)'
twice | 2 '"f" stands twice; expected every unknown function and constant once' | 'f(r) + x*f(r)'
numbers of columns | 2 '"f" has 1 column in brackets once and 2 another time' | 'f(r) + f(r, m)'
no unknown part | 2 '"m*r + 2" has no unknown function' 'no unknown constant' '--guess' | 'm*r + 2'
a known function without brackets | 2 '"sin" is a known function' | 'sin + f(r)'
a column that is called | 2 '"r" is a column and is called' | 'r(m) + f(x)'
a sum in brackets | 2 'f: expected names of columns' 'then ")", found "r+m)"' | 'f(r+m)'
a function in brackets | 2 'only columns may stand in the brackets' | 'f(g(r))'
no column in brackets | 2 'f: expected the name of a column in the brackets, found ""' | 'f() + 2'
a column twice | 2 'f: column "r" stands twice' | 'f(r, r)'
no closing bracket | 2 'f: expected names of columns' | 'f(r'
an equation | 2 'expected the right side alone' | 'y = f(r)'
syntax | 2 '--template: formula: expected a name' 'at character 7' | 'f(r) +'
empty | 2 '--template: formula: expected' | ''
too many | 2 'expected at most 8 unknown functions and constants' | 'a*b*c*d*e*k(r)*f(m)*g(x)*h'
no nodes | 2 '2 unknown functions need as many nodes, but --maxsize is 1' | 'f(r)+g(m)' --maxsize 1
--category | 2 '--template: not with --category' | 'f(r)' --category class --features x,r
a guess of another form | 2 'is not of the form of --template' | 'f(r) + g(m)' --guess 'r*m'
bounds of no constant | 2 '"K" is no unknown constant' | 'k*f(r)' --constrain-constants 'K>0'
bounds of a function | 2 '"f" is an unknown function' | 'k*f(r)' --constrain-constants 'f>0'
bounds of numbers | 2 'expected bounds of constants' | 'k*f(r)' --constrain-constants '1<2'
bounds of two signs | 2 'found "0<k>1"' | 'k*f(r)' --constrain-constants '0<k>1'
no number between bounds | 2 'between the bounds of "k"' | 'k*f(r)' --constrain-constants 'k>2,k<1'
EOF
refuse "bounds of a constant without --template" 2 'which only --template has' \
    -- "$BIN/symreg" "$WORK/law.csv" --target y --constrain-constants 'k>0'

finish
