# evaluate.awk - what the text of a formula computes on a table, without any of the programs.
#
#   awk -v formula='(2 * "a, b")' -v target=y -f evaluate.awk TABLE.csv
#
# prints the mean squared deviation from the target, the largest deviation relative to its size, and
# the variance of the target. -v weights=COLUMN weighs the first. Cells must have no quotes.
# A text that cannot be read prints "unreadable" and where.

# ---- the text: sum = term {+- term}, term = power {*/ power}, power = atom [^ power]
function fail(what) {
    if (!broken) printf "unreadable: %s at character %d of %s\n", what, at, formula
    broken = 1
    return 0
}
function skip() { while (substr(formula, at, 1) == " ") at++ }
function take(c) {
    skip()
    if (substr(formula, at, 1) != c) return 0
    at++
    return 1
}
function column(name) { return name in place ? cell[place[name]] + 0 : fail("no column " name) }
function quoted(    name) {
    for (at++; at <= length(formula); at++) {
        if (substr(formula, at, 1) == "\"" && substr(formula, ++at, 1) != "\"") return column(name)
        name = name substr(formula, at, 1)
    }
    return fail("open quote")
}
function call(name,    a, b) {
    a = sum()
    if (name == "min" || name == "max") {
        if (!take(",")) return fail("a comma")
        b = sum()
    }
    if (!take(")")) return fail("a parenthesis")
    if (name == "sin") return sin(a)
    if (name == "cos") return cos(a)
    if (name == "tan") return sin(a) / cos(a)
    if (name == "exp") return a > 700 ? 1e300 : exp(a)
    if (name == "log") return a > 0 ? log(a) : fail("a logarithm of " a)
    if (name == "sqrt") return a >= 0 ? sqrt(a) : fail("a root of " a)
    if (name == "inv") return a != 0 ? 1 / a : fail("a division by 0")
    if (name == "neg") return -a
    if (name == "square") return a * a
    if (name == "cube") return a * a * a
    if (name == "abs") return a < 0 ? -a : a
    if (name == "min") return a < b ? a : b
    if (name == "max") return a > b ? a : b
    return fail("an operator " name)
}
function atom(    text, value) {
    skip()
    text = substr(formula, at)
    if (take("(")) {
        value = sum()
        return take(")") ? value : fail("a parenthesis")
    }
    if (substr(text, 1, 1) == "\"") return quoted()
    if (match(text, /^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?/)) {
        at += RLENGTH
        return substr(text, 1, RLENGTH) + 0
    }
    if (!match(text, /^[^][ ()*\/^+,"-]+/)) return fail("a value")
    text = substr(text, 1, RLENGTH)
    at += RLENGTH
    return take("(") ? call(text) : column(text)
}
function power(    base, exponent) {
    if (take("-")) return -power()
    if (take("+")) return power()
    base = atom()
    if (!take("^")) return base
    exponent = power()
    return base ^ exponent
}
function term(    value, other) {
    value = power()
    while (!broken) {
        if (take("*")) value *= power()
        else if (take("/")) {
            other = power()
            if (other == 0) return fail("a division by 0")
            value /= other
        } else break
    }
    return value
}
function sum(    value) {
    value = term()
    while (!broken)
        if (take("+")) value += term()
        else if (take("-")) value -= term()
        else break
    return value
}

# ---- the table
BEGIN { FS = "," }
{ sub(/\r$/, "") }
/^#/ && !header { next }
/^ *$/ { next }
!header {
    for (i = 1; i <= NF; i++) place[$i] = i
    header = 1
    next
}
{
    for (i = 1; i <= NF; i++) {
        cell[i] = $i
        gsub(/[dD]/, "e", cell[i])
    }
    at = 1
    value = sum()
    skip()
    if (!broken && at <= length(formula)) fail("more")
    if (broken) exit
    y = cell[place[target]] + 0
    w = weights != "" ? cell[place[weights]] + 0 : 1
    d = value - y
    d = d < 0 ? -d : d
    size = y < 0 ? -y : y
    total += w * d * d
    all += w
    if (w > 0 && size > 0 && d / size > largest) largest = d / size
    n++
    mean += (y - mean) / n # (Welford)
    spread += (y - mean) * (y - mean) * (n > 1 ? n / (n - 1) : 0)
}
END { if (!broken) printf "%.9g %.9g %.9g\n", total / all, largest, spread / n }
