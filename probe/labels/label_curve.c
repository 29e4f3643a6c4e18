/* label_curve.c - evaluates label curves: the number of labels needed for a level of R^2, and the
 * ratio of two models' numbers. */
#include "labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 5 }; /* a fifth of the labels, at least one, chooses the learning rate */

/* Pool adjacent violators: a value below the one before is merged with it (Ayer et al. 1955). */
void probe_monotone(size_t n, double *y)
{
    for (size_t i = 1; i < n; i++) {
        double sum = y[i];
        size_t from = i;
        while (from > 0 && y[from - 1] > sum / (double)(i + 1 - from))
            sum += y[--from];
        for (size_t k = from; k <= i; k++)
            y[k] = sum / (double)(i + 1 - from);
    }
}

struct probe_range probe_labels_needed(size_t count, const int *n, const double *y, double level)
{
    size_t k = 0;
    while (k < count && !(y[k] >= level))
        k++;
    if (k == 0)
        return (struct probe_range){0, n[0]};
    if (k == count)
        return (struct probe_range){n[count - 1], INFINITY};
    const double share = (level - y[k - 1]) / (y[k] - y[k - 1]);
    const double needed = orr_exp(orr_log(n[k - 1]) + share * (orr_log(n[k]) - orr_log(n[k - 1])));
    return (struct probe_range){needed, needed};
}

struct probe_range probe_ratio(struct probe_range a, struct probe_range b)
{
    return (struct probe_range){a.low > 0 && isfinite(b.high) ? a.low / b.high : 0,
                                isfinite(a.high) && b.low > 0 ? a.high / b.low : INFINITY};
}

const char *probe_range_mark(struct probe_range range, double *value)
{
    const bool below = range.low > 0, above = isfinite(range.high);
    *value = below ? range.low : above ? range.high : (double)NAN;
    if (below && above)
        return "";
    return below ? " >=" : above ? " <=" : " ?";
}

static int read_sizes(const char *text, size_t most, int *sizes, int *count)
{
    *count = 0;
    for (const char *at = text; *at || at == text;) {
        char *end;
        const long n = strtol(at, &end, 10);
        const bool ends = *end == ',' ? end[1] != '\0' : *end == '\0';
        if (end == at || !ends || n < LEAST || n > 1000000000 ||
            (*count && n <= sizes[*count - 1]) || *count == PROBE_SIZES)
            return ORR_FAIL(ORR_EUSAGE,
                            "--sizes: expected at most %d ascending whole numbers from %d, as "
                            "30,100,300, found \"%s\"",
                            PROBE_SIZES, LEAST, text);
        if ((size_t)n > most)
            return ORR_FAIL(ORR_EUSAGE,
                            "--sizes: expected at most %zu, found %ld: so many sequences of "
                            "orbits.two_body_train have labels to learn from",
                            most, n);
        sizes[(*count)++] = (int)n;
        at = *end ? end + 1 : end;
    }
    return 0;
}

int probe_sizes_read(const char *text, const int *standard, int standards, size_t most, int *sizes,
                     int *count)
{
    if (text)
        return read_sizes(text, most, sizes, count);
    *count = 0;
    for (int i = 0; i < standards; i++)
        if ((size_t)standard[i] <= most)
            sizes[(*count)++] = standard[i];
    if (*count == 0)
        return ORR_FAIL(ORR_EINVAL,
                        "orbits.two_body_train: %zu sequences have labels to learn from, expected "
                        "at least %d; name fewer with --sizes",
                        most, standard[0]);
    return 0;
}
