#!/usr/bin/env bash
# compile_commands.sh GOAL... - from the command lines that make would run, compile_commands.json:
# one entry a source file, that of its first compilation (loop files are compiled several times).
set -u
export PWD # awk would read escapes in -v
MAKEFLAGS='' make -j1 -Bnk V=1 CUDA=0 "$@" 2>/dev/null | awk '
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
    END { print count ? "\n]" : "[]" }' >compile_commands.json
echo "compile_commands.json: $(grep -c '"file"' compile_commands.json) files"
