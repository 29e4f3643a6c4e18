# words.awk - the string literals of C sources, adjacent ones joined: FILE:LINE: TEXT a line.
function end_of_text() {
    if (text != "") print file ":" at ": " text
    text = ""
}
FNR == 1 { end_of_text(); comment = 0; file = FILENAME }
{
    rest = $0
    if (comment && !sub(/^.*\*\//, "", rest)) next
    comment = 0
    if (rest ~ /^[ \t]*#[ \t]*include/) next
    if (rest !~ /^[ \t]*"/) end_of_text()
    for (;;) {
        # what comes first: a comment, a character, a text
        if (!match(rest, /\/\*|\/\/|'(\\.|[^'\\])'|"([^"\\]|\\.)*"/)) break
        found = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (found == "//") break
        if (found == "/*" && !sub(/^.*\*\//, "", rest)) { comment = 1; break }
        if (found !~ /^"/) continue
        if (text == "") at = FNR
        text = text substr(found, 2, length(found) - 2)
        if (rest !~ /^[ \t]*$/) end_of_text()
    }
}
END { end_of_text() }
