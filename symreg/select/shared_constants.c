/* shared_constants.c - which constants of a formula of categories are shared: those for which one
 * value for all categories gives a shorter description than one for each. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_STEPS = 60, FIT_RESTARTS = 24, SHARE_STEPS = 20 };

/* Arrays of the search for shared constants, (count, constants) each. */
struct share {
    const struct sr_categories *c;
    const struct sr_expr *expr;
    struct sr_work *work;
    int n;
    size_t bytes;
    double *information, *trial_information, *trial, *best;
};

/* Puts the mean of constant i over the categories, weighted by its information, in all of them. */
static void put_mean(const struct share *s, int i, double *value)
{
    double sum = 0, weights = 0;
    for (int k = 0; k < s->c->count; k++) {
        const double weight = s->information[k * s->n + i];
        sum += weight * value[k * s->n + i];
        weights += weight;
    }
    for (int k = 0; k < s->c->count; k++)
        value[k * s->n + i] = sum / weights;
}

/* Shares constant i as well, into s->trial. */
static int try_share(const struct share *s, const struct sr_category_fit *fit, int i,
                     struct sr_category_fit *result)
{
    *result = *fit;
    result->shared[i] = true;
    result->value = s->trial;
    memcpy(s->trial, fit->value, s->bytes);
    put_mean(s, i, s->trial);
    TRY(sr_categories_fit_shared(s->c, s->expr, result->shared, SHARE_STEPS, s->work, s->trial,
                                 &result->loss));
    result->mdl = sr_categories_length(s->c, s->expr, result->shared, s->work, s->trial,
                                       s->trial_information, &result->cost);
    return 0;
}

static int share_all(const struct share *s, struct sr_category_fit *fit)
{
    for (bool improved = true; improved;) {
        struct sr_category_fit trial, best = *fit;
        improved = false;
        for (int i = 0; i < s->n; i++) {
            if (fit->shared[i])
                continue;
            TRY(try_share(s, fit, i, &trial));
            if (!(trial.mdl < best.mdl))
                continue;
            improved = true;
            best = trial;
            memcpy(s->best, s->trial, s->bytes);
        }
        if (!improved)
            break;
        best.value = fit->value;
        *fit = best;
        memcpy(fit->value, s->best, s->bytes);
        sr_categories_length(s->c, s->expr, fit->shared, s->work, fit->value, s->information,
                             &fit->cost);
    }
    return 0;
}

/* Moves the phases of the reference to the period around 0, and those of the other categories to
 * the period around these, so that equal phases stay equal. True where one was moved. */
static bool reduce_phases(const struct share *s, bool in_products, double *value)
{
    struct sr_expr reference = *s->expr;
    bool moved = false;
    for (int i = 0; i < s->c->count; i++) {
        const int k = sr_category_at(s->c, i);
        double *const own = value + k * s->n, before[SR_NODES];
        struct sr_expr expr = *s->expr;
        memcpy(before, own, (size_t)s->n * sizeof *own);
        sr_expr_set_constants(&expr, own);
        sr_expr_reduce_phases(&expr, i ? &reference : NULL, in_products);
        sr_expr_constants(&expr, own);
        moved = moved || memcmp(before, own, (size_t)s->n * sizeof *own) != 0;
        reference = i ? reference : expr;
    }
    return moved;
}

/* From constants near the best: fits all categories together, and shares constants. */
static int share_from(const struct share *s, bool fitted, struct sr_category_fit *fit)
{
    if (!fitted)
        TRY(sr_categories_fit_shared(s->c, s->expr, fit->shared, SHARE_STEPS, s->work, fit->value,
                                     &fit->loss));
    fit->mdl = sr_categories_length(s->c, s->expr, fit->shared, s->work, fit->value, s->information,
                                    &fit->cost);
    if (!isfinite(fit->mdl))
        fit->loss = HUGE_VAL;
    return isfinite(fit->mdl) && s->c->count > 1 ? share_all(s, fit) : 0;
}

/* Fits one form and shares its constants. Phases within products are shifts of a column, which the
 * categories may have in common as they are, or only without whole periods: the shorter wins. */
static int share_form(const struct sr_categories *c, struct sr_expr *form, struct sr_work *work,
                      struct sr_category_fit *fit)
{
    const int n = sr_expr_constants(form, NULL);
    const size_t numbers = (size_t)c->count * (size_t)n + 1;
    struct share s = {.c = c, .expr = form, .work = work, .n = n};
    *fit = (struct sr_category_fit){.constants = n, .value = orr_alloc(numbers, sizeof(double))};
    double *block = orr_alloc(5 * numbers, sizeof *block);
    if (!fit->value || !block) {
        free(block);
        return ORR_ENOMEM;
    }
    s.bytes = numbers * sizeof *block;
    s.information = block;
    s.trial_information = block + numbers;
    s.trial = block + 2 * numbers;
    s.best = block + 3 * numbers;
    fit->loss = sr_categories_fit(c, form, FIT_STEPS, FIT_RESTARTS, HUGE_VAL, work, fit->value);
    const bool moved = isfinite(fit->loss) && reduce_phases(&s, false, fit->value);
    struct sr_category_fit other = *fit;
    other.value = block + 4 * numbers;
    memcpy(other.value, fit->value, s.bytes);
    int rc = isfinite(fit->loss) ? share_from(&s, !moved, fit) : 0;
    if (!rc && isfinite(fit->loss) && reduce_phases(&s, true, other.value)) {
        rc = share_from(&s, false, &other);
        if (isfinite(other.loss) && other.mdl < fit->mdl) {
            memcpy(fit->value, other.value, s.bytes);
            other.value = fit->value;
            *fit = other;
        }
    }
    free(block);
    return rc;
}

/* ---- equivalent forms */

/* A node with two operands, of which one is a number. */
struct pair {
    int op, other; /* other: the last node of the other operand */
    double number;
    bool number_first;
};

static bool read_pair(const struct sr_expr *expr, int i, struct pair *pair)
{
    if (sr_expr_arity(expr, i) != 2)
        return false;
    const int left = sr_expr_left(expr, i), right = i - 1;
    pair->op = expr->node[i].op;
    pair->number_first = expr->node[left].op == SR_CONSTANT;
    pair->other = pair->number_first ? right : left;
    pair->number = expr->node[pair->number_first ? left : right].value;
    return (expr->node[left].op == SR_CONSTANT) != (expr->node[right].op == SR_CONSTANT);
}

static bool is_sum(const struct pair *pair)
{
    return pair->op == SR_ADD || pair->op == SR_SUB;
}
static bool is_scaling(const struct pair *pair)
{
    return pair->op == SR_MUL || (pair->op == SR_DIV && !pair->number_first);
}

/* Appends a pair around the formula so far. */
static void wrap_pair(const struct pair *pair, double number, struct sr_expr *inner)
{
    struct sr_expr out = {0};
    if (pair->number_first)
        sr_put_constant(&out, number);
    sr_put_expr(&out, inner);
    if (!pair->number_first)
        sr_put_constant(&out, number);
    sr_put_op(&out, (enum sr_op)pair->op);
    *inner = out;
}

/* Exchanges the order of a sum and a product with numbers that end at node i: a (X + b) becomes
 * a X + b', and the reverse. False where there are none. */
static bool exchange_pair(const struct sr_language *language, int i, struct sr_expr *expr)
{
    struct pair outer, inner;
    if (!read_pair(expr, i, &outer) || !read_pair(expr, outer.other, &inner) ||
        !((is_sum(&outer) && is_scaling(&inner)) || (is_scaling(&outer) && is_sum(&inner))))
        return false;
    const struct pair *scaling = is_sum(&outer) ? &inner : &outer;
    const struct pair *sum = is_sum(&outer) ? &outer : &inner;
    const bool divides = (scaling->op == SR_MUL) == is_sum(&outer);
    const double number = divides ? sr_quotient(sum->number, scaling->number)
                                  : sr_product(sum->number, scaling->number);
    struct sr_expr made = {.count = expr->node[inner.other].size};
    for (int k = 0; k < made.count; k++)
        made.node[k] = expr->node[sr_expr_start(expr, inner.other) + k];
    wrap_pair(&inner == sum ? scaling : sum, &inner == sum ? scaling->number : number, &made);
    wrap_pair(&inner == sum ? sum : scaling, &inner == sum ? number : scaling->number, &made);
    return isfinite(number) && sr_expr_splice(language, expr, sr_expr_start(expr, i),
                                              expr->node[i].size, made.node, made.count, SR_NODES);
}

/* Takes an equivalent form if its description is shorter and there is time left. */
static int try_form(const struct sr_categories *c, const struct sr_expr *form, struct sr_work *work,
                    struct sr_expr *expr, struct sr_category_fit *fit)
{
    const double least = 1e-6; /* nats */
    struct sr_category_fit trial;
    struct sr_expr tried = *form;
    if (c->forms_until_s > 0 && orr_time_s() >= c->forms_until_s)
        return 0;
    const int rc = share_form(c, &tried, work, &trial);
    if (!rc && isfinite(trial.loss) && trial.mdl < fit->mdl - least) {
        free(fit->value);
        *fit = trial;
        *expr = tried;
    } else {
        free(trial.value);
    }
    return rc;
}

int sr_categories_share(const struct sr_categories *c, uint64_t operators, struct sr_expr *expr,
                        struct sr_work *work, struct sr_category_fit *fit)
{
    const bool waves = sr_has(operators, SR_SIN) && sr_has(operators, SR_COS);
    int rc = share_form(c, expr, work, fit);
    for (int i = 0; i < expr->count && !rc && isfinite(fit->loss); i++) {
        struct sr_expr form = *expr;
        if (exchange_pair(c->data->language, i, &form))
            rc = try_form(c, &form, work, expr, fit);
        const struct sr_expr wave = *expr; /* a factor may take the opposite sign */
        for (int to = waves ? 0 : SR_OPPOSITE; to < SR_WAVES && !rc; to++) {
            form = wave;
            if (sr_expr_exchange_wave(&form, i, (enum sr_wave)to))
                rc = try_form(c, &form, work, expr, fit);
        }
    }
    return rc;
}
