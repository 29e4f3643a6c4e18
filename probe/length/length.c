/* length.c - bin/probe length: errors, entropy and sinks in sequences of 1 to 16 times the trained
 * length, with and without NTK scaling of the rotary base, and with other powers of
 * re-weighting. */
#include "probe/core/figure.h"
#include "length.h"

#include <math.h>
#include <string.h>

enum { SEQUENCES = 128, MAPPED = 4, LENGTHS = 5 };

/* A change of attention under which every length is measured. */
struct way {
    const char *name; /* suffix of the quantity's name; "": none */
    bool ntk;
    double power; /* 0: as trained */
};
static const struct way ways[] = {
    {"", false, 0},        {", NTK", true, 0},    {", p = 1", false, 1},  {", p = 2", false, 2},
    {", p = 3", false, 3}, {", p = 5", false, 5}, {", p = 15", false, 15}};
enum { WAYS = sizeof ways / sizeof *ways };

struct length {
    struct probe_session s;
    struct gpt_config trained; /* the configuration at the trained length */
    bool sharpens;
    struct gpt_next_state
        upper_bound[LENGTHS]; /* orbits fitted by Newton's law, equal for all changes */
};

/* One length under one change of attention. */
struct measurement {
    const struct way *way;
    struct probe probe;
    struct gpt_model baseline;
    struct probe_errors errors[3]; /* of the model, the untrained baseline, and persistence */
    struct probe_resamples resamples;
    const struct gpt_next_state *upper_bound;
};

/* ------------------------------------------------------------------------------------ rows */

static double mean_of(const struct measurement *m, const double *error)
{
    return error ? probe_mean_of(error, m->resamples.n, m->resamples.times) : NAN;
}

static int add_error(struct length *l, const struct measurement *m, bool late)
{
    const struct probe_errors *e = m->errors;
    struct orr_row row = probe_row_of(
        &l->s.results, probe_bootstrap(&m->resamples, probe_mean_of, late ? e[0].late : e[0].all),
        probe_errors_unit(&m->probe), "%s%s%s",
        probe_errors_of_places(&m->probe) ? "next position" : "next token", late ? ", beyond" : "",
        m->way->name);
    row.context = m->probe.T;
    row.upper_bound = late ? m->upper_bound->orbit_fit_late : m->upper_bound->orbit_fit;
    row.baseline = mean_of(m, late ? e[1].late : e[1].all);
    row.raw = mean_of(m, late ? e[2].late : e[2].all);
    row.n = m->probe.sequences;
    return orr_table_add(&l->s.results.table, &row);
}

static int add_weights(struct length *l, const struct measurement *m, int layer,
                       const struct probe_sums *of_model, const struct probe_sums *of_baseline,
                       int mapped)
{
    struct probe_means model, baseline;
    probe_mean(of_model, &model);
    probe_mean(of_baseline, &baseline);
    const struct {
        const char *name;
        double model, baseline, uniform;
    } share[] = {{"relative entropy", model.entropy_relative, baseline.entropy_relative, 1},
                 {"sink", model.sink, baseline.sink, model.sink_uniform},
                 {"zeros", model.zeros, baseline.zeros, 0}};
    for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
        struct orr_row row = probe_row_of(&l->s.results, probe_exactly(share[k].model), "share",
                                          "%s%s", share[k].name, m->way->name);
        row.layer = layer;
        row.context = m->probe.T;
        row.baseline = share[k].baseline;
        row.raw = share[k].uniform;
        row.n = mapped;
        TRY(orr_table_add(&l->s.results.table, &row));
    }
    return 0;
}

/* ------------------------------------------------------------------------------- measuring */

/* Sums over the heads of every layer: sums (layers). */
static int add_weights_of(struct probe_arena *arena, struct measurement *m, struct gpt_model *model,
                          int mapped, struct probe_sums *sums)
{
    const int layers = model->config.layers, heads = model->config.heads;
    struct probe_sums *each = probe_take(arena, (size_t)layers * (size_t)heads, sizeof *each);
    struct gpt_batch batch = {0};
    TRY(arena->failed);
    int rc = gpt_batch_create(&batch, &model->config, 1, m->probe.T);
    for (int i = 0; i < mapped && !rc; i++) {
        rc = probe_fill(&m->probe, (uint64_t)i, &batch);
        rc = rc ? rc : gpt_forward_body(model, &batch);
        rc = rc ? rc : probe_weights(model, m->probe.T, each, -1, NULL);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    }
    for (int k = 0; k < layers * heads && !rc; k++)
        probe_merge(&sums[k / heads], &each[k]);
    gpt_batch_free(&batch);
    return rc;
}

/* Entropy, sink mass and zeros of every layer, and of all layers together. */
static int measure_weights(struct length *l, struct measurement *m)
{
    const int layers = m->probe.model.config.layers;
    const int mapped = m->probe.sequences < MAPPED ? m->probe.sequences : MAPPED;
    struct probe_arena *arena = &l->s.arena;
    struct probe_sums *sums = probe_take(arena, 2 * (size_t)layers, sizeof *sums);
    struct probe_sums all[2] = {{0}, {0}};
    TRY(arena->failed);
    TRY(add_weights_of(arena, m, &m->probe.model, mapped, sums));
    TRY(add_weights_of(arena, m, &m->baseline, mapped, sums + layers));
    for (int k = 0; k < layers; k++) {
        probe_merge(&all[0], &sums[k]);
        probe_merge(&all[1], &sums[layers + k]);
        TRY(add_weights(l, m, k, &sums[k], &sums[layers + k], mapped));
    }
    return add_weights(l, m, -1, &all[0], &all[1], mapped);
}

static int open_measurement(struct length *l, struct measurement *m, int times)
{
    struct probe_options o = *l->s.options;
    o.length = times * l->trained.context;
    o.final = true;
    o.change.ntk = m->way->ntk;
    if (m->way->power > 0)
        o.change.power = m->way->power;
    TRY(probe_open(&m->probe, &o, true, o.sequences ? o.sequences : SEQUENCES));
    TRY(probe_baseline(&m->probe, &o, &m->baseline));
    return probe_resamples_create(&l->s.arena, &m->resamples, m->probe.settings.seed,
                                  m->probe.sequences);
}

static void close_measurement(struct measurement *m)
{
    gpt_free(&m->baseline);
    probe_close(&m->probe);
}

/* Computed from the length's data alone, as no change of attention affects it. */
static int measure_upper_bound(const struct length *l, struct measurement *m,
                               struct gpt_next_state *upper_bound)
{
    upper_bound->sequences = m->probe.sequences;
    return gpt_orbit_upper_bound(m->probe.data, &m->probe.settings,
                                 m->probe.split >= SIM_SPLIT_PLANETS_TRAIN, m->probe.T + 1,
                                 l->trained.context + 1, upper_bound);
}

static int measure_errors(struct length *l, struct measurement *m)
{
    struct probe *probe = &m->probe;
    for (int k = 0; k < 3; k++) {
        if (k == 2 && !probe_errors_of_places(probe))
            continue; /* persistence does not apply */
        TRY(probe_errors_create(&l->s.arena, &m->errors[k], probe->sequences));
        TRY(probe_errors_of(probe,
                            k == 0   ? &probe->model
                            : k == 1 ? &m->baseline
                                     : NULL,
                            &m->errors[k]));
    }
    TRY(add_error(l, m, false));
    return probe->T > probe->trained.context ? add_error(l, m, true) : 0;
}

/* Skips lengths above --length, and changes without effect: NTK scaling at the trained length or
 * without rotary positions, and powers for models without re-weighting. */
static bool is_skipped(const struct length *l, const struct way *way, int times)
{
    const struct gpt_config *c = &l->trained;
    const int most = l->s.options->length;
    if (most && times > most / c->context)
        return true;
    if (way->ntk)
        return times == 1 || !gpt_has_ntk(c);
    return way->power > 0 && (!l->sharpens || way->power == c->power);
}

static int measure_model(void *of)
{
    struct length *l = of;
    int count = 0;
    l->trained = l->s.probe.model.config;
    l->sharpens = l->s.probe.model.variant.reweight;
    for (int w = 0; w < WAYS; w++)
        for (int k = 0; k < LENGTHS; k++)
            count += !is_skipped(l, &ways[w], 1 << k);
    orr_progress_init(&l->s.progress, "length", (uint64_t)count, l->s.options->quiet);
    for (int w = 0; w < WAYS; w++)
        for (int k = 0; k < LENGTHS; k++) {
            const size_t kept = l->s.arena.count;
            struct measurement m = {.way = &ways[w], .upper_bound = &l->upper_bound[k]};
            if (is_skipped(l, &ways[w], 1 << k))
                continue;
            int rc = open_measurement(l, &m, 1 << k);
            rc = rc || w > 0 ? rc : measure_upper_bound(l, &m, &l->upper_bound[k]);
            rc = rc ? rc : measure_errors(l, &m);
            rc = rc ? rc : measure_weights(l, &m);
            close_measurement(&m);
            probe_rewind(&l->s.arena, kept);
            TRY(rc);
            orr_progress_set(&l->s.progress, ++l->s.done, NULL);
        }
    orr_progress_end(&l->s.progress, NULL);
    return 0;
}

/* ------------------------------------------------------------------------------------ files */

static int draw_panels(void *of)
{
    const struct length *l = of;
    const struct probe *probe = &l->s.probe;
    const bool places = probe_errors_of_places(probe);
    const char *const unit = probe_errors_unit(probe), *label = places ? "mean error, AU" : unit;
    const struct probe_panel panel[] = {
        {places ? "next position" : "next token", unit, .y_label = label, .log = places},
        {"relative entropy", "share", .y_label = ""},
        {"sink", "share", .y_label = ""},
        {places ? "next position, NTK" : "next token, NTK", unit, .y_label = label, .log = places},
        {"relative entropy, NTK", "share", .y_label = ""},
        {"sink, NTK", "share", .y_label = ""},
    };
    const struct probe_figure figure = {.x_label = "positions",
                                        .value = "model",
                                        .baseline = "untrained baseline",
                                        .raw = places ? "persistence, uniform" : "uniform",
                                        .doubling = true,
                                        .by_context = true,
                                        .fixed = -1,
                                        .panel = panel,
                                        .panels = is_skipped(l, &ways[1], 2) ? 3 : 6};
    return probe_figure_draw(&l->s, &figure, "Sequences %s the %d positions of training",
                             is_skipped(l, &ways[0], 2) ? "of" : "longer than", l->trained.context);
}

static int check_model(const struct probe *probe, const struct probe_options *o)
{
    if (strcmp(probe->stage, "pretrain") != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "probe length: %s: expected a model that predicts what comes next (stage "
                        "pretrain), found stage %s",
                        o->checkpoint, probe->stage);
    if (o->change.power > 0)
        return ORR_FAIL(ORR_EUSAGE, "--p: probe length takes powers by itself");
    if (o->length && o->length < probe->trained.context)
        return ORR_FAIL(ORR_EUSAGE,
                        "--length: probe length begins at the trained length, %d positions, found "
                        "%d",
                        probe->trained.context, o->length);
    struct probe_options all = *o;
    all.length = 0;
    return probe_check_lengths(probe, &all, "length", "1 to 16 times");
}

static int open_model(void *of)
{
    struct length *l = of;
    struct probe_options trained = *l->s.options;
    trained.length = 0;
    TRY(probe_open(&l->s.probe, &trained, true, 1));
    return check_model(&l->s.probe, l->s.options);
}

int probe_length(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "length",
                                             .revision = 1,
                                             .script = "probe_panels.gp",
                                             .open = open_model,
                                             .measure = measure_model,
                                             .write = draw_panels,
                                             .is_shown = probe_row_of_model};
    struct length l = {.sharpens = false};
    return probe_session_run(&l.s, options, &steps, &l);
}
