#!/usr/bin/env bash
# lint_includes.sh - every #include "..." of a folder goes where the table of folders.mk allows.
# Prints one line per complaint; exit status 1 when there is one.
#
# FOLDERS_TABLE=file: the table as `make -s print-folders` prints it (default: asks make).
set -u
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
declare -A uses=() enters=()
while read -r kind name rest; do
    uses[$name]=" ${rest##*: } "
    case $kind in folder) enters[$name]=" ${rest%%:*}" ;; esac
done < <(if [ -n "${FOLDERS_TABLE:-}" ]; then cat "$FOLDERS_TABLE"; else
    MAKEFLAGS= make -s --no-print-directory print-folders; fi)
[ ${#uses[@]} -gt 0 ] || complain "no table of folders"

# who compiles what with the headers of another place, and why
declare -A ELSEWHERE=([kernels/cuda/cuda.h:cuda_host.h]="emulation of CUDA, in tests/cuda/host")

for name in "${!uses[@]}"; do
    [ -d "$name" ] || complain "folders.mk: there is no folder $name"
    [ "${name%%/*}" = study ] || [[ ${uses[$name]} != *" study "* ]] ||
        complain "folders.mk: $name uses study, which uses the product and is used by none of it"
    for other in ${uses[$name]}; do
        [ "$other" = "$name" ] || [[ ${uses[$other]:-} != *" $name "* ]] ||
            complain "folders.mk: $name and $other use each other"
    done
done

# look FILE INCLUDED: the complaint about one line, if any
look() {
    local file=$1 included=$2 place=${1%/*} folder=${1%%/*}
    # (a subfolder of the file's own comes first, as for the compiler)
    [[ $included != */* ]] || [ ! -e "$place/$included" ] || included=$place/$included
    local owner=${included%/*} owners=${included%%/*}
    [ -z "${ELSEWHERE[$file:$2]:-}" ] || return
    if [ "$owner" = "$included" ]; then # no folder: own
        [ -e "$place/$included" ] || complain "$file: \"$included\" is not in $place"
    elif [ ! -e "$included" ]; then
        complain "$file: there is no \"$included\""
    elif [ "$owner" = "$place" ]; then
        :
    elif [ "$owners" = "$folder" ]; then # files of the folder itself stand above its submodules
        [ "$place" = "$folder" ] || [[ ${uses[$place]} == *" $owner "* ]] ||
            complain "$file: submodule $place may not use $owner (\"$included\")"
    elif [[ ${uses[$folder]} != *" $owners "* ]]; then
        complain "$file: $folder may not use $owners (\"$included\")"
    elif [ "$owner" != "$owners" ] && [[ ${enters[$folder]} != *" $owner "* ]]; then
        complain "$file: $folder may not enter $owner (\"$included\")"
    fi
}

files=0
while read -r file; do
    files=$((files + 1))
    if [ -z "${uses[${file%/*}]:-}" ]; then
        complain "$file: ${file%/*} is not in the table of folders.mk"
        continue
    fi
    while read -r included; do
        look "$file" "$included"
    done < <(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file")
done < <(for name in "${!enters[@]}"; do
    find "$name" -path '*/tests' -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) \
        -print
done | sort)
[ "$files" -gt 0 ] || complain "no source files"
[ "$failures" -eq 0 ]
