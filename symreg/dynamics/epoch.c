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

enum { LISTS = 3 }; /* errors, lower and upper bounds */

/* Puts t - epoch in place of the time, with no error and no bounds of that number. */
static bool put_difference(const struct sr_states *s, struct sr_expr *expr,
                           double *const list[LISTS])
{
    struct sr_expr out = {.count = 0};
    double other[LISTS][SR_NODES];
    int number = 0, numbers = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *const node = &expr->node[i];
        const bool is_time = node->op == SR_FEATURE && node->feature == sr_states_time(s);
        if (out.count + (is_time ? 3 : 1) > SR_NODES)
            return false;
        sr_put_node(&out, *node);
        for (int k = 0; k < LISTS && sr_is_number(node); k++)
            other[k][numbers] = list[k][number];
        number += sr_is_number(node);
        numbers += sr_is_number(node);
        if (!is_time)
            continue;
        sr_put_constant(&out, fabs(s->epoch));
        sr_put_op(&out, s->epoch < 0 ? SR_ADD : SR_SUB);
        for (int k = 0; k < LISTS; k++)
            other[k][numbers] = NAN;
        numbers++;
    }
    for (int k = 0; k < LISTS; k++)
        memcpy(list[k], other[k], (size_t)numbers * sizeof *other[k]);
    *expr = out;
    return true;
}

int sr_system_restore_time(struct sr_states *s, const struct sr_language *language,
                           struct sr_system *system)
{
    if (!(s->epoch != 0))
        return 0;
    add_to_times(s, s->epoch);
    for (int d = 0; d < s->dims; d++) {
        double *const list[LISTS] = {system->error[d], system->low[d], system->high[d]};
        if (!put_difference(s, &system->expr[d], list) ||
            !sr_put_end(language, &system->expr[d], SR_NODES))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: the equation of %s, in which %s counts from %.17g, is longer than "
                            "%d nodes with the difference; expected times that begin near 0",
                            s->file, s->target[d], s->name[sr_states_time(s)], s->epoch, SR_NODES);
    }
    return 0;
}
