/* linear.c - bin/probe linear: which quantities of Newton's law and which elements of the orbit can
 * be read, by ridge regression, out of the residual stream behind every block. */
#include "probe/core/figure.h"
#include "readout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REVISION = 2, FIT = 4000, OBSERVED = 200 };

struct linear {
    const struct probe_options *options;
    struct probe probe;
    struct gpt_model floor;
    struct probe_labelled fit, judged;
    struct probe_resamples resamples;
    struct probe_context context[PROBE_CONTEXTS];
    int contexts, layers; /* layers: L + 1 */
    /* (2, layers, contexts, PROBE_QUANTITIES): of the model, of the floor */
    struct probe_reading *reading;
    struct probe_reading raw[PROBE_CONTEXTS][PROBE_QUANTITIES];
    double ceiling[PROBE_CONTEXTS][PROBE_QUANTITIES];
    int observed; /* sequences of the ceiling */
    struct orr_progress progress;
    uint64_t done;
    char folder[4096], key[PROBE_KEY];
};

static struct probe_reading *reading_of(const struct linear *l, int floor, int layer, int context)
{
    return l->reading + (((size_t)floor * (size_t)l->layers + (size_t)layer) * (size_t)l->contexts +
                         (size_t)context) *
                            PROBE_QUANTITIES;
}

/* ------------------------------------------------------------------------------- measuring */

static int tick(struct linear *l)
{
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    orr_progress_set(&l->progress, ++l->done, NULL);
    return 0;
}

/* The quantities themselves among the features: anything but an R^2 near 1 is a fault of this
 * program - rows out of step, a split that leaks nothing through, a solver that gave up. */
static int check_plumbing(const struct linear *l, struct probe_reader reader, int context)
{
    const double least = 0.999;
    struct probe_reading told[PROBE_QUANTITIES];
    reader.features += PROBE_NUMBERS;
    reader.told = true;
    TRY(probe_readout(&reader, &l->context[context], NULL, told));
    for (int q = 0; q < PROBE_QUANTITIES; q++)
        if (told[q].r2.value < least)
            return ORR_FAIL(ORR_EINVAL,
                            "probe linear: %s is among the features, yet its R^2 is %.6f, below "
                            "%g (context %d): the readout is at fault, not the model",
                            probe_quantities[q].name, told[q].r2.value, least,
                            l->context[context].context);
    return 0;
}

/* Readings of a model at all layers and contexts. */
static int read_model(struct linear *l, struct gpt_model *model, int floor)
{
    struct probe_stream stream[2] = {{0}, {0}};
    const int T = l->probe.T;
    int rc = probe_stream_capture(&stream[0], model, &l->fit, T, l->context, l->contexts);
    if (!rc)
        rc = probe_stream_capture(&stream[1], model, &l->judged, T, l->context, l->contexts);
    struct probe_reader reader = {.features = model->config.width,
                                  .read = probe_read_stream,
                                  .fit = &l->fit,
                                  .judged = &l->judged,
                                  .stream = {&stream[0], &stream[1]}};
    for (int c = 0; c < l->contexts && !rc; c++) {
        for (reader.layer = 0; reader.layer < l->layers && !rc; reader.layer++) {
            rc = probe_readout(&reader, &l->context[c], floor ? NULL : &l->resamples,
                               reading_of(l, floor, reader.layer, c));
            rc = rc ? rc : tick(l);
        }
        reader.layer = l->layers - 1;
        if (!rc && !floor)
            rc = check_plumbing(l, reader, c);
    }
    probe_stream_free(&stream[0]);
    probe_stream_free(&stream[1]);
    return rc;
}

/* What the inputs alone give, and an observer who knows the law. */
static int read_inputs(struct linear *l)
{
    enum { WORK = 262144 }; /* a fit of 16 steps takes half a millisecond */
    const int steps = (l->probe.T - 1) / 2;
    l->observed = l->judged.n < OBSERVED ? l->judged.n : OBSERVED;
    if (l->observed > WORK / (steps * steps) + 8)
        l->observed = WORK / (steps * steps) + 8;
    for (int c = 0; c < l->contexts; c++) {
        const int window = l->context[c].step[0] + 1;
        const struct probe_reader reader = {.features = 1 + 4 * window,
                                            .read = probe_read_inputs,
                                            .fit = &l->fit,
                                            .judged = &l->judged,
                                            .window = window};
        TRY(probe_readout(&reader, &l->context[c], NULL, l->raw[c]));
        for (int q = 0; q < PROBE_QUANTITIES; q++)
            l->ceiling[c][q] = NAN;
        TRY(tick(l));
    }
    return l->fit.newton ? probe_observer(&l->fit, &l->judged, l->observed, l->context, l->contexts,
                                          l->ceiling)
                         : 0;
}

/* --------------------------------------------------------------------------------- results */

static int add(struct probe_results *to, const char *quantity, const char *measure, int layer,
               int context, const struct probe_row *numbers)
{
    struct probe_row row = *numbers;
    snprintf(row.quantity, sizeof row.quantity, "%s", quantity);
    snprintf(row.measure, sizeof row.measure, "%s", measure);
    row.layer = layer;
    row.context = context;
    return probe_results_add(to, &row);
}

static int add_all(const struct linear *l, struct probe_results *results)
{
    for (int c = 0; c < l->contexts; c++)
        for (int layer = 0; layer < l->layers; layer++)
            for (int q = 0; q < PROBE_QUANTITIES; q++) {
                const struct probe_reading *r = &reading_of(l, 0, layer, c)[q];
                const struct probe_row row = {.value = r->r2.value,
                                              .low = r->r2.low,
                                              .high = r->r2.high,
                                              .ceiling = l->ceiling[c][q],
                                              .floor = reading_of(l, 1, layer, c)[q].r2.value,
                                              .raw = l->raw[c][q].r2.value,
                                              .n = r->n};
                TRY(add(results, probe_quantities[q].name, "R^2", layer, l->context[c].context,
                        &row));
            }
    return 0;
}

/* The layer that reads q best on sequences held out of the fit, not on those that judge. */
static int best_layer(const struct linear *l, int floor, int context, int q)
{
    int best = 0;
    for (int layer = 1; layer < l->layers; layer++)
        if (reading_of(l, floor, layer, context)[q].inner >
            reading_of(l, floor, best, context)[q].inner)
            best = layer;
    return best;
}

/* The context of all steps. */
static int full_context(const struct linear *l)
{
    int full = 0;
    for (int c = 1; c < l->contexts; c++)
        if (l->context[c].context > l->context[full].context)
            full = c;
    return full;
}

/* A row per quantity of its best layer, model and floor each of its own, and the means of the
 * Newtonian quantities and of the elements. */
static int add_best(const struct linear *l, struct probe_results *results)
{
    const int full = full_context(l), context = l->context[full].context;
    struct probe_row mean[2] = {{.low = NAN, .high = NAN}, {.low = NAN, .high = NAN}};
    double count[2] = {0};
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        const int best = best_layer(l, 0, full, q), below = best_layer(l, 1, full, q);
        const struct probe_reading *r = &reading_of(l, 0, best, full)[q];
        const struct probe_row row = {.value = r->r2.value,
                                      .low = r->r2.low,
                                      .high = r->r2.high,
                                      .ceiling = l->ceiling[full][q],
                                      .floor = reading_of(l, 1, below, full)[q].r2.value,
                                      .raw = l->raw[full][q].r2.value,
                                      .n = r->n};
        const struct probe_row which = {
            .value = best, .low = NAN, .high = NAN, .ceiling = NAN, .floor = below, .raw = NAN};
        /* of the model as a whole: the layer differs from seed to seed */
        TRY(add(results, probe_quantities[q].name, "R^2, best layer", -1, context, &row));
        TRY(add(results, probe_quantities[q].name, "best layer", -1, context, &which));
        if (!isfinite(row.value))
            continue;
        struct probe_row *m = &mean[probe_quantities[q].kepler];
        m->value += row.value;
        m->ceiling += row.ceiling;
        m->floor += row.floor;
        m->raw += row.raw;
        m->n = row.n;
        count[probe_quantities[q].kepler]++;
    }
    for (int k = 0; k < 2; k++) {
        mean[k].value /= count[k];
        mean[k].ceiling /= count[k];
        mean[k].floor /= count[k];
        mean[k].raw /= count[k];
        TRY(add(results, k ? "mean of Keplerian" : "mean of Newtonian", "R^2, best layer", -1,
                context, &mean[k]));
    }
    return 0;
}

static int draw(const struct linear *l, const struct probe_results *results)
{
    static const char *const shown[] = {"log force",       "1/r^2",        "velocity",
                                        "semi-major axis", "eccentricity", "angular momentum"};
    enum { SHOWN = sizeof shown / sizeof *shown };
    char text[PROBE_TEXT], title[2 * PROBE_TEXT];
    struct probe_panel panel[SHOWN];
    const int context = l->context[full_context(l)].context;
    for (int k = 0; k < SHOWN; k++)
        panel[k] = (struct probe_panel){.title = shown[k],
                                        .quantity = shown[k],
                                        .measure = "R^2",
                                        .y_label = k % 3 ? "" : "R^2",
                                        .fixed = context};
    probe_describe(&l->probe.model, text);
    snprintf(title, sizeof title, "Ridge readout of the residual stream after %d steps: %s",
             context, text);
    const struct probe_figure figure = {.title = title,
                                        .x_label = "layer (0 = embedding)",
                                        .value = "model",
                                        .ceiling = l->fit.newton ? "orbit fit (ceiling)" : NULL,
                                        .floor = "random weights (floor)",
                                        .raw = "inputs (raw)",
                                        .least = -0.2,
                                        .panel = panel,
                                        .panels = SHOWN};
    return probe_figure_draw(results, &figure, l->folder, "linear");
}

/* ----------------------------------------------------------------------------------- probe */

static int write(struct linear *l)
{
    struct probe_results all = {0}, best = {0};
    int rc = add_best(l, &best);
    for (int i = 0; i < best.count && !rc; i++)
        rc = probe_results_add(&all, &best.row[i]);
    if (!rc)
        rc = add_all(l, &all);
    if (!rc)
        rc = probe_results_begin(&all, l->folder, "linear");
    if (!rc)
        rc = draw(l, &all); /* first, because --resume looks for the tables */
    if (!rc)
        rc = probe_results_write(&all, &l->probe, l->options, l->folder, "linear", l->key);
    if (!rc) {
        probe_results_print(&best, &l->probe, "linear");
        orr_note(l->options->quiet,
                 "linear: fitted on %d sequences, judged on %d; the ceiling is of the first %d",
                 l->fit.n, l->judged.n, l->observed);
    }
    probe_results_free(&all);
    probe_results_free(&best);
    return rc;
}

static int prepare(struct linear *l)
{
    const int steps = (l->probe.T - 1) / 2;
    /* rows of a single step for every feature, of which the check of the plumbing has the most */
    const int least = 3 * (l->probe.model.config.width + PROBE_NUMBERS);
    const int usual = FIT > least ? FIT : least;
    const int fit = l->options->sequences ? l->options->sequences : usual;
    const int judged = (fit + 3) / 4;
    if (fit < least)
        return ORR_FAIL(ORR_EUSAGE,
                        "--sequences: probe linear needs %d or more, 3 for every number that is "
                        "read (width %d and %d quantities), found %d",
                        least, l->probe.model.config.width, PROBE_NUMBERS, fit);
    l->layers = l->probe.model.config.layers + 1;
    l->contexts = probe_contexts(steps, l->probe.preset.orbits.label_from_step, l->context);
    l->reading = orr_alloc((size_t)2 * (size_t)l->layers * (size_t)l->contexts * PROBE_QUANTITIES,
                           sizeof *l->reading);
    if (!l->reading)
        return ORR_ENOMEM;
    TRY(probe_resamples_create(&l->resamples, l->probe.preset.seed, judged));
    TRY(probe_labelled_make(&l->fit, &l->probe, SIM_SPLIT_TWO_BODY_TRAIN, fit));
    TRY(probe_labelled_make(&l->judged, &l->probe, SIM_SPLIT_TWO_BODY_TEST, judged));
    return probe_floor(&l->probe, l->options, &l->floor);
}

static int measure(struct linear *l)
{
    orr_progress_init(&l->progress, "linear", (uint64_t)l->contexts * (2 * (uint64_t)l->layers + 1),
                      l->options->quiet);
    TRY(read_inputs(l));
    TRY(read_model(l, &l->probe.model, 0));
    TRY(read_model(l, &l->floor, 1));
    orr_progress_end(&l->progress, NULL);
    return 0;
}

int probe_linear(const struct probe_options *options)
{
    struct linear *l = orr_alloc(1, sizeof *l);
    if (!l)
        return ORR_ENOMEM;
    l->options = options;
    int rc = orr_gnuplot_check("probe_panels.gp");
    if (!rc)
        rc = probe_open_labelled(&l->probe, options, "linear", false);
    if (!rc)
        rc = probe_folder(&l->probe, options, l->folder);
    if (!rc)
        rc = probe_key(options, "linear", REVISION, "", l->key);
    if (!rc && !probe_results_there(options, l->folder, "linear", l->key)) {
        rc = prepare(l);
        if (!rc)
            rc = measure(l);
        if (!rc)
            rc = write(l);
    }
    gpt_free(&l->floor);
    probe_labelled_free(&l->fit);
    probe_labelled_free(&l->judged);
    probe_resamples_free(&l->resamples);
    probe_close(&l->probe);
    free(l->reading);
    free(l);
    return rc;
}
