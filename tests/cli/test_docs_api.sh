#!/usr/bin/env bash
# test_docs_api.sh - the reference of the C library: doxygen understands every comment of orrery.h,
# and what it does not understand is an error.
. tests/cli/lib.sh
if ! command -v doxygen >/dev/null; then
    skip "the reference of the C library" "doxygen is not installed"
    finish
fi
reference() { # in a folder that has the header, changed by a command of sed
    mkdir -p "$WORK/tree/api" "$WORK/tree/base"
    cp api/Doxyfile "$WORK/tree/api" && cp base/version.h "$WORK/tree/base" &&
        sed "$1" api/orrery.h >"$WORK/tree/api/orrery.h" &&
        (cd "$WORK/tree" && B=build "$OLDPWD/tools/docs_api.sh")
}
refused() { # WHAT COMMAND: doxygen's status, and a warning that names it
    reference "$2" >"$WORK/out" 2>&1
    [ $? -ne 0 ] && grep -q "$1" "$WORK/out"
}
check "the reference of the C library" reference ''
pages=$WORK/tree/build/api-reference
check "... has a page" test -s "$pages/index.html"
for group in regression simulation model attention results; do
    check "... of the part $group" test -s "$pages/group__$group.html"
done
documented() {
    cat "$pages"/*.html | sed -nE 's/.*class="memname">[^<]*[ *](orrery_[a-z_]+) *<\/td>.*/\1/p' |
        grep -v '_call$' | sort -u
}
declared() {
    grep -oE '^ORRERY_CALL .*' api/orrery.h | grep -oE 'orrery_[a-z_]+\(' | tr -d '(' | sort -u
}
check "... with every function" equal "$(declared)" "$(documented)"
check "a parameter without a word is an error" refused 'orrery_model_rollout' \
    's/ \* @param prefix .*/ */'
check "... and a result" refused 'orrery_attention_variant' \
    's/ \* @return a text.*or NULL \*\// *\//'
check "... and a member" refused 'a_au' 's/double a_au; .*/double a_au;/'
check "... and a parameter that is not there" refused 'prefixes' \
    's/ @param prefix / @param prefixes /'
finish
