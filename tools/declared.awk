# declared.awk - the functions and objects that a header declares and leaves to a source file, one
# name a line: what stands outside of braces, ends in a semicolon, and is neither static nor a type.
# The names of a declaration that begins or ends with a macro in capitals are found all the same.

# without comments, strings' contents matter not in headers; directives may go on behind a backslash
{
    line = $0
    if (directive || line ~ /^[ \t]*#/) {
        directive = line ~ /\\$/
        next
    }
    while (1) {
        if (comment) {
            if (!(end = index(line, "*/"))) {
                line = ""
                break
            }
            line = substr(line, end + 2)
            comment = 0
        }
        sub(/\/\/.*/, "", line)
        if (!(start = index(line, "/*")))
            break
        text = text " " substr(line, 1, start - 1)
        line = substr(line, start + 2)
        comment = 1
    }
    text = text " " line
}
END {
    gsub(/extern[ \t]+"C"[ \t]*\{/, " ", text)
    gsub(/\{/, " & ", text)
    gsub(/\}/, " & ", text)
    gsub(/;/, " ; ", text)
    n = split(text, word, /[ \t]+/)
    for (i = 1; i <= n; i++) {
        if (word[i] == "{") {
            depth++
            body = 1
        } else if (word[i] == "}") {
            if (depth > 0)
                depth--
            # the body of a function ends without a semicolon, that of a type with one
            if (depth == 0 && statement ~ /\)[ \t]*$/)
                statement = body = ""
        } else if (word[i] == ";" && depth == 0) {
            if (!body || statement ~ /^[ \t]*extern/)
                declared(statement)
            statement = body = ""
        } else if (depth == 0)
            statement = statement " " word[i]
    }
}
function declared(s) {
    if (s ~ /^[ \t]*(typedef|static|_Static_assert|using|template)/ || s ~ /\([ \t]*\*/ && s ~ /=/)
        return
    gsub(/__attribute__[ \t]*\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", s)
    gsub(/(^|[ \t])[A-Z][A-Z0-9_]+[ \t]*\([^()]*\)/, " ", s) # attributes behind a macro
    if (match(s, /[a-z_][a-zA-Z0-9_]*[ \t]*\(/)) {
        name = substr(s, RSTART, RLENGTH - 1)
        gsub(/[ \t]/, "", name)
        print name
    } else if (s ~ /^[ \t]*extern/) {
        sub(/^[ \t]*extern[ \t]+/, "", s)
        count = split(s, names, ",")
        for (k = 1; k <= count; k++) {
            gsub(/\[[^]]*\]/, "", names[k])
            if (match(names[k], /[a-zA-Z_][a-zA-Z0-9_]*[ \t]*$/)) {
                name = substr(names[k], RSTART)
                gsub(/[ \t]/, "", name)
                print name
            }
        }
    }
}
