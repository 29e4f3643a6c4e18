/* row.c - phi, normalisation, transform and re-weighting of one row of attention weights,
 * forward and backward, as their formulas. */
#include "row.h"

#include <math.h>

/* ---- phi and its slope. `shift` is subtracted from the logarithm of phi where a following l1
 * cancels it, so that sums neither overflow nor underflow. */

static double log_sigmoid(double s)
{
    return fmin(s, 0) - log1p(exp(-fabs(s)));
}

static double sigmoid(double s)
{
    return exp(log_sigmoid(s));
}

static double softplus(double s)
{
    return fmax(s, 0) + log1p(exp(-fabs(s)));
}

static double normal_cdf(double s)
{
    return 0.5 * erfc(-s / sqrt(2));
}

static double phi(enum k_phi which, double s, double shift)
{
    switch (which) {
    case K_PHI_EXP:
        return exp(s - shift);
    case K_PHI_SOFTPLUS:
        return softplus(s);
    case K_PHI_IDENTITY:
        return s;
    case K_PHI_RELU:
        return fmax(s, 0);
    case K_PHI_RELU2:
        return s > 0 ? s * s : 0;
    case K_PHI_RELU6:
        return fmin(fmax(s, 0), 6);
    case K_PHI_GELU:
        return s * normal_cdf(s);
    case K_PHI_SIGMOID:
        return exp(log_sigmoid(s) - shift);
    case K_PHI_MISH:
        return s * tanh(softplus(s));
    }
    return 0;
}

/* The slope at x = phi(s), 0 where phi has a corner. */
static double phi_slope(enum k_phi which, double s, double x)
{
    switch (which) {
    case K_PHI_EXP:
        return x;
    case K_PHI_SOFTPLUS:
        return sigmoid(s);
    case K_PHI_IDENTITY:
        return 1;
    case K_PHI_RELU:
        return s > 0 ? 1 : 0;
    case K_PHI_RELU2:
        return s > 0 ? 2 * s : 0;
    case K_PHI_RELU6:
        return s > 0 && s < 6 ? 1 : 0;
    case K_PHI_GELU:
        return normal_cdf(s) + s * 0.39894228040143267794 * exp(-0.5 * s * s);
    case K_PHI_SIGMOID:
        return x * sigmoid(-s);
    case K_PHI_MISH: {
        const double t = tanh(softplus(s));
        return t + s * (1 - t * t) * sigmoid(s);
    }
    }
    return 0;
}

static double shift_of(const struct k_ref_row *r, const struct k_attention *variant)
{
    if (variant->norm != K_NORM_L1 || (variant->phi != K_PHI_EXP && variant->phi != K_PHI_SIGMOID))
        return 0;
    double largest = r->s[0];
    for (int j = 1; j < r->n; j++)
        largest = fmax(largest, r->s[j]);
    return variant->phi == K_PHI_EXP ? largest : log_sigmoid(largest);
}

/* Whether e^s is clamped: without an l1, scores above K_EXP_LARGEST count as K_EXP_LARGEST. */
static bool clamped(const struct k_attention *variant, double s)
{
    return variant->phi == K_PHI_EXP && variant->norm != K_NORM_L1 && s > K_EXP_LARGEST;
}

/* The number that the row is divided by. */
static double norm_of(const struct k_ref_row *r, const struct k_attention_shape *shape)
{
    switch (shape->variant->norm) {
    case K_NORM_NONE:
        break;
    case K_NORM_L1:
        return r->x_sum;
    case K_NORM_LENGTH:
        return shape->T;
    case K_NORM_ROOT_ROW:
        return sqrt(r->n / 2.0);
    }
    return 1;
}

static void phi_and_norm(struct k_ref_row *r, const struct k_attention_shape *shape)
{
    const struct k_attention *variant = shape->variant;
    const double shift = shift_of(r, variant);
    r->x_sum = 0;
    for (int j = 0; j < r->n; j++) {
        const double s = clamped(variant, r->s[j]) ? K_EXP_LARGEST : r->s[j];
        r->x[j] = phi(variant->phi, s, shift);
        r->x_sum += fabs(r->x[j]);
    }
    const double norm = norm_of(r, shape);
    r->degenerate = norm == 0;
    for (int j = 0; j < r->n; j++)
        r->a[j] = norm == 0 ? 0 : r->x[j] / norm;
}

/* ---- after the norm */

/* z = relu(n a - [shifted]) / its largest element; A = l1(z^p). Dividing by the largest before
 * the power changes nothing after the l1 and cannot overflow. LSSAR Eq. (5). */
static void reweight(struct k_ref_row *r, const struct k_attention_shape *shape)
{
    const double offset = r->n > shape->variant->unshifted_rows ? 1 : 0;
    r->z_largest = 0;
    for (int j = 0; j < r->n; j++)
        r->z_largest = fmax(r->z_largest, r->n * r->a[j] - offset);
    r->degenerate = r->z_largest <= (offset > 0 ? K_DEGENERATE_TOLERANCE : 0);
    r->z_sum = 0;
    for (int j = 0; j < r->n; j++) {
        const double u = r->n * r->a[j] - offset;
        r->z[j] = r->degenerate || u <= 0 ? 0 : u / r->z_largest;
        r->A[j] = r->z[j] > 0 ? pow(r->z[j], shape->power) : 0;
        r->z_sum += r->A[j];
    }
    for (int j = 0; j < r->n && !r->degenerate; j++)
        r->A[j] /= r->z_sum;
}

static void recentre(struct k_ref_row *r, bool l1)
{
    double largest = 0;
    r->z_sum = 0;
    for (int j = 0; j < r->n; j++) {
        r->z[j] = r->a[j] - 1.0 / r->n;
        r->z_sum += fabs(r->z[j]);
        largest = fmax(largest, r->n * r->z[j]);
    }
    r->degenerate = l1 && largest <= K_DEGENERATE_TOLERANCE;
    for (int j = 0; j < r->n; j++)
        r->A[j] = r->degenerate ? 0 : r->z[j] / (l1 ? r->z_sum : 1);
}

static bool recentred(const struct k_ref_row *r, const struct k_attention *variant)
{
    return (variant->transform == K_TRANSFORM_RECENTRED ||
            variant->transform == K_TRANSFORM_RECENTRED_L1) &&
           r->n > variant->unshifted_rows;
}

void k_ref_row_forward(struct k_ref_row *r, const struct k_attention_shape *shape)
{
    const struct k_attention *variant = shape->variant;
    phi_and_norm(r, shape);
    for (int j = 0; j < r->n; j++)
        r->A[j] = variant->transform == K_TRANSFORM_INVERSE ? -r->a[j] : r->a[j];
    if (recentred(r, variant))
        recentre(r, variant->transform == K_TRANSFORM_RECENTRED_L1);
    if (variant->reweight)
        reweight(r, shape);
}

/* ---- backward */

static double sum_of_products(const struct k_ref_row *r, const double *a)
{
    double sum = 0;
    for (int j = 0; j < r->n; j++)
        sum += a[j] * r->d[j];
    return sum;
}

static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* d: in, the gradient with respect to v = u / sum |u|; out, with respect to u. */
static void l1_backward(struct k_ref_row *r, const double *v, double sum)
{
    const double along = sum_of_products(r, v);
    for (int j = 0; j < r->n; j++)
        r->d[j] = (r->d[j] - sign(v[j]) * along) / sum;
}

static void reweight_backward(struct k_ref_row *r, double p)
{
    const double along = sum_of_products(r, r->A);
    for (int j = 0; j < r->n; j++)
        r->d[j] = r->z[j] > 0 ? r->n * p * pow(r->z[j], p - 1) / (r->z_sum * r->z_largest) *
                                    (r->d[j] - along)
                              : 0;
}

void k_ref_row_backward(struct k_ref_row *r, const struct k_attention_shape *shape)
{
    const struct k_attention *variant = shape->variant;
    if (r->degenerate) {
        for (int j = 0; j < r->n; j++)
            r->d[j] = 0;
        return;
    }
    if (variant->reweight)
        reweight_backward(r, shape->power);
    if (variant->transform == K_TRANSFORM_RECENTRED_L1 && recentred(r, variant))
        l1_backward(r, r->A, r->z_sum);
    for (int j = 0; j < r->n && variant->transform == K_TRANSFORM_INVERSE; j++)
        r->d[j] = -r->d[j];
    if (variant->norm == K_NORM_L1)
        l1_backward(r, r->a, r->x_sum);
    else
        for (int j = 0; j < r->n; j++)
            r->d[j] /= norm_of(r, shape);
    for (int j = 0; j < r->n; j++)
        r->d[j] *= clamped(variant, r->s[j]) ? 0 : phi_slope(variant->phi, r->s[j], r->x[j]);
}
