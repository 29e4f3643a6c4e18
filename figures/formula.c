/* formula.c - parses a formula and collects its products and powers. */
#include "formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100 }; /* nesting of brackets, at most */

struct reader {
    struct report_formula *f;
    const char *at;
    int depth;
};

/* ------------------------------------------------------------------------------ the tree */

static int fail(struct report_formula *f)
{
    f->failed = true;
    return 0;
}

static int new_node(struct report_formula *f, enum report_formula_kind kind, double value)
{
    if (f->failed || f->count == REPORT_FORMULA_NODES)
        return fail(f);
    f->node[f->count] = (struct report_formula_node){.kind = kind, .value = value, .power = 1};
    return f->count++;
}

static bool is_whole(double x)
{
    return fabs(x) < 1e6 && x == floor(x);
}

static bool is_number(const struct report_formula *f, int node)
{
    return f->node[node].kind == REPORT_FORMULA_PRODUCT && !f->node[node].child;
}

static void append(struct report_formula *f, int parent, int node)
{
    int *link = &f->node[parent].child;
    while (*link)
        link = &f->node[*link].next;
    *link = node;
    f->node[node].next = 0;
}

/* Whether two nodes have the same base; their own powers are ignored. */
static bool is_same(const struct report_formula *f, int a, int b)
{
    const struct report_formula_node *x = &f->node[a], *y = &f->node[b];
    if (x->kind != y->kind || x->value != y->value || strcmp(x->word, y->word) != 0)
        return false;
    for (a = x->child, b = y->child; a && b; a = f->node[a].next, b = f->node[b].next)
        if (f->node[a].power != f->node[b].power || !is_same(f, a, b))
            return false;
    return !a && !b;
}

/* A product with a single node as its factor. */
static int product_of(struct report_formula *f, int node)
{
    if (f->node[node].kind == REPORT_FORMULA_PRODUCT)
        return node;
    const int product = new_node(f, REPORT_FORMULA_PRODUCT, 1);
    if (!f->failed)
        append(f, product, node);
    return product;
}

/* Multiplies by a factor; factors with equal bases are merged by adding their powers. x^a x^b
 * equals x^(a + b) for every x only if a and b are integers. */
static void add_factor(struct report_formula *f, int product, int factor)
{
    struct report_formula_node *new = &f->node[factor];
    for (int *link = &f->node[product].child; *link; link = &f->node[*link].next) {
        struct report_formula_node *old = &f->node[*link];
        if (!is_whole(old->power) || !is_whole(new->power) || !is_same(f, *link, factor))
            continue;
        old->power += new->power;
        if (old->power == 0)
            *link = old->next;
        return;
    }
    append(f, product, factor);
}

static int multiply(struct report_formula *f, int a, int b)
{
    a = product_of(f, a);
    b = product_of(f, b);
    if (f->failed)
        return 0;
    f->node[a].value *= f->node[b].value;
    for (int factor = f->node[b].child; factor;) {
        const int next = f->node[factor].next;
        add_factor(f, a, factor);
        factor = next;
    }
    return a;
}

/* A node to the power of a number: (2 x)^2 becomes 4 x^2, but (2 x)^0.5 stays the power of a
 * product. */
static int raise(struct report_formula *f, int node, double power)
{
    node = product_of(f, node);
    if (f->failed || power == 1)
        return node;
    bool whole = is_whole(power);
    for (int x = f->node[node].child; x; x = f->node[x].next)
        whole = whole && is_whole(f->node[x].power);
    if (!whole && f->node[node].child) {
        const int product = new_node(f, REPORT_FORMULA_PRODUCT, 1);
        const int only = f->node[node].child;
        if (f->node[node].value == 1 && !f->node[only].next && f->node[only].power == 1)
            node = only;
        if (f->failed)
            return 0;
        f->node[node].power = power;
        append(f, product, node);
        return product;
    }
    f->node[node].value = pow(f->node[node].value, power);
    if (power == 0)
        f->node[node].child = 0;
    for (int x = f->node[node].child; x; x = f->node[x].next)
        f->node[x].power *= power;
    return node;
}

static int negate(struct report_formula *f, int node)
{
    node = product_of(f, node);
    f->node[node].value = -f->node[node].value;
    return node;
}

/* Adds a term to a sum; nested sums are merged, also after a minus. */
static void add_term(struct report_formula *f, int sum, int term, double sign)
{
    const struct report_formula_node *x = &f->node[term];
    const int only = x->kind == REPORT_FORMULA_PRODUCT ? x->child : 0;
    if (f->failed)
        return;
    if (is_number(f, term)) {
        f->node[sum].value += sign * x->value;
    } else if (only && fabs(x->value) == 1 && !f->node[only].next && f->node[only].power == 1 &&
               f->node[only].kind == REPORT_FORMULA_SUM) {
        add_term(f, sum, only, sign * x->value);
    } else if (x->kind == REPORT_FORMULA_SUM) {
        f->node[sum].value += sign * x->value;
        for (int child = x->child; child;) {
            const int next = f->node[child].next;
            add_term(f, sum, child, sign);
            child = next;
        }
    } else {
        append(f, sum, sign < 0 ? negate(f, term) : term);
    }
}

static int add(struct report_formula *f, int a, int b, double sign)
{
    const int sum = new_node(f, REPORT_FORMULA_SUM, 0);
    add_term(f, sum, a, 1);
    add_term(f, sum, b, sign);
    if (f->failed)
        return 0;
    const int first = f->node[sum].child;
    if (!first)
        f->node[sum].kind = REPORT_FORMULA_PRODUCT;
    return first && !f->node[first].next && f->node[sum].value == 0 ? first : sum;
}

/* ------------------------------------------------------------------------------ the text */

static int read_sum(struct reader *r);

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the next character if it is c; returns whether it was. */
static bool take(struct reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static int read_number(struct reader *r)
{
    char *end;
    const double value = strtod(r->at, &end);
    if (end == r->at || (r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X')))
        return fail(r->f);
    r->at = end;
    return new_node(r->f, REPORT_FORMULA_PRODUCT, value);
}

/* A power with an arbitrary exponent. */
static int power_of(struct report_formula *f, int base, int exponent)
{
    if (f->failed)
        return 0;
    if (is_number(f, exponent))
        return raise(f, base, f->node[exponent].value);
    const int call = new_node(f, REPORT_FORMULA_CALL, 0);
    if (f->failed)
        return 0;
    memcpy(f->node[call].word, "^", 2);
    append(f, call, base);
    append(f, call, exponent);
    return call;
}

/* Functions that are powers or signs become powers or signs; all others are calls. */
static int read_call(struct reader *r, const char *word)
{
    static const struct {
        const char *word;
        double power;
    } powers[] = {{"inv", -1}, {"square", 2}, {"cube", 3}};
    struct report_formula *f = r->f;
    const int call = new_node(f, REPORT_FORMULA_CALL, 0);
    int arguments = 0, first = 0;
    snprintf(f->node[call].word, REPORT_FORMULA_WORD, "%s", word);
    do {
        const int argument = read_sum(r);
        if (f->failed)
            return 0;
        append(f, call, argument);
        first = arguments++ ? first : argument;
    } while (take(r, ','));
    if (!take(r, ')'))
        return fail(f);
    for (size_t i = 0; i < sizeof powers / sizeof *powers && arguments == 1; i++)
        if (!strcmp(word, powers[i].word))
            return raise(f, first, powers[i].power);
    return arguments == 1 && !strcmp(word, "neg") ? negate(f, first) : call;
}

static int read_word(struct reader *r)
{
    char word[REPORT_FORMULA_WORD];
    size_t length = 0;
    while (is_letter(r->at[length]) || is_digit(r->at[length]))
        length++;
    if (length >= sizeof word)
        return fail(r->f);
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;
    if (take(r, '('))
        return read_call(r, word);
    const int name = new_node(r->f, REPORT_FORMULA_NAME, 0);
    memcpy(r->f->node[name].word, word, length + 1);
    return name;
}

static int read_primary(struct reader *r)
{
    if (take(r, '(')) {
        const int inside = read_sum(r);
        return take(r, ')') ? inside : fail(r->f);
    }
    return is_letter(*r->at) ? read_word(r) : read_number(r);
}

/* A sign binds less than a power: -x^2 is -(x^2). */
static int read_signed(struct reader *r)
{
    if (r->f->failed || ++r->depth > DEPTH)
        return fail(r->f);
    int node;
    if (take(r, '-')) {
        node = negate(r->f, read_signed(r));
    } else {
        node = read_primary(r);
        if (!r->f->failed && take(r, '^'))
            node = power_of(r->f, node, read_signed(r));
    }
    r->depth--;
    return node;
}

static int read_product(struct reader *r)
{
    int node = read_signed(r);
    while (!r->f->failed) {
        if (take(r, '*'))
            node = multiply(r->f, node, read_signed(r));
        else if (take(r, '/'))
            node = multiply(r->f, node, raise(r->f, read_signed(r), -1));
        else
            break;
    }
    return node;
}

static int read_sum(struct reader *r)
{
    int node = read_product(r);
    while (!r->f->failed) {
        if (take(r, '+'))
            node = add(r->f, node, read_product(r), 1);
        else if (take(r, '-'))
            node = add(r->f, node, read_product(r), -1);
        else
            break;
    }
    return node;
}

bool report_formula_read(const char *text, struct report_formula *formula)
{
    struct reader r = {.f = formula, .at = text};
    memset(formula, 0, sizeof *formula);
    formula->count = 1;
    formula->root = read_sum(&r);
    take(&r, ' ');
    for (int i = 1; i < formula->count && !formula->failed; i++)
        formula->failed = !isfinite(formula->node[i].value) || !isfinite(formula->node[i].power);
    return !formula->failed && !*r.at;
}
