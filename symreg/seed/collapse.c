/* collapse.c - finds h and u with y = h phi(u), and passes the curves to collapse_fit.c. */
#include "base/stop.h"
#include "collapse.h"

#include <math.h>
#include <gsl/gsl_sort.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum {
    MOST_ROWS = 1000, /* rows examined */
    FACTORS = 4000,   /* formulas h: all of 7 nodes of three features, m1 m2 / (r r) among them */
    VARIABLES = SR_COLLAPSE_VARIABLES,
    VARIABLE_SIZE = 7, /* nodes of u, at most: (r r) / (m1 + m2) */
    CURVES = 3,        /* variables u whose curves are searched */
    SIMPLE = 2,        /* simplest h for each u, besides 1 where there is one feature */
    TARGETS = 84,      /* of h other than that 1, at most */
};

/* Share of the variance of log y. Where every pair leaves more, the table does not collapse. */
static const double MOST_LEFT = 0.1;

/* ---- the table */

/* Maps z to log |z| where all values have one sign, else to sign(z) log(1 + |z| / median |z|), so
 * that equal ratios become equal distances. False where the result is not finite or does not
 * vary. */
static bool make_shape(size_t rows, const double *z, double *shape, double *spread)
{
    double (*const logarithm)(double, double) = sr_op_table[SR_LOG].value;
    bool one_sign = true;
    double typical = 1, sum = 0, square = 0;
    for (size_t i = 0; i < rows; i++) {
        one_sign = one_sign && z[i] * z[0] > 0;
        shape[i] = fabs(z[i]);
    }
    if (!one_sign) {
        gsl_sort(shape, 1, rows);
        typical = shape[rows / 2];
    }
    for (size_t i = 0; i < rows; i++) {
        const double size = fabs(z[i]);
        shape[i] = one_sign ? logarithm(size, 0) : copysign(logarithm(1 + size / typical, 0), z[i]);
        sum += shape[i];
    }
    for (size_t i = 0; i < rows; i++)
        square += (shape[i] - sum / (double)rows) * (shape[i] - sum / (double)rows);
    *spread = square / (double)rows;
    return isfinite(*spread);
}

/* Computes z = y / h; false where a value is not finite. */
static bool divide_target(const struct sr_collapse *c, const double *h, double *z)
{
    for (size_t i = 0; i < c->rows; i++) {
        z[i] = c->data.y[i] / h[i];
        if (!isfinite(z[i]))
            return false;
    }
    return true;
}

/* The arithmetic operators and the powers, one bit each. */
static uint64_t arithmetic_and_powers(void)
{
    uint64_t set = 0;
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++)
        if ((op >= SR_ADD && op <= SR_DIV) || sr_op_table[op].power != 0)
            set |= (uint64_t)1 << op;
    return set;
}

/* Lists the factors: 1, and the bank's formulas made of arithmetic operators and powers. */
static int list_factors(struct sr_collapse *c)
{
    const struct sr_bank *bank = &c->proposal->bank;
    double *z = c->proposal->thread[0].work.value, *value = c->proposal->thread[0].work.trial;
    bool *plain = orr_alloc(SR_BANK, sizeof *plain);
    if (!plain)
        return ORR_ENOMEM;
    sr_bank_made_of(bank, arithmetic_and_powers(), plain);
    for (int e = -1; e < bank->all.count && c->factors < FACTORS; e++) {
        struct sr_expr *expr = &c->expr[c->factors];
        expr->count = 0;
        if (e < 0)
            sr_fill(value, c->rows, 1);
        else if (!plain[e] || !sr_bank_expr(bank, e, expr) || !sr_eval(expr, &c->data, value))
            continue;
        if (divide_target(c, value, z) &&
            make_shape(c->rows, z, c->shape + (size_t)c->factors * c->rows, &c->spread[c->factors]))
            c->factors++;
    }
    free(plain);
    return 0;
}

/* ---- variables */

/* Lists formulas that order the rows differently; u and 1 / u count as one. */
static int list_variables(struct sr_collapse *c)
{
    const size_t rows = c->rows;
    for (int e = 0; e < c->factors && c->variables < VARIABLES; e++) {
        uint16_t *order = c->order + (size_t)c->variables * rows;
        double *value = c->value + (size_t)c->variables * rows;
        if (c->expr[e].count == 0 || c->expr[e].count > VARIABLE_SIZE ||
            !sr_eval(&c->expr[e], &c->data, value))
            continue;
        size_t *place = sr_order(value, rows);
        if (!place)
            return ORR_ENOMEM;
        for (size_t i = 0; i < rows; i++)
            order[i] = (uint16_t)place[i];
        free(place);
        bool seen = false;
        for (int v = 0; v < c->variables && !seen; v++) {
            const uint16_t *other = c->order + (size_t)v * rows;
            size_t like = 0, unlike = 0; /* like: rows whose rank is equal or reversed */
            for (size_t i = 0; i < rows && unlike <= rows / 10; i++) {
                const bool is = order[i] == other[i] || order[i] == other[rows - 1 - i];
                like += is;
                unlike += !is;
            }
            seen = like >= rows * 9 / 10;
        }
        if (!seen)
            c->variable[c->variables++] = e;
    }
    return 0;
}

/* Half the mean squared step of y / h between successive rows in the order of u: the variance that
 * remains around a function of u. The sum is abandoned as soon as it exceeds what choose_curves()
 * accepts. */
static void rate_pairs(struct sr_collapse *c)
{
    enum { STRIDE = 32 };
    const size_t rows = c->rows;
    const double most = MOST_LEFT * c->spread[0] * 2 * (double)(rows - 1);
#pragma omp parallel for schedule(dynamic, 8) num_threads(c->proposal->threads)                    \
    copyin(orr_stop_of_call)
    for (int h = 0; h < c->factors; h++)
        for (int v = 0; v < c->variables && !orr_signal_seen(); v++) {
            const uint16_t *order = c->order + (size_t)v * rows;
            const double *shape = c->shape + (size_t)h * rows;
            double sum = 0, last = shape[order[0]];
            for (size_t i = 1; i < rows && sum <= most;)
                for (const size_t end = i + STRIDE < rows ? i + STRIDE : rows; i < end; i++) {
                    const double next = shape[order[i]];
                    sum += (next - last) * (next - last);
                    last = next;
                }
            c->rough[h * VARIABLES + v] = (float)(sum / (2 * (double)(rows - 1)));
        }
}

/* ---- curves */

/* Whether y / h is noisy along u: the median distance of a value from the line between its
 * neighbours is larger than 3e-4. */
static bool is_noisy(const struct sr_collapse *c, int h, int v)
{
    double distance[MOST_ROWS] = {0};
    const uint16_t *order = c->order + (size_t)v * c->rows;
    const double *shape = c->shape + (size_t)h * c->rows;
    const double *u = c->value + (size_t)v * c->rows;
    for (size_t i = 1; i + 1 < c->rows; i++) {
        const double left = u[order[i - 1]], right = u[order[i + 1]];
        const double share = right > left ? (u[order[i]] - left) / (right - left) : 0.5;
        distance[i - 1] =
            fabs(shape[order[i]] - shape[order[i - 1]] * (1 - share) - shape[order[i + 1]] * share);
    }
    gsl_sort(distance, 1, c->rows - 2);
    return distance[(c->rows - 2) / 2] > 3e-4;
}

/* Points of the curve: single rows, or means over neighbouring rows where there is noise. */
static void make_points(const struct sr_collapse *c, int v, bool noisy, const double *factor,
                        double *x, double *z)
{
    const uint16_t *order = c->order + (size_t)v * c->rows;
    const double *u = c->value + (size_t)v * c->rows;
    for (size_t k = 0; k < SR_ROWS; k++) {
        size_t first = k * c->rows / SR_ROWS, last = (k + 1) * c->rows / SR_ROWS;
        if (!noisy) {
            first = (first + last) / 2;
            last = first + 1;
        }
        double mean_x = 0, mean_z = 0;
        for (size_t i = first; i < last; i++) {
            mean_x += u[order[i]];
            mean_z += c->data.y[order[i]] / factor[order[i]];
        }
        x[k] = mean_x / (double)(last - first);
        z[k] = mean_z / (double)(last - first);
    }
}

static void add_target(struct sr_curve *curve, int most, const struct sr_expr *factor,
                       enum sr_op outer, const double *z)
{
    struct sr_collapse_target *t = &curve->target[curve->count];
    if (curve->count == most)
        return;
    *t = (struct sr_collapse_target){.factor = *factor, .outer = outer};
    memcpy(t->z, z, sizeof t->z);
    for (int i = 0; i < SR_ROWS; i++)
        if (!sr_op_invert(outer, z[i], &t->inverted[i]))
            return;
    curve->unit[curve->count].deep = outer == SR_CONSTANT;
    curve->count += sr_curve_unit(t->inverted, curve->unit[curve->count].unit);
}

/* If y / h is a function of u, so is y / h divided by a power of u. Adds the targets for each such
 * factor. */
static void add_factor(const struct sr_collapse *c, struct sr_curve *curve, int most, int number)
{
    static const struct {
        bool inverse;
        enum sr_op power;
    } list[] = {{false, SR_CONSTANT}, {false, SR_FEATURE}, {true, SR_FEATURE}, {false, SR_SQUARE},
                {true, SR_SQUARE},    {false, SR_SQRT},    {true, SR_SQRT}};
    const struct sr_proposal *p = c->proposal;
    const bool noisy = is_noisy(c, number, curve->variable);
    double *value = p->thread[0].work.value, z[SR_ROWS];
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct sr_expr h = c->expr[number];
        const bool unary = list[k].power != SR_FEATURE, divides = list[k].inverse && h.count;
        const enum sr_op join = divides && sr_has(p->operators, SR_DIV) ? SR_DIV : SR_MUL;
        if (list[k].power != SR_CONSTANT) {
            const bool inverts = list[k].inverse && join != SR_DIV;
            if ((unary && !sr_has(p->operators, list[k].power)) ||
                (inverts && !sr_has(p->operators, SR_INV)))
                continue;
            sr_put_expr(&h, &c->expr[c->variable[curve->variable]]);
            if (unary)
                sr_put_op(&h, list[k].power);
            if (inverts)
                sr_put_op(&h, SR_INV);
            if (c->expr[number].count)
                sr_put_op(&h, join);
        }
        if (h.count && !sr_put_end(p->settings->language, &h, p->settings->maxsize))
            continue;
        if (h.count)
            sr_expr_rewrite(p->settings->language, &h, p->operators);
        if (!h.count)
            sr_fill(value, c->rows, 1);
        else if (!sr_eval(&h, &c->data, value))
            continue;
        make_points(c, curve->variable, noisy, value, curve->x, z);
        add_target(curve, most, &h, SR_CONSTANT, z);
        for (int i = 0; i < p->settings->unary_count; i++)
            add_target(curve, most, &h, p->settings->unary[i], z);
    }
}

/* Chooses the simplest h whose remaining variance is at most `limit`. Factors of equal remaining
 * variance differ only by a constant and count once. With one feature every y / h is a curve, and
 * only its slope makes that of h = 1 rough: it is always chosen. */
static void choose_factors(const struct sr_collapse *c, struct sr_curve *curve, double limit)
{
    const int v = curve->variable;
    const bool whole = c->data.features == 1;
    int chosen[SIMPLE], n = 0;
    for (int size = 0; size < SR_NODES && n < SIMPLE; size++)
        for (int h = 0; h < c->factors && n < SIMPLE; h++) {
            const float rough = c->rough[h * VARIABLES + v];
            bool seen = c->expr[h].count != size || (double)rough > limit || (whole && size == 0);
            for (int k = 0; k < n; k++)
                seen = seen || fabsf(c->rough[chosen[k] * VARIABLES + v] - rough) <= 1e-5F * rough;
            if (seen)
                continue;
            chosen[n++] = h;
            add_factor(c, curve, TARGETS, h);
        }
    if (whole)
        add_factor(c, curve, SR_CURVE_TARGETS, 0);
}

static int size_of(const struct sr_collapse *c, int h, int v)
{
    return c->expr[h].count + c->expr[c->variable[v]].count;
}

/* The variables u to which the table collapses, the simplest first. */
static int choose_curves(const struct sr_collapse *c, struct sr_curve list[CURVES])
{
    double least = HUGE_VAL;
    for (int h = 0; h < c->factors; h++) /* gcc 12 for arm64 miscompiles this loop with fmin() */
        for (int v = 0; v < c->variables; v++) {
            const double rough = (double)c->rough[h * VARIABLES + v];
            least = rough < least ? rough : least;
        }
    const double limit = 1.25 * least + 3e-5 * c->spread[0];
    int n = 0, size[VARIABLES];
    if (limit > MOST_LEFT * c->spread[0])
        return 0;
    for (int v = 0; v < c->variables; v++) {
        size[v] = SR_NODES * 2;
        for (int h = 0; h < c->factors; h++)
            if ((double)c->rough[h * VARIABLES + v] <= limit && size_of(c, h, v) < size[v])
                size[v] = size_of(c, h, v);
    }
    for (int want = 0; want < SR_NODES * 2 && n < CURVES; want++)
        for (int v = 0; v < c->variables && n < CURVES; v++)
            if (size[v] == want) {
                list[n].variable = v;
                choose_factors(c, &list[n], limit);
                n += list[n].count > 0;
            }
    return n;
}

/* ---- the stage */

int sr_collapse_find(struct sr_proposal *p)
{
    const struct sr_data *all = p->loss->data;
    struct sr_collapse c = {.proposal = p, .rows = all->rows < MOST_ROWS ? all->rows : MOST_ROWS};
    int rc = sr_rows_take(all, c.rows, NULL, &c.data, &c.x);
    c.expr = orr_alloc(FACTORS, sizeof *c.expr);
    c.value = orr_alloc_unset(VARIABLES * c.rows, sizeof *c.value);
    c.shape = orr_alloc_unset(FACTORS * c.rows, sizeof *c.shape);
    c.spread = orr_alloc(FACTORS, sizeof *c.spread);
    c.order = orr_alloc_unset(VARIABLES * c.rows, sizeof *c.order);
    c.rough = orr_alloc(FACTORS * VARIABLES, sizeof *c.rough);
    if (!c.expr || !c.value || !c.shape || !c.spread || !c.order || !c.rough)
        rc = ORR_ENOMEM;
    if (!rc)
        rc = list_factors(&c);
    if (!rc)
        rc = list_variables(&c);
    struct sr_curve *list = orr_alloc(CURVES, sizeof *list);
    int curves = 0;
    if (!list)
        rc = ORR_ENOMEM;
    if (!rc && c.factors && c.variables) {
        rate_pairs(&c);
        curves = orr_signal_seen() ? 0 : choose_curves(&c, list);
    }
    free(c.value); /* large, and not needed by the fits */
    free(c.shape);
    free(c.spread);
    free(c.order);
    free(c.rough);
    if (!rc && curves)
        rc = sr_collapse_fit(&c, list, curves);
    free(list);
    free(c.x);
    free(c.expr);
    return rc;
}
