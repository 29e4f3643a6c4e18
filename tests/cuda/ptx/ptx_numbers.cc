/* ptx_numbers.cc - instructions that make numbers of numbers.
 *
 * Most become a call of the function of their name in ptx_numbers.h, overloaded by type: what the
 * header lacks does not compile, with the name of the instruction. */
#include "ptx.h"

#include <set>

using std::string;

static bool has(const struct ptx_statement &s, const char *word)
{
    for (size_t i = 1; i < s.operation.size(); i++)
        if (s.operation[i] == word)
            return true;
    return false;
}

static bool of_type(const string &word)
{
    return ptx_size(word) != 0 || word == "pred";
}

static const string &last_type(const struct ptx_statement &s)
{
    const string &type = s.operation.back();
    if (!of_type(type))
        ptx_refuse(s.line, "'" + s.text + "': no type");
    return type;
}

static const string &argument(const struct ptx_statement &s, size_t i)
{
    if (i >= s.arguments.size())
        ptx_refuse(s.line, "'" + s.text + "': too few operands");
    return s.arguments[i];
}

/* ---- mov, with registers made of parts or taken apart */

static string part_type(const struct ptx_statement &s, size_t count)
{
    const size_t bytes = ptx_size(last_type(s)) / count;
    if (bytes * count != ptx_size(last_type(s)) || !bytes)
        ptx_refuse(s.line, "'" + s.text + "': parts that do not fit");
    return "uint" + std::to_string(8 * bytes) + "_t";
}

static string whole_type(const struct ptx_statement &s)
{
    return "uint" + std::to_string(8 * ptx_size(last_type(s))) + "_t";
}

static string move(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &to = argument(s, 0), &from = argument(s, 1);
    if (to[0] == '{') {
        const std::vector<string> parts = ptx_elements(to);
        const string type = part_type(s, parts.size());
        string text = "{ const " + whole_type(s) +
                      " whole = " + ptx_value(scope, s, from, whole_type(s)) + "; ";
        for (size_t i = 0; i < parts.size(); i++)
            text += ptx_assign(scope, parts[i],
                               "ptx_part<" + type + ">(whole, " + std::to_string(i) + ")", type);
        return text + " }";
    }
    if (from[0] == '{') {
        const std::vector<string> parts = ptx_elements(from);
        const string type = part_type(s, parts.size());
        string list;
        for (const string &p : parts)
            list += (list.empty() ? "" : ", ") + ptx_value(scope, s, p, type);
        return ptx_assign(scope, to,
                          "ptx_whole<" + whole_type(s) + ", " + type + ">({" + list + "})",
                          whole_type(s));
    }
    const string type = ptx_type(s.line, last_type(s));
    return ptx_assign(scope, to, ptx_value(scope, s, from, type), type);
}

/* ---- conversions: cvt[.rounding][.ftz][.sat].to.from */

static string convert(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const size_t n = s.operation.size();
    const string to = s.operation[n - 2], from = s.operation[n - 1];
    const bool flush = has(s, "ftz");
    string rounding = "ptx_cvt";
    for (size_t i = 1; i < n - 2; i++)
        if (s.operation[i] != "ftz" && s.operation[i] != "sat" && s.operation[i] != "rn")
            rounding += "_" + s.operation[i];
    const string type = ptx_type(s.line, to);
    string list;
    for (size_t i = 1; i < s.arguments.size(); i++) {
        const string x = ptx_value(scope, s, s.arguments[i], ptx_type(s.line, from));
        list += (i > 1 ? ", " : "") + (flush && from == "f32" ? "ptx_flush(" + x + ")" : x);
    }
    string text = rounding + "<" + type + ">(" + list + ")";
    if (has(s, "sat"))
        text = "ptx_sat(" + text + ")";
    if (flush && to == "f32")
        text = "ptx_flush(" + text + ")";
    return ptx_assign(scope, argument(s, 0), text, type);
}

/* ---- comparisons: setp.how[.and][.ftz].type p|q, a, b[, c] */

static string compare(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string type = ptx_type(s.line, last_type(s)), &to = argument(s, 0);
    const bool flush = has(s, "ftz");
    string text = "ptx_" + s.operation[1] + "(";
    for (size_t i = 1; i < 3; i++) {
        const string x = ptx_value(scope, s, argument(s, i), type);
        text += (i > 1 ? ", " : "") + (flush ? "ptx_flush(" + x + ")" : x);
    }
    text += ")";
    string second = "!" + text;
    for (const char *how : {"and", "or", "xor"})
        if (has(s, how)) {
            const string with = (how[0] == 'a'   ? " & "
                                 : how[0] == 'o' ? " | "
                                                 : " ^ ") +
                                string("(int)") + ptx_value(scope, s, argument(s, 3), "bool");
            text = "((int)" + text + with + ") != 0";
            second = "((int)" + second + with + ") != 0";
        }
    const size_t bar = to.find('|');
    if (bar == string::npos)
        return ptx_assign(scope, to, text, "bool");
    return "{ const bool first = " + text + ", second = " + second + "; " +
           ptx_assign(scope, to.substr(0, bar), "first", "bool") +
           ptx_assign(scope, to.substr(bar + 1), "second", "bool") + " }";
}

static string select(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string type = ptx_type(s.line, last_type(s));
    return ptx_assign(scope, argument(s, 0),
                      ptx_value(scope, s, argument(s, 3), "bool") + " ? " +
                          ptx_value(scope, s, argument(s, 1), type) + " : " +
                          ptx_value(scope, s, argument(s, 2), type),
                      type);
}

/* ---- sums with a carry: add.cc, addc[.cc], sub.cc, subc[.cc], mad[c].lo|hi[.cc] */

static string with_carry(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &root = s.operation[0],
                 type = "uint" + std::to_string(8 * ptx_size(last_type(s))) + "_t";
    const bool in = root.back() == 'c', out = has(s, "cc"),
               multiplies = root.compare(0, 3, "mad") == 0;
    std::vector<string> x;
    for (size_t i = 1; i < s.arguments.size(); i++)
        x.push_back(ptx_value(scope, s, s.arguments[i], type));
    if (multiplies && x.size() == 3) {
        x[0] = (has(s, "hi") ? "ptx_mul_hi(" : "ptx_mul_lo(") + x[0] + ", " + x[1] + ")";
        x[1] = x[2];
    } else if (x.size() != 2) {
        ptx_refuse(s.line, "'" + s.text + "': other operands were expected");
    }
    const string text =
        string(root.compare(0, 3, "sub") == 0 ? "ptx_less_carry" : "ptx_plus_carry") + "<" + type +
        ">(" + x[0] + ", " + x[1] + ", " + (in ? "carry" : "false") + ", &out)";
    return "{ bool out; " + ptx_assign(scope, argument(s, 0), text, type) +
           (out ? "carry = out;" : "") + " }";
}

/* ---- all others */

static string wide(const struct ptx_statement &s, const string &type)
{
    static const std::map<string, string> twice = {
        {"u16", "uint32_t"}, {"s16", "int32_t"}, {"u32", "uint64_t"}, {"s32", "int64_t"}};
    const auto found = twice.find(type);
    if (found == twice.end())
        ptx_refuse(s.line, "'" + s.text + "': .wide of ." + type);
    return found->second;
}

static string by_name(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    static const std::set<string> known = {
        "add", "sub", "mul",   "mad", "fma",      "div",  "rem", "min",  "max",  "neg",
        "abs", "and", "or",    "xor", "not",      "shl",  "shr", "shf",  "rcp",  "sqrt",
        "ex2", "lg2", "rsqrt", "bfi", "copysign", "prmt", "clz", "popc", "testp"};
    const string &root = s.operation[0], &t = last_type(s), type = ptx_type(s.line, t);
    if (!known.count(root))
        return "";
    const bool flush = has(s, "ftz") && type == "float";
    string name = "ptx_" + root, list;
    for (size_t i = 1; i + 1 < s.operation.size(); i++) {
        const string &w = s.operation[i];
        if (w != "rn" && w != "sat" && !(w == "ftz" && flush))
            name += "_" + w;
    }
    for (size_t i = 1; i < s.arguments.size(); i++) {
        const bool count = ((root == "shl" || root == "shr") && i == 2) ||
                           (root == "shf" && i == 3) ||
                           (root == "bfi" && i + 2 >= s.arguments.size());
        const string of = count                                       ? "uint32_t"
                          : root == "mad" && i == 3 && has(s, "wide") ? wide(s, t)
                                                                      : type;
        const string x = ptx_value(scope, s, s.arguments[i], of);
        list += (i > 1 ? ", " : "") + (flush ? "ptx_flush(" + x + ")" : x);
    }
    string text = name + "(" + list + ")";
    if (has(s, "sat"))
        text = "ptx_sat(" + text + ")";
    if (flush)
        text = "ptx_flush(" + text + ")";
    const string result = root == "popc" || root == "clz" ? "uint32_t"
                          : root == "testp"               ? "bool"
                          : has(s, "wide")                ? wide(s, t)
                                                          : type;
    return ptx_assign(scope, argument(s, 0), text, result);
}

string ptx_emit_numbers(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &root = s.operation[0];
    if (root == "mov")
        return move(scope, s);
    if (root == "cvt")
        return convert(scope, s);
    if (root == "setp")
        return compare(scope, s);
    if (root == "selp")
        return select(scope, s);
    if (has(s, "cc") || root == "addc" || root == "subc" || root == "madc")
        return with_carry(scope, s);
    return by_name(scope, s);
}
