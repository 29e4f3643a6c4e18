/* motion_told.h - what the tracks could tell of a law's constants at most: the true form, whose
 * constants are fitted to the whole paths from the true ones on. Where this does not pass the rule
 * for `best`, it is the noise that hides the law, not the search. */
#ifndef BENCH_MOTION_TOLD_H
#define BENCH_MOTION_TOLD_H

#include "laws/analysis.h"
#include "symreg/motion/arcs.h"

enum { TOLD_NUMBERS = 4 };

/* A law as a formula, whose numbers are those of the simulator. */
struct told_law {
    const char *text; /* with %1$.17g and so on for its numbers, of which each is a parameter */
    double number[TOLD_NUMBERS];
};

static inline struct told_law told_law_of(const struct law_true *law)
{
    const struct sim_law_params *p = &law->dynamics.params;
    const struct sim_law *const is = law->dynamics.law;
    const double G = p->gravity, L = p->law_lambda_au, soft = p->law_softening_au;
    if (is == &sim_laws[ORR_LAW_POWER])
        return p->law_exponent == -1 ? (struct told_law){"(%1$.17g)*m1*m2/r", {G}}
                                     : (struct told_law){"(%1$.17g)*m1*m2/(r*r*sqrt(r))", {G}};
    if (is == &sim_laws[ORR_LAW_YUKAWA])
        return (struct told_law){
            "((%1$.17g)+(%2$.17g)*(r+(%3$.17g))*exp(-r/(%3$.17g)))*m1*m2/(r*r)",
            {G, p->law_alpha * G / L, L}};
    if (is == &sim_laws[ORR_LAW_MOND])
        return (struct told_law){
            "((%1$.17g)+sqrt((%1$.17g)*(%1$.17g)+(%2$.17g)*r*r/(m1+m2)))*m1*m2/(r*r)",
            {0.5 * G, G * p->law_a0}};
    if (is == &sim_laws[ORR_LAW_PLUMMER])
        return (struct told_law){"(%1$.17g)*m1*m2*r/((r*r+(%2$.17g))*sqrt(r*r+(%2$.17g)))",
                                 {G, soft * soft}};
    if (is == &sim_laws[ORR_LAW_HOOKE])
        return (struct told_law){"(%1$.17g)*m1*m2*r", {G}};
    if (is == &sim_laws[ORR_LAW_LAMBDA])
        return (struct told_law){"((%1$.17g)/(r*r)-(%2$.17g)*r/(m1+m2))*m1*m2",
                                 {G, p->law_constant}};
    return (struct told_law){"(%1$.17g)*m1*m2/(r*r)", {G}}; /* post-Newtonian: its force */
}

struct told {
    bool is_law;  /* by the rule for `best` */
    double sigma; /* the largest error of a constant, in its standard errors; NAN: no fit */
};

static inline void told_form(const struct told_law *told, const struct sr_language *language,
                             struct sr_form *form)
{
    static const char *const features[] = {"r", "m1", "m2"};
    char text[512];
    double all[SR_NODES];
    const double *const a = told->number;
    snprintf(text, sizeof text, told->text, a[0], a[1], a[2]);
    *form = (struct sr_form){0};
    if (sr_expr_parse(language, text, features, 3, &form->expr))
        return;
    form->numbers = sr_expr_constants(&form->expr, all);
    for (int k = 0; k < form->numbers; k++)
        for (int j = 0; j < TOLD_NUMBERS; j++)
            if (a[j] != 0 && fabs(fabs(all[k]) - fabs(a[j])) <= 1e-12 * fabs(a[j])) {
                form->param[k] = j;
                form->params = form->params > j + 1 ? form->params : j + 1;
            }
}

/* Fits the constants to all paths and judges them as a chosen formula is. */
static inline int told_fit(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                           const struct sr_language *language, struct law_true *law,
                           const double low[3], const double high[3], double tolerance,
                           struct told *told)
{
    static const char *const features[] = {"r", "m1", "m2"};
    const struct told_law is = told_law_of(law);
    struct sr_paths paths;
    struct sr_form form;
    struct sr_arcs_fit fit;
    double k;
    *told = (struct told){.sigma = NAN};
    told_form(&is, language, &form);
    int rc = sr_paths_create(tracks, table, features, 3, SIZE_MAX, &paths);
    paths.language = language;
    double *const state = orr_alloc(paths.states + 1, sizeof *state);
    rc = rc ? rc : state ? 0 : ORR_ENOMEM;
    if (!rc)
        memcpy(state, paths.state, paths.states * sizeof *state);
    const struct sr_form *const first = &form;
    rc = rc ? rc : sr_paths_correct_noise(&paths, &first, 1, 0);
    for (int round = 0; round < 3 && !rc; round++)
        rc = sr_arcs_fit_whole(&paths, round ? SIZE_MAX / 2 : 5, 0, &form, state, &fit);
    free(state);
    if (!rc && fit.whole && fit.chi2 < HUGE_VAL) {
        const double spare = (double)(fit.numbers - fit.starts) - form.params;
        const double scale = sqrt(fmax(fit.chi2 / spare, sr_paths_exact(&paths)));
        told->is_law = law_true_is(law, &form.expr, low, high, tolerance, &k);
        told->sigma = 0;
        for (int a = 0; a < form.params; a++)
            told->sigma =
                fmax(told->sigma, fabs(fit.value[a] - is.number[a]) / (scale * fit.u.error[a]));
    }
    sr_paths_free(&paths);
    return rc;
}

#endif
