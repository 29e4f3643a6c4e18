/* transform.c - the named losses: what the magnitude head is asked for. */
#include "ft.h"

#include <math.h>

int ft_transform_fit(struct ft_transform *transform, enum orr_force_loss kind, const float *F,
                     size_t n)
{
    *transform = (struct ft_transform){.kind = kind, .mean = 0, .scale = 1};
    double sum = 0, square = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(F[i]))
            continue; /* unlabelled */
        if (!(F[i] > 0))
            return ORR_FAIL(ORR_EINVAL, "force label %zu: expected a positive number, found %g", i,
                            (double)F[i]);
        const double x = kind == ORR_LOSS_LOG ? log((double)F[i]) : (double)F[i];
        sum += x;
        square += x * x;
        count++;
    }
    if (!count)
        return ORR_FAIL(ORR_EINVAL, "no labelled position to fine-tune on");
    if (kind == ORR_LOSS_LOG) {
        transform->mean = sum / (double)count;
        const double variance = square / (double)count - transform->mean * transform->mean;
        transform->scale = variance > 0 ? sqrt(variance) : 1;
    } else if (kind == ORR_LOSS_SCALED) {
        transform->scale = sqrt(square / (double)count);
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
