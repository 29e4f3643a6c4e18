/* resmooth.c - tracks smoothed by the solutions of a system that follows them. Such a solution is a
 * better smoother than a process without equations: it takes nothing where tracks bend sharply, and
 * as an input of another equation it has hardly an error. */
#include <math.h>

#include "judge.h"

int sr_states_resmooth(const struct sr_judge *c, const struct sr_judged *system,
                       struct sr_states *along, bool *follows)
{
    const struct sr_states *const s = c->states;
    const size_t width = 1 + (size_t)s->inputs + 8 * (size_t)s->dims;
    size_t *const rows = orr_alloc(s->count, sizeof *rows);
    struct sr_judged *const fit = orr_alloc(1, sizeof *fit);
    struct sr_judge own = *c;
    *along = *s;
    along->part = true;
    along->csv = (struct orr_csv){0};
    along->track = NULL;
    along->block = along->lines = NULL;
    own.track = orr_alloc(c->tracks, sizeof *own.track);
    int rc = rows && fit && own.track ? 0 : ORR_ENOMEM;
    for (size_t k = 0; k < s->count && !rc; k++)
        rows[k] = s->track[k].n;
    rc = rc ? rc : sr_states_create(along, s->count, rows);
    for (size_t k = 0; k < s->count && !rc; k++) {
        along->track[k].category = s->track[k].category;
        memcpy(along->track[k].t, s->track[k].t, rows[k] * width * sizeof(double));
    }
    for (size_t k = 0; k < c->tracks && !rc; k++) {
        own.track[k] = c->track[k];
        own.track[k].model = along->track[k].smooth; /* of order 2 rates lie behind */
    }
    if (!rc) {
        sr_judged_copy(system, fit);
        rc = sr_judge_fit(&own, fit);
    }
    *follows = !rc && fit->nats < HUGE_VAL;
    for (size_t k = 0; k < c->tracks && *follows; k++)
        for (size_t i = 0; i < rows[k] * (size_t)(s->order * s->dims) && *follows; i++)
            *follows = isfinite(along->track[k].smooth[i]);
    free(own.track);
    free(fit);
    free(rows);
    return rc;
}
