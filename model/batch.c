/* batch.c - buffers of one batch. */
#include "layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

int gpt_batch_create(struct gpt_batch *batch, const struct gpt_config *config, int B, int T)
{
    const size_t N = (size_t)B * (size_t)T, channels = (size_t)gpt_config_channels(config);
    *batch = (struct gpt_batch){.B = B, .T = T};
    batch->weight = orr_alloc(N, sizeof(real));
    bool ok = batch->weight != NULL;
    if (!gpt_is_continuous(config))
        ok &= (batch->tokens = orr_alloc(N * channels, sizeof *batch->tokens)) != NULL;
    else
        ok &= (batch->features =
                   orr_alloc(N * (size_t)gpt_config_features(config), sizeof(real))) != NULL;
    if (config->head != GPT_HEAD_REGRESSION)
        ok &=
            (batch->target_tokens = orr_alloc(N * channels, sizeof *batch->target_tokens)) != NULL;
    else
        ok &= (batch->target = orr_alloc(N * (size_t)config->outputs, sizeof(real))) != NULL;
    if (ok)
        return 0;
    gpt_batch_free(batch);
    return ORR_FAIL(ORR_ENOMEM, "a batch of %d x %d positions: out of memory", B, T);
}

void gpt_batch_free(struct gpt_batch *batch)
{
    free(batch->tokens);
    free(batch->features);
    free(batch->target_tokens);
    free(batch->target);
    free(batch->weight);
    memset(batch, 0, sizeof *batch);
}

double gpt_rows_weight(const struct gpt_batch *batch, size_t first, size_t rows)
{
    double weight = batch->weight ? 0 : (double)rows;
    for (size_t n = first; batch->weight && n < first + rows; n++)
        weight += (double)batch->weight[n];
    return weight;
}

double gpt_batch_weight(const struct gpt_batch *batch)
{
    return gpt_rows_weight(batch, 0, (size_t)batch->B * (size_t)batch->T);
}

int gpt_loss_add(struct gpt_model *model, const struct gpt_batch *batch, double *sum,
                 double *weight)
{
    const double more = gpt_batch_weight(batch);
    double mean;
    if (!(more > 0))
        return 0;
    TRY(gpt_loss(model, batch, &mean));
    *sum += mean * more;
    *weight += more;
    return 0;
}

void gpt_place_features(const struct gpt_config *config, const double place[], bool is_dt,
                        real *row)
{
    const int axes = gpt_config_axes(config);
    for (int c = 0; c < axes; c++)
        *row++ = (real)place[c];
    *row++ = is_dt ? 1 : 0;
    double wavelength = config->fourier_min_au;
    for (int k = 0; k < config->fourier; k++, wavelength *= 2) {
        const double w = 2 * 3.14159265358979323846 / wavelength;
        for (int c = 0; c < axes; c++) {
            *row++ = is_dt ? 0 : (real)sin(w * place[c]);
            *row++ = is_dt ? 0 : (real)cos(w * place[c]);
        }
    }
}

void gpt_row_features(const struct gpt_config *config, const float place[], bool is_dt, real *row)
{
    double at[GPT_AXES] = {0};
    for (int c = 0; c < gpt_config_axes(config); c++)
        at[c] = (double)place[c];
    gpt_place_features(config, at, is_dt, row);
}

void gpt_fill_coords(const struct gpt_config *config, const float *coords, double noise_au,
                     gsl_rng *rng, int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(config);
    const size_t axes = (size_t)gpt_config_axes(config);
    real *row = batch->features + (size_t)b * T * F;
    for (size_t t = 0; t < T; t++, row += F) {
        double place[GPT_AXES] = {0};
        for (size_t c = 0; c < axes; c++) {
            place[c] = (double)coords[axes * t + c];
            if (t > 0 && noise_au > 0)
                place[c] += gsl_ran_gaussian_ziggurat(rng, noise_au);
        }
        gpt_place_features(config, place, t == 0, row);
    }
}
