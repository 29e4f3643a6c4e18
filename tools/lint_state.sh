#!/usr/bin/env bash
# lint_state.sh BUILD FOLDER... - the libraries of these folders have no process-wide state: no
# variable, of a file or of a function, that is neither constant nor a thread's own. Whatever works
# on two problems at once would find the state of the other there. Prints one line per complaint;
# exit status 1 when there is one.
set -u
build=$1
shift
failures=0
# object files that may have some, and why
declare -A MAY_HOLD=([symreg/terminal_keys.o]="there is one terminal")

for folder; do
    [ -s "$build/lib$folder.a" ] || { echo "$build/lib$folder.a is not there"; failures=1; }
    while read -r member symbol; do
        [ -z "${MAY_HOLD[$folder/$member]:-}" ] || continue
        echo "$member: $symbol is a variable of the whole process"
        failures=$((failures + 1))
    done < <(objdump -t "$build/lib$folder.a" 2>/dev/null | awk -F '\t' '
        /^[^ ]+\.o:/ { member = $1; sub(/:.*/, "", member) }
        NF == 2 { # address, flags and section; size and name
            n = split($1, left, " ")
            split($2, right, " ")
            section = left[n]
            if (section ~ /^\.(data|bss)/ && section !~ /rel\.ro/ && right[2] != section ||
                section == "*COM*")
                print member, right[2]
        }')
done
[ "$failures" -eq 0 ]
