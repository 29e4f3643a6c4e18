/* dimensions.c - searches y / h as a function of dimensionless groups (Buckingham's theorem), where
 * the units of columns and target are known.
 *
 * h is a product of powers of columns and named constants that has the target's dimension. A
 * hypothesis takes some of the constants, the simplest groups that are independent, and a simple h.
 * Fewer groups come first: with none, the law is known but for a number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"
#include "shared.h"
#include "structure.h"
#include "symreg/value/echelon.h"

enum {
    TRIED = 8,   /* hypotheses searched */
    SCALES = 3,  /* factors h for each choice of constants */
    TOGETHER = 3 /* constants of a hypothesis, at most */
};
/* Cost of a group and of a constant, relative to an exponent of h. */
static const double per_group = 8, per_constant = 1;

/* The quantities of a view, of which a hypothesis takes those of a set: all columns, and some
 * constants. */
struct quantities {
    int count, features;
    unsigned set; /* one bit each */
    struct sr_dimension d[SR_SMOOTH_COLUMNS];
};

/* The table with a column for each named constant. */
static int make_view(const struct sr_proposal *p, const struct quantities *c, struct sr_view *v)
{
    const size_t rows = p->loss->data->rows;
    sr_view_init(p, v);
    v->x = orr_alloc((size_t)c->count * rows, sizeof *v->x);
    if (!v->x)
        return ORR_ENOMEM;
    memcpy(v->x, v->data.x, (size_t)c->features * rows * sizeof *v->x);
    for (int f = c->features; f < c->count; f++) {
        const double value = p->settings->language->constant[f - c->features];
        sr_fill(v->x + (size_t)f * rows, rows, value);
        v->column[f] = (struct sr_expr){.count = 1, .node = {sr_constant_node(value)}};
    }
    v->data.x = v->x;
    v->data.features = c->count;
    return 0;
}

/* Adds a vector to a basis unless it depends on those there. */
static bool add_independent(const struct sr_powers *powers, int n,
                            double basis[SR_SMOOTH_COLUMNS + 1][SR_SMOOTH_COLUMNS], int *count)
{
    int pivot[SR_SMOOTH_COLUMNS + 1];
    const int before = *count;
    for (int i = 0; i < n; i++)
        basis[before][i] = powers->half[i];
    *count = sr_echelon(basis[0], before + 1, n, SR_SMOOTH_COLUMNS, 1e-9, pivot);
    return *count > before;
}

/* The simplest independent groups that contain a column. False where there are too many. */
static bool choose_groups(const struct quantities *c, struct sr_grouping *g, double *cost)
{
    struct sr_product list[SR_PRODUCTS];
    double basis[SR_SMOOTH_COLUMNS + 1][SR_SMOOTH_COLUMNS] = {{0}};
    const int count = sr_products_find(c->d, c->count, c->set, NULL, list);
    int independent = 0;
    g->groups = 0;
    *cost = 0;
    for (int i = 0; i < count; i++) {
        const struct sr_powers *const powers = &list[i].powers;
        bool any = false;
        for (int f = 0; f < c->features; f++)
            any = any || powers->half[f];
        if (!any || !add_independent(powers, c->count, basis, &independent))
            continue;
        if (g->groups == SR_GROUPS_MOST)
            return false;
        g->group[g->groups++] = *powers;
        *cost += per_group + 0.1 * list[i].cost;
    }
    return true;
}

/* Columns that stand neither in h nor in a group become arguments of phi themselves, as a constant
 * of the law may have their dimension: T in y = A exp(-2500 / T). False where there are too many,
 * and where a constant stands in neither: a hypothesis without it is the same. */
static bool add_columns(const struct quantities *c, struct sr_grouping *g)
{
    for (int i = 0; i < c->count; i++) {
        bool stands = g->factor.half[i] != 0 || !(c->set >> i & 1);
        for (int k = 0; k < g->groups; k++)
            stands = stands || g->group[k].half[i] != 0;
        if (stands)
            continue;
        if (i >= c->features || g->groups == SR_GROUPS_MOST)
            return false;
        g->group[g->groups] = (struct sr_powers){{0}};
        g->group[g->groups++].half[i] = 2;
        g->loss += per_group;
    }
    return true;
}

/* Adds the hypotheses of one set of quantities to the list, which their costs order. */
static void add_hypotheses(const struct quantities *c, const struct sr_dimension *target,
                           struct sr_grouping list[TRIED], int *count)
{
    struct sr_product scale[SR_PRODUCTS];
    struct sr_grouping g = {0};
    double cost;
    const int scales = sr_products_find(c->d, c->count, c->set, target, scale);
    if (!scales || !choose_groups(c, &g, &cost))
        return;
    const int groups = g.groups;
    for (int i = 0; i < scales && i < SCALES; i++) {
        g.groups = groups;
        g.factor = scale[i].powers;
        g.loss = cost + scale[i].cost + per_constant * __builtin_popcount(c->set >> c->features);
        if (add_columns(c, &g))
            sr_best_insert(list, sizeof g, count, TRIED, &g);
    }
}

int sr_dimensions_find(struct sr_proposal *p)
{
    const struct sr_units *units = p->settings->units;
    const struct sr_language *language = p->settings->language;
    const int named = language ? language->named : 0;
    struct quantities c = {.features = p->loss->data->features};
    struct sr_grouping list[TRIED] = {{0}};
    struct sr_view view = {0};
    int count = 0;
    c.count = c.features + named;
    if (!units || !units->target_known || c.count > SR_SMOOTH_COLUMNS)
        return 0;
    memcpy(c.d, units->feature, (size_t)c.features * sizeof *c.d);
    memcpy(c.d + c.features, units->constant, (size_t)named * sizeof *c.d);
    for (unsigned set = 0; set < 1U << named; set++) {
        c.set = ((1U << c.features) - 1) | set << c.features;
        if (__builtin_popcount(set) <= TOGETHER)
            add_hypotheses(&c, &units->target, list, &count);
    }
    int rc = make_view(p, &c, &view);
    rc = rc ? rc : sr_structure_compare(p, &view, list, count);
    free(view.x);
    return rc;
}
