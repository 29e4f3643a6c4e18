/* oracle.h - inside probe/: observers that are given the state of the bodies and the same labels as
 * a model: least squares, and a perceptron with two hidden layers of 5 units. */
#ifndef PROBE_ORACLE_H
#define PROBE_ORACLE_H

#include "noise.h"

/* Least squares with an intercept, weight[D], where a state has D numbers; the solution of least
 * norm where states do not span all directions. z (n, D), y (n). ORR_ENOMEM. */
int probe_oracle_linear(int D, size_t n, const double *z, const double *y,
                        double weight[PROBE_STATE + 1]);
double probe_oracle_linear_at(int D, const double weight[PROBE_STATE + 1], const double z[]);

/* Weights and biases of the layers in order: (5, D), 5, (5, 5), 5, 5, 1; at most so many. */
enum {
    PROBE_MLP_WIDTH = 5,
    PROBE_MLP = PROBE_MLP_WIDTH * (PROBE_STATE + 1) + PROBE_MLP_WIDTH * (PROBE_MLP_WIDTH + 1) +
                PROBE_MLP_WIDTH + 1
};
/* Initialises uniformly within +- 1 / sqrt(inputs of the layer), as PyTorch's Linear does. */
void probe_mlp_start(gsl_rng *rng, int D, double p[PROBE_MLP]);
double probe_mlp_at(int D, const double p[PROBE_MLP], const double z[]);
/* Mean squared error, and its gradient. */
double probe_mlp_loss(int D, const double p[PROBE_MLP], size_t n, const double *z, const double *y,
                      double gradient[PROBE_MLP]);
/* Starts from p: 1,000 steps of Adam (Kingma and Ba 2015, Algorithm 1) with rate 5e-2. */
void probe_mlp_fit(int D, size_t n, const double *z, const double *y, double p[PROBE_MLP]);

#endif
