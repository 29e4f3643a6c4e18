/* stages.c - the stages of a proposal, the cheapest first. */
#include <stddef.h>

#include "powers.h"
#include "gaussian_process.h"
#include "stages.h"

/* With named constants groups from units come before those that the table shows, since it cannot
 * show the constants; else after them, so that what is found without units is found with them. */
static bool has_named(const struct sr_proposal *p)
{
    return p->settings->language && p->settings->language->named;
}

static bool has_no_named(const struct sr_proposal *p)
{
    return !has_named(p);
}

static bool has_pooled(const struct sr_proposal *p)
{
    return p->loss->data->pooled;
}

static bool has_deviances(const struct sr_proposal *p)
{
    return sr_loss_is_deviance(p->loss->kind) &&
           (p->loss->kind != ORR_SR_BERNOULLI ||
            ((uint64_t)1 << SR_INV | (uint64_t)1 << SR_DIV) & p->operators);
}

#define OP(name) ((uint64_t)1 << SR_##name)
/* clang-format off */
const struct sr_stage sr_stages[] = {
    {"small", SR_STAGE_SMALL, .find = sr_small_find},
    {"profiles", SR_STAGE_PROFILES, {.rows = 10, .most = 2, .but_study = true},
     .find = sr_profiles_find},
    {"links", SR_STAGE_LINKS, {OP(ADD) | OP(MUL) | OP(EXP), .rows = 16, .when = has_deviances},
     .find = sr_links_find},
    /* its shares depend on the columns */
    {"origins", SR_STAGE_ORIGINS, {OP(SUB) | OP(MUL), .but_study = true}, .find = sr_origins_find},
    {"pooled", SR_STAGE_POOLED, {OP(ADD), .when = has_pooled}, .share = 0.5,
     .find = sr_pooled_find},
    {"hinges", SR_STAGE_HINGES, {OP(ADD) | OP(SUB), OP(MAX) | OP(MIN), .rows = 16},
     .find = sr_hinges_find},
    {"powers", SR_STAGE_POWERS,
     {OP(ADD) | OP(MUL) | OP(DIV), .rows = SR_ROWS, .most = SR_POWER_COLUMNS},
     .share = 0.15, .find = sr_powers_find},
    {"signs", SR_STAGE_SIGNS, {OP(MUL), OP(SIN) | OP(COS), .rows = 64, .columns = 2},
     .find = sr_signs_find},
    {"rates", SR_STAGE_RATES,
     {OP(ADD) | OP(MUL), OP(EXP) | OP(SIN) | OP(COS) | OP(TANH), .rows = 40},
     .find = sr_rates_find},
    {"angles", SR_STAGE_ANGLES, {OP(MUL), .most = SR_SMOOTH_COLUMNS, .but_study = true},
     .share = 0.4, .find = sr_angles_find},
    {"units", SR_STAGE_UNITS, {OP(MUL) | OP(DIV), .but_study = true, .when = has_named},
     .share = 0.25, .find = sr_dimensions_find},
    {"structure", SR_STAGE_STRUCTURE, {OP(MUL) | OP(DIV), .columns = 3, .but_study = true},
     .find = sr_structure_find},
    /* a larger share where the table has too few columns for structure.c */
    {"units", SR_STAGE_UNITS,
     {OP(MUL) | OP(DIV), .most = 2, .but_study = true, .when = has_no_named},
     .share = 0.25, .find = sr_dimensions_find},
    {"units", SR_STAGE_UNITS,
     {OP(MUL) | OP(DIV), .columns = 3, .but_study = true, .when = has_no_named},
     .share = 0.1, .find = sr_dimensions_find},
    {"composed", SR_STAGE_COMPOSED, {.rows = SR_ROWS}, .find = sr_composed_find},
    {"whole", SR_STAGE_WHOLE, {OP(ADD), OP(FLOOR) | OP(ROUND), .rows = 16}, .find = sr_whole_find},
    {.find = NULL},
};
/* clang-format on */
#undef OP

int sr_seeds_all(const struct sr_settings *settings, const struct sr_loss *loss,
                 struct sr_limit limit, struct sr_thread *thread, int threads,
                 struct sr_seeds *seeds)
{
    struct sr_proposal p;
    int rc = sr_proposal_init(&p, sr_stages, settings, loss, thread, threads, seeds);
    p.limit.evaluations = limit.evaluations;
    if (!rc) /* the first stage ignores the time limit, so that some formulas exist */
        rc = sr_proposal_run(&p, SR_STAGE_SMALL);
    p.limit = limit;
    if (!rc)
        rc = sr_proposal_run(&p, ~(unsigned)(SR_STAGE_SMALL | SR_STAGE_WHOLE));
    p.floor = 0; /* noise that a stage estimated may be the rounding of y */
    if (!rc)
        rc = sr_proposal_run(&p, SR_STAGE_WHOLE);
    sr_bank_free(&p.bank);
    return rc;
}
