/* monitor.c - what training decides by its own past: steps that are skipped as outliers, the best
 * evaluation, the end for want of a better one. All of it goes into the checkpoint, to the bit. */
#include "monitor.h"
#include "model/checkpoint.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gpt_watch_create(struct gpt_watch *watch, const struct orr_train_preset *train)
{
    *watch = (struct gpt_watch){.train = train, .best = INFINITY};
    if (train->outlier_sigma <= 0)
        return 0;
    watch->window = train->outlier_window > 1 ? train->outlier_window : 2;
    watch->loss = orr_alloc((size_t)watch->window, sizeof(double));
    watch->norm = orr_alloc((size_t)watch->window, sizeof(double));
    return watch->loss && watch->norm ? 0 : ORR_ENOMEM;
}

void gpt_watch_free(struct gpt_watch *watch)
{
    free(watch->loss);
    free(watch->norm);
    memset(watch, 0, sizeof *watch);
}

/* Index of the i-th value of the window, the oldest first: sums are taken in this order, so that
 * they are the same after a resume. */
static int at(const struct gpt_watch *watch, int i)
{
    return watch->count < watch->window ? i : (watch->next + i) % watch->window;
}

/* mean + sigma * standard deviation of the window. */
static double limit(const struct gpt_watch *watch, const double *value)
{
    double mean = 0, square = 0;
    for (int i = 0; i < watch->count; i++)
        mean += value[at(watch, i)] / watch->count;
    for (int i = 0; i < watch->count; i++) {
        const double d = value[at(watch, i)] - mean;
        square += d * d / watch->count;
    }
    return mean + watch->train->outlier_sigma * sqrt(square);
}

int gpt_watch_step(struct gpt_watch *watch, long step, double loss, double norm,
                   const char **reason)
{
    *reason = NULL;
    if (!watch->window)
        return 0;
    if (watch->count == watch->window) {
        const double most_loss = limit(watch, watch->loss), most_norm = limit(watch, watch->norm);
        *reason = loss > most_loss ? "loss" : norm > most_norm ? "grad_norm" : NULL;
        if (*reason) {
            watch->skipped++;
            if (++watch->in_row <= watch->train->outlier_most)
                return 0;
            return ORR_FAIL(ORR_EDIVERGED,
                            "step %ld: more than %d outliers in a row: loss %g (window of %d "
                            "steps: up to %g), gradient norm %g (up to %g)",
                            step, watch->train->outlier_most, loss, watch->window, most_loss, norm,
                            most_norm);
        }
    }
    watch->in_row = 0;
    watch->loss[watch->next] = loss;
    watch->norm[watch->next] = norm;
    watch->next = (watch->next + 1) % watch->window;
    if (watch->count < watch->window)
        watch->count++;
    return 0;
}

bool gpt_watch_evaluation(struct gpt_watch *watch, double loss)
{
    if (loss < watch->best) {
        watch->best = loss;
        watch->since_best = 0;
        return true;
    }
    watch->since_best++;
    watch->ended = watch->train->patience > 0 && watch->since_best >= watch->train->patience;
    return false;
}

/* ------------------------------------------------------------------- as text, to the bit */

enum { NUMBER = 32 }; /* bytes of one number in hexadecimal, and a space */

int gpt_watch_print(const struct gpt_watch *watch, char **text)
{
    const size_t bytes = (size_t)(2 * watch->count + 6) * NUMBER;
    *text = malloc(bytes);
    if (!*text)
        return ORR_FAIL(ORR_ENOMEM, "the state of training: out of memory");
    int used = snprintf(*text, bytes, "%d %a %ld %ld %d %d", watch->ended, watch->best,
                        watch->since_best, watch->skipped, watch->in_row, watch->count);
    for (int i = 0; i < watch->count; i++)
        used += snprintf(*text + used, bytes - (size_t)used, " %a %a", watch->loss[at(watch, i)],
                         watch->norm[at(watch, i)]);
    return 0;
}

/* The next number of the text; NaN when there is none. */
static double take(const char **text)
{
    char *end;
    const double value = strtod(*text, &end);
    const bool found = end != *text;
    *text = end;
    return found ? value : NAN;
}

static bool is_count(double value, double most)
{
    return value >= 0 && value <= most && value == floor(value);
}

int gpt_watch_parse(struct gpt_watch *watch, const char *path, const char *text)
{
    const char *rest = text;
    const double ended = take(&rest), best = take(&rest), since = take(&rest);
    const double skipped = take(&rest), in_row = take(&rest), count = take(&rest);
    if (!is_count(ended, 1) || isnan(best) || !is_count(since, 0x1p53) ||
        !is_count(skipped, 0x1p53) || !is_count(in_row, fmin(skipped, INT_MAX - 1)) ||
        !is_count(count, watch->window))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: metadata \"training\": expected 6 counts and a window of at most %d "
                        "steps, found \"%.60s\"",
                        path, watch->window, text);
    watch->ended = ended > 0;
    watch->best = best;
    watch->since_best = (long)since;
    watch->skipped = (long)skipped;
    watch->in_row = (int)in_row;
    watch->count = (int)count;
    watch->next = watch->window ? watch->count % watch->window : 0;
    for (int i = 0; i < watch->count; i++) {
        watch->loss[i] = take(&rest);
        watch->norm[i] = take(&rest);
        if (!isfinite(watch->loss[i]) || !isfinite(watch->norm[i]))
            return ORR_FAIL(ORR_EFORMAT, "%s: metadata \"training\": step %d of %d is no number",
                            path, i + 1, watch->count);
    }
    return 0;
}

int gpt_progress(const char *path, long *step, bool *ended)
{
    char text[NUMBER];
    TRY(gpt_checkpoint_metadata(path, "step", text, sizeof text));
    TRY(gpt_step_parse(path, text, step));
    TRY(gpt_checkpoint_metadata(path, "training", text, sizeof text));
    *ended = text[0] == '1';
    if (*text && ((text[0] != '0' && text[0] != '1') || (text[1] && text[1] != ' ')))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: metadata \"training\": expected 0 or 1 first, found \"%s\"", path,
                        text);
    return 0;
}
