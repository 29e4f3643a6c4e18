/* structure.c - searches derived tables with fewer columns: y = h phi(u1, ..., ur).
 *
 * groups.h finds products of powers h and u. Where two columns matter only through their difference
 * or sum, or that of their squares, this first replaces them, and the groups are found again. A
 * term with a column of its own is split off (split.c). The stages of a proposal then search the
 * target y / h over the columns u, with rows weighted as in the loss of y. The results are written
 * in the columns of the table and fitted to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "derived.h"
#include "powers.h"
#include "shared.h"
#include "structure.h"

enum {
    TRIED = 3,       /* hypotheses searched */
    PER_SIZE = 8,    /* seeds of each size */
    LEAST_ROWS = 64, /* of a noisy table whose small values are left out: four times that */
    FEW_ROWS = 4,    /* rows of a derived table, at least */
    CURVE_POWERS = 5,
};

/* Variances of ln |y| above which a table counts as noisy, and above which rows are chosen anew. */
static const double noisy = 1e-5, much = 1e-3;

/* ---- views: the table with differences or sums (of squares) that replace some columns */

enum { VIEWS = 6 }; /* three differences one by one, and two sums of their squares */

void sr_view_init(const struct sr_proposal *p, struct sr_view *v)
{
    v->data = *p->loss->data;
    for (int f = 0; f < v->data.features && f < SR_SMOOTH_COLUMNS; f++)
        v->column[f] = (struct sr_expr){.count = 1, .node = {sr_leaf_node(f)}};
}

/* Writes a product of powers of a view's columns in the table's columns, and evaluates it in all
 * rows; count 0: 1. False where that is impossible. */
static bool eval_powers(const struct sr_proposal *p, const struct sr_view *v,
                        const struct sr_powers *powers, struct sr_expr *expr, double *value)
{
    struct sr_expr of_view;
    expr->count = 0;
    sr_fill(value, v->data.rows, 1);
    return sr_powers_write(p->settings->language, p->operators, powers, &of_view) &&
           sr_put_over(v->column, &of_view, SR_NODES, expr) &&
           (!expr->count || (sr_put_end(p->settings->language, expr, SR_NODES) &&
                             sr_eval(expr, p->loss->data, value)));
}

/* The pair that the column is in, if its operator is allowed. */
static const struct sr_group_pair *pair_of(const struct sr_proposal *p,
                                           const struct sr_group_pairs *pairs, int f)
{
    for (int k = 0; k < pairs->count; k++)
        if ((pairs->pair[k].a == f || pairs->pair[k].b == f) &&
            sr_has(p->operators, pairs->pair[k].sign < 0 ? SR_SUB : SR_ADD))
            return &pairs->pair[k];
    return NULL;
}

/* Divides y of a view by the factors of its pairs, whose product is given; `value` (rows): storage.
 * False where that is impossible. */
static bool divide_by_factors(const struct sr_proposal *p, const struct sr_view *from,
                              const struct sr_powers *product, struct sr_view *v, double *value)
{
    struct sr_expr factor;
    v->factor = from->factor;
    if (!eval_powers(p, from, product, &factor, value) ||
        !sr_put_times(p->settings->language, &factor, &v->factor))
        return false;
    for (size_t i = 0; i < v->data.rows; i++)
        value[i] = from->data.y[i] / value[i];
    v->data.y = value;
    return true;
}

/* Replaces the first column of each pair by the difference or sum of the two, or of their squares,
 * removes the second, and divides y by the pairs' factors. *made: whether there are such pairs. */
static int join_pairs(const struct sr_proposal *p, const struct sr_view *from,
                      const struct sr_group_pairs *pairs, struct sr_view *v, bool *made)
{
    const uint64_t operators = p->operators & ~((uint64_t)1 << SR_POW); /* a square is no power */
    struct sr_powers product = {{0}};
    bool any = false;
    *made = false;
    v->data = from->data;
    v->data.features = 0;
    v->data.x = v->x = orr_alloc(((size_t)from->data.features + 1) * v->data.rows, sizeof *v->x);
    if (!v->x)
        return ORR_ENOMEM;
    double *x = v->x;
    for (int f = 0; f < from->data.features; f++) {
        const struct sr_group_pair *own = pair_of(p, pairs, f);
        product.half[f] = own ? own->half : 0;
        any = any || own;
        if (own && own->b == f)
            continue;
        struct sr_expr *column = &v->column[v->data.features++];
        column->count = 0;
        sr_put_power(operators, &from->column[f], own ? own->power[0] : 1, column);
        if (own) {
            sr_put_power(operators, &from->column[own->b], own->power[1], column);
            sr_put_op(column, own->sign < 0 ? SR_SUB : SR_ADD);
        }
        if (!sr_put_end(p->settings->language, column, SR_NODES) ||
            !sr_eval(column, p->loss->data, x))
            return 0;
        x += v->data.rows;
    }
    *made = any && divide_by_factors(p, from, &product, v, x);
    return 0;
}

/* Hypotheses, best first, and the pairs of the last view. */
struct found {
    struct sr_grouping list[SR_GROUPINGS];
    struct sr_group_pairs pairs;
    int count;
};

/* Merges the hypotheses of a view, recalled where they are known, into the list. */
static int add_view(const struct sr_proposal *p, const struct sr_view *v, const double *size,
                    int number, struct found *found)
{
    struct sr_recall *const recall = p->settings->recall;
    struct found own;
    struct sr_recall_key key = sr_recall_key_table(recall, "groups", &v->data);
    int rc = 0;
    if (size)
        sr_recall_key_add(&key, size, v->data.rows * sizeof *size);
    memset(&own, 0, sizeof own);
    if (!sr_recall_find(recall, &key, &own, sizeof own)) {
        rc = sr_groups_find(&v->data, size, own.list, &own.count, &own.pairs);
        if (!rc && !orr_signal_seen())
            sr_recall_keep(recall, &key, &own, sizeof own);
    }
    found->pairs = own.pairs;
    for (int i = 0; i < own.count; i++) {
        own.list[i].view = number;
        sr_best_insert(found->list, sizeof *own.list, &found->count, SR_GROUPINGS, &own.list[i]);
    }
    return rc;
}

/* Finds the hypotheses of a noisy table anew, from rows that are chosen without its noise; keeps
 * the old ones where there are none. *size is NULL unless they are new. Takes a second or two of
 * one core. */
static int find_again(const struct sr_proposal *p, const struct sr_view *v, double *sizes,
                      struct found *found, const double **size)
{
    static const double least_s = 3;
    struct sr_recall *const recall = p->settings->recall;
    const struct sr_recall_key key = sr_recall_key_table(recall, "sizes", &v->data);
    const size_t bytes = v->data.rows * sizeof *sizes;
    struct found own = {.count = 0};
    const bool late = p->limit.until_s > 0 && p->limit.until_s - orr_time_s() < least_s;
    *size = NULL;
    if (!found->count || found->list[0].noise <= much || late || orr_signal_seen())
        return 0;
    if (!sr_recall_find(recall, &key, sizes, bytes)) {
        TRY(sr_groups_sizes(&v->data, sizes));
        if (!orr_signal_seen())
            sr_recall_keep(recall, &key, sizes, bytes);
    }
    TRY(add_view(p, v, sizes, 0, &own));
    if (own.count) {
        for (int k = 0; k < found->pairs.terms; k++)
            sr_terms_add(&found->pairs.term[k], own.pairs.term, &own.pairs.terms);
        *found = own;
        *size = sizes;
    }
    return 0;
}

/* Where y is a product of powers of a view's columns, adds it with sums as groups of their own: a
 * product of powers may need a sum twice, as in 1 / (s sqrt(s)), where a function needs it once. */
static void add_sums_as_groups(const struct sr_view *v, int number, struct found *found)
{
    struct sr_grouping g = found->list[0];
    if (g.view != number || g.groups)
        return;
    for (int f = 0; f < v->data.features; f++)
        if (v->column[f].count > 1 && g.factor.half[f]) {
            g.group[g.groups++] = (struct sr_powers){{0}};
            g.group[g.groups - 1].half[f] = 2;
            g.factor.half[f] = 0;
        }
    g.loss += 1e-9 * fabs(g.loss);
    if (g.groups)
        sr_best_insert(found->list, sizeof g, &found->count, SR_GROUPINGS, &g);
}

/* Lists all hypotheses, best first: of the table, then of views as long as each view improves on
 * the one before and has pairs. A table of many columns that change their signs may have no
 * hypothesis, as each of them is a group, while its views have. sizes (rows): storage. */
static int find_groupings(const struct sr_proposal *p, double *sizes, struct sr_view view[VIEWS],
                          struct found *found, struct sr_group_pairs *terms)
{
    const double *size;
    sr_view_init(p, &view[0]);
    TRY(add_view(p, &view[0], NULL, 0, found));
    TRY(find_again(p, &view[0], sizes, found, &size));
    *terms = found->pairs;
    for (int k = 1; k < VIEWS && (!found->count || found->list[0].view == k - 1); k++) {
        if ((found->count && !found->list[0].groups) || !found->pairs.count)
            break;
        bool made;
        TRY(join_pairs(p, &view[k - 1], &found->pairs, &view[k], &made));
        if (!made || orr_signal_seen())
            break;
        TRY(add_view(p, &view[k], size, k, found));
        if (found->count)
            add_sums_as_groups(&view[k], k, found);
    }
    return 0;
}

/* ---- the derived table */

/* Chooses rows evenly, at most SR_DERIVED_ROWS. For noisy tables only rows whose |h| is at least
 * the median are used, as they dominate the loss of y. Returns how many. */
static size_t choose_rows(const double *factor, size_t rows, bool noise, size_t *row)
{
    size_t n = 0;
    double least = 0,
           *sorted = noise && rows >= 4 * LEAST_ROWS ? orr_alloc(rows, sizeof *sorted) : NULL;
    if (sorted) {
        for (size_t i = 0; i < rows; i++)
            sorted[i] = fabs(factor[i]);
        gsl_sort(sorted, 1, rows);
        least = sorted[rows / 2];
    }
    free(sorted);
    for (size_t i = 0; i < rows; i++)
        if (fabs(factor[i]) >= least)
            row[n++] = i;
    return sr_rows_spread(row, n, SR_DERIVED_ROWS);
}

/* The groupings of a table or of its views. */
struct groupings {
    const struct sr_view *view;
    const struct sr_grouping *list;
};

/* Evaluates h and the groups on all rows: value (groups + 1, rows), h first; writes them in the
 * columns of the table, group (groups). */
static bool eval_groups(const struct sr_proposal *p, const struct sr_view *v,
                        const struct sr_grouping *g, double *value, struct sr_expr *factor,
                        struct sr_expr *group)
{
    if (!eval_powers(p, v, &g->factor, factor, value) ||
        !sr_put_times(p->settings->language, &v->factor, factor) ||
        (v->factor.count && !sr_eval(factor, p->loss->data, value)))
        return false;
    for (int k = 0; k < g->groups; k++)
        if (!eval_powers(p, v, &g->group[k], &group[k], value + (size_t)(k + 1) * v->data.rows))
            return false;
    return true;
}

/* The table of y / h over the groups of a hypothesis; the weights of |y / h - phi| correspond to
 * the loss of y. */
static int make_reduced(const struct sr_proposal *p, const void *context, int number,
                        struct sr_derived *d)
{
    const struct groupings *from = context;
    const struct sr_grouping *g = &from->list[number];
    const struct sr_data *all = p->loss->data;
    const enum orr_symreg_loss of = p->loss->kind;
    const enum orr_symreg_loss kind = of == ORR_SR_L1 || of == ORR_SR_STUDY ? ORR_SR_L1
                                      : of == ORR_SR_RELATIVE               ? of
                                                                            : ORR_SR_L2;
    double *value = orr_alloc(((size_t)g->groups + 1) * all->rows, sizeof *value);
    size_t *row = orr_alloc(all->rows, sizeof *row), n = 0;
    struct sr_expr factor, group[SR_GROUPS_MOST];
    int rc = value && row ? 0 : ORR_ENOMEM;
    if (!rc && eval_groups(p, &from->view[g->view], g, value, &factor, group))
        n = choose_rows(value, all->rows, g->noise > noisy && !p->derived, row);
    if (!rc && n >= FEW_ROWS) {
        rc = sr_derived_init(d, all, n, row, g->groups);
        for (int k = 0; k < g->groups && !rc; k++)
            sr_derived_append(d, value + (size_t)(k + 1) * all->rows, &group[k]);
        for (size_t i = 0; i < n && !rc; i++) {
            const double h = value[row[i]];
            d->y[i] /= h;
            d->weight[i] *= kind == ORR_SR_RELATIVE ? 1 : kind == ORR_SR_L1 ? fabs(h) : h * h;
        }
        d->before = factor;
        if (factor.count)
            sr_put_op(&d->after, SR_MUL);
        rc = rc ? rc : sr_derived_end(d, kind);
    }
    free(value);
    free(row);
    return rc;
}

/* The squared loss that noise explains, estimated from the best model; 0 for other losses, weighted
 * tables, or where it is not a small share of the mean square of y. A formula that fits before any
 * group is searched shows that the model lacks something, and that its noise is not that of y. */
static double floor_of(const struct sr_proposal *p, const struct sr_grouping *g)
{
    static const double most = 0.03;
    const struct sr_data *data = p->loss->data;
    const double floor = g->noise * g->typical * g->typical;
    double square = 0;
    for (size_t i = 0; i < data->rows; i++)
        square += data->y[i] * data->y[i] / (double)data->rows;
    for (int i = 0; i < p->seeds->count && g->noise > much; i++)
        if (p->seeds->loss[i] < floor)
            return 0;
    return p->loss->kind == ORR_SR_L2 && !data->weight && floor < most * square ? floor : 0;
}

static int race_groupings(struct sr_proposal *p, const struct sr_view *view,
                          const struct sr_grouping *list, int count, double floor, unsigned stages,
                          unsigned of_best)
{
    return sr_race(p, &(struct sr_race){
                          .count = count,
                          .make = make_reduced,
                          .context = &(struct groupings){view, list},
                          .round = {{.stages = stages}, {.stages = of_best, .best = SR_RACE_BEST}},
                          .per_size = PER_SIZE,
                          .floor = floor,
                      });
}

/* Where the best hypothesis is a function of one group u, y = h phi(u), a sum with free rates is
 * looked for in phi(u) / u^p: (1 + r / b) exp(-r / b) / r^2 is one only for p = -2. Takes powers
 * number `first` to `last`. */
static int search_curve(struct sr_proposal *p, const struct sr_view *view,
                        const struct sr_grouping *best, int first, int last)
{
    static const int power[CURVE_POWERS] = {0, -2, 2, -1, 1};
    struct sr_grouping list[CURVE_POWERS];
    const double floor = p->floor;
    const int tables = best->groups == 1 ? last - first + 1 : 0;
    for (int k = 0; k < tables; k++) {
        list[k] = *best;
        for (int f = 0; f < SR_SMOOTH_COLUMNS; f++)
            list[k].factor.half[f] += power[first + k] * best->group[0].half[f];
    }
    p->floor = 0; /* it is an estimate, which some other formula may have reached */
    const int rc = race_groupings(p, view, list, tables, 0, SR_STAGE_RATES, 0);
    p->floor = floor;
    return rc;
}

/* Searches the best hypotheses one after the other. phi itself is looked for among sums with free
 * rates first: this takes a fraction of a second, and pairs of small formulas of three hypotheses
 * may take all of the time. */
static int search_hypotheses(struct sr_proposal *p, const struct sr_view *view,
                             const struct sr_grouping *list, int count)
{
    TRY(search_curve(p, view, &list[0], 0, 0));
    TRY(race_groupings(p, view, list, count < TRIED ? count : TRIED, floor_of(p, &list[0]),
                       SR_STAGE_SMALL | SR_STAGE_POWERS | SR_STAGE_COMPOSED, 0));
    return search_curve(p, view, &list[0], 1, CURVE_POWERS - 1);
}

int sr_structure_compare(struct sr_proposal *p, const struct sr_view *view,
                         const struct sr_grouping *list, int count)
{
    return race_groupings(p, view, list, count, 0, SR_STAGE_SMALL, SR_STAGE_COMPOSED);
}

/* Of a noisy table: searches the columns that do not only multiply y by powers, by all stages. */
static int search_separable(struct sr_proposal *p, const struct sr_view *view,
                            const struct sr_grouping *best)
{
    struct sr_grouping g;
    TRY(sr_separable_find(p->loss->data, &g));
    g.noise = best->noise;
    const struct sr_limit limit = sr_proposal_share(p, 0.5);
    const int rc = race_groupings(p, view, &g, g.groups ? 1 : 0, 0, SR_STAGES_OF_REST, 0);
    p->limit = limit;
    return rc;
}

/* Searches what is left after a term is split off, each term for half of the time that is left to
 * the stage. */
static int search_terms(struct sr_proposal *p, const struct sr_group_pairs *found,
                        const struct sr_grouping *best)
{
    /* contradiction, from laws with and without terms */
    const double most = 0.01 + 3 * best->noise;
    const struct sr_limit limit = p->limit;
    int rc = 0;
    for (int k = 0; k < found->terms && !p->is_rest && !sr_proposal_over(p) && !rc; k++) {
        if (found->term[k].off > most)
            break;
        sr_proposal_share(p, 0.5);
        rc = sr_split_search(p, &found->term[k], best->noise * best->typical * best->typical);
        p->limit = limit;
    }
    return rc;
}

int sr_structure_find(struct sr_proposal *p)
{
    struct found found = {.count = 0};
    struct sr_group_pairs terms = {0};
    struct sr_view *view = orr_alloc(VIEWS, sizeof *view);
    double *sizes = orr_alloc(p->loss->data->rows, sizeof *sizes);
    int rc = view && sizes ? find_groupings(p, sizes, view, &found, &terms) : ORR_ENOMEM;
    if (!rc && found.count) {
        const struct sr_grouping *best = &found.list[0];
        const struct sr_limit limit = sr_proposal_share(p, 0.5);
        if (best->noise <= noisy) /* else some terms are only seeming */
            rc = search_terms(p, &terms, best);
        rc = rc ? rc : search_hypotheses(p, view, found.list, found.count);
        if (!rc && best->noise > noisy)
            rc = search_terms(p, &terms, best);
        p->limit = limit;
        if (!rc && best->noise > much && !p->derived && !sr_proposal_over(p))
            rc = search_separable(p, view, best);
    }
    for (int i = 0; i < VIEWS && view; i++)
        free(view[i].x);
    free(view);
    free(sizes);
    return rc;
}
