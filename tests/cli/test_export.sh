#!/usr/bin/env bash
# test_export.sh - orbits export --csv: the numbers of the data sets, named, with units.
. tests/cli/lib.sh
check "coordinates" program orbits --preset smoke --quiet --threads 1 --run "$WORK/run"
check "tokens" program orbits --preset smoke_tokens --quiet --threads 1 --run "$WORK/tokens"
data=$WORK/run/orbits out=$WORK/csv
check "export" program orbits export "$data" --csv --quiet --out "$out"
sets() {
    find "$1" -name "$2" -printf '%f\n' | sed -E 's/^(coords|obs)_//; s/\..*//' | sort
}
check "every set" equal "$(sets "$data" 'coords_*.npy')" "$(sets "$out" '*.csv')"
check "nothing else in the data" equal 0 "$(find "$data" -name '*.csv' | wc -l)"

# rows FILE CONDITION: columns by name ($x["f_..."]) of all rows, of which there are some, meet it
rows() {
    awk -F, 'function size(a) { return a < 0 ? -a : a }
        function near(a, b) { return size(a - b) <= 2e-6 * (size(a) + size(b)) + 1e-7 }
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { for (name in c) x[name] = $(c[name]); n++ }
        x["body"] == 1 { x1 = x["x_au"]; y1 = x["y_au"]; dx = x["dx_au"]; dy = x["dy_au"]
                         m1 = x["m1_msun"]; m2 = x["m2_msun"] }
        !('"${2//$'\n'/ }"') { print "row " NR ": " $0; exit bad = 1 }
        END { exit bad || !n }' "$1"
}
two=$out/two_body_test.csv
check "header" equal "$(head -n 1 "$two")" "sequence,name,step,t_yr,body,x_au,y_au,dx_au,dy_au,$(
    )vx_au_per_yr,vy_au_per_yr,m1_msun,m2_msun,$(
    )fx_msun_au_per_yr2,fy_msun_au_per_yr2,f_msun_au_per_yr2,m_msun"
check "the mass of each body" rows "$two" 'x["m_msun"] == (x["body"] == 1 ? m1 : m2)'
check "60 sequences of 20 steps and 2 bodies" equal 2401 "$(wc -l <"$two")"
check "times" rows "$two" 'near(x["t_yr"], x["step"] * 0.04)'
check "the second body is the origin of states" rows "$two" \
    'x["body"] == 1 || (near(x1 - x["x_au"], dx) && near(y1 - x["y_au"], dy))'
check "the centre of mass rests" rows "$two" \
    'x["body"] == 1 || size(m1 * x1 + m2 * x["x_au"]) < 1e-5'
unlabelled='x["f_msun_au_per_yr2"] == ""'
check "forces are Newton's" rows "$two" "$unlabelled"' || near(x["f_msun_au_per_yr2"],
    39.4784176 * m1 * m2 / (dx ^ 2 + dy ^ 2))'
check "forces are Newton's: towards the other body" rows "$two" "$unlabelled"' ||
    (near(x["fx_msun_au_per_yr2"] * dy, x["fy_msun_au_per_yr2"] * dx) &&
    x["fx_msun_au_per_yr2"] * dx <= 0)'
check "forces are Newton's: from step 8 on" rows "$two" \
    '(x["f_msun_au_per_yr2"] != "") == (x["body"] == 1 && x["step"] >= 8)'
check "planets by name" equal \
    "mercury venus earth mars jupiter saturn uranus neptune pluto icarus encke halley" \
    "$(awk -F, 'NR > 1 && !seen[$2]++ { printf "%s%s", s, $2; s = " " }' "$out/planets_solar.csv")"
check "planets by name: in AU" rows "$out/planets_solar.csv" \
    'x["body"] == 1 || (near(x1 - x["x_au"], dx) && near(y1 - x["y_au"], dy))'
check "sets without labels have positions" equal sequence,name,step,t_yr,body,x_au,y_au \
    "$(head -n 1 "$out/train.csv")"

# tokens: the middle of a bin lies within half a bin (0.25 AU in this preset) of the state
bin=$(sed -nE 's/.*"bins":[[:space:]]*([0-9]+).*/\1/p' "$WORK/tokens/orbits/manifest.json")
check "one set of tokens" program orbits export "$WORK/tokens/orbits" --csv --split two_body_test \
    --quiet --out "$WORK/one"
check "one set of tokens: and no other" equal two_body_test.csv "$(ls "$WORK/one")"
check "masses of planets" rows "$WORK/one/two_body_test.csv" \
    'x["m1_msun"] == "" || x["m_msun"] == x["m1_msun"]'
check "positions to half a bin" rows "$WORK/one/two_body_test.csv" "x[\"body\"] == 1 ||
    (size(x1 - x[\"x_au\"] - dx) <= 100.01 / $bin &&
    size(y1 - x[\"y_au\"] - dy) <= 100.01 / $bin)"
awk -F, 'NR == 1 || $16 != ""' "$two" >"$WORK/labelled.csv"
check "symreg reads labelled rows" prints 'm1_msun' program symreg "$WORK/labelled.csv" \
    --target f_msun_au_per_yr2 --features m1_msun,m2_msun --iterations 0 --maxsize 3 --quiet \
    --threads 1

KEEP=$WORK/run
refusals program orbits <<END
no format | 2 'expected --csv' | export $data
absent set | 1 'no data set solar_system' | export $data --csv --split solar_system --out $WORK/no
no sets | 1 'no data sets there' | export $WORK --csv
a misspelt set | 2 'did you mean "train"' | export $data --csv --split trian
--csv elsewhere | 2 '--csv: belongs to orbits export, not to orbits stat' | stat $data --csv
--split elsewhere | 2 '--split: belongs to orbits show and orbits export' | stat $data --split train
END
truncate -s 1000 "$data/force_magnitude_two_body_test.npy"
refuse "a damaged file" 1 force_magnitude_two_body_test.npy -- program orbits export "$data" --csv \
    --split two_body_test --out "$WORK/damaged"
check "a damaged file: leaves nothing" equal 0 "$(find "$WORK/damaged" -type f | wc -l)"
finish
