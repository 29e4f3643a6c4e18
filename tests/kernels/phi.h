/* phi.h - the functions phi of the attention table, as their formulas, for closed forms. */
#ifndef TEST_PHI_H
#define TEST_PHI_H

#include <math.h>

#include "kernels/kernels.h"

static inline double phi_value(enum k_phi phi, double s)
{
    const double softplus = fmax(s, 0) + log1p(exp(-fabs(s)));
    switch (phi) {
    case K_PHI_EXP:
        return exp(fmin(s, K_EXP_LARGEST));
    case K_PHI_SOFTPLUS:
        return softplus;
    case K_PHI_IDENTITY:
        return s;
    case K_PHI_RELU:
        return fmax(s, 0);
    case K_PHI_RELU2:
        return s > 0 ? s * s : 0;
    case K_PHI_RELU6:
        return fmin(fmax(s, 0), 6);
    case K_PHI_GELU:
        return s * 0.5 * erfc(-s * sqrt(0.5));
    case K_PHI_SIGMOID:
        return s > 0 ? 1 / (1 + exp(-s)) : exp(s) / (1 + exp(s));
    case K_PHI_MISH:
        return s * tanh(softplus);
    }
    return NAN;
}

static inline double phi_slope(enum k_phi phi, double s)
{
    const double logistic = phi_value(K_PHI_SIGMOID, s);
    switch (phi) {
    case K_PHI_EXP:
        return s > K_EXP_LARGEST ? 0 : exp(s);
    case K_PHI_SOFTPLUS:
        return logistic;
    case K_PHI_IDENTITY:
        return 1;
    case K_PHI_RELU:
        return s > 0;
    case K_PHI_RELU2:
        return s > 0 ? 2 * s : 0;
    case K_PHI_RELU6:
        return s > 0 && s < 6;
    case K_PHI_GELU:
        return 0.5 * erfc(-s * sqrt(0.5)) + s * exp(-0.5 * s * s) * 0.39894228040143268;
    case K_PHI_SIGMOID:
        return logistic * phi_value(K_PHI_SIGMOID, -s);
    case K_PHI_MISH: {
        const double softplus = fmax(s, 0) + log1p(exp(-fabs(s)));
        return tanh(softplus) + s * logistic / (cosh(softplus) * cosh(softplus));
    }
    }
    return NAN;
}

/* Whether phi, or |phi| of an l1, has a corner at s = 0. */
static inline bool phi_has_corner(enum k_phi phi)
{
    return phi != K_PHI_EXP && phi != K_PHI_SOFTPLUS && phi != K_PHI_SIGMOID;
}

#endif
