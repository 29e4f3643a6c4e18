/* shared.c - vectors over a few rows, lists of the best, formulas over others. */
#include "shared.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

/* ---- vectors */

double sr_range_within(const double *value, size_t n, double low, double high)
{
    double least, most;
    gsl_stats_minmax(&least, &most, value, 1, n);
    return least >= low && most <= high ? most - least : -1;
}

bool sr_centre(const double *value, int n, double least, double *centred, double *mean)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value[i];
    *mean = sum / n;
    for (int i = 0; i < n; i++)
        centred[i] = value[i] - *mean;
    const double square = sr_dot(centred, centred, n), whole = square + n * *mean * *mean;
    return square > least * whole && isfinite(whole);
}

double sr_scale_to_one(double *v, int n)
{
    double square = 0;
    for (int i = 0; i < n; i++)
        square += v[i] * v[i];
    const double length = sqrt(square);
    for (int i = 0; i < n; i++)
        v[i] /= length;
    return length;
}

bool sr_unit(const double *value, int n, double least, double *unit)
{
    double mean;
    if (!sr_centre(value, n, least, unit, &mean))
        return false;
    sr_scale_to_one(unit, n);
    return true;
}

bool sr_orthogonalise(double *v, const double *basis, int count, int stride, int n, double least,
                      double *upper)
{
    enum { PASSES = 2 }; /* the second pass removes what rounding has left of the first */
    const double before = sr_dot(v, v, n);
    for (int pass = 0; pass < PASSES; pass++)
        for (int k = 0; k < count; k++) {
            const double share = sr_remove(v, basis + (size_t)k * (size_t)stride, n);
            if (upper)
                upper[k] = share + (pass ? upper[k] : 0);
        }
    if (!(sr_dot(v, v, n) > least * before) || !isfinite(before))
        return false;
    const double length = sr_scale_to_one(v, n);
    if (upper)
        upper[count] = length;
    return true;
}

int sr_common_divisor(const int *number, int n)
{
    int divisor = 0;
    for (int i = 0; i < n; i++)
        for (int a = abs(number[i]); a;) {
            const int rest = divisor % a;
            divisor = a;
            a = rest;
        }
    return divisor;
}

static int by_value(const void *a, const void *b)
{
    const double *const p = *(const double *const *)a, *const q = *(const double *const *)b;
    return *p != *q ? (*p < *q ? -1 : 1) : (p > q) - (p < q);
}

size_t *sr_order(const double *value, size_t n)
{
    size_t *order = orr_alloc(n, sizeof *order);
    const double **at = orr_alloc(n, sizeof *at);
    for (size_t i = 0; i < n && at; i++)
        at[i] = value + i;
    if (at)
        qsort(at, n, sizeof *at, by_value);
    for (size_t i = 0; i < n && order && at; i++)
        order[i] = (size_t)(at[i] - value);
    if (!at) {
        free(order);
        order = NULL;
    }
    free(at);
    return order;
}

/* ---- lists of the best */

static double score_of(const void *item)
{
    return *(const double *)item;
}

bool sr_best_insert(void *list, size_t bytes, int *count, int most, const void *item)
{
    unsigned char *const base = list;
    const double score = score_of(item);
    if (*count == most && !(score < score_of(base + (size_t)(most - 1) * bytes)))
        return false;
    size_t place = (size_t)(*count < most ? (*count)++ : most - 1);
    const size_t last = place;
    while (place > 0 && score < score_of(base + (place - 1) * bytes))
        place--;
    memmove(base + (place + 1) * bytes, base + place * bytes, (last - place) * bytes);
    memcpy(base + place * bytes, item, bytes);
    return true;
}

void sr_best_number(const double *score, int number, int *count, int most, int *list)
{
    int place = *count < most ? (*count)++ : most;
    for (; place > 0 && score[number] < score[list[place - 1]]; place--)
        if (place < most)
            list[place] = list[place - 1];
    if (place < most)
        list[place] = number;
}

int sr_best_of_size(const struct sr_expr *expr, const double *loss, int count, int size, int most,
                    int *chosen)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (expr[i].count != size || !isfinite(loss[i]))
            continue;
        bool twice = false;
        for (int k = 0; k < n && !twice; k++)
            twice = fabs(loss[chosen[k]] - loss[i]) <= 1e-9 * loss[i];
        if (!twice)
            sr_best_number(loss, i, &n, most, chosen);
    }
    return n;
}

/* ---- formulas */

bool sr_put_over(const struct sr_expr *column, const struct sr_expr *phi, int most,
                 struct sr_expr *out)
{
    for (int i = 0; i < phi->count; i++) {
        const struct sr_node *node = &phi->node[i];
        const struct sr_expr *u = node->op == SR_FEATURE ? &column[node->feature] : NULL;
        if (out->count + (u ? u->count : 1) > most)
            return false;
        if (u)
            sr_put_expr(out, u);
        else
            sr_put_node(out, *node);
    }
    return true;
}

bool sr_put_times(const struct sr_language *language, const struct sr_expr *by, struct sr_expr *out)
{
    const bool first = out->count == 0;
    sr_put_expr(out, by);
    if (!first && by->count)
        sr_put_op(out, SR_MUL);
    return !by->count || sr_put_end(language, out, SR_NODES);
}

static void read_text(const char *text, const char *letter, struct sr_expr *phi)
{
    enum { MOST = 16, FORMULAS = 2 };
    char name[MOST][2] = {"u", "v"};
    const char *names[MOST] = {name[0], name[1]};
    int n = FORMULAS;
    for (; letter[n - FORMULAS]; n++) {
        name[n][0] = letter[n - FORMULAS];
        names[n] = name[n];
    }
    const int rc = sr_expr_parse(NULL, text, names, n, phi);
    assert(!rc);
    (void)rc;
}

void sr_put_text(const char *text, const struct sr_expr *u, const char *letter,
                 const double *number, struct sr_expr *out)
{
    struct sr_expr phi;
    read_text(text, letter, &phi);
    for (int i = 0; i < phi.count; i++) {
        const int at = phi.node[i].feature;
        if (phi.node[i].op != SR_FEATURE)
            sr_put_node(out, phi.node[i]);
        else if (at < 2)
            sr_put_expr(out, &u[at]);
        else
            sr_put_constant(out, number[at - 2]);
    }
}

uint64_t sr_text_operators(const char *text, const char *letter)
{
    struct sr_expr phi;
    read_text(text, letter, &phi);
    return sr_expr_operators(&phi) & ~((uint64_t)1 << SR_FEATURE | (uint64_t)1 << SR_CONSTANT);
}
