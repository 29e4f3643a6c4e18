#!/usr/bin/env bash
# test_compare.sh - the commands that checks are made of (compare.sh): each says yes to what it is
# for, and no to what is missing, empty, or said by a command that failed.
. tests/cli/lib.sh

yes() { # COMMAND...
    check "yes: $*" "$@"
}
no() { # by any status but those of a command that is not there
    "$@" >"$WORK/.check" 2>&1
    local status=$?
    check "no: $*" test $status -gt 0 -a $status -lt 126
}
cd "$WORK" || exit 1
printf 'a,b\n1,2\n3,4\n' >one
cp one same
printf 'a,b\n1,2\n3,5\n' >two
: >empty
mkdir folder folder/deeper like other less void
printf 1 | tee folder/x like/x other/x less/x >folder/deeper/y
mkdir like/deeper other/deeper
printf 1 >like/deeper/y
printf 2 >other/deeper/y

# ---- texts
yes equal a a
no equal a b
no equal '' ''
yes differ a b
no differ a a
no differ a ''
no differ '' a

# ---- files
yes filled one two
no filled
no filled one empty
no filled one none
no filled folder
yes same_file one same
no same_file one two
no same_file empty empty
no same_file none none
no same_file one none
yes other_file one two
no other_file one same
no other_file one empty
no other_file one none
no other_file none one
yes same_files folder like
yes same_files folder like x
no same_files folder other
no same_files folder less
no same_files less folder
no same_files void void
no same_files none none
no same_files folder like z
yes other_files folder other deeper/y
no other_files folder other x
no other_files folder other x deeper/y
no other_files folder other
no other_files folder less deeper/y

# ---- what commands print
broken() { # prints something, and fails
    echo text
    return 3
}
piped() { # a part of it fails
    cat "$1" | sort
}
quiet() {
    :
}
yes same_by sort one same
no same_by sort one two
no same_by sort one none
no same_by broken one same
no same_by piped none none
no same_by quiet one same
yes other_by sort one two
no other_by sort one same
no other_by sort one none
no other_by sort none one
no other_by broken one two
no other_by quiet one two
yes prints '^3,4$' cat one
yes prints '^3,4$' sh -c 'cat one >&2'
no prints '^4' cat one
no prints text broken
no prints '' quiet
yes lacks '^4' one
no lacks '^3' one
no lacks x empty
no lacks x none

# ---- folders
yes only 'x|deeper' folder
no only x folder
no only 'x|deepe' folder
no only x void
no only x none
yes clean folder like
no clean
no clean none
no clean folder none
touch like/deeper/y.12.partial
no clean like
no clean folder like

# ---- tables, help and pictures
printf '    --one X\n    --two\n' >help
printf '    --one X\n    --two\n    --one Y\n' >twice
yes each_once help
no each_once twice
no each_once empty
yes every_row one '$1 < $2' 2
no every_row one '$1 < 2'
no every_row one '$1 < $2' 3
no every_row none 1
no every_row empty 1
printf '\211PNG\r\n\032\n%0200d%s' 0 IENDxxxx >png
yes is_png png
no is_png png 1000
head -c 150 png >half
no is_png half
no is_png one
no is_png none
printf '{\n\t"loss":\t0.5,\n\t"last":\t"x"\n}\n' >json
yes equal 0.5 "$(value json loss)"
yes equal '"x"' "$(value json last)"
no equal "$(value json none)" "$(value json none)"
printf '%s\n' '{"step": 1, "loss": 2, "tokens_per_s": 7, "peak": 1}' \
    '{"val_loss": 9, "memory_mb": 7}' >log
sed 's/7/8/' log >faster
sed 's/2/3/' log >worse
yes same_by numbers log faster
no same_by numbers log worse

# ---- safetensors: 8 bytes of length, the header, the tensors
tensor_file() { # FILE SETTING A B
    local header='{"__metadata__":{"x":"'$2'"},"a":{"dtype":"F32","data_offsets":[0,4]},' length
    header+='"b":{"dtype":"F32","data_offsets":[4,8]}}'
    length=$(printf %x ${#header})
    printf "\\x$length\\0\\0\\0\\0\\0\\0\\0%s%s%s" "$header" "$3" "$4" >"$1"
}
tensor_file model 0 aaaa bbbb
tensor_file named 1 aaaa bbbb
tensor_file apart 0 aaaa bbbc
yes other_file model named
yes same_by tensors model named
no same_by tensors model apart
no same_by tensors empty empty
a() {
    tensor "$1" a
}
b() {
    tensor "$1" b
}
c() {
    tensor "$1" c
}
yes same_by a model apart
yes other_by b model apart
no same_by c model apart
no other_by c model apart
no same_by a none none
finish
