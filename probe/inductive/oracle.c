/* oracle.c - see oracle.h. */
#include "oracle.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_multifit.h>

enum { W = PROBE_MLP_WIDTH, STEPS = 1000 };

/* ---------------------------------------------------------------------------------- linear */

int probe_oracle_linear(int D, size_t n, const double *z, const double *y,
                        double weight[PROBE_STATE + 1])
{
    const size_t S = (size_t)D;
    gsl_matrix *x = gsl_matrix_alloc(n, S + 1), *covariance = gsl_matrix_alloc(S + 1, S + 1);
    gsl_vector *target = gsl_vector_alloc(n), *found = gsl_vector_alloc(S + 1);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, S + 1);
    double residual;
    int rc = x && covariance && target && found && work
                 ? 0
                 : ORR_FAIL(ORR_ENOMEM, "linear oracle: out of memory");
    for (size_t i = 0; i < n && !rc; i++) {
        for (size_t c = 0; c < S; c++)
            gsl_matrix_set(x, i, c, z[i * S + c]);
        gsl_matrix_set(x, i, S, 1);
        gsl_vector_set(target, i, y[i]);
    }
    if (!rc && gsl_multifit_linear(x, target, found, covariance, &residual, work))
        rc = ORR_FAIL(ORR_EINVAL, "linear oracle: no least-squares fit to %zu labels", n);
    for (size_t c = 0; c <= S && !rc; c++)
        weight[c] = gsl_vector_get(found, c);
    if (work)
        gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(target);
    gsl_vector_free(found);
    return rc;
}

double probe_oracle_linear_at(int D, const double weight[PROBE_STATE + 1], const double z[])
{
    double y = weight[D];
    for (int c = 0; c < D; c++)
        y += weight[c] * z[c];
    return y;
}

/* ------------------------------------------------------------------------------ perceptron */

static const int outputs[3] = {W, W, 1};

static int inputs_of(int D, int layer)
{
    return layer ? W : D;
}

/* Offset of the weights of a layer, whose biases follow them; of layer 3: the number of all. */
static int weights_at(int D, int layer)
{
    int at = 0;
    for (int l = 0; l < layer; l++)
        at += outputs[l] * (inputs_of(D, l) + 1);
    return at;
}

void probe_mlp_start(gsl_rng *rng, int D, double p[PROBE_MLP])
{
    for (int l = 0; l < 3; l++) {
        const double most = 1 / sqrt(inputs_of(D, l));
        for (int k = 0; k < outputs[l] * (inputs_of(D, l) + 1); k++)
            p[weights_at(D, l) + k] = most * (2 * gsl_rng_uniform(rng) - 1);
    }
}

/* x[0] = the state; x[l + 1] = outputs of layer l, rectified except for the last. */
static void run_forward(int D, const double p[PROBE_MLP], const double z[],
                        double x[4][PROBE_STATE])
{
    memcpy(x[0], z, (size_t)D * sizeof *z);
    for (int l = 0; l < 3; l++) {
        const int inputs = inputs_of(D, l);
        const double *weight = p + weights_at(D, l), *bias = weight + outputs[l] * inputs;
        for (int o = 0; o < outputs[l]; o++) {
            double sum = bias[o];
            for (int i = 0; i < inputs; i++)
                sum += weight[o * inputs + i] * x[l][i];
            x[l + 1][o] = l == 2 || sum > 0 ? sum : 0;
        }
    }
}

/* Adds the gradient of the output times `slope`. */
static void add_gradient(int D, const double p[PROBE_MLP], double x[4][PROBE_STATE], double slope,
                         double gradient[PROBE_MLP])
{
    double behind[W] = {slope};
    for (int l = 2; l >= 0; l--) {
        const int inputs = inputs_of(D, l);
        const double *weight = p + weights_at(D, l);
        double *to = gradient + weights_at(D, l), *bias = to + outputs[l] * inputs;
        double before[W] = {0};
        for (int o = 0; o < outputs[l]; o++) {
            bias[o] += behind[o];
            for (int i = 0; i < inputs; i++) {
                to[o * inputs + i] += behind[o] * x[l][i];
                if (l > 0 && x[l][i] > 0)
                    before[i] += behind[o] * weight[o * inputs + i];
            }
        }
        memcpy(behind, before, sizeof behind);
    }
}

double probe_mlp_at(int D, const double p[PROBE_MLP], const double z[])
{
    double x[4][PROBE_STATE];
    run_forward(D, p, z, x);
    return x[3][0];
}

double probe_mlp_loss(int D, const double p[PROBE_MLP], size_t n, const double *z, const double *y,
                      double gradient[PROBE_MLP])
{
    double loss = 0, x[4][PROBE_STATE];
    memset(gradient, 0, (size_t)weights_at(D, 3) * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        run_forward(D, p, z + i * (size_t)D, x);
        const double error = x[3][0] - y[i];
        loss += error * error;
        add_gradient(D, p, x, 2 * error / (double)n, gradient);
    }
    return loss / (double)n;
}

void probe_mlp_fit(int D, size_t n, const double *z, const double *y, double p[PROBE_MLP])
{
    const double rate = 5e-2, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double m[PROBE_MLP] = {0}, v[PROBE_MLP] = {0}, gradient[PROBE_MLP];
    double power1 = 1, power2 = 1;
    const int numbers = weights_at(D, 3);
    for (int step = 0; step < STEPS; step++) {
        probe_mlp_loss(D, p, n, z, y, gradient);
        power1 *= beta1;
        power2 *= beta2;
        for (int k = 0; k < numbers; k++) {
            m[k] = beta1 * m[k] + (1 - beta1) * gradient[k];
            v[k] = beta2 * v[k] + (1 - beta2) * gradient[k] * gradient[k];
            p[k] -= rate * (m[k] / (1 - power1)) / (sqrt(v[k] / (1 - power2)) + eps);
        }
    }
}
