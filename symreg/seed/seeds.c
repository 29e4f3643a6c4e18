/* seeds.c - the stages of a proposal: small formulas and their pairs, curves, sums. */
#include <stddef.h>

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

const struct sr_stage sr_stages[] = {
    {"small", SR_STAGE_SMALL, NULL, sr_small_find},
    {"origins", SR_STAGE_ORIGINS, NULL, sr_origins_find},
    {"hinges", SR_STAGE_HINGES, NULL, sr_hinges_find},
    {"powers", SR_STAGE_POWERS, NULL, sr_powers_find},
    {"signs", SR_STAGE_SIGNS, NULL, sr_signs_find},
    {"rates", SR_STAGE_RATES, NULL, sr_rates_find},
    {"angles", SR_STAGE_ANGLES, NULL, sr_angles_find},
    {"units", SR_STAGE_UNITS, has_named, sr_dimensions_find},
    {"structure", SR_STAGE_STRUCTURE, NULL, sr_structure_find},
    {"units", SR_STAGE_UNITS, has_no_named, sr_dimensions_find},
    {"composed", SR_STAGE_COMPOSED, NULL, sr_composed_find},
    {"curves", SR_STAGE_CURVES, NULL, sr_collapse_find},
    {"pursuit", SR_STAGE_PURSUIT, NULL, sr_pursuit_find},
    {NULL, 0, NULL, NULL},
};

int sr_seeds_all(const struct sr_settings *settings, const struct sr_loss *loss,
                 struct sr_limit limit, struct sr_thread *thread, int threads,
                 struct sr_seeds *seeds)
{
    struct sr_proposal p;
    int rc = sr_proposal_init(&p, sr_stages, settings, loss, thread, threads, seeds);
    p.limit = limit;
    if (!rc) /* the first stage ignores the time limit, so that some formulas exist */
        rc = sr_small_find(&p);
    if (!rc)
        rc = sr_proposal_run(&p, ~(unsigned)SR_STAGE_SMALL);
    sr_bank_free(&p.bank);
    return rc;
}
