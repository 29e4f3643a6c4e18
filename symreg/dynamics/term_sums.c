/* term_sums.c - sums of products as formulas that a search starts from: most equations of motion
 * are such sums, and least squares finds them at once where a search among all formulas may take
 * long. Products of up to three names are fitted to the derivative, those that come first in a
 * forward selection (Efroymson 1960) and all together, of few rows the names alone, and the least
 * significant one is left out again and again. The search is free to find better formulas than the
 * sum of each length. With categories each has coefficients of its own. */
#include "dynamics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    PRODUCTS = 64, /* at most; of more names products have fewer factors */
    FIRST = 14,    /* products of the forward selection */
    LONGEST = 7,   /* products of a guess, at most */
    MOST_ROWS = 2000,
    GUESSES = 24,         /* of the sums, the last ones */
    ROWS_PER_PRODUCT = 3, /* where all products are fitted together, at least */
    FACTORS = 3,
};

struct terms {
    const struct sr_states *states;
    int count;
    int factor[PRODUCTS][FACTORS]; /* names; -1: none */
    double scale[PRODUCTS];        /* root of the sum of squares of each column */
    /* (categories, count + 1, count + 1) of the scaled columns, the target last */
    int categories;
    double *gram;
    double *own; /* (categories, PRODUCTS) coefficients that solve() found last */
};

/* ---- products */

static int list_names(const struct sr_states *s, int name[SR_STATE_NAMES])
{
    int count = 0;
    for (int k = 0; k < s->names; k++)
        if (k != sr_states_time(s) || s->explicit_time)
            name[count++] = k;
    return count;
}

int sr_products_count(int names, int factors)
{
    int count = 1; /* of no factor */
    for (int f = 1, of = 1; f <= factors; f++) {
        of = of * (names + f - 1) / f;
        count += of;
    }
    return count;
}

static void list_products(struct terms *t)
{
    int name[SR_STATE_NAMES], factors = FACTORS;
    const int names = list_names(t->states, name);
    while (factors > 1 && sr_products_count(names, factors) > PRODUCTS)
        factors--;
    for (int a = -1; a < names; a++)
        for (int b = -1; b <= (factors > 1 ? a : -1); b++)
            for (int c = -1; c <= (factors > 2 ? b : -1); c++) {
                const int of[FACTORS] = {a, b, c};
                if (t->count == PRODUCTS)
                    return;
                for (int k = 0; k < FACTORS; k++)
                    t->factor[t->count][k] = of[k] < 0 ? -1 : name[of[k]];
                t->count++;
            }
}

static void add_row(struct terms *t, int d, const struct sr_state_track *track, size_t i,
                    double least)
{
    const struct sr_states *s = t->states;
    const size_t at = (size_t)d * track->n + i, width = (size_t)t->count + 1;
    const double *variance = s->order == 1 ? track->rate_variance : track->bend_variance;
    const double weight = 1 / fmax(sqrt(variance[at]), least);
    double row[PRODUCTS + 1], *const gram = t->gram + track->category * width * width;
    for (int p = 0; p < t->count; p++) {
        row[p] = weight;
        for (int k = 0; k < FACTORS && t->factor[p][k] >= 0; k++)
            row[p] *= sr_state_value(s, track, t->factor[p][k], i);
    }
    row[t->count] = weight * (s->order == 1 ? track->rate[at] : track->bend[at]);
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++)
            gram[a * width + b] += row[a] * row[b];
}

static int fill(struct terms *t, int d)
{
    const struct sr_states *s = t->states;
    const size_t each = (s->rows + MOST_ROWS - 1) / MOST_ROWS, width = (size_t)t->count + 1;
    double least;
    size_t row = 0;
    TRY(sr_states_least(s, d, &least));
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++)
            if (row % each == 0)
                add_row(t, d, &s->track[k], i, least);
    for (size_t a = 0; a + 1 < width; a++) {
        for (size_t c = 0; c < (size_t)t->categories; c++)
            t->scale[a] += t->gram[(c * width + a) * width + a];
        t->scale[a] = sqrt(t->scale[a]);
    }
    for (size_t c = 0; c < (size_t)t->categories; c++)
        for (size_t a = 0; a < width; a++)
            for (size_t b = 0; b <= a; b++) {
                double *const gram = t->gram + c * width * width, *g = &gram[a * width + b];
                const double unit =
                    (a + 1 < width ? t->scale[a] : 1) * (b + 1 < width ? t->scale[b] : 1);
                *g = unit > 0 ? *g / unit : 0;
                gram[b * width + a] = *g;
            }
    return 0;
}

/* ---- selection */

/* Least squares with the chosen products: coefficients of the scaled columns, and by how much the
 * sum of squares would grow without each. Returns the sum of squares that is left; infinite where
 * the products cannot be told apart. */
static double solve_one(const struct terms *t, const double *gram, const int *chosen, int count,
                        double *beta, double *growth)
{
    double L[PRODUCTS * PRODUCTS], work[PRODUCTS];
    const size_t width = (size_t)t->count + 1, n = (size_t)count;
    double left = gram[width * width - 1];
    if (!sr_cholesky_columns(gram, width, chosen, n, 1e-13, L, PRODUCTS, beta))
        return HUGE_VAL;
    for (size_t a = 0; a < n; a++)
        left -= beta[a] * beta[a];
    sr_cholesky_upper(L, n, PRODUCTS, beta);
    for (size_t a = 0; a < n; a++)
        growth[a] = beta[a] * beta[a] / sr_cholesky_inverse(L, n, PRODUCTS, a, work);
    return left;
}

/* The same for all categories: means of the coefficients, and sums. */
static double solve(const struct terms *t, const int *chosen, int count, double *beta,
                    double *growth)
{
    const size_t width = (size_t)t->count + 1;
    double left = solve_one(t, t->gram, chosen, count, beta, growth);
    memcpy(t->own, beta, (size_t)count * sizeof *beta);
    for (int c = 1; c < t->categories && left < HUGE_VAL; c++) {
        double *const own = t->own + c * PRODUCTS, own_growth[PRODUCTS];
        left += solve_one(t, t->gram + (size_t)c * width * width, chosen, count, own, own_growth);
        for (int a = 0; a < count && left < HUGE_VAL; a++) {
            beta[a] += (own[a] - beta[a]) / (c + 1);
            growth[a] += own_growth[a];
        }
    }
    return left;
}

static int select_first(const struct terms *t, int *chosen)
{
    double beta[PRODUCTS], growth[PRODUCTS];
    int count = 0;
    while (count < FIRST && count < t->count) {
        double least = HUGE_VAL;
        int best = -1;
        for (int p = 0; p < t->count; p++) {
            bool in = !(t->scale[p] > 0);
            for (int k = 0; k < count; k++)
                in = in || chosen[k] == p;
            if (in)
                continue;
            chosen[count] = p;
            const double left = solve(t, chosen, count + 1, beta, growth);
            if (left < least) {
                least = left;
                best = p;
            }
        }
        if (best < 0)
            break;
        chosen[count++] = best;
    }
    return count;
}

/* All products of at most so many factors. */
static int select_all(const struct terms *t, int *chosen, int factors)
{
    int count = 0;
    for (int p = 0; p < t->count; p++)
        if (t->scale[p] > 0 && (factors == FACTORS || t->factor[p][factors] < 0))
            chosen[count++] = p;
    return count;
}

/* Writes the coefficient of the k-th chosen product: a number, or where there are categories and
 * the sum is short enough a constant of each. */
static void put_coefficient(const struct terms *t, const int *chosen, int count, int k,
                            const double *beta, struct sr_equations_found *sums,
                            struct sr_expr *expr)
{
    const double scale = t->scale[chosen[k]];
    if (!t->states->categories || count > SR_EACH_OWN) {
        sr_put_constant(expr, beta[k] / scale);
        return;
    }
    for (int c = 0; c < t->categories; c++)
        sums->each[sums->count].value[k][c] = t->own[c * PRODUCTS + k] / scale;
    sr_put_node(expr, sr_feature_node(SR_EACH_FIRST + sums->first + k));
}

/* Adds a sum of products where it is short enough. */
static void add_sum(const struct terms *t, const int *chosen, int count, const double *beta,
                    int maxsize, struct sr_equations_found *sums)
{
    struct sr_expr *const expr = &sums->expr[sums->count];
    if (sums->count == SR_SUMS)
        return;
    expr->count = 0;
    for (int k = 0; k < count; k++) {
        put_coefficient(t, chosen, count, k, beta, sums, expr);
        for (int f = 0; f < FACTORS && t->factor[chosen[k]][f] >= 0; f++) {
            sr_put_node(expr, sr_feature_node(t->factor[chosen[k]][f]));
            sr_put_op(expr, SR_MUL);
        }
        if (k)
            sr_put_op(expr, SR_ADD);
    }
    sums->count += sr_put_end(NULL, expr, maxsize < SR_NODES ? maxsize : SR_NODES);
}

/* Leaves out the least significant product again and again. */
static void leave_out(const struct terms *t, int *chosen, int count, int maxsize,
                      struct sr_equations_found *sums)
{
    for (; count > 0; count--) {
        double beta[PRODUCTS], growth[PRODUCTS];
        int least = 0;
        if (!(solve(t, chosen, count, beta, growth) < HUGE_VAL))
            growth[least = count - 1] = 0;
        else if (count <= LONGEST)
            add_sum(t, chosen, count, beta, maxsize, sums);
        for (int k = 0; k < count; k++)
            least = growth[k] < growth[least] ? k : least;
        for (int k = least; k + 1 < count; k++)
            chosen[k] = chosen[k + 1];
    }
}

int sr_states_sums(const struct sr_states *s, int d, int maxsize, struct sr_equations_found *sums)
{
    struct terms *t = orr_alloc(1, sizeof *t);
    int chosen[PRODUCTS];
    if (!t)
        return ORR_ENOMEM;
    t->states = s;
    t->categories = s->categories ? s->categories : 1;
    list_products(t);
    const size_t width = (size_t)t->count + 1, rows = s->rows < MOST_ROWS ? s->rows : MOST_ROWS;
    t->gram = orr_alloc((size_t)t->categories * width * width, sizeof *t->gram);
    t->own = orr_alloc((size_t)t->categories * PRODUCTS, sizeof *t->own);
    const int rc = t->gram && t->own ? fill(t, d) : ORR_ENOMEM;
    sums->count = 0;
    sums->first = SR_EACH_OWN * d;
    if (!rc) {
        leave_out(t, chosen, select_first(t, chosen), maxsize, sums);
        if (rows >= ROWS_PER_PRODUCT * (size_t)(t->count * t->categories))
            leave_out(t, chosen, select_all(t, chosen, FACTORS), maxsize, sums);
        else
            leave_out(t, chosen, select_all(t, chosen, 1), maxsize, sums);
    }
    free(t->gram);
    free(t->own);
    free(t);
    return rc;
}

int sr_sums_text(const struct sr_states *s, const struct sr_equations_found *sums, char **text)
{
    const char *name[SR_STATE_NAMES];
    char formula[SR_TEXT];
    size_t bytes;
    FILE *out = open_memstream(text, &bytes);
    for (int k = 0; k < s->names; k++)
        name[k] = s->name[k];
    const int first = sums->count > GUESSES ? sums->count - GUESSES : 0;
    for (int k = first; k < sums->count && out; k++) {
        struct sr_expr expr = sums->expr[k];
        sr_each_average(&sums->each[k], sums->first, s->categories, &expr);
        sr_expr_print(NULL, &expr, name, formula, sizeof formula);
        fprintf(out, "%s%s", k > first ? ";" : "", formula);
    }
    if (out && !fclose(out))
        return 0;
    free(*text);
    *text = NULL;
    return ORR_FAIL(ORR_ENOMEM, "sums of products: out of memory");
}
