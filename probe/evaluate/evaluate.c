/* evaluate.c - bin/probe evaluate: next-state errors of orbits, or the held-out loss of text, as
 * trained and with changed attention. */
#include "probe/core/answers.h"
#include "probe/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Results of a model and of its untrained baseline, for orbits or text. */
struct evaluation {
    struct gpt_next_state next;
    struct gpt_text_result text;
};

struct column {
    char text[PROBE_TEXT];
    int positions;
    double rope_base; /* 0: no rotary positions */
    struct evaluation model, baseline;
};

struct both {
    struct column column[2]; /* as trained; changed */
    bool changed, planets, is_text, is_tracks;
    char folder[4096], stage[ORR_NAME], split[ORR_NAME];
};

bool probe_is_changed(const struct probe_options *o)
{
    const struct gpt_attention_override *c = &o->change;
    return c->attention || c->reweight != GPT_REWEIGHT_AS_TRAINED || c->power > 0 ||
           c->set_window || c->ntk || o->length > 0;
}

int probe_check_unchanged(const struct probe_options *o)
{
    return probe_is_changed(o)
               ? ORR_FAIL(ORR_EUSAGE,
                          "%s: this probe fine-tunes models as they were trained; leave out --p, "
                          "--reweight, --window, --length, --ntk and a variant",
                          o->checkpoint)
               : 0;
}

/* ------------------------------------------------------------------------------- measuring */

static int evaluate_model(const struct both *both, struct probe *probe, struct gpt_model *model,
                          struct evaluation *e)
{
    return both->is_text ? gpt_evaluate_text(model, probe->data, probe->sequences,
                                             probe->trained.context, &e->text)
                         : gpt_evaluate_next_state(model, probe->data, probe->sequences,
                                                   probe->settings.orbits.extent_au, &e->next);
}

static int evaluate_baseline(const struct both *both, struct probe *probe,
                             const struct probe_options *options, struct evaluation *e)
{
    struct gpt_model baseline;
    TRY(probe_baseline(probe, options, &baseline));
    const int rc = evaluate_model(both, probe, &baseline, e);
    gpt_free(&baseline);
    return rc;
}

/* Checks that the sequences are those of the export, which may be of other files. */
static int check_rows(struct probe *probe, const struct probe_answers *answers)
{
    const char *split = sim_split_name(probe->split);
    const cJSON *set = orr_json_get(orr_json_get(answers->exported, "next_state"), split);
    uint64_t sum;
    char text[17];
    TRY(probe_rows_checksum(probe, &sum));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    return orr_json_says(set, "xxh64", text)
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s/export.json: answers to other data: rows of %s with the checksum "
                          "%s, expected %s, as of this run",
                          answers->folder, split, orr_json_text(set, "xxh64"), text);
}

/* Copies predictions and rollouts: next and path (sequences, T, d). */
static int copy_answers(struct probe *probe, const struct probe_answers *answers,
                        struct gpt_next_state *plan, double *next, real *path)
{
    const size_t n = (size_t)probe->sequences, T = (size_t)probe->T;
    const size_t prefix = (size_t)plan->prefix, axes = (size_t)gpt_config_axes(&probe->trained);
    const char *split = sim_split_name(probe->split);
    char file[2 * ORR_NAME];
    struct probe_array array;
    snprintf(file, sizeof file, "predictions_%s.npy", split);
    int rc = probe_array_open(&array, answers, file, n, T, axes, prefix);
    if (!rc)
        probe_array_copy(&array, n, next);
    probe_array_close(&array);
    TRY(rc);
    snprintf(file, sizeof file, "rollout_%s.npy", split);
    rc = probe_array_open(&array, answers, file, n, T - prefix, axes, 2);
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t k = 0; k < axes * (T - prefix); k++)
            path[axes * (i * T + prefix) + k] = (real)probe_array_at(&array, i, k / axes, k % axes);
    probe_array_close(&array);
    return rc;
}

static int evaluate_answers(struct probe *probe, const struct probe_answers *answers,
                            struct gpt_next_state *result)
{
    const size_t numbers =
        (size_t)probe->sequences * (size_t)probe->T * (size_t)gpt_config_axes(&probe->trained);
    struct probe_arena arena = {0};
    double *next = probe_take(&arena, numbers, sizeof *next);
    real *path = probe_take(&arena, numbers, sizeof *path);
    struct gpt_next_state plan = {.prefix = 0};
    gpt_next_state_plan(&plan, probe->T, true);
    int rc = arena.failed;
    rc = rc ? rc : check_rows(probe, answers);
    rc = rc ? rc : copy_answers(probe, answers, &plan, next, path);
    rc = rc ? rc
            : gpt_evaluate_predictions(&probe->model.config, probe->data, probe->sequences, next,
                                       path, result);
    probe_rewind(&arena, 0);
    return rc;
}

static int evaluate_opened(struct both *both, struct probe *probe,
                           const struct probe_options *options, struct column *column)
{
    const struct gpt_config *c = &probe->model.config;
    if (!both->is_text && strncmp(probe->stage, "pretrain", 8))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: a model of stage %s does not predict the next state; expected one of "
                        "pretrain or pretrain_planets",
                        options->checkpoint, probe->stage);
    both->planets = !both->is_text && probe->split >= SIM_SPLIT_PLANETS_TRAIN;
    snprintf(both->stage, sizeof both->stage, "%s", both->is_text ? "pretrain" : probe->stage);
    snprintf(both->split, sizeof both->split, "%s", sim_split_name(probe->split));
    TRY(probe_folder(probe, options, both->folder));
    probe_describe(&probe->model, column->text);
    column->positions = probe->T;
    column->rope_base = c->positions == ORR_POSITIONS_ROPE ? c->rope_base : 0;
    TRY(options->answers ? evaluate_answers(probe, options->answers, &column->model.next)
                         : evaluate_model(both, probe, &probe->model, &column->model));
    if (!both->is_text)
        TRY(gpt_orbit_upper_bound(probe->data, &probe->settings, both->planets, probe->T + 1, 0,
                                  &column->model.next));
    column->baseline.next.teacher_forced = NAN;
    if (options->answers)
        return options->twin ? evaluate_answers(probe, options->twin, &column->baseline.next) : 0;
    return evaluate_baseline(both, probe, options, &column->baseline);
}

static int evaluate_column(const struct probe_options *options, bool changed, struct both *both)
{
    struct probe probe;
    int rc = probe_open(&probe, options, changed, options->sequences);
    rc = rc ? rc : evaluate_opened(both, &probe, options, &both->column[changed]);
    probe_close(&probe);
    return rc;
}

/* ------------------------------------------------------------------------------------ JSON */

static void add_next_state(cJSON *json, const struct column *column)
{
    const struct gpt_next_state *r = &column->model.next;
    gpt_next_state_add(json, r);
    cJSON_AddNumberToObject(json, "orbit_fit", r->orbit_fit);
    cJSON_AddNumberToObject(json, "orbit_fit_half", r->orbit_fit_half);
    cJSON_AddNumberToObject(json, "orbit_fit_sequences", r->orbit_fit_sequences);
    cJSON_AddNumberToObject(json, "random_weights", column->baseline.next.teacher_forced);
}

static void add_text(cJSON *json, const struct column *column)
{
    const struct gpt_text_result *r = &column->model.text;
    cJSON_AddNumberToObject(json, "sequences", r->sequences);
    cJSON_AddNumberToObject(json, "loss", r->loss);
    cJSON_AddNumberToObject(json, "loss_random_weights", column->baseline.text.loss);
    cJSON_AddNumberToObject(json, "perplexity", r->perplexity);
    cJSON_AddNumberToObject(json, "bits_per_token", r->bits_per_token);
    if (isfinite(r->late_loss))
        cJSON_AddNumberToObject(json, "loss_beyond_training", r->late_loss);
}

static cJSON *column_json(const struct both *both, const struct column *column)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "attention", column->text);
    cJSON_AddNumberToObject(json, "positions",
                            both->is_text ? column->model.text.positions : column->positions);
    if (column->rope_base > 0)
        cJSON_AddNumberToObject(json, "rope_base", column->rope_base);
    (both->is_text ? add_text : add_next_state)(json, column);
    return json;
}

static const char *unit_of(const struct both *both)
{
    return both->is_text     ? "nats"
           : both->planets   ? "separation at step 0"
           : both->is_tracks ? GPT_TRACKS_UNIT
                             : "AU";
}

static int write_json(const struct probe_options *options, const struct both *both)
{
    char path[4096];
    TRY(orr_mkdir(both->folder));
    TRY(orr_path(path, "%s/evaluate.json", both->folder));
    cJSON *json = orr_json_create("orrery-evaluate-1");
    cJSON_AddStringToObject(json, "checkpoint", options->checkpoint);
    cJSON_AddStringToObject(json, "stage", both->stage);
    cJSON_AddStringToObject(json, "unit", unit_of(both));
    if (!both->is_text)
        cJSON_AddStringToObject(json, "split", both->split);
    cJSON_AddItemToObject(json, "as_trained", column_json(both, &both->column[0]));
    if (both->changed)
        cJSON_AddItemToObject(json, "changed", column_json(both, &both->column[1]));
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

/* ----------------------------------------------------------------------------------- table */

/* Counts are printed as integers, NaN as "-". */
static void print_row(const struct both *both, const char *name, double trained, double changed)
{
    const double value[2] = {trained, changed};
    printf("| %s |", name);
    for (int c = 0; c < (both->changed ? 2 : 1); c++)
        if (isfinite(value[c]))
            printf(value[c] == rint(value[c]) ? " %.0f |" : " %.5g |", value[c]);
        else
            printf(" - |");
    printf("\n");
}

/* The error at a horizon; NaN where the column does not have it. */
static double at_horizon(const struct gpt_next_state *r, int horizon, bool persistence)
{
    for (int k = 0; k < r->horizons; k++)
        if (r->horizon[k] == horizon)
            return persistence ? r->rollout_persistence[k] : r->rollout[k];
    return NAN;
}

static void print_horizon(const struct both *both, int horizon)
{
    const struct gpt_next_state *a = &both->column[0].model.next, *b = &both->column[1].model.next;
    char name[64];
    snprintf(name, sizeof name, "rollout, %d positions", horizon);
    print_row(both, name, at_horizon(a, horizon, false), at_horizon(b, horizon, false));
    snprintf(name, sizeof name, "... persistence");
    print_row(both, name, at_horizon(a, horizon, true), at_horizon(b, horizon, true));
}

static void print_head(const struct both *both)
{
    printf("| %s%s | as trained |%s\n|---|---|%s\n", both->is_text ? "held-out text" : "errors in ",
           both->is_text ? "" : unit_of(both), both->changed ? " changed |" : "",
           both->changed ? "---|" : "");
    printf("| attention | %s |", both->column[0].text);
    if (both->changed)
        printf(" %s |", both->column[1].text);
    printf("\n");
}

static void print_text(const struct both *both)
{
    const struct gpt_text_result *a = &both->column[0].model.text, *b = &both->column[1].model.text;
    print_row(both, "positions", a->positions, b->positions);
    print_row(both, "sequences", a->sequences, b->sequences);
    print_row(both, "loss, nats", a->loss, b->loss);
    print_row(both, "... random weights", both->column[0].baseline.text.loss,
              both->column[1].baseline.text.loss);
    print_row(both, "... beyond the trained positions", a->late_loss, b->late_loss);
    print_row(both, "perplexity", a->perplexity, b->perplexity);
    print_row(both, "bits per token", a->bits_per_token, b->bits_per_token);
}

static void print_next_state(const struct both *both)
{
    const struct gpt_next_state *a = &both->column[0].model.next, *b = &both->column[1].model.next;
    char name[2 * ORR_NAME];
    print_row(both, "positions", both->column[0].positions, both->column[1].positions);
    snprintf(name, sizeof name, "sequences of %s", both->split);
    print_row(both, name, a->sequences, b->sequences);
    print_row(both, "loss", a->loss, b->loss);
    print_row(both, "teacher-forced error", a->teacher_forced, b->teacher_forced);
    print_row(both, "... orbits fitted by Newton's law", a->orbit_fit, b->orbit_fit);
    print_row(both, "... +- (95%, over sequences)", a->orbit_fit_half, b->orbit_fit_half);
    print_row(both, "... random weights", both->column[0].baseline.next.teacher_forced,
              both->column[1].baseline.next.teacher_forced);
    print_row(both, "... persistence", a->persistence, b->persistence);
    print_row(both, "... sequence mean", a->sequence_mean, b->sequence_mean);
    for (int k = 0; k < a->horizons; k++)
        print_horizon(both, a->horizon[k]);
    for (int k = 0; k < b->horizons && both->changed; k++)
        if (isnan(at_horizon(a, b->horizon[k], true)))
            print_horizon(both, b->horizon[k]);
}

/* Orbits come from the final split, as in evaluation.json. */
int probe_evaluate(const struct probe_options *options)
{
    struct both both = {.changed = probe_is_changed(options),
                        .is_text = orr_settings_is_text(options->settings),
                        .is_tracks = *options->settings->tracks != '\0'};
    struct probe_options o = *options;
    o.final = !both.is_text;
    TRY(evaluate_column(&o, false, &both));
    if (both.changed)
        TRY(evaluate_column(&o, true, &both));
    TRY(write_json(options, &both));
    orr_note(options->quiet, "evaluate: %s/evaluate.json", both.folder);
    if (options->no_table)
        return 0;
    print_head(&both);
    (both.is_text ? print_text : print_next_state)(&both);
    return 0;
}
