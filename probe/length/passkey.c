/* passkey.c - bin/probe passkey: how often a model of text finds a key that is hidden in a record
 * of any length, up to 16 times the trained one. */
#include "probe/core/bootstrap.h"
#include "probe/core/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

enum { REVISION = 2, TRIALS = 100, LENGTHS = 7, DIGITS = GPT_PASSKEY_DIGITS };
/* in halves of the trained length */
static const int halves[LENGTHS] = {1, 2, 3, 4, 8, 16, 32};

/* Trials of one length: keys found, and the share of digits that are right in each. */
struct found {
    long keys;
    double *share; /* (trials) */
};

struct passkey {
    const struct probe_options *options;
    struct gpt_config trained;
    int trials;
    struct probe_results results;
    struct probe_resamples resamples; /* of the trials */
    struct found found, below;        /* of the length under way: of the model, the floor */
    char folder[4096], key[PROBE_KEY];
};

/* The last digits of a record, and what the model says they are. */
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

/* Trial i: the rows before the key's end are fed; the model says the digits one by one, which are
 * all right exactly if each is after those before it. */
static int try_one(const struct probe *probe, struct gpt_model *model, struct gpt_batch *batch,
                   int i, struct found *found)
{
    const int T = batch->T;
    uint8_t *record = orr_alloc((size_t)T + 1, sizeof *record);
    if (!record)
        return ORR_ENOMEM;
    int rc = gpt_passkey(probe->preset.seed, 1 + (uint64_t)i, T + 1, record);
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
static void interval(long k, long n, struct probe_row *row)
{
    const double a = (double)k, b = (double)(n - k);
    row->value = a / (double)n;
    row->low = k > 0 ? gsl_cdf_beta_Pinv(0.025, a, b + 1) : 0;
    row->high = k < n ? gsl_cdf_beta_Pinv(0.975, a + 1, b) : 1;
}

static int add(struct passkey *p, const char *quantity, bool ntk, struct probe_row *row)
{
    row->layer = -1;
    row->ceiling = 1; /* the key is there */
    row->n = p->trials;
    snprintf(row->quantity, sizeof row->quantity, "%s%s", quantity, ntk ? ", NTK" : "");
    snprintf(row->measure, sizeof row->measure, "accuracy");
    return probe_results_add(&p->results, row);
}

/* Digits of one record depend on each other: their interval is over records. */
static int add_both(struct passkey *p, bool ntk, int T)
{
    const double n = p->trials;
    const struct probe_estimate e = probe_bootstrap(&p->resamples, probe_mean_of, p->found.share);
    struct probe_row keys = {
        .context = T, .floor = (double)p->below.keys / n, .raw = pow(10, -DIGITS)};
    struct probe_row digits = {.context = T,
                               .value = e.value,
                               .low = e.low,
                               .high = e.high,
                               .floor =
                                   probe_mean_of(p->below.share, p->trials, p->resamples.times),
                               .raw = 0.1};
    interval(p->found.keys, p->trials, &keys);
    TRY(add(p, "passkey", ntk, &keys));
    return add(p, "digits", ntk, &digits);
}

static int measure_one(struct passkey *p, int T, bool ntk)
{
    struct probe_options o = *p->options;
    struct probe probe;
    struct gpt_model floor = {0};
    o.length = T;
    o.change.ntk = ntk;
    int rc = probe_open(&probe, &o, true, 1);
    rc = rc ? rc : probe_floor(&probe, &o, &floor);
    rc = rc ? rc : try_all(p, &probe, &probe.model, &p->found);
    rc = rc ? rc : try_all(p, &probe, &floor, &p->below);
    rc = rc ? rc : add_both(p, ntk, T);
    gpt_free(&floor);
    probe_close(&probe);
    return rc;
}

static int measure(struct passkey *p)
{
    const int trained = p->trained.context;
    struct orr_progress progress;
    uint64_t done = 0;
    orr_progress_init(&progress, "passkey", (uint64_t)(1 + gpt_has_ntk(&p->trained)) * LENGTHS,
                      p->options->quiet);
    for (int ntk = 0; ntk < 1 + gpt_has_ntk(&p->trained); ntk++)
        for (int k = 0; k < LENGTHS; k++) {
            const int T = trained * halves[k] / 2;
            if (T >= GPT_PASSKEY_LEAST && (!ntk || T > trained))
                TRY(measure_one(p, T, ntk));
            orr_progress_set(&progress, ++done, NULL);
        }
    orr_progress_end(&progress, NULL);
    return 0;
}

static int draw(const struct passkey *p, const struct probe *probe)
{
    static const char *const quantity[] = {"passkey", "digits", "passkey, NTK", "digits, NTK"};
    struct probe_panel panel[4];
    char text[PROBE_TEXT], title[2 * PROBE_TEXT];
    for (int k = 0; k < 4; k++)
        panel[k] = (struct probe_panel){.title = quantity[k],
                                        .quantity = quantity[k],
                                        .measure = "accuracy",
                                        .y_label = k % 2 ? "" : "share that is right",
                                        .by_context = true,
                                        .fixed = -1};
    probe_describe(&probe->model, text);
    snprintf(title, sizeof title, "Keys found in records, trained on %d positions: %s",
             p->trained.context, text);
    const struct probe_figure figure = {.title = title,
                                        .x_label = "positions",
                                        .value = "model",
                                        .ceiling = NULL,
                                        .floor = "random weights (floor)",
                                        .raw = "chance",
                                        .doubling = true,
                                        .least = 0,
                                        .panel = panel,
                                        .panels = gpt_has_ntk(&p->trained) ? 4 : 2};
    return probe_figure_draw(&p->results, &figure, p->folder, "passkey");
}

/* ----------------------------------------------------------------------------------- probe */

static int check(const struct probe *probe, const struct probe_options *o)
{
    const struct gpt_config *c = &probe->model.config;
    if (c->input != GPT_INPUT_TEXT || c->vocab != 256)
        return ORR_FAIL(ORR_EINVAL,
                        "probe passkey: %s: expected a model of text by bytes (preset passkey), "
                        "found one of %s",
                        o->checkpoint, c->input == GPT_INPUT_TEXT ? "tokens" : "orbits");
    return probe_check_lengths(probe, o, "passkey", "half to 16 times");
}

int probe_passkey(const struct probe_options *options)
{
    struct probe probe = {0};
    struct passkey *p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->options = options;
    p->trials = options->sequences ? options->sequences : TRIALS;
    int rc = orr_gnuplot_check("probe_panels.gp");
    rc = rc ? rc : probe_open(&probe, options, true, 1);
    rc = rc ? rc : check(&probe, options);
    rc = rc ? rc : probe_folder(&probe, options, p->folder);
    rc = rc ? rc : probe_key(options, "passkey", REVISION, "", p->key);
    if (!rc && !probe_results_there(options, p->folder, "passkey", p->key)) {
        p->trained = probe.model.config;
        p->found.share = orr_alloc((size_t)p->trials, sizeof(double));
        p->below.share = orr_alloc((size_t)p->trials, sizeof(double));
        rc = p->found.share && p->below.share
                 ? probe_resamples_create(&p->resamples, probe.preset.seed, p->trials)
                 : ORR_ENOMEM;
        rc = rc ? rc : measure(p);
        rc = rc ? rc : probe_results_begin(&p->results, p->folder, "passkey");
        rc = rc ? rc : draw(p, &probe); /* first, because --resume looks for the tables */
        rc = rc ? rc
                : probe_results_write(&p->results, &probe, options, p->folder, "passkey", p->key);
        if (!rc)
            probe_results_print(&p->results, &probe, "passkey");
    }
    probe_results_free(&p->results);
    probe_resamples_free(&p->resamples);
    free(p->found.share);
    free(p->below.share);
    probe_close(&probe);
    free(p);
    return rc;
}
