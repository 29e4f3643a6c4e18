/* compare.c - figures over seeds, against their floors and against each other. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cell of an attention and a seed, NULL without one. */
static const struct verdict_cell *cell_of(const struct verdict *v, int attention, int seed)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->cell[i].seed == v->seed[seed] &&
            !strcmp(v->cell[i].attention, v->attention[attention]))
            return &v->cell[i];
    return NULL;
}

/* How much nearer to its ceiling one figure is than another to its own. */
static double nearer_by(double value, double ceiling, double other, double others_ceiling)
{
    return fabs(other - others_ceiling) - fabs(value - ceiling);
}

int verdict_row(const struct verdict *v, int question, int attention, struct verdict_row *row)
{
    const size_t n = (size_t)(v->seeds ? v->seeds : 1);
    *row = (struct verdict_row){.question = &verdict_table[question],
                                .attention = v->attention[attention],
                                .values = orr_alloc(6 * n, sizeof *row->values)};
    if (!row->values)
        return ORR_ENOMEM;
    double **const column[] = {&row->value, &row->ceiling, &row->floor,
                               &row->raw,   &row->above,   &row->nearer};
    for (size_t c = 0; c < 6; c++)
        *column[c] = row->values + c * n;
    for (int s = 0; s < v->seeds; s++) {
        const struct verdict_cell *cell = cell_of(v, attention, s);
        const struct verdict_figure none = {NAN, NAN, NAN, NAN};
        const struct verdict_figure *figure = cell ? &cell->figure[question] : &none;
        row->value[s] = figure->value;
        row->ceiling[s] = figure->ceiling;
        row->floor[s] = figure->floor;
        row->raw[s] = figure->raw;
        row->above[s] = figure->value - figure->floor;
        row->nearer[s] = nearer_by(figure->value, figure->ceiling, figure->floor, figure->ceiling);
        row->seeds += isfinite(figure->value) ? 1 : 0;
    }
    return 0;
}

void verdict_row_free(struct verdict_row *row)
{
    free(row->values);
}

void verdict_compare(const struct verdict *v, int question, int a, int b, double *difference,
                     double *nearer)
{
    for (int s = 0; s < v->seeds; s++) {
        const struct verdict_cell *of = cell_of(v, a, s), *minus = cell_of(v, b, s);
        difference[s] = nearer[s] = NAN;
        if (!of || !minus)
            continue;
        const struct verdict_figure *x = &of->figure[question], *y = &minus->figure[question];
        difference[s] = x->value - y->value;
        nearer[s] = nearer_by(x->value, x->ceiling, y->value, y->ceiling);
    }
}

int verdict_each_comparison(const struct verdict *v,
                            void (*visit)(const struct verdict *v, int question, int attention,
                                          const double *difference, const double *nearer,
                                          void *context),
                            void *context)
{
    double *difference = orr_alloc((size_t)v->seeds + 1, sizeof *difference);
    double *nearer = orr_alloc((size_t)v->seeds + 1, sizeof *nearer);
    for (int q = 0; verdict_table[q].id && difference && nearer; q++)
        for (int a = 1; a < v->attentions; a++) {
            verdict_compare(v, q, a, 0, difference, nearer);
            if (orr_mean_of(difference, v->seeds).n)
                visit(v, q, a, difference, nearer, context);
        }
    const int rc = difference && nearer ? 0 : ORR_ENOMEM;
    free(difference);
    free(nearer);
    return rc;
}

double verdict_half(double mean, double half, int n, bool is_difference)
{
    if (n < 1 || !(half <= 1e-12 * (1 + fabs(mean))))
        return half;
    const double reach = is_difference ? 1 + fabs(mean) : fmax(fabs(mean), fabs(1 - mean));
    return reach * (1 - pow(0.05, 1.0 / n));
}

bool verdict_beyond_chance(struct orr_mean mean)
{
    const double half = verdict_half(mean.mean, mean.half, mean.n, true);
    return mean.n >= 3 && isfinite(half) && fabs(mean.mean) > half;
}
