/* rope.c - rotates q and k by their positions. */
#include "ref.h"

#include <math.h>

/* Rotates one vector (D) by its position. */
static void rotate(real *x, const struct k_rope *r, int position)
{
    const int half = r->D / 2;
    for (int m = 0; m < half; m++) {
        const double angle = position * pow(r->base, -2.0 * m / r->D);
        const double cosine = cos(angle), sine = sin(r->inverse ? -angle : angle);
        const double u = (double)x[m], v = (double)x[m + half];
        x[m] = (real)(u * cosine - v * sine);
        x[m + half] = (real)(u * sine + v * cosine);
    }
}

int k_ref_rope(real *qkv, const struct k_rope *r)
{
    const size_t width = (size_t)r->H * (size_t)r->D;
    for (int row = 0; row < r->B * r->T; row++, qkv += 3 * width)
        for (int i = 0; i < 2 * r->H; i++) /* heads of q, then of k */
            rotate(qkv + (size_t)i * (size_t)r->D, r, row % r->T + r->offset);
    return 0;
}
