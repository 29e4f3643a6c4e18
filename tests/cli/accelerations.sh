# accelerations.sh - what tests of symreg motion ask of its table and formula. After lib.sh.
# computes NAME LAW TOLERANCE: the formula of rule best in $WORK/NAME is LAW of r, m1, m2 (in awk
# $1, $2, $3; 1 for masses that a table lacks) at the rows of accelerations.csv, to a relative
# tolerance
computes() {
    awk -F, 'NR == 1 { print "r,m1,m2"; next }
        { print $5 "," ($6 == "" ? 1 : $6) "," ($7 == "" ? 1 : $7) }' \
        "$WORK/$1/accelerations.csv" >"$WORK/at.csv"
    "$BIN/symreg" predict "$WORK/$1/front.json" "$WORK/at.csv" --rule best --quiet \
        >"$WORK/predicted.csv" || return 1
    paste -d, "$WORK/at.csv" "$WORK/predicted.csv" | awk -F, -v tolerance="$3" '
        NR > 1 { law = '"$2"'; off = $4 / law - 1; off = off < 0 ? -off : off
            if (off > worst) worst = off; n++ }
        END { print "largest relative deviation", worst; exit !(n > 5 && worst < tolerance) }'
}
