#!/usr/bin/env bash
# test_rank_order.sh - study/rank_order.sh: Spearman's rank correlation between kept cells.
. tests/cli/lib.sh

# cell FOLDER ATTENTION VALUE: beside another quantity and another length
cell() {
    mkdir -p "$WORK/$1"
    cat >"$WORK/$1/seed0-$2.json" <<END
{
	"rows":	[{
			"quantity":	"next token",
			"context":	1024,
			"value":	9
		}, {
			"quantity":	"next token, beyond",
			"context":	512,
			"value":	8
		}, {
			"quantity":	"next token, beyond",
			"context":	1024,
			"value":	$3
		}]
}
END
}
cells() { # FOLDER VALUE...: of a, b, c, d
    local folder=$1 name=abcd
    shift
    for ((i = 0; i < $#; i++)); do cell "$folder" ${name:i:1} "${@:i+1:1}"; done
}
cells one 1.5 2.5 3e0 10
cells same 0.1 0.2 0.3 0.4
cells turned 4 3 2 1
cells near 1 3 2 4
cells tied 1 2 2 4
order() {
    study/rank_order.sh "$WORK/one" "$WORK/$1" | tail -n 1
}
check "one order" equal "4 variants, rank correlation 1.000" "$(order same)"
check "the other way about" equal "4 variants, rank correlation -1.000" "$(order turned)"
check "two exchanged" equal "4 variants, rank correlation 0.800" "$(order near)"
check "equal values" equal "4 variants, rank correlation 0.949" "$(order tied)"
rm "$WORK/same/seed0-d.json"
check "those that both have" equal "3 variants, rank correlation 1.000" "$(order same)"
rm "$WORK/same/seed0-c.json"
check_not "too few" study/rank_order.sh "$WORK/one" "$WORK/same"
nowhere() {
    study/rank_order.sh "$WORK/one" "$WORK/nowhere" 2>/dev/null || echo $?
}
check "no folder" equal 2 "$(nowhere)"
finish
