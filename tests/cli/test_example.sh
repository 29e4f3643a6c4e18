#!/usr/bin/env bash
# test_example.sh - docs/example/report.html is what `make example` makes of a run of the preset
# quick: by this version, with today's style and scripts, whole, and small.
. tests/cli/lib.sh
page=docs/example/report.html
# between FIRST LAST: the lines of the page between two lines, the first such part
between() {
    awk -v first="$1" -v last="$2" '$0 == last && on { exit } on; $0 == first { on = 1 }' "$page"
}
check "below 1.2 MB" test "$(wc -c <"$page")" -lt 1200000
check "a run of quick" grep -q 'Run <strong>quick</strong>, seed 0, ' "$page"
version=$(sed -nE 's/^#define ORR_VERSION "(.*)"/\1/p' base/version.h)
check "by this version (make world && make example)" grep -qF ", Orrery $version, " "$page"
between '<style>' '</style>' >"$WORK/style"
check "the style is figures/report.css" same_file figures/report.css "$WORK/style"
between '<script>' '</script>' >"$WORK/script"
check "the player is figures/player.js" same_file figures/player.js "$WORK/script"
check "all pictures" equal 15 "$(grep -o 'src="data:image/png;base64,' "$page" | wc -l)"
check "with their panels" equal 14 "$(grep -o ' data-panels="' "$page" | wc -l)"
check "whole" equal '</html>' "$(tail -n 1 "$page")"
check_not "no folder of the machine that made it" grep -E '(^|[ "=])/(home|root|tmp|mnt)/' "$page"
# the settings of the run are those of the preset, but for those that a default makes
check "settings of quick" grep -qF "&quot;about&quot;:	&quot;$(sed -nE \
    's/.*"about"[^"]*"([^"]*)".*/\1/p' presets/quick.json)&quot;" "$page"
mkdir "$WORK/none"
check_not "no run, no page" env BIN="$BIN" tools/example.sh "$WORK/none"
finish
