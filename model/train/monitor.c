/* monitor.c - skips outlier steps, keeps the least held-out loss, and ends a training by
 * patience. The state is stored in checkpoints bit for bit, so that a resumed run makes equal
 * decisions. */
#include "monitor.h"
#include "model/checkpoint.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gpt_monitor_create(struct gpt_monitor *monitor, const struct orr_train_settings *train)
{
    *monitor = (struct gpt_monitor){.train = train, .best = INFINITY};
    if (train->outlier_sigma <= 0)
        return 0;
    monitor->window = train->outlier_window > 1 ? train->outlier_window : 2;
    monitor->loss = orr_alloc((size_t)monitor->window, sizeof(double));
    monitor->norm = orr_alloc((size_t)monitor->window, sizeof(double));
    return monitor->loss && monitor->norm ? 0 : ORR_ENOMEM;
}

void gpt_monitor_free(struct gpt_monitor *monitor)
{
    free(monitor->loss);
    free(monitor->norm);
    memset(monitor, 0, sizeof *monitor);
}

/* Index of the i-th value of the window, oldest first. Sums are taken in this order, so that
 * they do not change after a resume. */
static int window_index(const struct gpt_monitor *monitor, int i)
{
    return monitor->count < monitor->window ? i : (monitor->next + i) % monitor->window;
}

/* mean + sigma * standard deviation of the window. */
static double outlier_limit(const struct gpt_monitor *monitor, const double *value)
{
    double mean = 0, square = 0;
    for (int i = 0; i < monitor->count; i++)
        mean += value[window_index(monitor, i)] / monitor->count;
    for (int i = 0; i < monitor->count; i++) {
        const double d = value[window_index(monitor, i)] - mean;
        square += d * d / monitor->count;
    }
    return mean + monitor->train->outlier_sigma * sqrt(square);
}

int gpt_monitor_step(struct gpt_monitor *monitor, long step, double loss, double norm,
                     const char **reason)
{
    *reason = NULL;
    if (!monitor->window)
        return 0;
    if (monitor->count == monitor->window) {
        const double most_loss = outlier_limit(monitor, monitor->loss),
                     most_norm = outlier_limit(monitor, monitor->norm);
        *reason = loss > most_loss ? "loss" : norm > most_norm ? "grad_norm" : NULL;
        if (*reason) {
            monitor->skipped++;
            if (++monitor->in_row <= monitor->train->outlier_most)
                return 0;
            return ORR_FAIL(ORR_EDIVERGED,
                            "step %ld: more than %d outliers in a row: loss %g (window of %d "
                            "steps: up to %g), gradient norm %g (up to %g)",
                            step, monitor->train->outlier_most, loss, monitor->window, most_loss,
                            norm, most_norm);
        }
    }
    monitor->in_row = 0;
    monitor->loss[monitor->next] = loss;
    monitor->norm[monitor->next] = norm;
    monitor->next = (monitor->next + 1) % monitor->window;
    if (monitor->count < monitor->window)
        monitor->count++;
    return 0;
}

bool gpt_monitor_evaluation(struct gpt_monitor *monitor, double loss)
{
    if (loss < monitor->best) {
        monitor->best = loss;
        monitor->since_best = 0;
        return true;
    }
    monitor->since_best++;
    monitor->ended =
        monitor->train->patience > 0 && monitor->since_best >= monitor->train->patience;
    return false;
}

/* ------------------------------------------------------------------- state as text, bit for bit */

enum { NUMBER = 32 }; /* bytes of one number in hexadecimal, and a space */

int gpt_monitor_print(const struct gpt_monitor *monitor, char **text)
{
    const size_t bytes = (size_t)(2 * monitor->count + 6) * NUMBER;
    *text = malloc(bytes);
    if (!*text)
        return ORR_FAIL(ORR_ENOMEM, "the state of training: out of memory");
    int used = snprintf(*text, bytes, "%d %a %ld %ld %d %d", monitor->ended, monitor->best,
                        monitor->since_best, monitor->skipped, monitor->in_row, monitor->count);
    for (int i = 0; i < monitor->count; i++)
        used += snprintf(*text + used, bytes - (size_t)used, " %a %a",
                         monitor->loss[window_index(monitor, i)],
                         monitor->norm[window_index(monitor, i)]);
    return 0;
}

/* The next number in the text; NaN when there is none. */
static double take_number(const char **text)
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

int gpt_monitor_parse(struct gpt_monitor *monitor, const char *path, const char *text)
{
    const char *rest = text;
    const double ended = take_number(&rest), best = take_number(&rest), since = take_number(&rest);
    const double skipped = take_number(&rest), in_row = take_number(&rest),
                 count = take_number(&rest);
    if (!is_count(ended, 1) || isnan(best) || !is_count(since, 0x1p53) ||
        !is_count(skipped, 0x1p53) || !is_count(in_row, fmin(skipped, INT_MAX - 1)) ||
        !is_count(count, monitor->window))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: metadata \"training\": expected 6 counts and a window of at most %d "
                        "steps, found \"%.60s\"",
                        path, monitor->window, text);
    monitor->ended = ended > 0;
    monitor->best = best;
    monitor->since_best = (long)since;
    monitor->skipped = (long)skipped;
    monitor->in_row = (int)in_row;
    monitor->count = (int)count;
    monitor->next = monitor->window ? monitor->count % monitor->window : 0;
    for (int i = 0; i < monitor->count; i++) {
        monitor->loss[i] = take_number(&rest);
        monitor->norm[i] = take_number(&rest);
        if (!isfinite(monitor->loss[i]) || !isfinite(monitor->norm[i]))
            return ORR_FAIL(ORR_EFORMAT, "%s: metadata \"training\": step %d of %d is no number",
                            path, i + 1, monitor->count);
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

int gpt_check_complete(const char *path, long steps, const char *advice)
{
    long step = 0;
    bool ended = false;
    TRY(gpt_progress(path, &step, &ended));
    return ended || step >= steps
               ? 0
               : ORR_FAIL(ORR_EMISSING, "%s: pretraining is not complete: step %ld of %ld; %s",
                          path, step, steps, advice);
}
