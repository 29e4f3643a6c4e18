/* oracle.c - see oracle.h. */
#include "oracle.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_multifit.h>

enum { W = PROBE_MLP_WIDTH, D = PROBE_STATE, STEPS = 1000 };

/* ---------------------------------------------------------------------------------- linear */

int probe_oracle_linear(size_t n, const double *z, const double *y, double weight[D + 1])
{
    gsl_matrix *x = gsl_matrix_alloc(n, D + 1), *covariance = gsl_matrix_alloc(D + 1, D + 1);
    gsl_vector *target = gsl_vector_alloc(n), *found = gsl_vector_alloc(D + 1);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, D + 1);
    double residual;
    int rc = x && covariance && target && found && work
                 ? 0
                 : ORR_FAIL(ORR_ENOMEM, "linear oracle: out of memory");
    for (size_t i = 0; i < n && !rc; i++) {
        for (size_t c = 0; c < D; c++)
            gsl_matrix_set(x, i, c, z[i * D + c]);
        gsl_matrix_set(x, i, D, 1);
        gsl_vector_set(target, i, y[i]);
    }
    if (!rc && gsl_multifit_linear(x, target, found, covariance, &residual, work))
        rc = ORR_FAIL(ORR_EINVAL, "linear oracle: no least-squares fit to %zu labels", n);
    for (size_t c = 0; c <= D && !rc; c++)
        weight[c] = gsl_vector_get(found, c);
    if (work)
        gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(target);
    gsl_vector_free(found);
    return rc;
}

double probe_oracle_linear_at(const double weight[D + 1], const double z[D])
{
    double y = weight[D];
    for (int c = 0; c < D; c++)
        y += weight[c] * z[c];
    return y;
}

/* ------------------------------------------------------------------------------ perceptron */

/* Offsets of the weights of layer l; its biases follow them. */
static const int weights_at[3] = {0, W *D + W, W *D + W + W *W + W};
static const int inputs[3] = {D, W, W}, outputs[3] = {W, W, 1};

void probe_mlp_start(gsl_rng *rng, double p[PROBE_MLP])
{
    for (int l = 0; l < 3; l++) {
        const double most = 1 / sqrt(inputs[l]);
        for (int k = 0; k < outputs[l] * (inputs[l] + 1); k++)
            p[weights_at[l] + k] = most * (2 * gsl_rng_uniform(rng) - 1);
    }
}

/* x[0] = the state; x[l + 1] = outputs of layer l, rectified except for the last. */
static void run_forward(const double p[PROBE_MLP], const double z[D], double x[4][W])
{
    memcpy(x[0], z, D * sizeof *z);
    for (int l = 0; l < 3; l++) {
        const double *weight = p + weights_at[l], *bias = weight + outputs[l] * inputs[l];
        for (int o = 0; o < outputs[l]; o++) {
            double sum = bias[o];
            for (int i = 0; i < inputs[l]; i++)
                sum += weight[o * inputs[l] + i] * x[l][i];
            x[l + 1][o] = l == 2 || sum > 0 ? sum : 0;
        }
    }
}

/* Adds the gradient of the output times `slope`. */
static void add_gradient(const double p[PROBE_MLP], double x[4][W], double slope,
                         double gradient[PROBE_MLP])
{
    double behind[W] = {slope};
    for (int l = 2; l >= 0; l--) {
        const double *weight = p + weights_at[l];
        double *to = gradient + weights_at[l], *bias = to + outputs[l] * inputs[l];
        double before[W] = {0};
        for (int o = 0; o < outputs[l]; o++) {
            bias[o] += behind[o];
            for (int i = 0; i < inputs[l]; i++) {
                to[o * inputs[l] + i] += behind[o] * x[l][i];
                if (l > 0 && x[l][i] > 0)
                    before[i] += behind[o] * weight[o * inputs[l] + i];
            }
        }
        memcpy(behind, before, sizeof behind);
    }
}

double probe_mlp_at(const double p[PROBE_MLP], const double z[D])
{
    double x[4][W];
    run_forward(p, z, x);
    return x[3][0];
}

double probe_mlp_loss(const double p[PROBE_MLP], size_t n, const double *z, const double *y,
                      double gradient[PROBE_MLP])
{
    double loss = 0, x[4][W];
    memset(gradient, 0, PROBE_MLP * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        run_forward(p, z + i * D, x);
        const double error = x[3][0] - y[i];
        loss += error * error;
        add_gradient(p, x, 2 * error / (double)n, gradient);
    }
    return loss / (double)n;
}

void probe_mlp_fit(size_t n, const double *z, const double *y, double p[PROBE_MLP])
{
    const double rate = 5e-2, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double m[PROBE_MLP] = {0}, v[PROBE_MLP] = {0}, gradient[PROBE_MLP];
    double power1 = 1, power2 = 1;
    for (int step = 0; step < STEPS; step++) {
        probe_mlp_loss(p, n, z, y, gradient);
        power1 *= beta1;
        power2 *= beta2;
        for (int k = 0; k < PROBE_MLP; k++) {
            m[k] = beta1 * m[k] + (1 - beta1) * gradient[k];
            v[k] = beta2 * v[k] + (1 - beta2) * gradient[k] * gradient[k];
            p[k] -= rate * (m[k] / (1 - power1)) / (sqrt(v[k] / (1 - power2)) + eps);
        }
    }
}
