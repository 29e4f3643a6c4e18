/* epoch.c - times far from 0, as Julian dates, are counted from the first one while equations are
 * searched: a rate of growth by the time, or a wave, has its constants where the rows are, and an
 * equation of Julian dates is found as the one of the same track from 0 on. Equations that were
 * found have the difference, t - 2460000.5, in place of the time. */
#include "dynamics.h"

#include <math.h>

/* Times are far from 0 where the first is more than so many durations away. Nearer ones may have a
 * meaning of their own, as in x / t, which a track that is far away cannot tell from a line. */
static const double durations = 10;

static void add_to_times(struct sr_states *s, double shift)
{
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++)
            s->track[k].t[i] += shift;
}

void sr_states_count_time(struct sr_states *s)
{
    double begin = HUGE_VAL, end = -HUGE_VAL;
    for (size_t k = 0; k < s->count; k++) {
        begin = fmin(begin, s->track[k].t[0]);
        end = fmax(end, s->track[k].t[s->track[k].n - 1]);
    }
    s->epoch = fmin(fabs(begin), fabs(end)) > durations * (end - begin) ? begin : 0;
    add_to_times(s, -s->epoch);
}

/* Puts t - epoch in place of the time, with no error of that number. */
static bool put_difference(const struct sr_states *s, struct sr_expr *expr, double *error)
{
    struct sr_expr out = {.count = 0};
    double errors[SR_NODES];
    int number = 0, numbers = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *const node = &expr->node[i];
        const bool is_time = node->op == SR_FEATURE && node->feature == sr_states_time(s);
        if (out.count + (is_time ? 3 : 1) > SR_NODES)
            return false;
        sr_put_node(&out, *node);
        if (sr_is_number(node))
            errors[numbers++] = error[number++];
        if (!is_time)
            continue;
        sr_put_constant(&out, fabs(s->epoch));
        sr_put_op(&out, s->epoch < 0 ? SR_ADD : SR_SUB);
        errors[numbers++] = NAN;
    }
    memcpy(error, errors, (size_t)numbers * sizeof *errors);
    *expr = out;
    return true;
}

int sr_system_restore_time(struct sr_states *s, const struct sr_language *language,
                           struct sr_system *system)
{
    if (!(s->epoch != 0))
        return 0;
    add_to_times(s, s->epoch);
    for (int d = 0; d < s->dims; d++)
        if (!put_difference(s, &system->expr[d], system->error[d]) ||
            !sr_put_end(language, &system->expr[d], SR_NODES))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: the equation of %s, in which %s counts from %.17g, is longer than "
                            "%d nodes with the difference; expected times that begin near 0",
                            s->file, s->target[d], s->name[sr_states_time(s)], s->epoch, SR_NODES);
    return 0;
}
