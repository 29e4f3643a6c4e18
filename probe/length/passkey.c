/* passkey.c - bin/probe passkey: how often a text model retrieves a key hidden in a record, for
 * records of up to 16 times the trained length. */
#include "probe/core/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

enum { TRIALS = 100, LENGTHS = 7, DIGITS = GPT_PASSKEY_DIGITS };
/* in halves of the trained length */
static const int halves[LENGTHS] = {1, 2, 3, 4, 8, 16, 32};

/* Trials at one length: keys found, and the share of correct digits in each. */
struct found {
    long keys;
    double *share; /* (trials) */
};

struct passkey {
    struct probe_session s; /* resamples over trials */
    int trials;
    struct found found, below; /* at the current length: of the model, of the untrained baseline */
};

/* The last digits of a record, and the model's predictions of them. */
struct digits {
    const uint8_t *record;
    int T, V, right;
};

static int see_digits(void *context, size_t first, size_t rows, const real *out)
{
    struct digits *d = context;
    for (size_t t = first; t < first + rows; t++, out += d->V) {
        int best = 0;
        if ((int)t < d->T - DIGITS)
            continue;
        for (int v = 1; v < d->V; v++)
            if (out[v] > out[best])
                best = v;
        d->right += best == d->record[t + 1];
    }
    return 0;
}

/* Trial i: feeds the rows before the key's end. Predicting the digits one by one with the true
 * previous digits is correct for all digits exactly if autoregressive generation is. */
static int try_one(const struct probe *probe, struct gpt_model *model, struct gpt_batch *batch,
                   int i, struct found *found)
{
    const int T = batch->T;
    uint8_t *record = orr_alloc((size_t)T + 1, sizeof *record);
    if (!record)
        return ORR_ENOMEM;
    int rc = gpt_passkey(probe->settings.seed, 1 + (uint64_t)i, T + 1, record);
    for (int t = 0; t < T; t++)
        batch->tokens[t] = record[t];
    struct digits digits = {.record = record, .T = T, .V = model->config.vocab};
    rc = rc ? rc : gpt_forward_pieces(model, batch, see_digits, &digits, NULL);
    free(record);
    found->keys += digits.right == DIGITS;
    found->share[i] = (double)digits.right / DIGITS;
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    return rc;
}

static int try_all(const struct passkey *p, const struct probe *probe, struct gpt_model *model,
                   struct found *found)
{
    struct gpt_batch batch;
    int rc = gpt_batch_create(&batch, &model->config, 1, probe->T);
    found->keys = 0;
    for (int i = 0; i < p->trials && !rc; i++)
        rc = try_one(probe, model, &batch, i, found);
    gpt_batch_free(&batch);
    return rc;
}

/* -------------------------------------------------------------------------------- results */

/* Exact interval of k successes in n trials (Clopper and Pearson, 1934). */
static struct probe_estimate success_rate(long k, long n)
{
    const double a = (double)k, b = (double)(n - k);
    return (struct probe_estimate){a / (double)n, k > 0 ? gsl_cdf_beta_Pinv(0.025, a, b + 1) : 0,
                                   k < n ? gsl_cdf_beta_Pinv(0.975, a + 1, b) : 1};
}

static int add_row(struct passkey *p, const char *quantity, bool ntk, int T,
                   struct probe_estimate value, double baseline, double chance)
{
    struct orr_row row =
        probe_row_of(&p->s.results, value, "accuracy", "%s%s", quantity, ntk ? ", NTK" : "");
    row.context = T;
    row.upper_bound = 1; /* the key is in the record */
    row.baseline = baseline;
    row.raw = chance;
    row.n = p->trials;
    return orr_table_add(&p->s.results.table, &row);
}

/* Digits of one record are not independent, so their interval is over records. */
static int add_both(struct passkey *p, bool ntk, int T)
{
    const struct probe_resamples *r = &p->s.resamples;
    TRY(add_row(p, "passkey", ntk, T, success_rate(p->found.keys, p->trials),
                (double)p->below.keys / (double)p->trials, pow(10, -DIGITS)));
    return add_row(p, "digits", ntk, T, probe_bootstrap(r, probe_mean_of, p->found.share),
                   probe_mean_of(p->below.share, p->trials, r->times), 0.1);
}

static int measure_one(struct passkey *p, int T, bool ntk)
{
    struct probe_options o = *p->s.options;
    struct probe probe;
    struct gpt_model baseline = {0};
    o.length = T;
    o.change.ntk = ntk;
    int rc = probe_open(&probe, &o, true, 1);
    rc = rc ? rc : probe_baseline(&probe, &o, &baseline);
    rc = rc ? rc : try_all(p, &probe, &probe.model, &p->found);
    rc = rc ? rc : try_all(p, &probe, &baseline, &p->below);
    rc = rc ? rc : add_both(p, ntk, T);
    gpt_free(&baseline);
    probe_close(&probe);
    return rc;
}

static int measure_all(struct passkey *p)
{
    const int trained = p->s.probe.model.config.context;
    struct orr_progress progress;
    uint64_t done = 0;
    orr_progress_init(&progress, "passkey",
                      (uint64_t)(1 + gpt_has_ntk(&p->s.probe.model.config)) * LENGTHS,
                      p->s.options->quiet);
    for (int ntk = 0; ntk < 1 + gpt_has_ntk(&p->s.probe.model.config); ntk++)
        for (int k = 0; k < LENGTHS; k++) {
            const int T = trained * halves[k] / 2;
            if (T >= GPT_PASSKEY_LEAST && (!ntk || T > trained))
                TRY(measure_one(p, T, ntk));
            orr_progress_set(&progress, ++done, NULL);
        }
    orr_progress_end(&progress, NULL);
    return 0;
}

static int draw_panels(void *of)
{
    const struct passkey *p = of;
    static const struct probe_panel panel[] = {
        {"passkey", "accuracy", .y_label = "share that is right"},
        {"digits", "accuracy", .y_label = ""},
        {"passkey, NTK", "accuracy", .y_label = "share that is right"},
        {"digits, NTK", "accuracy", .y_label = ""},
    };
    const struct probe_figure figure = {.x_label = "positions",
                                        .value = "model",
                                        .baseline = "untrained baseline",
                                        .raw = "chance",
                                        .doubling = true,
                                        .by_context = true,
                                        .fixed = -1,
                                        .panel = panel,
                                        .panels = gpt_has_ntk(&p->s.probe.model.config) ? 4 : 2};
    return probe_figure_draw(&p->s, &figure, "Keys found in records, trained on %d positions",
                             p->s.probe.model.config.context);
}

/* ----------------------------------------------------------------------------------- probe */

static int check_model(const struct probe *probe, const struct probe_options *o)
{
    const struct gpt_config *c = &probe->model.config;
    if (c->input != GPT_INPUT_TEXT || c->vocab != 256)
        return ORR_FAIL(ORR_EINVAL,
                        "probe passkey: %s: expected a model of text by bytes (preset passkey), "
                        "found one of %s",
                        o->checkpoint, c->input == GPT_INPUT_TEXT ? "tokens" : "orbits");
    return probe_check_lengths(probe, o, "passkey", "half to 16 times");
}

static int open_model(void *of)
{
    struct passkey *p = of;
    TRY(probe_open(&p->s.probe, p->s.options, true, 1));
    return check_model(&p->s.probe, p->s.options);
}

static int measure_model(void *of)
{
    struct passkey *p = of;
    p->trials = p->s.options->sequences ? p->s.options->sequences : TRIALS;
    p->found.share = probe_take(&p->s.arena, (size_t)p->trials, sizeof(double));
    p->below.share = probe_take(&p->s.arena, (size_t)p->trials, sizeof(double));
    TRY(probe_resamples_create(&p->s.arena, &p->s.resamples, p->s.probe.settings.seed, p->trials));
    return measure_all(p);
}

int probe_passkey(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "passkey",
                                             .revision = 2,
                                             .script = "probe_panels.gp",
                                             .open = open_model,
                                             .measure = measure_model,
                                             .write = draw_panels};
    struct passkey p = {.trials = 0};
    return probe_session_run(&p.s, options, &steps, &p);
}
