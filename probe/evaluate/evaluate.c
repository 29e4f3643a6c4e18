/* evaluate.c - bin/probe evaluate: next-state metrics, as trained and changed. */
#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

struct column {
    char text[PROBE_TEXT];
    int positions;
    double rope_base; /* 0: no rotary positions */
    struct gpt_next_state result;
    double random; /* teacher-forced error of random weights */
};

struct both {
    struct column column[2]; /* as trained, changed */
    bool changed, planets;
    char folder[4096], stage[ORR_NAME], split[ORR_NAME];
};

bool probe_is_changed(const struct probe_options *o)
{
    const struct gpt_attention_override *c = &o->change;
    return c->attention || c->reweight != GPT_REWEIGHT_AS_TRAINED || c->p > 0 || c->set_window ||
           c->ntk || o->length > 0;
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

static int evaluate_floor(struct probe *probe, const struct probe_options *options, double *error)
{
    struct gpt_model floor;
    struct gpt_next_state result;
    TRY(probe_floor(probe, options, &floor));
    const int rc = gpt_evaluate_next_state(&floor, probe->data, probe->sequences,
                                           probe->preset.orbits.extent_au, &result);
    *error = result.teacher_forced;
    gpt_free(&floor);
    return rc;
}

static int evaluate_column(const struct probe_options *options, bool changed, struct both *both)
{
    struct probe probe;
    struct column *column = &both->column[changed];
    int rc = probe_open(&probe, options, changed, options->sequences);
    if (!rc && strncmp(probe.stage, "pretrain", 8))
        rc = ORR_FAIL(ORR_EINVAL,
                      "%s: a model of stage %s does not predict the next state; expected one of "
                      "pretrain or pretrain_planets",
                      options->checkpoint, probe.stage);
    if (!rc) {
        both->planets = probe.split >= SIM_SPLIT_PLANETS_TRAIN;
        snprintf(both->stage, sizeof both->stage, "%s", probe.stage);
        snprintf(both->split, sizeof both->split, "%s", sim_split_name(probe.split));
        rc = probe_folder(&probe, options, both->folder);
    }
    if (!rc) {
        const struct gpt_config *c = &probe.model.config;
        probe_describe(&probe.model, column->text);
        column->positions = probe.T;
        column->rope_base = c->positions == ORR_POSITIONS_ROPE ? c->rope_base : 0;
        rc = gpt_evaluate_next_state(&probe.model, probe.data, probe.sequences,
                                     probe.preset.orbits.extent_au, &column->result);
        if (!rc)
            rc = gpt_orbit_ceiling(probe.data, &probe.preset, both->planets, probe.T + 1, 0,
                                   &column->result);
        rc = rc ? rc : evaluate_floor(&probe, options, &column->random);
    }
    probe_close(&probe);
    return rc;
}

/* ------------------------------------------------------------------------------------ JSON */

static cJSON *column_json(const struct column *column)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "attention", column->text);
    cJSON_AddNumberToObject(json, "positions", column->positions);
    if (column->rope_base > 0)
        cJSON_AddNumberToObject(json, "rope_base", column->rope_base);
    gpt_next_state_add(json, &column->result);
    cJSON_AddNumberToObject(json, "orbit_fit", column->result.orbit_fit);
    cJSON_AddNumberToObject(json, "orbit_fit_half", column->result.orbit_fit_half);
    cJSON_AddNumberToObject(json, "orbit_fit_sequences", column->result.orbit_fit_sequences);
    cJSON_AddNumberToObject(json, "random_weights", column->random);
    return json;
}

static const char *unit_of(const struct both *both)
{
    return both->planets ? "separation at step 0" : "AU";
}

static int write_json(const struct probe_options *options, const struct both *both)
{
    char path[4096];
    int rc = orr_mkdir(both->folder);
    rc = rc ? rc : orr_path(path, "%s/evaluate.json", both->folder);
    if (rc)
        return rc;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "orrery-evaluate-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "checkpoint", options->checkpoint);
    cJSON_AddStringToObject(json, "stage", both->stage);
    cJSON_AddStringToObject(json, "unit", unit_of(both));
    cJSON_AddStringToObject(json, "split", both->split);
    cJSON_AddItemToObject(json, "as_trained", column_json(&both->column[0]));
    if (both->changed)
        cJSON_AddItemToObject(json, "changed", column_json(&both->column[1]));
    rc = orr_sum_add(json) ? orr_json_write(path, json)
                           : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    cJSON_Delete(json);
    return rc;
}

/* ----------------------------------------------------------------------------------- table */

static void print_row(const struct both *both, const char *name, double trained, double changed)
{
    probe_print_row(name, both->changed ? 2 : 1, (double[]){trained, changed});
}

/* NaN where the column has no such horizon. */
static double at_horizon(const struct gpt_next_state *r, int horizon, bool persistence)
{
    for (int k = 0; k < r->horizons; k++)
        if (r->horizon[k] == horizon)
            return persistence ? r->rollout_persistence[k] : r->rollout[k];
    return NAN;
}

static void print_horizon(const struct both *both, int horizon)
{
    const struct gpt_next_state *a = &both->column[0].result, *b = &both->column[1].result;
    char name[64];
    snprintf(name, sizeof name, "rollout, %d positions", horizon);
    print_row(both, name, at_horizon(a, horizon, false), at_horizon(b, horizon, false));
    snprintf(name, sizeof name, "... persistence");
    print_row(both, name, at_horizon(a, horizon, true), at_horizon(b, horizon, true));
}

static void print_table(const struct both *both)
{
    const struct gpt_next_state *a = &both->column[0].result, *b = &both->column[1].result;
    char name[2 * ORR_NAME];
    printf("| errors in %s | as trained |%s\n|---|---|%s\n", unit_of(both),
           both->changed ? " changed |" : "", both->changed ? "---|" : "");
    printf("| attention | %s |", both->column[0].text);
    if (both->changed)
        printf(" %s |", both->column[1].text);
    printf("\n");
    print_row(both, "positions", both->column[0].positions, both->column[1].positions);
    snprintf(name, sizeof name, "sequences of %s", both->split);
    print_row(both, name, a->sequences, b->sequences);
    print_row(both, "loss", a->loss, b->loss);
    print_row(both, "teacher-forced error", a->teacher_forced, b->teacher_forced);
    print_row(both, "... orbits fitted by Newton's law", a->orbit_fit, b->orbit_fit);
    print_row(both, "... +- (95%, over sequences)", a->orbit_fit_half, b->orbit_fit_half);
    print_row(both, "... random weights", both->column[0].random, both->column[1].random);
    print_row(both, "... persistence", a->persistence, b->persistence);
    print_row(both, "... sequence mean", a->sequence_mean, b->sequence_mean);
    for (int k = 0; k < a->horizons; k++)
        print_horizon(both, a->horizon[k]);
    for (int k = 0; k < b->horizons && both->changed; k++)
        if (isnan(at_horizon(a, b->horizon[k], true)))
            print_horizon(both, b->horizon[k]);
}

int probe_evaluate(const struct probe_options *options)
{
    struct both both = {.changed = probe_is_changed(options)};
    struct probe_options final = *options; /* as evaluation.json */
    if (orr_preset_is_text(options->preset))
        return probe_evaluate_text(options);
    final.final = true;
    int rc = evaluate_column(&final, false, &both);
    if (!rc && both.changed)
        rc = evaluate_column(&final, true, &both);
    rc = rc ? rc : write_json(options, &both);
    if (!rc)
        print_table(&both);
    if (!rc)
        orr_note(options->quiet, "evaluate: %s/evaluate.json", both.folder);
    return rc;
}
