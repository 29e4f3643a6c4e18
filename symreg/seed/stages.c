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

static bool has_deviances(const struct sr_proposal *p)
{
    return sr_loss_is_deviance(p->loss->kind) &&
           (p->loss->kind != ORR_SR_BERNOULLI ||
            ((uint64_t)1 << SR_INV | (uint64_t)1 << SR_DIV) & p->operators);
}

#define OP(name) ((uint64_t)1 << SR_##name)
/* clang-format off */
const struct sr_stage sr_stages[] = {
    {"small", SR_STAGE_SMALL, sr_small_find, 0, {.rows = 0}},
    {"profiles", SR_STAGE_PROFILES, sr_profiles_find, 0,
     {.rows = 10, .most = 2, .but_study = true}},
    {"links", SR_STAGE_LINKS, sr_links_find, 0,
     {OP(ADD) | OP(MUL) | OP(EXP), .rows = 16, .when = has_deviances}},
    /* its shares depend on the columns */
    {"origins", SR_STAGE_ORIGINS, sr_origins_find, 0, {OP(SUB) | OP(MUL), .but_study = true}},
    {"pooled", SR_STAGE_POOLED, sr_pooled_find, 0.5, {.operators = OP(ADD)}},
    {"hinges", SR_STAGE_HINGES, sr_hinges_find, 0,
     {OP(ADD) | OP(SUB), OP(MAX) | OP(MIN), .rows = 16}},
    {"powers", SR_STAGE_POWERS, sr_powers_find, 0.15,
     {OP(ADD) | OP(MUL) | OP(DIV), .rows = SR_ROWS, .most = SR_POWER_COLUMNS}},
    {"signs", SR_STAGE_SIGNS, sr_signs_find, 0,
     {OP(MUL), OP(SIN) | OP(COS), .rows = 64, .columns = 2}},
    {"rates", SR_STAGE_RATES, sr_rates_find, 0,
     {OP(ADD) | OP(MUL), OP(EXP) | OP(SIN) | OP(COS) | OP(TANH), .rows = 40}},
    {"angles", SR_STAGE_ANGLES, sr_angles_find, 0.4,
     {OP(MUL), .most = SR_SMOOTH_COLUMNS, .but_study = true}},
    {"units", SR_STAGE_UNITS, sr_dimensions_find, 0.25,
     {OP(MUL) | OP(DIV), .but_study = true, .when = has_named}},
    {"structure", SR_STAGE_STRUCTURE, sr_structure_find, 0,
     {OP(MUL) | OP(DIV), .columns = 3, .but_study = true}},
    /* a larger share where the table has too few columns for structure.c */
    {"units", SR_STAGE_UNITS, sr_dimensions_find, 0.25,
     {OP(MUL) | OP(DIV), .most = 2, .but_study = true, .when = has_no_named}},
    {"units", SR_STAGE_UNITS, sr_dimensions_find, 0.1,
     {OP(MUL) | OP(DIV), .columns = 3, .but_study = true, .when = has_no_named}},
    {"composed", SR_STAGE_COMPOSED, sr_composed_find, 0, {.rows = SR_ROWS}},
    {"whole", SR_STAGE_WHOLE, sr_whole_find, 0, {OP(ADD), OP(FLOOR) | OP(ROUND), .rows = 16}},
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
    /* the first stage ignores the time limit, so that some formulas exist */
    rc = rc ? rc : sr_proposal_run(&p, SR_STAGE_SMALL);
    p.limit = limit;
    rc = rc ? rc : sr_proposal_run(&p, ~(unsigned)(SR_STAGE_SMALL | SR_STAGE_WHOLE));
    p.floor = 0; /* noise that a stage estimated may be the rounding of y */
    rc = rc ? rc : sr_proposal_run(&p, SR_STAGE_WHOLE);
    sr_bank_free(&p.bank);
    return rc;
}
