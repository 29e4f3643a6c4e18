/* inductive_predict.c - predictions of a white-noise target by fine-tuned models, by observers of
 * the state, and by the model's inputs alone. */
#include "inductive.h"
#include "finetune/ft.h"
#include "probe/linear/readout.h"

#include <math.h>
#include <string.h>

enum { LABELS = PROBE_NOISE_SEQUENCES * PROBE_NOISE_LABELS, BATCH = 64 };
static const uint64_t mlp_stream = 8ull << 40; /* random stream of initial weights */

/* The row at which both bodies of a step have been seen. */
static size_t row_of(int step)
{
    return 2 + 2 * (size_t)step;
}

/* -------------------------------------------------------------------------- fine-tuned models */

void probe_inductive_fill(const struct probe_inductive *p, int d, const struct gpt_config *config,
                          int pass, struct gpt_batch *batch)
{
    const struct probe_noise *noise = &p->noise[d];
    const size_t T = (size_t)batch->T;
    double z[PROBE_STATE];
    probe_labelled_fill(&p->fit, config, noise->first + pass * batch->B, batch);
    memset(batch->weight, 0, (size_t)batch->B * T * sizeof *batch->weight);
    for (int b = 0; b < batch->B; b++)
        for (int k = 0; k < PROBE_NOISE_LABELS; k++) {
            const int s = pass * batch->B + b, label = noise->step[s][k];
            const size_t at = (size_t)b * T + row_of(label);
            probe_pool_state(&p->pool, &p->fit, noise->first + s, label, z);
            batch->target[at] = (real)probe_noise_target(noise, z);
            batch->weight[at] = 1;
        }
}

struct filling {
    const struct probe_inductive *p;
    int d;
    const struct gpt_config *config;
};

/* Full batches: every step uses all sequences. */
static int fill_pass(void *of, long step, int pass, struct gpt_batch *batch)
{
    const struct filling *f = of;
    (void)step;
    probe_inductive_fill(f->p, f->d, f->config, pass, batch);
    return 0;
}

/* Computes the outputs (count, T) of sequences first .. first + count - 1. */
static int run_outputs(struct gpt_model *model, const struct probe_labelled *set, int first,
                       int count, int T, double *to)
{
    const int most = gpt_evaluation_batch(model, T, BATCH);
    struct gpt_batch batch;
    int rc = gpt_batch_create(&batch, &model->config, most, T);
    for (int done = 0; done < count && !rc; done += most) {
        const real *out;
        batch.B = count - done < most ? count - done : most;
        probe_labelled_fill(set, &model->config, first + done, &batch);
        rc = gpt_forward(model, &batch, &out);
        for (size_t i = 0; i < (size_t)batch.B * (size_t)T && !rc; i++)
            to[(size_t)done * (size_t)T + i] = (double)(float)out[i];
    }
    gpt_batch_free(&batch);
    return rc;
}

static int predict_points(struct probe_inductive *p, struct gpt_model *model, int d, double *guess)
{
    const size_t T = (size_t)p->s.probe.T, n = p->points[PROBE_CORRECTED];
    const int held = p->held_out.n;
    const size_t kept = p->s.arena.count;
    double *out = probe_take(&p->s.arena, (size_t)(held + PROBE_NOISE_SEQUENCES) * T, sizeof *out);
    TRY(p->s.arena.failed);
    double *own = out + (size_t)held * T;
    TRY(run_outputs(model, &p->held_out, 0, held, (int)T, out));
    TRY(run_outputs(model, &p->fit, p->noise[d].first, PROBE_NOISE_SEQUENCES, (int)T, own));
    for (size_t i = 0; i < n; i++)
        guess[i] = out[(size_t)p->sequence[i] * T + row_of(p->step[i])];
    for (size_t i = 0; i < p->points[PROBE_PUBLISHED]; i++)
        guess[n + i] = own[p->place[i]];
    probe_rewind(&p->s.arena, kept);
    return 0;
}

static bool all_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

int probe_inductive_fit(struct probe_inductive *p, int learner, int d, double *guess)
{
    const size_t n = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    struct gpt_model model;
    TRY(probe_copy(&p->s.probe, p->s.options, learner == PROBE_BY_BASELINE, &model));
    struct filling filling = {p, d, &model.config};
    int rc = ft_fit_batches(&model, &p->train, p->s.probe.T, p->s.probe.settings.seed, fill_pass,
                            &filling);
    rc = rc ? rc : predict_points(p, &model, d, guess);
    gpt_free(&model);
    if (rc == ORR_EDIVERGED || (!rc && !all_finite(n, guess))) {
        orr_error_clear(); /* the other data sets continue; rows and a note report the divergence */
        rc = 0;
        for (size_t i = 0; i < n; i++)
            guess[i] = NAN;
    }
    return rc;
}

/* ------------------------------------------------------------------------------- observers */

/* The standardised state at a row of the data set's own sequences. Rows that do not complete a step
 * have a state of zeros, like rows of the sun and of the time step in the published data. */
void probe_inductive_state(const struct probe_inductive *p, int d, int place, double z[PROBE_STATE])
{
    static const double nothing[PROBE_STATE] = {0};
    const int row = place % p->s.probe.T, s = p->noise[d].first + place / p->s.probe.T;
    if (row >= 2 && row % 2 == 0)
        probe_pool_state(&p->pool, &p->fit, s, row / 2 - 1, z);
    else
        probe_standard_apply(&p->pool.standard, nothing, z);
}

/* The labels of data set d for observers of the state: z (LABELS, numbers of a state), targets y
 * (LABELS). */
static void labels_of(const struct probe_inductive *p, int d, double *z, double *y)
{
    const struct probe_noise *noise = &p->noise[d];
    for (int s = 0; s < PROBE_NOISE_SEQUENCES; s++)
        for (int k = 0; k < PROBE_NOISE_LABELS; k++, z += noise->states) {
            probe_pool_state(&p->pool, &p->fit, noise->first + s, noise->step[s][k], z);
            *y++ = probe_noise_target(noise, z);
        }
}

/* Ridge regression on the time step and the positions of the steps that precede every label. */
static int by_inputs(struct probe_inductive *p, int d, const double *y)
{
    const int window = p->pool.from + 1, group = 0;
    const int features = 1 + 2 * p->fit.axes * window;
    const struct probe_reader reader = {
        .features = features, .fit = &p->fit, .held_out = &p->held_out, .window = window};
    struct probe_rows rows;
    struct probe_ridge ridge;
    const size_t kept = p->s.arena.count;
    double *x = probe_take(&p->s.arena, (size_t)features, sizeof *x);
    TRY(probe_rows_create(&p->s.arena, &rows, LABELS, features, 1, 1, &group));
    for (; rows.rows < LABELS; rows.rows++) {
        const int s = (int)rows.rows / PROBE_NOISE_LABELS, k = (int)rows.rows % PROBE_NOISE_LABELS;
        probe_read_inputs(&reader, false, p->noise[d].first + s, p->noise[d].step[s][k],
                          rows.x + rows.rows * features);
        rows.y[rows.rows] = y[rows.rows];
        rows.sequence[rows.rows] = s;
    }
    TRY(probe_ridge_fit(&p->s.arena, &rows, &ridge));
    const size_t n = p->points[PROBE_CORRECTED];
    double *to = p->value[PROBE_CORRECTED][PROBE_BY_INPUTS] + (size_t)d * n;
    for (size_t i = 0; i < n; i++) {
        probe_read_inputs(&reader, true, p->sequence[i], p->step[i], x);
        probe_ridge_predict(&ridge, x, &to[i]);
    }
    probe_rewind(&p->s.arena, kept);
    return 0;
}

int probe_inductive_observe(struct probe_inductive *p, int d)
{
    const uint64_t seed = p->s.probe.settings.seed;
    const int D = p->noise[d].states;
    double labels[LABELS * PROBE_STATE], y[LABELS], linear[PROBE_STATE + 1], mlp[PROBE_MLP];
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_INIT, mlp_stream + (uint64_t)d);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "white-noise data set %d: out of memory", d);
    probe_mlp_start(rng, D, mlp);
    gsl_rng_free(rng);
    labels_of(p, d, labels, y);
    TRY(probe_oracle_linear(D, LABELS, labels, y, linear));
    probe_mlp_fit(D, LABELS, labels, y, mlp);
    for (int form = 0; form < PROBE_FORMS; form++)
        for (size_t i = 0; i < p->points[form]; i++) {
            const size_t at = (size_t)d * p->points[form] + i;
            double z[PROBE_STATE];
            if (form == PROBE_CORRECTED)
                probe_pool_state(&p->pool, &p->held_out, p->sequence[i], p->step[i], z);
            else
                probe_inductive_state(p, d, p->place[i], z);
            p->value[form][PROBE_BY_TRUTH][at] = probe_noise_target(&p->noise[d], z);
            p->value[form][PROBE_BY_LINEAR][at] = probe_oracle_linear_at(D, linear, z);
            p->value[form][PROBE_BY_MLP][at] = probe_mlp_at(D, mlp, z);
        }
    return by_inputs(p, d, y);
}
