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

/* Rewrites a formula of a view's columns in the table's columns; false where it is too long. */
static bool view_write(const struct sr_proposal *p, const struct sr_view *v, struct sr_expr *expr)
{
    const struct sr_expr of_view = *expr;
    expr->count = 0;
    if (!sr_put_over(v->column, &of_view, SR_NODES, expr))
        return false;
    return expr->count == 0 || sr_put_end(p->settings->language, expr, SR_NODES);
}

void sr_view_init(const struct sr_proposal *p, struct sr_view *v)
{
    v->data = *p->loss->data;
    for (int f = 0; f < v->data.features && f < SR_SMOOTH_COLUMNS; f++)
        v->column[f] = (struct sr_expr){.count = 1, .node = {sr_leaf_node(f)}};
}

/* A column of a view, or its square, in the table's columns; the square is no power. */
static struct sr_expr power_of_column(const struct sr_proposal *p, const struct sr_view *v, int f,
                                      int power)
{
    struct sr_expr column = {.count = 0};
    sr_put_power(p->operators & ~((uint64_t)1 << SR_POW), &v->column[f], power, &column);
    return column;
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

/* Multiplies a formula by another; count 0: 1. False where it is too long. */
static bool multiply(const struct sr_proposal *p, const struct sr_expr *by, struct sr_expr *factor)
{
    const bool first = factor->count == 0;
    if (!by->count)
        return true;
    if (factor->count + by->count + 1 > SR_NODES)
        return false;
    sr_put_expr(factor, by);
    if (!first)
        sr_put_op(factor, SR_MUL);
    return sr_put_end(p->settings->language, factor, SR_NODES);
}

/* Divides y of a view by the factors of its pairs, whose product is given; `value` (rows): storage.
 * False where that is impossible. */
static bool divide_by_factors(const struct sr_proposal *p, const struct sr_view *from,
                              const struct sr_powers *product, struct sr_view *v, double *value)
{
    struct sr_expr factor;
    v->factor = from->factor;
    if (!sr_powers_write(p->settings->language, p->operators, product, &factor))
        return false;
    if (!factor.count)
        return true;
    if (!sr_eval(&factor, &from->data, value) || !view_write(p, from, &factor) ||
        !multiply(p, &factor, &v->factor))
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
    const struct sr_data *all = &from->data;
    const size_t rows = all->rows;
    struct sr_powers product = {{0}};
    int n = 0;
    *made = false;
    v->x = orr_alloc(((size_t)all->features + 1) * rows, sizeof *v->x);
    if (!v->x)
        return ORR_ENOMEM;
    for (int f = 0; f < all->features; f++) {
        const struct sr_group_pair *own = pair_of(p, pairs, f);
        product.half[f] = own ? own->half : 0;
        if (own && own->b == f)
            continue;
        const double *a = all->x + (size_t)f * rows;
        double *out = v->x + (size_t)n * rows;
        memcpy(out, a, rows * sizeof *out);
        v->column[n] = from->column[f];
        if (own) {
            const double *b = all->x + (size_t)own->b * rows;
            v->column[n] = power_of_column(p, from, f, own->power[0]);
            const struct sr_expr other = power_of_column(p, from, own->b, own->power[1]);
            sr_put_expr(&v->column[n], &other);
            sr_put_op(&v->column[n], own->sign < 0 ? SR_SUB : SR_ADD);
            *made = true;
            for (size_t i = 0; i < rows; i++)
                out[i] = (own->power[0] == 2 ? a[i] * a[i] : a[i]) +
                         own->sign * (own->power[1] == 2 ? b[i] * b[i] : b[i]);
        }
        n++;
    }
    v->data = *all;
    v->data.features = n;
    v->data.x = v->x;
    *made = *made && divide_by_factors(p, from, &product, v, v->x + (size_t)n * rows);
    return 0;
}

/* Collects pairs that occur as ratios of two columns among the groups: where the columns are nearly
 * equal, a function of their difference resembles a function of their ratio. */
static void pairs_of_ratios(const struct sr_grouping *g, struct sr_group_pairs *pairs)
{
    bool taken[SR_SMOOTH_COLUMNS] = {false};
    pairs->count = 0;
    pairs->are_ratios = true;
    for (int k = 0; k < g->groups && pairs->count < SR_GROUP_PAIRS; k++) {
        struct sr_group_pair pair = {.a = -1, .b = -1, .sign = -1, .power = {1, 1}};
        int columns = 0;
        for (int f = 0; f < SR_SMOOTH_COLUMNS; f++) {
            columns += g->group[k].half[f] != 0;
            pair.a = g->group[k].half[f] == 2 ? f : pair.a;
            pair.b = g->group[k].half[f] == -2 ? f : pair.b;
        }
        if (columns != 2 || pair.a < 0 || pair.b < 0 || taken[pair.a] || taken[pair.b])
            continue;
        taken[pair.a] = taken[pair.b] = true;
        pairs->pair[pairs->count++] = pair;
    }
}

/* sr_groups_sizes(), recalled where its result is known. */
static int find_sizes(const struct sr_proposal *p, const struct sr_data *data, double *size)
{
    struct sr_recall *const recall = p->settings->recall;
    const struct sr_recall_key key = sr_recall_key_table(recall, "sizes", data);
    const size_t bytes = data->rows * sizeof *size;
    int rc = 0;
    if (!sr_recall_find(recall, &key, size, bytes)) {
        rc = sr_groups_sizes(data, size);
        if (!rc && !orr_signal_seen())
            sr_recall_keep(recall, &key, size, bytes);
    }
    return rc;
}

/* Merges the hypotheses of a view, recalled where they are known, into the list. */
static int add_view(const struct sr_proposal *p, const struct sr_view *v, const double *size,
                    int number, struct sr_grouping list[SR_GROUPINGS], int *count,
                    struct sr_group_pairs *pairs)
{
    struct sr_recall *const recall = p->settings->recall;
    struct {
        struct sr_grouping list[SR_GROUPINGS];
        struct sr_group_pairs pairs;
        int count;
    } own;
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
    *pairs = own.pairs;
    if (own.count && !pairs->count)
        pairs_of_ratios(&own.list[0], pairs);
    for (int i = 0; i < own.count; i++) {
        own.list[i].view = number;
        sr_best_insert(list, sizeof *list, count, SR_GROUPINGS, &own.list[i]);
    }
    return rc;
}

/* Finds the hypotheses of a noisy table anew, from rows that are chosen without its noise; keeps
 * the old ones where there are none. *size is NULL unless they are new. Takes a second or two of
 * one core. */
static int find_again(const struct sr_proposal *p, const struct sr_view *v, double *sizes,
                      struct sr_grouping list[SR_GROUPINGS], int *count,
                      struct sr_group_pairs *pairs, const double **size)
{
    static const double least_s = 3;
    struct sr_grouping own[SR_GROUPINGS];
    struct sr_group_pairs own_pairs;
    int n = 0;
    const bool late = p->limit.until_s > 0 && p->limit.until_s - orr_time_s() < least_s;
    *size = NULL;
    if (!*count || list[0].noise <= much || late || orr_signal_seen())
        return 0;
    TRY(find_sizes(p, &v->data, sizes));
    TRY(add_view(p, v, sizes, 0, own, &n, &own_pairs));
    if (n) {
        memcpy(list, own, sizeof own);
        for (int k = 0; k < pairs->terms; k++)
            sr_terms_add(&pairs->term[k], own_pairs.term, &own_pairs.terms);
        *pairs = own_pairs;
        *count = n;
        *size = sizes;
    }
    return 0;
}

/* Where y is a product of powers of a view's columns, adds it with sums as groups of their own: a
 * product of powers may need a sum twice, as in 1 / (s sqrt(s)), where a function needs it once. */
static void add_sums_as_groups(const struct sr_view *v, int number,
                               struct sr_grouping list[SR_GROUPINGS], int *count)
{
    struct sr_grouping g = list[0];
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
        sr_best_insert(list, sizeof *list, count, SR_GROUPINGS, &g);
}

/* Lists all hypotheses, best first: of the table, then of views as long as each view improves on
 * the one before and has pairs. A table of many columns that change their signs may have no
 * hypothesis, as each of them is a group, while its views have. sizes (rows): storage. */
static int find_groupings(const struct sr_proposal *p, double *sizes, struct sr_view view[VIEWS],
                          struct sr_grouping list[SR_GROUPINGS], int *count,
                          struct sr_group_pairs *terms)
{
    struct sr_group_pairs pairs;
    const double *size;
    sr_view_init(p, &view[0]);
    TRY(add_view(p, &view[0], NULL, 0, list, count, &pairs));
    TRY(find_again(p, &view[0], sizes, list, count, &pairs, &size));
    *terms = pairs;
    for (int k = 1; k < VIEWS && (!*count || list[0].view == k - 1); k++) {
        /* a lone group is worth a view only where derivatives speak for it, not a mere ratio */
        if (*count && list[0].groups <= (pairs.are_ratios ? 1 : 0))
            break;
        bool made = false;
        if (pairs.count)
            TRY(join_pairs(p, &view[k - 1], &pairs, &view[k], &made));
        if (!made || orr_signal_seen())
            break;
        TRY(add_view(p, &view[k], size, k, list, count, &pairs));
        if (*count)
            add_sums_as_groups(&view[k], k, list, count);
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
    const struct sr_data *all = &v->data;
    const struct sr_language *const language = p->settings->language;
    if (!sr_powers_write(language, p->operators, &g->factor, factor) || !view_write(p, v, factor) ||
        !multiply(p, &v->factor, factor))
        return false;
    if (!factor->count)
        sr_fill(value, all->rows, 1);
    else if (!sr_eval(factor, p->loss->data, value))
        return false;
    for (int k = 0; k < g->groups; k++)
        if (!sr_powers_write(language, p->operators, &g->group[k], &group[k]) ||
            !sr_eval(&group[k], all, value + (size_t)(k + 1) * all->rows) ||
            !view_write(p, v, &group[k]))
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
        if (!rc)
            rc = sr_derived_close(d, sr_derived_weigh(d) ? sr_loss_init(&d->loss, kind, &d->data)
                                                         : ORR_EINVAL);
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

/* The time at which half of the remaining seconds are used; 0 without a limit. */
static double half_of(const struct sr_proposal *p)
{
    const double now = orr_time_s();
    return p->limit.until_s > 0 ? now + 0.5 * (p->limit.until_s - now) : 0;
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

/* Searches the best hypotheses one after the other. */
static int search_groupings(struct sr_proposal *p, const struct sr_view *view,
                            const struct sr_grouping *list, int count)
{
    return race_groupings(p, view, list, count < TRIED ? count : TRIED,
                          count ? floor_of(p, &list[0]) : 0,
                          SR_STAGE_SMALL | SR_STAGE_POWERS | SR_STAGE_COMPOSED, 0);
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

/* Searches the hypotheses. phi itself is looked for among sums with free rates first: this takes a
 * fraction of a second, and pairs of small formulas of three hypotheses may take all of the time.
 */
static int search_hypotheses(struct sr_proposal *p, const struct sr_view *view,
                             const struct sr_grouping *list, int count)
{
    if (count)
        TRY(search_curve(p, view, &list[0], 0, 0));
    TRY(search_groupings(p, view, list, count));
    return count ? search_curve(p, view, &list[0], 1, CURVE_POWERS - 1) : 0;
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
    enum { ALL = ~(SR_STAGE_ANGLES | SR_STAGE_UNITS) };
    const double until_s = p->limit.until_s;
    struct sr_grouping g;
    TRY(sr_separable_find(p->loss->data, &g));
    g.noise = best->noise;
    if (!g.groups)
        return 0;
    p->limit.until_s = half_of(p);
    const int rc = race_groupings(p, view, &g, 1, 0, (unsigned)ALL, 0);
    p->limit.until_s = until_s;
    return rc;
}

/* Searches what is left after a term is split off, each term for half of the time that is left to
 * the stage. */
static int search_terms(struct sr_proposal *p, const struct sr_group_pairs *found,
                        const struct sr_grouping *best)
{
    /* contradiction, from laws with and without terms */
    const double most = 0.01 + 3 * best->noise;
    const double until_s = p->limit.until_s;
    int rc = 0;
    for (int k = 0; k < found->terms && !p->is_rest && !sr_proposal_over(p) && !rc; k++) {
        if (found->term[k].off > most)
            break;
        p->limit.until_s = half_of(p);
        rc = sr_split_search(p, &found->term[k], best->noise * best->typical * best->typical);
        p->limit.until_s = until_s;
    }
    return rc;
}

int sr_structure_find(struct sr_proposal *p)
{
    struct sr_grouping list[SR_GROUPINGS];
    struct sr_group_pairs terms = {0};
    struct sr_view *view = orr_alloc(VIEWS, sizeof *view);
    double *sizes = orr_alloc(p->loss->data->rows, sizeof *sizes);
    int count = 0, rc = view && sizes ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = find_groupings(p, sizes, view, list, &count, &terms);
    if (!rc) {
        const double until_s = p->limit.until_s, noise = count ? list[0].noise : 0;
        p->limit.until_s = half_of(p);
        if (count && noise <= noisy) /* else some terms are only seeming */
            rc = search_terms(p, &terms, &list[0]);
        if (!rc)
            rc = search_hypotheses(p, view, list, count);
        if (!rc && noise > noisy)
            rc = search_terms(p, &terms, &list[0]);
        p->limit.until_s = until_s;
        if (!rc && noise > much && !p->derived && !sr_proposal_over(p))
            rc = search_separable(p, view, &list[0]);
    }
    for (int i = 0; i < VIEWS && view; i++)
        free(view[i].x);
    free(view);
    free(sizes);
    return rc;
}
