#!/usr/bin/env bash
# completion.sh bash|zsh PROGRAM... - completion of options, settings, presets and words for these
# programs, from what they print by `--help`. To standard output. `orrery NAME` is completed, and
# the names themselves where INSTALL_PROGRAMS=1, which are then on the PATH.
set -u -o pipefail
shell=${1:?"usage: completion.sh bash|zsh PROGRAM..."}
shift
declare -A options=() settings=()
names=()
words=
for program; do
    name=$(basename "$program")
    help=$("$program" --help all 2>/dev/null) || help=$("$program" --help) || exit
    names+=("$name")
    options[$name]=$(printf '%s\n' "$help" | grep -oE '^  (-[a-z], )?--[a-z-]+' |
        sed 's/.* //' | tr '\n' ' ')
    settings[$name]=$(printf '%s\n' "$help" | sed -n '/^settings/,$p' |
        grep -oE '^  [a-z_0-9]+(\.[a-z_0-9]+)*' | sed 's/^  //; s/$/=/' | tr '\n' ' ')
    [ "$name" != orrery ] ||
        words=$(printf '%s\n' "$help" | grep -oE '^  [A-Z_]+=' | tr -d ' ' | tr '\n' ' ')
done
commands="world plan stage check watch cells sweep judge lab"
for name in "${names[@]}"; do
    [ "$name" = orrery ] || commands+=" $name"
done
completed=orrery
[ "${INSTALL_PROGRAMS:-0}" != 1 ] || completed=${names[*]}
# what both shells share: options and settings of a program, names of presets
[ "$shell" = bash ] || echo "#compdef $completed" # zsh wants it in the first line
echo "# completion of Orrery's programs for $shell, made by tools/completion.sh"
echo "_orrery_options() {"
echo "    case \$1 in"
for name in "${names[@]}"; do
    echo "    $name) echo \"${options[$name]% }\" ;;"
done
echo "    esac"
echo "}"
echo "_orrery_settings() {"
echo "    case \$1 in"
for name in "${names[@]}"; do
    [ -z "${settings[$name]}" ] || echo "    $name) echo \"${settings[$name]% }\" ;;"
done
echo "    esac"
echo "}"
cat <<'END'
_orrery_presets() {
    local folder file
    folder=$(command -v orrery) || return
    folder=$(dirname "$(readlink -f "$folder")")/../share/orrery/presets
    for file in "$folder"/*.json; do
        file=${file##*/}
        echo "${file%.json}"
    done
}
# what may stand after the word $2 of program $1
_orrery_words() {
    case $2 in
    --preset) _orrery_presets ;;
    --set) _orrery_settings "$1" ;;
    --device) echo "cpu cuda auto" ;;
    --attention-impl) echo "auto generic" ;;
    *) _orrery_options "$1" ;;
    esac
}
END
echo "_orrery_commands=\"$commands\""
echo "_orrery_make_words=\"${words% }\""
if [ "$shell" = bash ]; then
    cat <<'END'
_orrery() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program candidates
    program=${COMP_WORDS[0]##*/}
    if [ "$program" = orrery ] && [ "$COMP_CWORD" -eq 1 ]; then
        candidates="$_orrery_commands $(_orrery_options orrery)"
    elif [ "$program" = orrery ]; then
        case ${COMP_WORDS[1]} in
        world | plan) candidates=$_orrery_make_words ;;
        stage) candidates="orbits pretrain finetune symreg figures probe $_orrery_make_words" ;;
        check | watch | cells | sweep) candidates= ;;
        *) candidates=$(_orrery_words "${COMP_WORDS[1]}" "$before") ;;
        esac
    else
        candidates=$(_orrery_words "$program" "$before")
    fi
    case $before in
    --run | --out | --orbits | --checkpoint | --runs) candidates= ;;
    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$word") $(compgen -f -- "$word"))
    [ ${#COMPREPLY[@]} -ne 1 ] || [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
END
    echo "complete -o filenames -F _orrery $completed"
else
    cat <<'END'
_orrery() {
    local before=${words[CURRENT - 1]} program=${words[1]:t} candidates
    if [[ $program = orrery && $CURRENT -eq 2 ]]; then
        candidates="$_orrery_commands $(_orrery_options orrery)"
    elif [[ $program = orrery ]]; then
        case ${words[2]} in
        world | plan) candidates=$_orrery_make_words ;;
        stage) candidates="orbits pretrain finetune symreg figures probe $_orrery_make_words" ;;
        check | watch | cells | sweep) candidates= ;;
        *) candidates=$(_orrery_words ${words[2]} $before) ;;
        esac
    else
        candidates=$(_orrery_words $program $before)
    fi
    compadd -S '' -- ${=candidates}
    _files
}
_orrery "$@"
END
fi
