#!/usr/bin/env bash
# test_docs_api.sh - the reference of the C library: doxygen understands every comment of orrery.h,
# and what it does not understand is an error.
. tests/cli/lib.sh

# Without doxygen: undocumented FILE prints each function whose comment lacks a parameter or a
# result, or that has no comment right before it.
undocumented() {
    awk '
        /^\/\*\*/ { comment = ""; open = 1; fresh = 0 }
        open { comment = comment " " $0 }
        open && /\*\// { open = 0; fresh = 1; next }
        open { next }
        /^ORRERY_CALL/ { declaration = "" ; documented = fresh; declares = 1 }
        declares { declaration = declaration " " $0 }
        !declares && NF { fresh = 0 }
        declares && /;/ {
            declares = fresh = 0
            name = declaration
            sub(/\(.*/, "", name)
            result = name !~ /ORRERY_CALL void /
            sub(/.*[ *]/, "", name)
            if (!documented || comment ~ /\/\*\*</) { print name; next }
            sub(/^[^(]*\(/, "", declaration)
            sub(/\);.*/, "", declaration)
            count = declaration == "void" ? 0 : split(declaration, parameter, ",")
            for (i = 1; i <= count; i++) {
                sub(/.*[ *]/, "", parameter[i])
                if (comment !~ "@param " parameter[i] "[ \n]") print name ": " parameter[i]
            }
            if (result != (comment ~ /@return /)) print name ": result"
        }' "$1"
}
all_documented() {
    cat api/orrery/*.h >"$WORK/all.h" && undocumented "$WORK/all.h" >"$WORK/left" &&
        [ ! -s "$WORK/left" ] ||
        { cat "$WORK/left" && return 1; }
}
check "every function of orrery.h is documented" all_documented
notices() { # WHAT COMMAND: what is said of the header, changed by a command of sed
    cat api/orrery/*.h | sed "$2" >"$WORK/changed.h"
    undocumented "$WORK/changed.h" | grep -qxF -- "$1"
}
check "every function of orrery.h is documented: a comment that is none is noticed" \
    notices orrery_attention_describe \
    's:^/\*\* Describes a variant:/* Describes a variant:'
check "every function of orrery.h is documented: and a comment of a member before a function" \
    notices orrery_results_open \
    's:^/\*\* Reads a table:/**< Reads a table:'
check "every function of orrery.h is documented: a parameter" \
    notices 'orrery_model_rollout: prefix' 's/ \* @param prefix .*/ */'
check "every function of orrery.h is documented: a result" \
    notices 'orrery_attention_variant: result' \
    's/ \* @return a text.*or NULL \*\// *\//'
if ! command -v doxygen >/dev/null; then
    skip "the reference of the C library" "doxygen is not installed"
    finish
fi
reference() { # in a folder that has the header, changed by a command of sed
    local header
    mkdir -p "$WORK/tree/api/orrery" "$WORK/tree/base" "$WORK/tree/docs"
    cp api/Doxyfile api/mainpage.dox "$WORK/tree/api" && cp -r docs/examples "$WORK/tree/docs" &&
        cp base/version.h "$WORK/tree/base" &&
        cp api/orrery.h "$WORK/tree/api" && for header in api/orrery/*.h; do
            sed "$1" "$header" >"$WORK/tree/$header" || return
        done &&
        (cd "$WORK/tree" && B=build "$OLDPWD/tools/docs_api.sh")
}
refused() { # WHAT COMMAND: doxygen's status, and a warning that names it
    reference "$2" >"$WORK/out" 2>&1
    [ $? -ne 0 ] && grep -q "$1" "$WORK/out" && [ ! -e "$WORK/tree/build/api-reference" ]
}
check "the reference of the C library" reference ''
pages=$WORK/tree/build/api-reference
check "the reference of the C library: has a page" test -s "$pages/index.html"
check "the reference of the C library: whose first page leads to all parts" \
    prints 'group__results.html' \
    cat "$pages/index.html"
check "the reference of the C library: and to examples" filled "$pages/regress_8c-example.html"
for group in regression formula simulation model attention results; do
    check "the reference of the C library: of the part $group" test -s "$pages/group__$group.html"
done
documented() {
    cat "$pages"/*.html | sed -nE 's/.*class="memname">[^<]*[ *](orrery_[a-z_]+) *<\/td>.*/\1/p' |
        grep -v '_call$' | sort -u
}
declared() {
    cat api/orrery/*.h | grep -A1 '^ORRERY_CALL ' | grep -oE 'orrery_[a-z_]+\(' |
        tr -d '(' | sort -u
}
check "the reference of the C library: with every function" equal "$(declared)" "$(documented)"
briefs() { # the first sentences
    cat "$pages"/group__*.html | grep 'class="mdescRight"' | sed 's/<[^>]*>//g; s/ *More\.\.\.$//'
}
check "the reference of the C library: each with a first sentence" test "$(briefs | wc -l)" -gt 50
briefs >"$WORK/briefs"
check_not "the reference of the C library: that does not end in a key" \
    grep -E '(symreg|orbits|planets)\. *$' "$WORK/briefs"
check "a parameter without a word is an error" refused 'orrery_model_rollout' \
    's/ \* @param prefix .*/ */'
check "a parameter without a word is an error: and a result" refused 'orrery_attention_variant' \
    's/ \* @return a text.*or NULL \*\// *\//'
check "a parameter without a word is an error: and a member" \
    refused 'a_au' 's/double a_au; .*/double a_au;/'
check "a parameter without a word is an error: and a parameter that is not there" \
    refused 'prefixes' \
    's/ @param prefix / @param prefixes /'
finish
