#!/usr/bin/env bash
# lint_links.sh FILE.md... - what a document points to is there: links [text](file#heading), and
# names of sources and folders of this repository (kernels/variants.c, curves.c, tests/golden/,
# kernels/{ref,cpu}/, bench/peer_*.py). Names of what programs write (laws/laws.json) are not looked
# at, but for the first cells of bench/results/README.md, which list its folder.
# Rows of a table have as many cells as its head; a | within a cell is written \|. Run from the
# repository root. Prints one line per complaint; exit status 1 when there is one.
set -u
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
source_file='\.(c|h|cu|cuh|cc|sh|py|gp|mk|awk)$'
mapfile -t tree < <(find . \( -name '.git' -o -path './build*' -o -path ./bin -o -path ./runs \) \
    -prune -o -type f -print | sed 's:^\./::')
names=" $(printf '%s\n' "${tree[@]##*/}" | sort -u | tr '\n' ' ') "

# anchors FILE: of its headings, as web pages of repositories name them
anchors() {
    sed -n 's/^#\{1,6\} \(.*\)/\1/p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'
}
link() { # FILE LINE TARGET
    local file=$1 line=$2 target=${3%%#*} heading=
    case $3 in *://* | mailto:*) return ;; *\#*) heading=${3#*#} ;; esac
    if [ -z "$target" ]; then
        target=$file
    else
        case $file in */*) target=${file%/*}/$target ;; esac
    fi
    if [ ! -e "$target" ]; then
        complain "$file:$line: a link to $3, which is not there"
    elif [ -n "$heading" ] && ! anchors "$target" | grep -qFx -- "$heading"; then
        complain "$file:$line: a link to $3, but there is no such heading"
    fi
}
name() { # FILE LINE WORD: path or file name
    local path word
    [[ $3 =~ ^[A-Za-z0-9_./*{},-]+$ ]] || return # braces and stars are all that is expanded
    for path in $(eval "set -f; echo $3"); do
        path=${path#./}
        word=${path%%/*}
        case $path in
        ../* | /* | build* | bin/* | runs/* | bench/results/*.json | study/results*) ;;
        study/test_*) ;; # what make check-one takes: study/tests/test_*
        llm.c) ;; # a program of this name, not a file
        */*)
            [ -d "$word" ] || continue
            case $word in tests | docs | presets | tools | bench | study | .ci) ;; *)
                [[ $path =~ $source_file || $path == */ ]] || continue
                [[ $path != laws/ && $path != figures/ ]] || continue ;;
            esac
            compgen -G "${path%/}" >/dev/null || complain "$1:$2: there is no $path"
            ;;
        *)
            [[ ! $path =~ $source_file || $path == *"*"* || $names == *" $path "* ]] ||
                complain "$1:$2: there is no file $path"
            ;;
        esac
    done
}

[ $# -gt 0 ] || complain "no document"
for file in "$@"; do
    if [ ! -e "$file" ]; then
        complain "$file is not there"
        continue
    fi
    while IFS=$'\t' read -r line target; do
        link "$file" "$line" "$target"
    done < <(awk '{ rest = $0
        while (match(rest, /\]\([^) ]+\)/)) {
            print FNR "\t" substr(rest, RSTART + 2, RLENGTH - 3)
            rest = substr(rest, RSTART + RLENGTH)
        } }' "$file")
    while read -r line cells columns; do
        complain "$file:$line: a row of $cells cells in a table of $columns"
    done < <(awk '!/^\|/ { columns = 0; next }
        { gsub(/\\[|]/, ""); cells = gsub(/[|]/, "") - 1; columns = columns ? columns : cells }
        cells != columns { print FNR, cells, columns }' "$file")
    [ "$file" != bench/results/README.md ] || while IFS=: read -r line word; do
        [ -e "${file%/*}/${word# }" ] || complain "$file:$line: there is no ${file%/*}/${word# }"
    done < <(sed 's/^| *\([^|]*\).*/ \1/; t; s/.*//' "$file" |
        grep -noE ' [A-Za-z0-9][A-Za-z0-9_-]*\.(json|csv|txt)(\.gz)?')
    while IFS=: read -r line word; do
        word=${word%%[.,]}
        name "$file" "$line" "$word"
    done < <(sed -e 's/([^) ]*:\/\/[^)]*)//g' -e 's/\](\([^)]*\))/]/g' \
            -e 's/[^ `(]*[<][^>]*[>][^ `)]*//g' "$file" |
        grep -noE '(^|[[:space:]`("])[A-Za-z0-9_./*{},-]*[./][A-Za-z0-9_./*{},-]*' |
        tr -d '`("\t ')
done
[ "$failures" -eq 0 ]
