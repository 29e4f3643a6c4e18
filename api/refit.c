/* refit.c - a front of user-defined formulas, whose constants are fitted to the table. */
#include <stdlib.h>

#include "regress.h"

static int parse(struct orrery_regression *r, const char *formula, struct sr_expr *expr)
{
    if (!formula)
        return ORR_FAIL(ORR_EINVAL, "formula: expected a text, found NULL");
    if (!r->has_table)
        return ORR_FAIL(ORR_EMISSING,
                        "formula: its names are those of a table; orrery_regression_data()");
    TRY(r->setup.language ? 0 : api_set_up(r));
    return sr_expr_parse(r->setup.language, formula, r->table.name, r->table.data.features, expr);
}

enum { STEPS = 200, RESTARTS = 8 }; /* of a fit that may start far from the optimum */

/* Inserts a formula after rows of the front with at most its complexity. */
static void insert_formula(struct sr_front *front, const struct sr_expr *expr, int complexity)
{
    int at = front->count++;
    for (; at > 0 && front->complexity[at - 1] > complexity; at--) {
        front->complexity[at] = front->complexity[at - 1];
        front->expr[at] = front->expr[at - 1];
    }
    front->complexity[at] = complexity;
    front->expr[at] = *expr;
}

static int read_formulas(struct orrery_regression *r, const char *const *formulas, int count,
                         struct sr_front *front)
{
    struct sr_expr expr;
    if (!formulas || count < 1 || count > SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "refit: expected 1 to %d formulas, found %d", SR_NODES,
                        formulas ? count : 0);
    for (int i = 0; i < count; i++) {
        TRY(parse(r, formulas[i], &expr));
        if (r->setup.settings.form)
            sr_template_adopt(r->setup.settings.form, &expr);
        insert_formula(front, &expr, sr_expr_complexity(r->setup.language, &expr));
    }
    return 0;
}

/* Fits the constants of all rows; a formula that is not finite on the table has an infinite
 * loss. */
static int fit_constants(const struct sr_settings *s, const struct sr_data *data,
                         struct sr_front *front)
{
    struct sr_loss loss;
    struct sr_work work = {0};
    gsl_rng *rng = orr_rng_create(s->seed, ORR_STAGE_SYMREG, 0);
    int rc = rng ? sr_loss_init_with(&loss, s->loss, s->loss_parameter, data) : ORR_ENOMEM;
    if (!rc) {
        const int most = sr_front_constants(front);
        rc = sr_work_init(&work, sr_block_rows(data), 2 * (most > 1 ? most : 1) - 1);
        for (int i = 0; i < front->count && !rc; i++)
            front->loss[i] =
                sr_constants_fit(&loss, &front->expr[i], false, STEPS, RESTARTS, rng, &work);
        sr_work_free(&work);
        sr_loss_free(&loss);
    }
    if (rng)
        gsl_rng_free(rng);
    return rc;
}

static int refit_formulas(struct orrery_regression *r, const char *const *formulas, int count)
{
    api_forget(r);
    if (r->table.category)
        return ORR_FAIL(ORR_EINVAL, "refit: not of a table with a category");
    struct sr_fit *fit = r->solution.fit = orr_alloc(1, sizeof *fit);
    if (!fit)
        return ORR_ENOMEM;
    TRY(read_formulas(r, formulas, count, &fit->front));
    fit->data = r->table.data;
    TRY(fit_constants(&r->setup.settings, &fit->data, &fit->front));
    const struct sr_problem problem = api_problem(r, 1);
    TRY(sr_solve_finish(&problem, 0, orr_time_s(), true, &r->solution));
    r->has_front = true;
    return 0;
}

int orrery_regression_refit(struct orrery_regression *r, const char *const *formulas, int count)
{
    API_RETURN(r, refit_formulas(r, formulas, count));
}
