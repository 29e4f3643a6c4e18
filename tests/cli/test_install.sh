#!/usr/bin/env bash
# test_install.sh - what make install copies works with nothing of the source: in another folder,
# with only the installed programs on the PATH, from wherever the tree is moved; and uninstall takes
# all of it away. (tools/install.sh is called as make does; make would build for another PREFIX.)
. tests/cli/lib.sh
unset ORRERY_PRESETS
tree=$WORK/tree root=$WORK/tree/usr source=$PWD
install_to() { # DESTDIR PREFIX WHAT
    env BIN="$BIN" PREFIX="$2" DESTDIR="$1" LIBDIR=lib INSTALL_PROGRAMS="${4:-}" \
        tools/install.sh "$3"
}
check "install" install_to "$tree" /usr install
check "install: is what make runs" \
    prints "PREFIX='/usr' DESTDIR='$tree' LIBDIR='lib' tools/install.sh" \
    make -n install CUDA=0 BIN="$BIN" PREFIX=/usr DESTDIR="$tree" LIBDIR=lib
check "install: and its switch for more names" prints "INSTALL_PROGRAMS='1'" \
    make -n install CUDA=0 BIN="$BIN" PREFIX=/usr DESTDIR="$tree" INSTALL_PROGRAMS=1
check "orrery is the only program on the PATH" equal orrery "$(ls "$root/bin")"
check "no file can be written by others" equal "0" "$(find "$tree" -type f -perm /022 | wc -l)"
check "the list has every file" equal "$(cd "$root" && find . ! -type d | sed 's:^\./::' |
    grep -vx share/orrery/files | LC_ALL=C sort)" "$(cat "$root/share/orrery/files")"

# ---- programs, where nothing else is
empty=$WORK/empty
mkdir "$empty"
away() { # COMMAND...: in an empty folder, with a bare environment
    (cd "$empty" && env -i PATH="$root/bin:/usr/bin:/bin" HOME="$empty" TMPDIR="$WORK" \
        LC_ALL=C.UTF-8 OMP_WAIT_POLICY=passive timeout "$LIMIT" "$@" </dev/null)
}
check "orrery -h" prints '^usage: orrery PROGRAM' away orrery -h
check "orrery --version" prints '^orrery [0-9.]+' away orrery --version
check "help of a program says how it is called" prints '^usage: orrery symreg ' \
    away orrery symreg --help
check "help of a program says how it is called: in every line of the usage" \
    prints '^       orrery symreg motion ' \
    away orrery symreg --help
check "help of a program says how it is called: and so does a refusal" \
    prints 'usage: orrery pretrain ' away sh -c \
    'orrery pretrain x 2>&1 | cat'
check "orrery orbits --version" prints '^orrery orbits [0-9.]+' away orrery orbits --version
check "a world" away orrery world PRESET=smoke RUN=run THREADS=1 \
    SET="symreg.enumerate=10000 finetune.samples=1"
check "a world: has its page" filled "$empty/run/report.html"
check "a world: with pictures" filled "$empty/run/figures/forces_earth.png"
check "a world: and a second one keeps all" away orrery world PRESET=smoke RUN=run THREADS=1 \
    SET="symreg.enumerate=10000 finetune.samples=1"
check "plan" prints '^keep .*report.html' away orrery plan PRESET=smoke RUN=run THREADS=1 \
    SET="symreg.enumerate=10000 finetune.samples=1"
cp docs/data/planets.csv "$empty/table.csv"
check "symreg on a CSV" prints 'sqrt' away orrery symreg table.csv --target T_yr --maxsize 5 \
    --threads 1 --quiet --set symreg.enumerate=10000
check "report" away orrery report --run run --out page --quiet
check "report: its page" filled "$empty/page/report.html"
check "orrery cells, a grid by its name" prints "$root/libexec/orrery/pretrain" \
    away orrery cells context
check "results lie in the working folder alone" equal "page run table.csv" "$(echo $(ls "$empty"))"
check "results lie in the working folder alone: none in the tree" \
    equal "$(wc -l <"$root/share/orrery/files")" \
    "$(($(find "$root" ! -type d | wc -l) - 1))"
refuse_orrery() { # STATUS WORDS COMMAND...
    local status=$1 words=$2 got
    shift 2
    away "$@" >"$WORK/out" 2>"$WORK/err"
    got=$?
    [ $got -eq "$status" ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] &&
        grep -qF -- "$words" "$WORK/err" ||
        { echo "status $got" && cat "$WORK/err" && return 1; }
}
check "an unknown command" refuse_orrery 2 'did you mean symreg?' orrery symrek
check "a word that is like none is taken for a misspelt command" \
    refuse_orrery 2 'unknown command "result"; see --help' orrery result
for word in motion orbit predict simulate import verify show export runs seeds effects losses; do
    away orrery $word >"$WORK/out" 2>"$WORK/err"
    meant=$(sed -n 's/.*did you mean \(.* .*\)?; see --help$/\1/p' "$WORK/err")
    # shellcheck disable=SC2086 # two words
    check "orrery $word names no command of a program" \
        away orrery ${meant:-nothing} --help >"$WORK/out"
done
check "orrery lab tells an error by another name than its own" \
    refuse_orrery 2 'lab: error: unexpected argument "nonsense"' orrery lab nonsense
check "an unknown word" refuse_orrery 2 'did you mean PRESET=...?' orrery world PRESSET=smoke
check "an unknown word: says which there are" \
    refuse_orrery 2 'one of PRESET, RUN, SET' orrery world XYZ=1
check "an unknown word: an option in place of a word" \
    refuse_orrery 2 'did you mean ORBITS_DIR=...?' \
    orrery plan --orbits-dir=x
check "an unknown word: small letters" refuse_orrery 2 'did you mean RUN=...?' orrery world run=x
check "FORCE is a switch" refuse_orrery 2 'FORCE: expected 1 or 0, found "maybe"' \
    orrery world PRESET=smoke FORCE=maybe
forced() { # FORCE: options --force in the command lines of a world that is up to date
    away orrery world PRESET=smoke RUN=run THREADS=1 FORCE="$1" \
        SET="symreg.enumerate=10000 finetune.samples=1" 2>&1 |
        tee "$WORK/forced" | grep -c -- '--force'
}
check "FORCE is a switch: which 0 leaves off" equal 0 "$(forced 0)"
check "FORCE is a switch: in a world that keeps all" prints 'is up to date' cat "$WORK/forced"
for words in help "world --help" "stage pretrain -h" "watch --help" "check -h"; do
    check "orrery $words" prints '^usage: orrery PROGRAM' away orrery $words
done
# a training that stops says how to go on: by words that a shell finds
short=(--preset smoke --run "$WORK/short" --orbits "$empty/run/orbits" --attention softmax
    --threads 1)
away orrery pretrain "${short[@]}" --set pretrain.steps=100000 --minutes 0.002 >"$WORK/out" 2>&1
check "a stopped training says how to resume it, by orrery" grep -q \
    "^resume with: $root/bin/orrery pretrain --preset smoke .* --resume\$" "$WORK/out"
resumed=$(sed -n 's/^resume with: //p' "$WORK/out")
check "a stopped training says how to resume it, by orrery: by a command that works" \
    prints '^resume with: ' away sh -c "$resumed 2>&1 | cat"
check "what another program makes is asked of orrery" refuse_orrery 1 \
    "make them with: $root/bin/orrery orbits --preset smoke --run none" \
    orrery pretrain --preset smoke --run none
check "an unknown stage" refuse_orrery 2 'found "reports"' orrery stage reports
check "a stage that fails ends the world" refuse_orrery 2 'no preset "smok"' bash -c \
    'orrery world PRESET=smok 2>&1 | grep error >&2; exit ${PIPESTATUS[0]}'

# ---- a moved tree, and a program without its tree
mv "$tree" "$WORK/moved" && root=$WORK/moved/usr
needs_target() { # COMMAND...: the preset was found, and the next complaint is about --target
    refuse_orrery 2 'FILE.csv' "$@" --preset table --target y
}
check "a moved tree finds its presets" needs_target orrery symreg
mkdir "$WORK/alone" && cp "$root/libexec/orrery/symreg" "$WORK/alone/"
check "a program alone does not" refuse_orrery 2 'no preset "table"' "$WORK/alone/symreg" \
    --preset table --target y
check "a program alone does not: but with ORRERY_DATA" \
    needs_target env ORRERY_DATA="$root/share/orrery" \
    "$WORK/alone/symreg"

# ---- man pages, completion
page_of() { # PROGRAM
    [ "$1" = orrery ] && echo orrery || echo "orrery-$1"
}
man_page() { # NAME: groff has no complaint
    local page=$root/share/man/man1/$(page_of "$1").1
    filled "$page" && MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
        >"$WORK/out" 2>"$WORK/err" && [ ! -s "$WORK/err" ] || { cat "$WORK/err" && return 1; }
}
options_in_page() { # NAME: each option of --help is in it
    local option page=$root/share/man/man1/$(page_of "$1").1
    for option in $("$BIN/$1" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.* //'); do
        grep -qF -- "${option//-/\\-}" "$page" ||
            { echo "$option" && return 1; }
    done
}
for name in orrery $PROGRAMS laws probe compare sample; do
    if command -v man >/dev/null; then
        check "man page of $name" man_page "$name"
    else
        skip "man page of $name" "no man"
    fi
    check "a program alone does not: has its options" options_in_page "$name"
done
check "the page's synopsis is what a user types" prints '^orrery symreg \[options\]$' \
    sed 's/\\-/-/g' "$root/share/man/man1/orrery-symreg.1"
completion=$root/share/bash-completion/completions/orrery
complete_words() { # WORD...: what bash offers for the last one
    bash -c '. "$1" && shift && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && compopt() { :; } &&
        cd "$0" && _orrery && printf "%s\n" "${COMPREPLY[@]}"' "$empty" "$completion" "$@" 2>&1
}
PATH=$root/bin:$PATH
check "bash completion: a command" prints '^symreg$' complete_words orrery symr
check "bash completion: a command: an option" \
    prints '^--target$' complete_words orrery symreg --targ
check "bash completion: a command: an option that has a letter, too" \
    prints '^--out$' complete_words orrery symreg --ou
check "bash completion: a command: of orrery itself" prints '^--help$' complete_words orrery --he
check "bash completion: a command: of a program by orrery" \
    prints '^--animate$' complete_words orrery report --anim
check "bash completion: a command: a setting" \
    prints '^symreg.maxsize=$' complete_words orrery symreg --set symreg.maxs
check "bash completion: a command: a preset" \
    prints '^laptop$' complete_words orrery orbits --preset lap
check "bash completion: a command: a word" prints '^PRESET=$' complete_words orrery world PRES
check "bash completion: a command: a file" prints '^table.csv$' complete_words orrery symreg table
completed() { # FILE: the names that it completes
    bash -c '. "$0" && complete -p' "$(realpath "$1")" | sed 's/.* //' | LC_ALL=C sort | xargs
}
check "bash completion: a command: a file: of no name that is not installed" \
    equal orrery "$(completed "$completion")"
if command -v zsh >/dev/null; then
    check "zsh completion parses" zsh -n "$root/share/zsh/site-functions/_orrery"
else
    skip "zsh completion parses" "no zsh"
fi
check "zsh completion parses: and begins as zsh wants it" prints '^#compdef orrery$' \
    head -n 1 "$root/share/zsh/site-functions/_orrery"

# ---- scripts for Slurm, in a folder that is no repository
one_task() { # SCRIPT ARGUMENT...: as the only task of a job array
    env -C "$empty" SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=1 bash \
        "$(realpath "$root/share/doc/orrery/docs/cluster")/$1" "${@:2}"
}
check "orbits.sbatch finds orrery" one_task orbits.sbatch --preset smoke --quiet --out sets \
    --set orbits.train=20 --set orbits.train_files=20 --set planets.enabled=false
check "orbits.sbatch finds orrery: and makes the data sets" test -e "$empty/sets/manifest.json"
one_task cells.sbatch no.grid >"$WORK/out" 2>&1 # a grid that is not there
check "cells.sbatch finds orrery" grep -q 'no.grid: no such grid' "$WORK/out"
for script in "$root"/share/doc/orrery/docs/cluster/*.sbatch; do
    check "$(basename "$script") parses" bash -n "$script"
    check "${script##*/} names an installed program" grep -Eq '=\(orrery |orrery=orrery' "$script"
done

# ---- the programs by names of their own, too
more=$WORK/more/usr
all_names="compare finetune laws orbits orrery pretrain probe report sample symreg"
check "install with INSTALL_PROGRAMS=1" install_to "$WORK/more" /usr install 1
check "install with INSTALL_PROGRAMS=1: puts every program on the PATH" \
    equal "$all_names" "$(ls "$more/bin" | xargs)"
check "install with INSTALL_PROGRAMS=1: as links that a moved tree keeps" \
    equal ../libexec/orrery/symreg \
    "$(readlink "$more/bin/symreg")"
called() { # COMMAND...: with the PATH of that tree
    PATH=$more/bin:$PATH away env PATH="$more/bin:/usr/bin:/bin" "$@"
}
check "install with INSTALL_PROGRAMS=1: which find presets" \
    prints 'sqrt' called symreg table.csv --target T_yr --maxsize 5 \
    --threads 1 --quiet --set symreg.enumerate=10000
check "install with INSTALL_PROGRAMS=1: and each other: symreg executes laws" \
    prints '^usage: symreg' \
    called symreg --run run --help
check "install with INSTALL_PROGRAMS=1: and are called by their names" \
    prints '^usage: symreg \[options\]' called symreg --help
check "install with INSTALL_PROGRAMS=1: have man pages" filled "$more/share/man/man1/compare.1"
check "install with INSTALL_PROGRAMS=1: and completion" equal "$all_names" \
    "$(completed "$more/share/bash-completion/completions/compare")"
check "install with INSTALL_PROGRAMS=1: zsh's too" prints '^#compdef orrery .*compare' \
    head -n 1 "$more/share/zsh/site-functions/_orrery"
check "the list has every file" equal "$(cd "$more" && find . ! -type d | sed 's:^\./::' |
    grep -vx share/orrery/files | LC_ALL=C sort)" "$(cat "$more/share/orrery/files")"
# another program of that name, of somebody else
printf '#!/bin/sh\necho of somebody else\n' >"$root/bin/report"
chmod +x "$root/bin/report"
check "orrery runs its own report, whatever lies beside it" prints '^orrery report [0-9]' \
    away orrery report --version
rm "$root/bin/report"
check "INSTALL_PROGRAMS is a switch" refuse_orrery 2 'INSTALL_PROGRAMS: expected 0 or 1' \
    env -C "$source" INSTALL_PROGRAMS=yes DESTDIR="$WORK/no" tools/install.sh install
check "uninstall" install_to "$WORK/more" /usr uninstall
check_not "uninstall: leaves nothing" test -e "$WORK/more"
# the study's program is installed where it is wanted
check "orrery verdict does not say that the study is not installed" \
    refuse_orrery 1 'verdict: not installed; the study' orrery verdict
check_not "tables of the study are installed with the product" test -e "$root/share/orrery/study"
check "install with INSTALL_STUDY=1" env INSTALL_STUDY=1 BIN="$BIN" PREFIX=/usr \
    DESTDIR="$WORK/study" tools/install.sh install
check "install with INSTALL_STUDY=1 has no verdict" prints '^orrery verdict [0-9]' \
    "$WORK/study/usr/bin/orrery" verdict --version
check "install with INSTALL_STUDY=1 has no claims" \
    filled "$WORK/study/usr/share/orrery/study/claims.csv"
check "install without the study, where it was, has another status than 0" \
    install_to "$WORK/study" /usr install
check "install without the study leaves files of the earlier installation, which no list has" \
    equal "$(cd "$WORK/study/usr" && find . ! -type d | sed 's:^\./::' |
        grep -vx share/orrery/files | LC_ALL=C sort)" "$(cat "$WORK/study/usr/share/orrery/files")"

# ---- uninstall
touch "$root/bin/other"
check "uninstall" install_to "$WORK/moved" /usr uninstall
check "uninstall: leaves what is not ours, and nothing else" equal "$root/bin/other" \
    "$(find "$WORK/moved" ! -type d)"
check "uninstall: once more has nothing to do" refuse_orrery 1 'nothing is installed' \
    env -C "$source" DESTDIR="$WORK/moved" PREFIX=/usr tools/install.sh uninstall
check "install again" install_to "$WORK/again" /opt/x install
check "uninstall" install_to "$WORK/again" /opt/x uninstall
check_not "uninstall: leaves nothing" test -e "$WORK/again"
check "install without DESTDIR" install_to "" "$WORK/plain" install
check "uninstall" install_to "" "$WORK/plain" uninstall
find "$WORK/plain" -name '*orrery*' >"$WORK/left"
check_not "uninstall: leaves no folder of Orrery" grep . "$WORK/left"
check "a PREFIX that is no path" refuse_orrery 2 'PREFIX: expected' env -C "$source" PREFIX=usr \
    tools/install.sh install
finish
