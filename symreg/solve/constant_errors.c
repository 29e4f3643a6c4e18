/* constant_errors.c - standard errors of the constants of an answer. */
#include <math.h>
#include <string.h>

#include "solve.h"

double sr_answer_variance(const struct sr_answer *o, int row)
{
    const double n = (double)o->data->rows,
                 freedom = n - sr_expr_constants(&o->front->expr[row], NULL);
    if (!(o->variance_factor > 0) || !(o->variance > 0))
        return o->variance;
    const double chi2 = n * o->front->loss[row] / o->variance;
    /* two counts of rows that are not independent: the errors of constants multiply by this one */
    const double repeats = n / sr_rows_counted(o->data);
    return o->variance * (fmax(o->variance_factor, repeats) / repeats) *
           (freedom > 0 ? fmax(1, chi2 / freedom) : 1);
}

bool sr_answer_measured(const struct sr_answer *o, int row, double *chi2, double *freedom)
{
    const struct sr_measured *const m = o->measured;
    const int c = o->front->complexity[row];
    if (!m || !(m->freedom[c] > 0) ||
        m->numbers[c] != sr_expr_constants(&o->front->expr[row], NULL))
        return false;
    *chi2 = m->chi2[c];
    *freedom = m->freedom[c];
    return true;
}

double sr_answer_path_loss(const struct sr_answer *o, int row)
{
    double chi2, freedom;
    return sr_answer_measured(o, row, &chi2, &freedom) ? chi2 / freedom : (double)NAN;
}

bool sr_answer_has_paths(const struct sr_answer *o)
{
    bool any = false;
    for (int i = 0; i < o->front->count; i++)
        any = any || !isnan(sr_answer_path_loss(o, i));
    return any;
}

int sr_answer_errors(const struct sr_answer *o, int row, double error[SR_NODES])
{
    const int count = sr_expr_constants(&o->front->expr[row], NULL);
    double chi2, freedom;
    if (sr_answer_measured(o, row, &chi2, &freedom)) {
        memcpy(error, o->measured->error[o->front->complexity[row]], (size_t)count * sizeof *error);
        return 0;
    }
    if (!o->category && !o->front->unfitted[row])
        return sr_constants_errors(&o->front->expr[row], o->data, sr_answer_variance(o, row),
                                   error);
    for (int i = 0; i < count; i++)
        error[i] = o->front->unfitted[row] ? (double)NAN : o->category->row[row].shared[i];
    return 0;
}

bool sr_answer_since(const struct sr_answer *o, int feature, char text[SR_DAY_TEXT])
{
    for (int k = 0; o->dates && k < o->dates->count; k++)
        if (!strcmp(o->dates->of[k].name, o->names[feature])) {
            sr_day_text(o->dates->of[k].first, text);
            return true;
        }
    return false;
}
