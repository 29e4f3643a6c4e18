/* term_library.c - terms that equations of motion are mostly made of: products of powers, what rate
 * laws consist of (saturations, exponentials, roots), sines of angles and of their differences.
 * Numbers within terms are those of a grid, as the fit that follows refines them. */
#include "weak.h"

#include <math.h>

#include "base/statistics.h"

enum {
    FACTORS = 3,
    PRODUCTS = 64,
    WIDE = 4,   /* names, from which on terms have one name only */
    WAVES = 40, /* half-turns of a sine of the time along the tracks */
};
static const double pi = 3.14159265358979323846;

/* Numbers in units of a name's size. */
static const double steps[] = {0.15, 0.4, 1, 2.5}, slopes[] = {-4, -2, -1, -0.5, -0.2, 0.3, 1};
enum { STEPS = sizeof steps / sizeof *steps, SLOPES = sizeof slopes / sizeof *slopes };

struct maker {
    const struct sr_states *states;
    const bool *allowed;
    struct sr_weak_library *into;
    int name[SR_STATE_NAMES], names;
    double size[SR_STATE_NAMES]; /* rms */
    bool positive[SR_STATE_NAMES];
};

static void measure_names(struct maker *m)
{
    const struct sr_states *s = m->states;
    for (int k = 0; k < s->names; k++) {
        double squares = 0;
        if (k == sr_states_time(s) && !s->explicit_time)
            continue;
        m->name[m->names++] = k;
        m->positive[k] = true;
        for (size_t a = 0; a < s->count; a++)
            for (size_t i = 0; i < s->track[a].n; i++) {
                const double x = sr_state_value(s, &s->track[a], k, i);
                squares += x * x / (double)s->rows;
                m->positive[k] = m->positive[k] && x > 0;
            }
        m->size[k] = squares > 0 ? sqrt(squares) : 1;
    }
}

/* Adds a term, which the caller has put. The first of a form numbers it. */
static void add(struct maker *m, bool first, struct sr_expr *expr)
{
    struct sr_weak_library *const l = m->into;
    if (l->count == SR_WEAK_TERMS)
        return;
    for (int i = 0; i < expr->count && i < SR_NODES; i++)
        if (expr->node[i].op >= SR_ADD && expr->node[i].op < SR_OPS &&
            !m->allowed[expr->node[i].op])
            return;
    if (!sr_put_end(NULL, expr, SR_NODES))
        return;
    const bool plain = expr->count == 1 && expr->node[0].op == SR_CONSTANT;
    struct sr_expr scaled = {.count = 0};
    sr_put_constant(&scaled, 1);
    if (!plain) {
        sr_put_expr(&scaled, expr);
        sr_put_op(&scaled, SR_MUL);
    }
    if (!sr_put_end(NULL, &scaled, SR_NODES))
        return;
    l->forms += first;
    struct sr_weak_term *const term = &l->term[l->count++];
    sr_expr_copy(&term->expr, expr);
    term->form = l->forms;
    double value[SR_NODES];
    term->numbers = plain ? 1 : 1 + sr_expr_constants(expr, value);
    term->nats = sr_equation_nats(&scaled, m->states->names - !m->states->explicit_time);
}

static void put_name(struct sr_expr *expr, int name)
{
    sr_put_node(expr, sr_feature_node(name));
}

static void add_products(struct maker *m)
{
    int factors = FACTORS;
    while (factors > 1 && sr_products_count(m->names, factors) > PRODUCTS)
        factors--;
    for (int a = -1; a < m->names; a++)
        for (int b = -1; b <= (factors > 1 ? a : -1); b++)
            for (int c = -1; c <= (factors > 2 ? b : -1); c++) {
                const int of[FACTORS] = {a, b, c};
                struct sr_expr expr = {.count = 0};
                for (int k = 0; k < FACTORS && of[k] >= 0; k++) {
                    put_name(&expr, m->name[of[k]]);
                    if (k)
                        sr_put_op(&expr, SR_MUL);
                }
                if (a < 0)
                    sr_put_constant(&expr, 1);
                add(m, true, &expr);
            }
}

/* op(x), or x * op(x) */
static void add_function(struct maker *m, int name, enum sr_op op, bool times)
{
    struct sr_expr expr = {.count = 0};
    put_name(&expr, name);
    sr_put_op(&expr, op);
    if (times) {
        put_name(&expr, name);
        sr_put_op(&expr, SR_MUL);
    }
    add(m, true, &expr);
}

static void add_functions(struct maker *m, int name)
{
    if (m->positive[name]) {
        add_function(m, name, SR_SQRT, false);
        add_function(m, name, SR_LOG, false);
        add_function(m, name, SR_LOG, true);
    } else
        add_function(m, name, SR_ABS, true);
    add_function(m, name, SR_SIN, false);
    add_function(m, name, SR_COS, false);
    if (m->positive[name])
        add_function(m, name, SR_INV, false);
    for (int k = 0; k < SLOPES; k++) {
        struct sr_expr expr = {.count = 0};
        put_name(&expr, name);
        sr_put_constant(&expr, slopes[k] / m->size[name]);
        sr_put_op(&expr, SR_MUL);
        sr_put_op(&expr, SR_EXP);
        add(m, k == 0, &expr);
    }
}

/* sin(w t) and cos(w t), of up to so many half-turns along the tracks. */
static void add_waves(struct maker *m)
{
    const struct sr_states *const s = m->states;
    const int time = sr_states_time(s);
    double from = HUGE_VAL, to = -HUGE_VAL;
    for (size_t k = 0; k < s->count; k++) {
        from = fmin(from, s->track[k].t[0]);
        to = fmax(to, s->track[k].t[s->track[k].n - 1]);
    }
    for (int op = SR_SIN; op <= SR_COS; op++)
        for (int k = 1; k <= WAVES; k++) {
            struct sr_expr expr = {.count = 0};
            put_name(&expr, time);
            sr_put_constant(&expr, k * pi / (to - from));
            sr_put_op(&expr, SR_MUL);
            sr_put_op(&expr, (enum sr_op)op);
            add(m, k == 1, &expr);
        }
}

/* sin(x - y), cos(x - y) */
static void add_differences(struct maker *m, int a, int b)
{
    for (int op = SR_SIN; op <= SR_COS; op++) {
        struct sr_expr expr = {.count = 0};
        put_name(&expr, a);
        put_name(&expr, b);
        sr_put_op(&expr, SR_SUB);
        sr_put_op(&expr, (enum sr_op)op);
        add(m, true, &expr);
    }
}

/* x^above / (K + x^below), times y unless it is negative. */
static void add_saturation(struct maker *m, int x, int above, int below, int y)
{
    for (int k = 0; k < STEPS; k++) {
        struct sr_expr expr = {.count = 0};
        if (above > 0)
            put_name(&expr, x);
        if (above == 2)
            sr_put_op(&expr, SR_SQUARE);
        put_name(&expr, x);
        if (below == 2)
            sr_put_op(&expr, SR_SQUARE);
        sr_put_constant(&expr,
                        below == 2 ? steps[k] * m->size[x] * m->size[x] : steps[k] * m->size[x]);
        sr_put_op(&expr, SR_ADD);
        sr_put_op(&expr, above > 0 ? SR_DIV : SR_INV);
        if (y >= 0) {
            put_name(&expr, y);
            sr_put_op(&expr, SR_MUL);
        }
        add(m, k == 0, &expr);
    }
}

static void add_saturations(struct maker *m, int x)
{
    for (int other = -1; other < (m->names <= WIDE ? m->names : 0); other++) {
        const int y = other < 0 ? -1 : m->name[other];
        if (y == x)
            continue;
        add_saturation(m, x, 2, 2, y);
        if (m->positive[x])
            add_saturation(m, x, 1, 1, y);
        if (other >= 0)
            continue;
        add_saturation(m, x, 0, 2, y);
        if (m->positive[x])
            add_saturation(m, x, 0, 1, y);
    }
}

void sr_weak_library(const struct sr_states *s, const bool *allowed,
                     struct sr_weak_library *library)
{
    struct maker m = {.states = s, .allowed = allowed, .into = library};
    library->count = library->forms = 0;
    measure_names(&m);
    add_products(&m);
    for (int a = 0; a < m.names; a++)
        add_functions(&m, m.name[a]);
    if (s->explicit_time)
        add_waves(&m);
    for (int a = 0; a < m.names; a++)
        for (int b = 0; b < a && m.names <= WIDE; b++)
            add_differences(&m, m.name[a], m.name[b]);
    for (int a = 0; a < m.names; a++)
        add_saturations(&m, m.name[a]);
}
