# compare.sh - commands for check() that cannot be met by nothing: files that are missing or empty,
# and commands that fail or print nothing, are alike to cmp, diff and test -z. Sourced by lib.sh.

# equal A B, differ A B: texts, neither of them empty
equal() {
    [ -n "$1" ] && [ "$1" = "$2" ] || { printf '"%s" and "%s"\n' "$1" "$2" && return 1; }
}
differ() {
    [ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ] ||
        { printf '"%s" and "%s"\n' "$1" "$2" && return 1; }
}

# filled FILE...: each is there and not empty, and there is one
filled() {
    local file
    [ $# -gt 0 ] || { echo "no file to look at" && return 1; }
    for file in "$@"; do
        [ -f "$file" ] && [ -s "$file" ] || { echo "missing or empty: $file" && return 1; }
    done
}

# same_file A B, other_file A B: neither of them empty
same_file() {
    filled "$1" "$2" && cmp "$1" "$2"
}
other_file() {
    filled "$1" "$2" || return 1
    ! cmp -s "$1" "$2" || { echo "the same: $1 $2" && return 1; }
}

# same_files A B [FILE...], other_files A B FILE...: each file of two folders. Without a FILE every
# file below A, and there are no others below B.
same_files() {
    local a=$1 b=$2 file
    shift 2
    if [ $# -eq 0 ]; then
        same_by files_below "$a" "$b" || return 1
        mapfile -t <"$WORK/.a"
        for file in "${MAPFILE[@]}"; do
            cmp "$a/$file" "$b/$file" || return 1
        done
    fi
    for file in "$@"; do
        same_file "$a/$file" "$b/$file" || return 1
    done
}
other_files() {
    local a=$1 b=$2 file
    shift 2
    [ $# -gt 0 ] || { echo "no file to look at" && return 1; }
    for file in "$@"; do
        other_file "$a/$file" "$b/$file" || return 1
    done
}
files_below() {
    (cd "$1" && find . -type f | sort)
}

# undated PAGE, without_page RECORD: the page of a report without the minute in its head, and its
# record without the page's sum, which that minute changes, and its own: for same_by
undated() {
    sed 's/, [0-9]\{4\}-[0-9][0-9]-[0-9][0-9] [0-9:]\{5\} UTC</</' "$1"
}
without_page() {
    sed '/"report.html":/,/}/d; /^\t"xxh64":/d' "$1"
}

# same_by COMMAND A B, other_by COMMAND A B: what the command prints for A and for B. It succeeds
# for both and prints something; in a pipeline, every part of it has to.
same_by() {
    by "$@" && diff "$WORK/.a" "$WORK/.b"
}
other_by() {
    by "$@" || return 1
    ! cmp -s "$WORK/.a" "$WORK/.b" || { echo "the same by $1: $2 $3" && return 1; }
}
by() {
    "$1" "$2" >"$WORK/.a" && "$1" "$3" >"$WORK/.b" && filled "$WORK/.a" "$WORK/.b"
}

# prints PATTERN COMMAND...: it succeeds, and a line that it prints, anywhere, matches (grep -E)
prints() {
    local pattern=$1
    shift
    "$@" >"$WORK/.printed" 2>&1 || { cat "$WORK/.printed" && return 1; }
    grep -Eq -- "$pattern" "$WORK/.printed" || { head -n 5 "$WORK/.printed" && return 1; }
}

# lacks PATTERN FILE: the file is filled, and no line of it matches (grep -E)
lacks() {
    filled "$2" || return 1
    ! grep -E -- "$1" "$2"
}

# only PATTERN FOLDER: it holds something, and nothing whose name does not match (grep -Ex)
only() {
    [ -n "$(ls -A "$2")" ] || { echo "missing or empty: $2" && return 1; }
    ! ls -A "$2" | grep -vxE -- "$1"
}

# clean FOLDER...: each is there, without the files that only an interrupted write leaves
clean() {
    local folder
    [ $# -gt 0 ] || { echo "no folder to look at" && return 1; }
    for folder in "$@"; do
        [ -d "$folder" ] || { echo "no folder $folder" && return 1; }
    done
    ! leftovers "$@" | grep .
}
leftovers() { # FOLDER...
    find "$@" \( -name '*.orrery-partial' -o -name '*.partial' -o -name '*.tmp' \
        -o -name '.report-*' -o -name '.probe-*' \) 2>/dev/null
}

# every_row FILE CONDITION [ROWS]: of a CSV file with a header, awk's condition on the cells holds
# for every row, and there are at least so many (1)
every_row() {
    awk -F, -v rows="${3:-1}" "NR > 1 && !($2)"' { print FILENAME ":" FNR ": " $0; bad = 1 }
        END { exit bad || NR <= rows }' "$1"
}

# each_once FILE: no option stands twice in a help text
each_once() {
    grep -oE '^ +--[a-z-]+' "$1" | sort >"$WORK/.options" && ! uniq -d "$WORK/.options" | grep .
}

# is_png FILE [BYTES]: signature, end chunk, and larger than so many bytes
is_png() {
    equal 89504e470d0a1a0a "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" &&
        equal IEND "$(tail -c 8 "$1" | head -c 4)" && [ "$(wc -c <"$1")" -gt "${2:-100}" ]
}

# value FILE KEY: of the first such key of a JSON file
value() {
    sed -n "s/^[[:space:]]*\"$2\":[[:space:]]*\(.*[^,]\),*$/\1/p" "$1" | head -n 1
}

# numbers LOG: without speeds and memory, which are a matter of the machine
numbers() {
    sed -E 's/, "(tokens_per_s|memory_mb)": [^}]*//' "$1"
}

# tensor FILE NAME: the bytes of one tensor of a safetensors file
tensor() {
    local length extent begin end
    length=$(od -An -tu8 -N 8 "$1") || return 1
    extent="s/.*\"$2\":{[^}]*\"data_offsets\":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p"
    # (the header is a line without an end, which read takes, but returns 1)
    read -r begin end < <(head -c $((length + 8)) "$1" | tail -c "$length" | sed -n "$extent")
    [ -n "$end" ] && head -c $((length + 8 + end)) "$1" | tail -c $((end - begin)) | cksum
}

# tensors FILE: what a safetensors file holds, without its header and what that says of settings
tensors() {
    local length
    filled "$1" && length=$(od -An -tu8 -N 8 "$1") && tail -c +$((length + 9)) "$1" | cksum
}
