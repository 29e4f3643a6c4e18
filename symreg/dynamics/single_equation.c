/* single_equation.c - the tracks of one state, the others known: other states and their velocities
 * become inputs, as they were smoothed. An equation can then be fitted by integrating it alone,
 * where a wrong equation of another state does not pull its constants. */
#include "dynamics.h"

#include <math.h>

#include "flow.h"

/* Numbers the names of the whole system: state d, its velocity, the time, the other states, their
 * velocities, the inputs. Returns how many inputs that makes. */
static int number_names(const struct sr_states *s, int d, int number[SR_STATE_NAMES])
{
    const int time = sr_states_time(s);
    int next = s->order + 1;
    for (int k = 0; k < s->names; k++)
        number[k] = k == time ? s->order : k < time && k % s->dims == d ? k / s->dims : next++;
    return next - s->order - 1;
}

/* The row of numbers that has what a name of the whole system is along a track. */
static const double *values_of(const struct sr_states *s, const struct sr_state_track *track,
                               int name)
{
    const size_t n = track->n;
    const int time = sr_states_time(s);
    if (name > time)
        return track->input + (size_t)(name - time - 1) * n;
    return name < s->dims ? track->smooth + (size_t)name * n
                          : track->rate + (size_t)(name - s->dims) * n;
}

double sr_smoothing_error(const struct sr_states *s, const struct sr_state_track *track, int d)
{
    const size_t n = track->n;
    double own = 0, share = 0;
    for (int k = 0; k < s->dims; k++) {
        const double *x = track->smooth + (size_t)k * n;
        double mean = 0, spread = 0, error = 0;
        for (size_t i = 0; i < n; i++) {
            mean += x[i] / (double)n;
            error += track->smooth_variance[(size_t)k * n + i] / (double)n;
        }
        for (size_t i = 0; i < n; i++)
            spread += (x[i] - mean) * (x[i] - mean) / (double)n;
        if (k == d)
            own = spread;
        else if (spread > 0)
            share = fmax(share, error / spread);
    }
    return fmin(share, 1) * own;
}

static void fill_track(const struct sr_states *s, int d, const int *number,
                       const struct sr_state_track *from, struct sr_state_track *to)
{
    const size_t n = from->n, at = (size_t)d * n, bytes = n * sizeof *from->t;
    to->category = from->category;
    const double widen = sr_smoothing_error(s, from, d);
    memcpy(to->t, from->t, bytes);
    memcpy(to->x, from->x + at, bytes);
    for (size_t i = 0; i < n; i++)
        to->sigma[i] = sqrt(from->sigma[at + i] * from->sigma[at + i] + widen);
    memcpy(to->smooth, from->smooth + at, bytes);
    memcpy(to->rate, from->rate + at, bytes);
    for (int k = 0; k < s->names; k++)
        if (number[k] > s->order)
            memcpy(to->input + (size_t)(number[k] - s->order - 1) * n, values_of(s, from, k),
                   bytes);
}

int sr_states_alone(const struct sr_states *s, int d, struct sr_states *alone,
                    int number[SR_STATE_NAMES])
{
    size_t *const rows = orr_alloc(s->count, sizeof *rows);
    *alone = (struct sr_states){
        .file = s->file, .order = s->order, .dims = 1, .categories = s->categories};
    alone->inputs = number_names(s, d, number);
    alone->names = s->names;
    alone->proportional[0] = s->proportional[d];
    if (!rows)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        rows[k] = s->track[k].n;
    const int rc = sr_states_create(alone, s->count, rows);
    for (size_t k = 0; k < s->count && !rc; k++)
        fill_track(s, d, number, &s->track[k], &alone->track[k]);
    free(rows);
    return rc;
}

bool sr_states_may_be_alone(const struct sr_states *s)
{
    return s->order * (s->dims - 1) + s->inputs <= SR_FLOW_INPUTS;
}

void sr_equation_rename(struct sr_expr *expr, const int *number, int names, bool back)
{
    for (int i = 0; i < expr->count; i++)
        for (int k = 0; k < names && expr->node[i].op == SR_FEATURE; k++)
            if (expr->node[i].feature == (back ? number[k] : k)) {
                expr->node[i].feature = (uint8_t)(back ? k : number[k]);
                break;
            }
}
