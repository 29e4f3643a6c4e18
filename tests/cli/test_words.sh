#!/usr/bin/env bash
# test_words.sh - the text that users see has the field's words: README.md, docs/, --help all, and
# the messages, which are string literals of the sources. Words that are ordinary English, too
# (figure, cell, narrow, exact, elsewhere, feed, see, save, watch), are left to readers.
. tests/cli/lib.sh

# a word (extended regular expression, whole words, either case) => what is said instead
words=$(grep . <<'END'
floors? => untrained, constant or persistence baseline
ceilings? => upper bound, or exact reference
bod(y|ies) that stays? => persistence
foretells? => predicts
foretold => predicted
lives on its own predictions => autoregressive rollout
places? => position
told from => not significantly different from; distinguished from
beyond chance => significant
chance brings => expected by chance
laws? (comes?|came) back => is recovered
laws? (goes?|went) on => extrapolates
worth more => label efficiency improves
mended => fixed
seen to fail => verified to fail when the code is broken
second reading => review
rooms? => submodule; disk space; capacity; headroom
silent => zero-output, degenerate
sharpen(s|ed|ing)? => re-weight
spends => may overwrite
books? => records
chains? => lineage
ledgers? => list of claims
rotates? => keep checkpoints
arms? => learner
judge[sd]? => decide, evaluate, test; held out
guesses => predictions
own (law|variant|operator|attention)s? => user-defined; the run's true law
second writing => independent reference implementation
its end => stopping criteria; the end of ...
(goes?|going) on => resume, continue
half-written => incomplete
tells? of => says, records
END
)

# where a word may stay => the text around it (extended regular expressions) => why
allowed=$(grep . <<'END'
docs/equations.md => floor\(\(x => the function of C
formula/(ops_table.h|print.c)|stage/settings_table.c => (^|[|])floor($|[|(]) => the operator
symreg/seed/(profiles|whole_numbers).c => floor\(u => the operator in a formula
bin/.*|docs/(python|symreg_options).md => (log10|cbrt).?,? .?floor.? => likewise
(docs/symreg_search|study/docs/symreg_results).md => .?floor.? => likewise
symreg/solve/export_reserved.c => . => names that C and SymPy reserve
((study/)?docs/.*|README.md) => in place of => an idiom, instead of
(README|docs/recipes).md => [Yy]our own attention => of the reader
docs/(exchange|models|python|programs|probe|install|tracks).md => judge => the name of a program
stage/main_orrery.c|figures/plot_probes.c|bin/(probe|orrery) => judge => likewise
probe/(table|main_probe|exchange/judge).c => judge => likewise
docs/formats.md => operators, guesses => of the option --guess
docs/symreg_options.md|symreg/solve/options.h => guesses => the parameter of --guess in Python
probe/(labels|inductive)/.* => ^arms?$ => a key of JSON files, which stored results have
base/safetensors.c => blanks behind its end => the end of a file's header
END
)

# texts: FILE:LINE: TEXT of everything that users see
texts() {
    local program
    grep -n . README.md docs/*.md docs/*/*.md study/docs/*.md | sed -E 's/^([^:]*:[^:]*):/\1: /'
    find base stage sim kernels model finetune probe symreg laws figures api study -name '*.[ch]' |
        sort | xargs awk -f tests/cli/words.awk
    for program in $PROGRAMS probe; do
        program "$program" --help all | sed "s/^/bin\/$program:0: /"
    done
}
# quiet_file FILE: nothing is in it; shown where something is
quiet_file() {
    [ ! -s "$1" ] || { cut -c1-120 "$1" && return 1; }
}
texts >"$WORK/texts"
check "texts of pages" test "$(grep -c '^docs/' "$WORK/texts")" -gt 2000
check "texts of sources" test "$(grep -c '^symreg/.*%s' "$WORK/texts")" -gt 100
check "texts of --help" test "$(grep -c '^bin/pretrain' "$WORK/texts")" -gt 50
check "adjacent literals are one text" grep -q \
    '^stage/cli.c:[0-9]*: settings to start from: .*, else quick)$' "$WORK/texts"

# left_out WORD: hits without those of the exceptions, which are marked as used
left_out() {
    awk -F ' => ' -v used="$WORK/used" '
        FNR == NR { file[NR] = "^(" $1 ")$"; around[NR] = $2; exception[NR] = $0; n = NR; next }
        {
            name = text = $0
            sub(/:.*/, "", name)
            sub(/^[^:]*:[^:]*: /, "", text)
            for (i = 1; i <= n; i++)
                if (name ~ file[i] && text ~ around[i]) {
                    print exception[i] >>used
                    next
                }
            print
        }' "$WORK/allowed" "$WORK/hits"
}
printf '%s\n' "$allowed" >"$WORK/allowed"
while IFS= read -r row; do
    word=${row% => *}
    grep -iE "^[^:]*:[0-9]*:.*(^|[^[:alnum:]_-])($word)([^[:alnum:]_-]|\$)" "$WORK/texts" \
        >"$WORK/hits"
    left_out >"$WORK/left"
    check "no \"$word\", but: ${row#* => }" quiet_file "$WORK/left"
done <<<"$words"
sort -u "$WORK/used" >"$WORK/was"
grep -vxFf "$WORK/was" "$WORK/allowed" >"$WORK/left"
check "every exception is needed" quiet_file "$WORK/left"
finish
