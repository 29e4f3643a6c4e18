#!/usr/bin/env bash
# compile_commands.sh - from the command lines that `make -Bn V=1` prints, compile_commands.json:
# one entry a source file, that of its first compilation (loop files are compiled several times).
set -u
export PWD # awk would read escapes in -v
awk '
    function quoted(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
    { line = line $0 }
    /\\$/ { sub(/\\$/, "", line); next }
    {
        command = line
        line = ""
        n = split(command, word, /[ \t]+/)
        file = ""
        for (i = 2; i <= n && file == ""; i++)
            if (word[i] ~ /\.c$/ && word[i - 1] != "-include")
                file = word[i]
        if (command !~ / -std=/ || file == "" || seen[file]++)
            next
        printf "%s\n  {\"directory\": %s,\n   \"command\": %s,\n   \"file\": %s}",
            count++ ? "," : "[", quoted(ENVIRON["PWD"]), quoted(command), quoted(file)
    }
    END { print count ? "\n]" : "[]" }'
