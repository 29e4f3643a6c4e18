/* fewest_digits.c - among formulas of different shape but equal size and loss, chooses the one
 * whose constants have the fewest digits: 2 exp(x) rather than exp(x + 0.6931). */
#include "search.h"

#include <math.h>

enum { SHAPES = 6 }; /* shapes tried for each size */
static const double few_rows_mislead = 1.25, rounding = 1 + 1e-9;

/* Writes a member as it would stand on the front, with its best outer factor. */
static bool make_whole(const struct sr_run *run, const struct sr_expr *expr, struct sr_work *work,
                       struct sr_expr *whole)
{
    const struct sr_settings *s = run->view.settings;
    double scale;
    *whole = *expr;
    if (!isfinite(sr_eval_loss(expr, run->loss, work, &scale)) || scale == 0 ||
        (fabs(scale - 1) > rounding - 1 && !sr_expr_scale(whole, scale)))
        return false;
    sr_expr_rewrite(s->language, whole, sr_settings_operators(s));
    return whole->count <= s->maxsize;
}

void sr_run_fewest_digits(const struct sr_run *run, const struct sr_tidy *tidy, double limit,
                          struct sr_expr *expr, double *reached, struct sr_work *work)
{
    const struct sr_settings *s = run->view.settings;
    const int size = sr_expr_complexity(s->language, expr);
    const int scale = sr_scale_complexity(s->language);
    const double most = limit * (run->screen ? few_rows_mislead : rounding);
    struct sr_expr seen[SHAPES], whole;
    int shapes = 0;
    double digits = sr_digits(expr), loss;
    for (int k = 0; k < s->populations; k++)
        for (int m = 0; m < s->population_size && shapes < SHAPES && !orr_time_over(); m++) {
            const struct sr_member *member = &run->island[k].member[m];
            const int own = sr_expr_complexity(s->language, &member->expr);
            bool known = member->expr.count == 0 || !(member->loss <= most) ||
                         (own != size && own + scale != size) ||
                         !make_whole(run, &member->expr, work, &whole) ||
                         sr_expr_complexity(s->language, &whole) != size ||
                         sr_expr_same_shape(&whole, expr);
            for (int i = 0; i < shapes && !known; i++)
                known = sr_expr_same_shape(&whole, &seen[i]);
            if (known)
                continue;
            seen[shapes++] = whole;
            if (s->whole && !s->whole(&whole, s->context))
                continue;
            loss = sr_tidy(tidy, &whole, work);
            if (!(loss <= limit) || !(sr_digits(&whole) < digits))
                continue;
            *expr = whole;
            *reached = loss;
            digits = sr_digits(&whole);
        }
}
