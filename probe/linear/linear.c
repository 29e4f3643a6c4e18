/* linear.c - bin/probe linear: reads quantities of Newton's law and orbital elements by ridge
 * regression from the residual stream after every block. */
#include "probe/core/figure.h"
#include "probe/orbits/motion.h"
#include "readout.h"

#include <math.h>
#include <string.h>

enum { OBSERVED = 200, LAYERS = 1000 };

struct linear {
    struct probe_session s;
    struct probe_labelled fit, held_out;
    struct probe_context context[PROBE_CONTEXTS];
    int contexts, layers; /* layers: L + 1 */
    /* (2, layers, contexts, PROBE_QUANTITIES) of the model and of the baseline */
    struct probe_reading *reading;
    struct probe_reading raw[PROBE_CONTEXTS][PROBE_QUANTITIES];
    double upper_bound[PROBE_CONTEXTS][PROBE_QUANTITIES];
    int observed; /* sequences used for the upper bound */
};

static struct probe_reading *reading_of(const struct linear *l, int baseline, int layer,
                                        int context)
{
    return l->reading +
           (((size_t)baseline * (size_t)l->layers + (size_t)layer) * (size_t)l->contexts +
            (size_t)context) *
               PROBE_QUANTITIES;
}

/* ------------------------------------------------------------------------------- measuring */

/* Checks the implementation: with the quantities among the features, R^2 must be near 1. A lower
 * value means misaligned rows, a wrong split or a failed solver. */
static int check_plumbing(const struct linear *l, struct probe_reader reader, int context)
{
    const double least = 0.999;
    struct probe_reading told[PROBE_QUANTITIES];
    reader.features += probe_numbers(l->fit.axes);
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

/* The streams of the fitting and the held-out set: of a model one for all layers, of answers one
 * for each. */
struct streams {
    struct probe_stream *of[2];
    bool by_layer;
};

static struct probe_reader reader_of(struct linear *l, const struct streams *streams, int layer)
{
    const int stream = streams->by_layer ? layer : 0;
    return (struct probe_reader){.arena = &l->s.arena,
                                 .features = streams->of[0][stream].width,
                                 .read = probe_read_stream,
                                 .fit = &l->fit,
                                 .held_out = &l->held_out,
                                 .stream = {&streams->of[0][stream], &streams->of[1][stream]},
                                 .layer = streams->by_layer ? 0 : layer};
}

static int read_streams(struct linear *l, const struct streams *streams, int baseline)
{
    for (int c = 0; c < l->contexts; c++) {
        for (int layer = 0; layer < l->layers; layer++) {
            const struct probe_reader reader = reader_of(l, streams, layer);
            TRY(probe_readout(&reader, &l->context[c], baseline ? NULL : &l->s.resamples,
                              reading_of(l, baseline, layer, c)));
            TRY(probe_session_tick(&l->s));
        }
        if (!baseline)
            TRY(check_plumbing(l, reader_of(l, streams, l->layers - 1), c));
    }
    return 0;
}

static int read_model(struct linear *l, struct gpt_model *model, int baseline)
{
    struct probe_stream stream[2];
    const struct streams streams = {.of = {&stream[0], &stream[1]}};
    const int T = l->s.probe.T;
    const size_t kept = l->s.arena.count;
    TRY(probe_stream_capture(&l->s.arena, &stream[0], model, &l->fit, T, l->context, l->contexts));
    TRY(probe_stream_capture(&l->s.arena, &stream[1], model, &l->held_out, T, l->context,
                             l->contexts));
    TRY(read_streams(l, &streams, baseline));
    probe_rewind(&l->s.arena, kept);
    return 0;
}

/* Opens the activations of all layers, and checks that the readouts have rows enough. */
static int open_answers(struct linear *l, const struct probe_answers *answers,
                        struct streams *streams)
{
    struct probe_arena *arena = &l->s.arena;
    const int T = l->s.probe.T, prefix = probe_prefix(T);
    streams->by_layer = true;
    for (int k = 0; k < 2; k++)
        streams->of[k] = probe_take(arena, (size_t)l->layers, sizeof *streams->of[k]);
    TRY(arena->failed);
    for (int layer = 0; layer < l->layers; layer++) {
        struct probe_stream *fit = &streams->of[0][layer], *held_out = &streams->of[1][layer];
        TRY(probe_stream_answered(arena, fit, answers, "two_body_train", layer, &l->fit, T, prefix,
                                  l->context, l->contexts));
        TRY(probe_stream_answered(arena, held_out, answers, "two_body_test", layer, &l->held_out, T,
                                  prefix, l->context, l->contexts));
        if (fit->width != held_out->width)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: layer %d: expected as many numbers in a row of two_body_test as "
                            "of two_body_train, %d, found %d",
                            answers->folder, layer, fit->width, held_out->width);
        if (l->fit.n < 3 * (fit->width + probe_numbers(l->fit.axes)))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: layer %d: %d numbers in a row need an export of %d sequences, 3 "
                            "for every number that is read, found %d; export with --sequences",
                            answers->folder, layer, fit->width,
                            3 * (fit->width + probe_numbers(l->fit.axes)), l->fit.n);
    }
    return 0;
}

static int read_answers(struct linear *l, const struct probe_answers *answers, int baseline)
{
    const size_t kept = l->s.arena.count;
    struct streams streams;
    TRY(open_answers(l, answers, &streams));
    TRY(read_streams(l, &streams, baseline));
    probe_rewind(&l->s.arena, kept);
    return 0;
}

/* Answers without an untrained twin have no baseline. */
static void leave_out_baseline(struct linear *l)
{
    const int each = l->layers * l->contexts * PROBE_QUANTITIES;
    for (int k = 0; k < each; k++)
        l->reading[each + k] = (struct probe_reading){probe_exactly(NAN), NAN, 0};
}

static int read_all(struct linear *l)
{
    const struct probe_options *o = l->s.options;
    if (!o->answers) {
        TRY(read_model(l, &l->s.probe.model, 0));
        return read_model(l, &l->s.baseline, 1);
    }
    TRY(read_answers(l, o->answers, 0));
    if (o->twin)
        return read_answers(l, o->twin, 1);
    leave_out_baseline(l);
    return 0;
}

/* Reads the inputs alone, and computes the result of an observer who knows the law. */
static int read_inputs(struct linear *l)
{
    enum { WORK = 262144 }; /* a fit of 16 steps takes half a millisecond */
    const int steps = (l->s.probe.T - 1) / 2;
    l->observed = l->held_out.n < OBSERVED ? l->held_out.n : OBSERVED;
    if (l->observed > WORK / (steps * steps) + 8)
        l->observed = WORK / (steps * steps) + 8;
    for (int c = 0; c < l->contexts; c++) {
        const int window = l->context[c].step[0] + 1;
        const struct probe_reader reader = {.arena = &l->s.arena,
                                            .features = 1 + 2 * l->fit.axes * window,
                                            .read = probe_read_inputs,
                                            .fit = &l->fit,
                                            .held_out = &l->held_out,
                                            .window = window};
        TRY(probe_readout(&reader, &l->context[c], NULL, l->raw[c]));
        for (int q = 0; q < PROBE_QUANTITIES; q++)
            l->upper_bound[c][q] = NAN;
        TRY(probe_session_tick(&l->s));
    }
    return l->fit.newton ? probe_observer(&l->s.arena, &l->fit, &l->held_out, l->observed,
                                          l->context, l->contexts, l->upper_bound)
                         : 0;
}

/* --------------------------------------------------------------------------------- results */

/* The row of a quantity: the model's readout at one layer and the baseline's at layer `below`. */
static struct orr_row row_of(struct linear *l, int q, int context, int layer, int below,
                             const char *measure)
{
    const struct probe_reading *r = &reading_of(l, 0, layer, context)[q];
    struct orr_row row =
        probe_row_of(&l->s.results, r->r2, measure, "%s", probe_quantities[q].name);
    row.context = l->context[context].context;
    row.upper_bound = l->upper_bound[context][q];
    row.baseline = reading_of(l, 1, below, context)[q].r2.value;
    row.raw = l->raw[context][q].r2.value;
    row.n = r->n;
    return row;
}

static int add_all(struct linear *l)
{
    for (int c = 0; c < l->contexts; c++)
        for (int layer = 0; layer < l->layers; layer++)
            for (int q = 0; q < PROBE_QUANTITIES; q++) {
                struct orr_row row = row_of(l, q, c, layer, layer, "R^2");
                row.layer = layer;
                TRY(orr_table_add(&l->s.results.table, &row));
            }
    return 0;
}

/* The layer that reads q best on sequences held out of the fit, not on the evaluation sequences. */
static int best_layer(const struct linear *l, int baseline, int context, int q)
{
    int best = 0;
    for (int layer = 1; layer < l->layers; layer++)
        if (reading_of(l, baseline, layer, context)[q].inner >
            reading_of(l, baseline, best, context)[q].inner)
            best = layer;
    return best;
}

/* The context that contains all steps. */
static int full_context(const struct linear *l)
{
    int full = 0;
    for (int c = 1; c < l->contexts; c++)
        if (l->context[c].context > l->context[full].context)
            full = c;
    return full;
}

/* Adds a row per quantity at its best layer, chosen separately for model and baseline, and the
 * means over Newtonian quantities and over elements. The rows belong to the model as a whole, as
 * the best layer differs between seeds. */
static int add_best(struct linear *l)
{
    static const char *const best_measure = "R^2, best layer";
    const int full = full_context(l);
    double sum[2][4] = {{0}}, count[2] = {0};
    long n[2] = {0};
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        const int best = best_layer(l, 0, full, q), below = best_layer(l, 1, full, q);
        const int kepler = probe_quantities[q].kepler;
        const struct orr_row row = row_of(l, q, full, best, below, best_measure);
        struct orr_row which = probe_row_of(&l->s.results, probe_exactly(best), "best layer", "%s",
                                            probe_quantities[q].name);
        which.context = row.context;
        which.baseline = l->s.options->answers && !l->s.options->twin ? (double)NAN : below;
        TRY(orr_table_add(&l->s.results.table, &row));
        TRY(orr_table_add(&l->s.results.table, &which));
        if (!isfinite(row.value))
            continue;
        const double number[4] = {row.value, row.upper_bound, row.baseline, row.raw};
        for (int k = 0; k < 4; k++)
            sum[kepler][k] += number[k];
        n[kepler] = row.n;
        count[kepler]++;
    }
    for (int k = 0; k < 2; k++) {
        struct orr_row row =
            probe_row_of(&l->s.results, probe_exactly(sum[k][0] / count[k]), best_measure,
                         k ? "mean of Keplerian" : "mean of Newtonian");
        row.context = l->context[full].context;
        row.upper_bound = sum[k][1] / count[k];
        row.baseline = sum[k][2] / count[k];
        row.raw = sum[k][3] / count[k];
        row.n = n[k];
        TRY(orr_table_add(&l->s.results.table, &row));
    }
    return 0;
}

static int draw_panels(void *of)
{
    const struct linear *l = of;
    static const struct probe_panel panel[] = {
        {"log force", "R^2", .y_label = "R^2"}, {"1/r^2", "R^2", .y_label = ""},
        {"velocity", "R^2", .y_label = ""},     {"semi-major axis", "R^2", .y_label = "R^2"},
        {"eccentricity", "R^2", .y_label = ""}, {"angular momentum", "R^2", .y_label = ""},
    };
    const int context = l->context[full_context(l)].context;
    const struct probe_figure figure = {
        .x_label = "layer (0 = embedding)",
        .value = "model",
        .upper_bound = l->fit.newton ? "orbit fit (upper bound)" : NULL,
        .baseline = l->s.options->answers && !l->s.options->twin ? NULL : "untrained baseline",
        .raw = "inputs (raw)",
        .least = -0.2,
        .fixed = context,
        .panel = panel,
        .panels = sizeof panel / sizeof *panel};
    return probe_figure_draw(&l->s, &figure, "Ridge readout of the residual stream after %d steps",
                             context);
}

/* ----------------------------------------------------------------------------------- probe */

/* The number of layers whose activations are answered, from 0 on; both folders have as many. */
static int count_layers(const struct probe_answers *answers, int *layers)
{
    char file[ORR_NAME];
    for (*layers = 0; *layers < LAYERS; ++*layers) {
        snprintf(file, sizeof file, "activations_two_body_train_layer%d.npy", *layers);
        if (!probe_answers_has(answers, file))
            break;
    }
    return *layers ? 0
                   : ORR_FAIL(ORR_EMISSING,
                              "%s/activations_two_body_train_layer0.npy: missing; "
                              "probe linear reads activations",
                              answers->folder);
}

static int find_layers(struct linear *l)
{
    const struct probe_options *o = l->s.options;
    int of_twin;
    l->layers = l->s.probe.model.config.layers + 1;
    if (!o->answers)
        return 0;
    TRY(count_layers(o->answers, &l->layers));
    if (!o->twin)
        return 0;
    TRY(count_layers(o->twin, &of_twin));
    return of_twin == l->layers
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: expected activations of %d layers, as %s has, found %d",
                          o->twin->folder, l->layers, o->answers->folder, of_twin);
}

/* Three rows of a single step per feature; check_plumbing() has the most features. */
static int find_counts(struct linear *l, int *fit, int *held_out)
{
    const int numbers = probe_numbers(l->s.probe.settings.orbits.dimensions);
    const int least = 3 * (l->s.probe.model.config.width + numbers);
    const struct probe_options *o = l->s.options;
    *fit = probe_readout_sequences(o, held_out);
    if (o->answers)
        return 0; /* open_answers() knows the widths */
    if (!o->sequences && *fit < least) {
        *fit = least;
        *held_out = (least + 3) / 4;
    }
    if (*fit < least)
        return ORR_FAIL(ORR_EUSAGE,
                        "--sequences: probe linear needs %d or more, 3 for every number that is "
                        "read (width %d and %d quantities), found %d",
                        least, l->s.probe.model.config.width, numbers, *fit);
    return 0;
}

static int prepare_sets(struct linear *l)
{
    const int steps = (l->s.probe.T - 1) / 2;
    int fit, held_out;
    TRY(find_counts(l, &fit, &held_out));
    TRY(find_layers(l));
    l->contexts = probe_contexts(steps, l->s.probe.settings.orbits.label_from_step, l->context);
    struct probe_arena *arena = &l->s.arena;
    l->reading =
        probe_take(arena, (size_t)2 * (size_t)l->layers * (size_t)l->contexts * PROBE_QUANTITIES,
                   sizeof *l->reading);
    TRY(probe_resamples_create(arena, &l->s.resamples, l->s.probe.settings.seed, held_out));
    TRY(probe_labelled_make(arena, &l->fit, &l->s.probe, SIM_SPLIT_TWO_BODY_TRAIN, fit));
    TRY(probe_labelled_make(arena, &l->held_out, &l->s.probe, SIM_SPLIT_TWO_BODY_TEST, held_out));
    return l->s.options->answers ? 0 : probe_baseline(&l->s.probe, l->s.options, &l->s.baseline);
}

static int measure_model(void *of)
{
    struct linear *l = of;
    TRY(prepare_sets(l));
    orr_progress_init(&l->s.progress, "linear",
                      (uint64_t)l->contexts * (2 * (uint64_t)l->layers + 1), l->s.options->quiet);
    TRY(read_inputs(l));
    TRY(read_all(l));
    orr_progress_end(&l->s.progress, NULL);
    TRY(add_best(l));
    return add_all(l);
}

static int open_model(void *of)
{
    struct linear *l = of;
    return probe_open_labelled(&l->s.probe, l->s.options, "linear", false);
}

int probe_linear(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "linear",
                                             .revision = 2,
                                             .script = "probe_panels.gp",
                                             .open = open_model,
                                             .measure = measure_model,
                                             .write = draw_panels,
                                             .is_shown = probe_row_of_model};
    struct linear l = {.layers = 0};
    const int rc = probe_session_run(&l.s, options, &steps, &l);
    if (!rc && l.s.measured)
        orr_note(options->quiet,
                 "linear: fitted on %d sequences, tested on %d; the upper bound is of the first %d",
                 l.fit.n, l.held_out.n, l.observed);
    return rc;
}
