#!/usr/bin/env bash
# manpage.sh PROGRAM - a man page (section 1) from what `PROGRAM --help` prints, which is the
# program's own table of options and settings: nothing is written twice. To standard output. The
# page of a program that `orrery` runs is "orrery-NAME", which `man orrery NAME` finds.
set -u -o pipefail
program=${1:?"usage: manpage.sh PROGRAM"}
name=$(basename "$program")
[ "$name" = orrery ] || name=orrery-$name
version=$("$program" --version | sed -nE 's/^orrery (.* )?([0-9][^ ]*)$/\2/p')
[ -n "$version" ] ||
    { echo "manpage: error: $program --version: expected a version" >&2; exit 1; }
help=$("$program" --help all 2>/dev/null) || help=$("$program" --help) || exit
printf '%s\n' "$help" | awk -v name="$name" -v version="$version" '
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\047/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    sub(/^\./, "\\\\\\&.", text)
    return text
}
# "  --name VALUE   text": columns are parted by two blanks, or else by the first ones
function item(line,   left) {
    sub(/^ +/, "", line)
    if (match(line, /  +/)) {
        left = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
    } else {
        match(line, / |$/)
        left = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + 1)
    }
    printf ".TP\n.B \"%s\"\n%s\n", roff(left), roff(line)
}
function end_purpose() {
    if (described)
        return
    described = 1
    short = purpose
    sub(/[.;] .*/, "", short)
    sub(/\.$/, "", short)
    short = tolower(substr(short, 1, 1)) substr(short, 2)
    printf ".TH %s 1 \"\" \"Orrery %s\" \"Orrery\"\n", toupper(name), version
    print ".ad l"
    printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", name, roff(short)
}
!described && !/^usage:/ {
    purpose = purpose (purpose == "" ? "" : " ") $0
    sub(/ $/, "", purpose)
    next
}
/^usage:/ { end_purpose(); in_usage = 1; sub(/^usage: /, "       ") }
in_usage && NF { print roff(substr($0, 8)); next }
in_usage { in_usage = 0; printf ".fi\n.SH DESCRIPTION\n%s\n", roff(purpose); next }
NF == 0 { next }
# a heading: of settings with its note below it
/^[^ ].*:$/ {
    title = note = $0
    sub(/:$/, "", title)
    sub(/:$/, ".", note)
    sub(/[,(].*/, "", title)
    sub(/ +$/, "", title)
    printf ".SH %s\n", roff(toupper(title))
    if (tolower(note) != tolower(title) ".")
        print roff(note)
    next
}
/^  / { item($0); next }
{ printf ".PP\n%s\n", roff($0) }
END {
    print ".SH FILES"
    print "Presets and figure scripts are searched in share/orrery beside the program\047s folder,"
    print "in share/orrery of the prefix that was built for, and in $ORRERY_DATA."
    print ".SH ENVIRONMENT"
    print ".TP\n.B ORRERY_DATA"
    print "a folder with presets, and figures, of a program without its own"
    print ".TP\n.B ORRERY_PRESETS\na folder of presets that is searched first"
    if (name == "orrery-symreg")
        print ".TP\n.B ORRERY_UNPACK_MB\nthe most MB that a compressed table may hold (2048)"
    print ".TP\n.B ORRERY_FIGURES\na folder of figure scripts that is used instead"
    print ".SH EXIT STATUS"
    print "0 when all went well, 2 for a wrong command line or preset, 1 for other failures,"
    print "128 and the number of the signal when it was stopped."
    print ".SH SEE ALSO"
    others = "orbits pretrain finetune symreg laws probe report compare sample"
    line = name == "orrery" ? "" : "orrery(1)"
    count = split(others, other, " ")
    for (i = 1; i <= count; i++)
        if ("orrery-" other[i] != name)
            line = line (line == "" ? "" : ", ") "orrery-" other[i] "(1)"
    print ".BR " line
}'
