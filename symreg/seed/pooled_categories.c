/* pooled_categories.c - searches the rows of all categories, whose targets are counted from their
 * mean in their category, where the one category that the proposal searches has too few rows.
 *
 * A law that differs by a summand between categories, as the velocities of one star by several
 * spectrographs do, is one law of the pooled table: its period shows in 60 rows, and of the 22 of
 * one spectrograph too many periods explain each. */
#include "base/stop.h"
#include "derived.h"
#include "shared.h"

enum { PER_SIZE = 4 }; /* seeds of each size */

static int make_pooled(const struct sr_proposal *p, const void *context, int number,
                       struct sr_derived *d)
{
    const struct sr_data *pooled = p->loss->data->pooled;
    (void)context;
    (void)number;
    TRY(sr_derived_init(d, pooled, SR_DERIVED_ROWS, NULL, pooled->features));
    for (int f = 0; f < pooled->features; f++)
        sr_derived_feature(d, pooled, f);
    d->near = 1e-12; /* the factor of the pooled table is none of y itself */
    sr_put_by(SR_ADD, sr_weighted_mean(p->loss->data), &d->after);
    return sr_derived_close(d, sr_loss_init_like(&d->loss, p->loss, &d->data));
}

int sr_pooled_find(struct sr_proposal *p)
{
    if (!p->loss->data->pooled)
        return 0;
    return sr_race(p, &(struct sr_race){
                          .count = 1,
                          .make = make_pooled,
                          .round = {{.stages = SR_STAGE_SMALL | SR_STAGE_ORIGINS | SR_STAGE_RATES}},
                          .per_size = PER_SIZE,
                          .few = true});
}
