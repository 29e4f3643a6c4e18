/* equation_table.c - the table in which the search finds the equation of one state: the smoothed
 * states, the time and inputs, and the derivative with its standard deviation. */
#include "dynamics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "base/text.h"

void sr_states_sigma_name(const struct sr_states *s, int d, char text[3 * SR_STATE_NAME])
{
    snprintf(text, 3 * SR_STATE_NAME, "sigma of %s", s->target[d]);
}

/* A share of the rms derivative that every standard deviation is increased by. Near the end of a
 * decay derivatives are known to a ten-millionth of what they are at its begin; weighted by that
 * alone, a search would explain nothing but the end. */
static const double share_of_rms = 0.003;

int sr_states_least(const struct sr_states *s, int d, double *least)
{
    double *sigma = orr_alloc(s->rows, sizeof *sigma), squares = 0;
    size_t n = 0;
    if (!sigma)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *track = &s->track[k];
        const double *variance = s->order == 1 ? track->rate_variance : track->bend_variance;
        const double *value = s->order == 1 ? track->rate : track->bend;
        for (size_t i = (size_t)d * track->n; i < (size_t)(d + 1) * track->n; i++) {
            sigma[n++] = sqrt(variance[i]);
            squares += value[i] * value[i] / (double)s->rows;
        }
    }
    const double middle = orr_median(sigma, n);
    *least = sqrt(middle * middle + share_of_rms * share_of_rms * squares);
    free(sigma);
    return 0;
}

static void print_row(FILE *out, const struct sr_states *s, int d,
                      const struct sr_state_track *track, size_t i, double least)
{
    const size_t n = track->n, at = (size_t)d * n + i;
    fprintf(out, "%zu,", track->line[i]);
    orr_print_quoted(out, track->label);
    if (s->categories) {
        putc(',', out);
        orr_print_quoted(out, s->category_label[track->category]);
    }
    for (size_t k = 0; k < (size_t)s->dims; k++)
        fprintf(out, ",%.17g", track->smooth[k * n + i]);
    for (size_t k = 0; k < (size_t)s->dims && s->order == 2; k++)
        fprintf(out, ",%.17g", track->rate[k * n + i]);
    fprintf(out, ",%.17g", track->t[i]);
    for (size_t k = 0; k < (size_t)s->inputs; k++)
        fprintf(out, ",%.17g", track->input[k * n + i]);
    const double value = s->order == 1 ? track->rate[at] : track->bend[at];
    const double variance = s->order == 1 ? track->rate_variance[at] : track->bend_variance[at];
    fprintf(out, ",%.17g,%.17g\n", value, fmax(sqrt(variance), least));
}

static int print_table(FILE *out, const struct sr_states *s, int d, size_t most)
{
    const size_t each = (s->rows + most - 1) / most;
    char sigma[3 * SR_STATE_NAME];
    double least;
    size_t row = 0;
    TRY(sr_states_least(s, d, &least));
    fprintf(out, SR_STATES_TABLE);
    if (s->categories) {
        putc(',', out);
        orr_print_quoted(out, s->category);
    }
    for (int k = 0; k < s->names; k++) {
        putc(',', out);
        orr_print_quoted(out, s->name[k]);
    }
    putc(',', out);
    orr_print_quoted(out, s->target[d]);
    putc(',', out);
    sr_states_sigma_name(s, d, sigma);
    orr_print_quoted(out, sigma);
    putc('\n', out);
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++)
            if (row % each == 0 || (s->categories && i == 0)) /* no category is left out */
                print_row(out, s, d, &s->track[k], i, least);
    return 0;
}

int sr_states_table(const struct sr_states *s, int d, size_t most, char **text)
{
    size_t bytes;
    *text = NULL;
    FILE *out = open_memstream(text, &bytes);
    if (!out)
        return ORR_FAIL(ORR_ENOMEM, SR_TABLE_OF_MOTION ": out of memory");
    const int rc = print_table(out, s, d, most);
    const bool bad = ferror(out);
    if (!fclose(out) && !bad && !rc)
        return 0;
    free(*text);
    return rc ? rc : ORR_FAIL(ORR_ENOMEM, SR_TABLE_OF_MOTION ": out of memory");
}
