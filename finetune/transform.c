/* transform.c - the named losses: the targets of the magnitude head. */
#include "ft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Root mean square of the labels' distance from the mean. The mean is subtracted first, because
 * labels may differ by rounding errors only. */
static double spread_of_labels(const struct ft_transform *t, const float *F, size_t n, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(F[i]))
            continue;
        const double x = (t->kind == ORR_LOSS_LOG ? log((double)F[i]) : (double)F[i]) - t->mean;
        square += x * x;
    }
    return sqrt(square / (double)count);
}

int ft_transform_fit(struct ft_transform *transform, enum orr_force_loss kind, const float *F,
                     size_t n)
{
    *transform = (struct ft_transform){.kind = kind, .mean = 0, .scale = 1};
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(F[i]))
            continue; /* unlabelled */
        if (!(F[i] > 0))
            return ORR_FAIL(ORR_EINVAL, "force label %zu: expected a positive number, found %g", i,
                            (double)F[i]);
        sum += log((double)F[i]);
        count++;
    }
    if (!count)
        return ORR_FAIL(ORR_EINVAL, "no labelled position to fine-tune on");
    if (kind == ORR_LOSS_LOG)
        transform->mean = sum / (double)count;
    if (kind != ORR_LOSS_RAW) {
        const double scale = spread_of_labels(transform, F, n, count);
        transform->scale = scale > 0 ? scale : 1;
    }
    return 0;
}

double ft_transform_apply(const struct ft_transform *transform, double F)
{
    const double x = transform->kind == ORR_LOSS_LOG ? log(F) : F;
    return (x - transform->mean) / transform->scale;
}

double ft_transform_invert(const struct ft_transform *transform, double target)
{
    const double x = target * transform->scale + transform->mean;
    return transform->kind == ORR_LOSS_LOG ? exp(x) : x;
}

static const char *const losses[] = {
    [ORR_LOSS_RAW] = "raw", [ORR_LOSS_LOG] = "log", [ORR_LOSS_SCALED] = "scaled"};

void ft_transform_print(const struct ft_transform *transform, char text[FT_TRANSFORM_TEXT])
{
    snprintf(text, FT_TRANSFORM_TEXT, "%s %.17g %.17g", losses[transform->kind], transform->mean,
             transform->scale);
}

bool ft_transform_parse(const char *text, struct ft_transform *transform)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const size_t length = strlen(losses[i]);
        char *end;
        if (strncmp(text, losses[i], length) != 0 || text[length] != ' ')
            continue;
        transform->kind = (enum orr_force_loss)i;
        transform->mean = strtod(text + length, &end);
        transform->scale = strtod(end, &end);
        return !*end && isfinite(transform->mean) && isfinite(transform->scale) &&
               transform->scale > 0;
    }
    return false;
}
