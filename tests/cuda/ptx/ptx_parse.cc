/* ptx_parse.cc - PTX into statements. */
#include "ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_refuse(int line, const std::string &what)
{
    fprintf(stderr, "ptx2cc: error: line %d: %s\n", line, what.c_str());
    exit(1);
}

size_t ptx_size(const std::string &type)
{
    static const char *const kinds[] = {"b", "u", "s", "f", "bf"};
    if (type == "bf16x2" || type == "f16x2")
        return 4;
    for (const char *kind : kinds) {
        const size_t n = strlen(kind);
        if (type.compare(0, n, kind) == 0 && type.size() > n &&
            type.find_first_not_of("0123456789", n) == std::string::npos)
            return (size_t)atoi(type.c_str() + n) / 8;
    }
    return 0;
}

/* ---- the text, from a place on */

struct cursor {
    const std::string &text;
    size_t at;
    int line;
};

static bool ended(const struct cursor &c)
{
    return c.at >= c.text.size();
}

static char step(struct cursor &c)
{
    if (ended(c))
        ptx_refuse(c.line, "the text ends in the middle");
    if (c.text[c.at] == '\n')
        c.line++;
    return c.text[c.at++];
}

static void skip_space(struct cursor &c)
{
    while (!ended(c)) {
        if (c.text.compare(c.at, 2, "//") == 0)
            while (!ended(c) && c.text[c.at] != '\n')
                c.at++;
        else if (isspace((unsigned char)c.text[c.at]))
            step(c);
        else
            return;
    }
}

static bool next_is(struct cursor &c, char wanted)
{
    skip_space(c);
    if (ended(c) || c.text[c.at] != wanted)
        return false;
    c.at++;
    return true;
}

static bool of_word(char x)
{
    return isalnum((unsigned char)x) || strchr("_.$%", x);
}

/* The next word, or empty where something else stands. */
static std::string word(struct cursor &c)
{
    skip_space(c);
    const size_t from = c.at;
    while (!ended(c) && of_word(c.text[c.at]))
        c.at++;
    return c.text.substr(from, c.at - from);
}

/* Up to `end`, which is taken; white space as single blanks, without comments. */
static std::string until(struct cursor &c, char end)
{
    std::string s;
    for (;;) {
        const size_t before = c.at;
        skip_space(c);
        if (c.at > before && !s.empty())
            s += ' ';
        const char x = step(c);
        if (x == end)
            break;
        s += x;
    }
    while (!s.empty() && s.back() == ' ')
        s.pop_back();
    return s;
}

static void skip_line(struct cursor &c)
{
    while (!ended(c) && step(c) != '\n')
        continue;
}

static std::vector<std::string> split(const std::string &s, char at)
{
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char x : s + at) {
        depth += strchr("{[(", x) ? 1 : strchr("}])", x) ? -1 : 0;
        if (x == at && depth == 0) {
            const size_t from = part.find_first_not_of(' '), to = part.find_last_not_of(' ');
            if (from != std::string::npos)
                parts.push_back(part.substr(from, to - from + 1));
            part.clear();
        } else {
            part += x;
        }
    }
    return parts;
}

/* ---- variables: .align 4 .b8 name[8][2] = {1, 2} */

static struct ptx_variable variable(struct cursor &c, int line)
{
    struct ptx_variable v;
    size_t size = 0;
    bool pointer = false; /* what follows .ptr is about its target */
    for (std::string w = word(c); !w.empty(); w = word(c)) {
        if (w == ".align") {
            const size_t align = (size_t)atoi(word(c).c_str());
            v.align = pointer ? v.align : align;
        } else if (w == ".ptr") {
            pointer = true;
        } else if (w == ".global" || w == ".shared" || w == ".const" || w == ".local") {
            continue;
        } else if (w[0] == '.') {
            size = ptx_size(w.substr(1));
            v.word = size;
        } else {
            v.name = w;
            break;
        }
    }
    if (!size || v.name.empty())
        ptx_refuse(line, "a variable that is not understood");
    v.bytes = size;
    while (next_is(c, '[')) {
        const std::string n = until(c, ']');
        v.bytes *= (size_t)atoi(n.c_str());
    }
    v.align = v.align > size ? v.align : size;
    if (next_is(c, '=')) {
        if (!next_is(c, '{'))
            ptx_refuse(line, "initial values without braces");
        v.values = split(until(c, '}'), ',');
    }
    return v;
}

static std::vector<struct ptx_variable> parameters(struct cursor &c)
{
    std::vector<struct ptx_variable> list;
    if (!next_is(c, '('))
        return list;
    while (!next_is(c, ')')) {
        if (word(c) != ".param")
            ptx_refuse(c.line, "a parameter that is not understood");
        list.push_back(variable(c, c.line));
        next_is(c, ',');
    }
    return list;
}

/* ---- bodies */

static void instruction(const std::string &text, struct ptx_statement &s)
{
    std::string rest = text;
    if (rest[0] == '@') {
        const size_t blank = rest.find(' ');
        s.guard = rest.substr(1, blank - 1);
        rest = rest.substr(blank + 1);
    }
    const size_t blank = rest.find(' ');
    s.operation = split(rest.substr(0, blank), '.');
    if (blank != std::string::npos)
        s.arguments = split(rest.substr(blank + 1), ',');
}

/* A statement that does not begin with a brace. */
static void statement(struct cursor &c, struct ptx_function &f)
{
    struct ptx_statement s = {};
    const struct cursor start = c;
    const std::string first = word(c);
    s.line = start.line;
    if (!first.empty() && c.text.compare(c.at, 2, "::") != 0 && next_is(c, ':')) {
        s.kind = ptx_statement::LABEL;
        s.name = first;
        f.body.push_back(s);
        return;
    }
    if (first == ".shared" || first == ".local" || first == ".param") {
        struct ptx_variable v = variable(c, s.line);
        if (first == ".shared") {
            f.shared.push_back(v);
        } else if (first == ".local") {
            f.local.push_back(v);
        } else {
            s.kind = ptx_statement::PARAMETER;
            s.variable = v;
            f.body.push_back(s);
        }
        if (!next_is(c, ';'))
            ptx_refuse(s.line, "a declaration without an end");
        return;
    }
    if (first == ".pragma" || first == ".loc") {
        if (first == ".loc")
            skip_line(c);
        else
            until(c, ';');
        return;
    }
    c.at = start.at;
    c.line = start.line;
    s.text = until(c, ';');
    if (first == ".reg") {
        s.kind = ptx_statement::REGISTERS;
        const std::vector<std::string> words = split(s.text, ' ');
        s.operation = {words[1].substr(1)};
        s.arguments = split(s.text.substr(s.text.find(words[1]) + words[1].size()), ',');
    } else {
        s.kind = ptx_statement::INSTRUCTION;
        instruction(s.text, s);
    }
    f.body.push_back(s);
}

static void body(struct cursor &c, struct ptx_function &f)
{
    for (int depth = 1; depth;) {
        struct ptx_statement s = {};
        skip_space(c);
        s.line = c.line;
        if (next_is(c, '{')) {
            depth++;
            s.kind = ptx_statement::OPEN;
            f.body.push_back(s);
        } else if (next_is(c, '}')) {
            s.kind = ptx_statement::CLOSE;
            if (--depth)
                f.body.push_back(s);
        } else if (!next_is(c, ';')) {
            statement(c, f);
        }
    }
}

static void function(struct cursor &c, bool entry, struct ptx_module &m)
{
    struct ptx_function f;
    f.entry = entry;
    if (!entry)
        f.results = parameters(c);
    f.name = word(c);
    f.parameters = parameters(c);
    while (!next_is(c, '{')) { /* .maxntid 128, 1, 1 and the like; or a declaration */
        if (next_is(c, ';'))
            return;
        step(c);
    }
    body(c, f);
    m.functions.push_back(f);
}

struct ptx_module ptx_parse(const std::string &text)
{
    struct ptx_module m;
    struct cursor c = {text, 0, 1};
    bool external = false;
    for (skip_space(c); !ended(c); skip_space(c)) {
        const std::string w = word(c);
        if (w == ".version" || w == ".target" || w == ".address_size") {
            skip_line(c);
        } else if (w == ".extern" || w == ".visible" || w == ".weak" || w == ".common") {
            external = external || w == ".extern";
        } else if (w == ".global" || w == ".const" || w == ".shared") {
            struct ptx_variable v = variable(c, c.line);
            v.external = external;
            external = false;
            (w == ".shared" ? m.shared : m.global).push_back(v);
            next_is(c, ';');
        } else if (w == ".entry" || w == ".func") {
            function(c, w == ".entry", m);
        } else {
            ptx_refuse(c.line, "'" + w + "' outside of functions");
        }
    }
    return m;
}
