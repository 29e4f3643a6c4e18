/* text.c - bin/probe evaluate for models of text: held-out loss, as trained and changed. */
#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

struct column {
    char text[PROBE_TEXT];
    double rope_base;                      /* 0: no rotary positions */
    struct gpt_text_result result, random; /* of the model, and of random weights */
};

static int evaluate_floor(struct probe *probe, const struct probe_options *options,
                          struct gpt_text_result *result)
{
    struct gpt_model floor;
    TRY(probe_floor(probe, options, &floor));
    const int rc =
        gpt_evaluate_text(&floor, probe->data, probe->sequences, probe->trained.context, result);
    gpt_free(&floor);
    return rc;
}

static int evaluate_column(const struct probe_options *options, bool changed, struct column *column,
                           char folder[4096])
{
    struct probe probe;
    int rc = probe_open(&probe, options, changed, options->sequences);
    rc = rc ? rc : probe_folder(&probe, options, folder);
    if (!rc) {
        const struct gpt_config *c = &probe.model.config;
        probe_describe(&probe.model, column->text);
        column->rope_base = c->positions == ORR_POSITIONS_ROPE ? c->rope_base : 0;
        rc = gpt_evaluate_text(&probe.model, probe.data, probe.sequences, probe.trained.context,
                               &column->result);
        rc = rc ? rc : evaluate_floor(&probe, options, &column->random);
    }
    probe_close(&probe);
    return rc;
}

static cJSON *column_json(const struct column *column)
{
    const struct gpt_text_result *r = &column->result;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "attention", column->text);
    cJSON_AddNumberToObject(json, "positions", r->positions);
    if (column->rope_base > 0)
        cJSON_AddNumberToObject(json, "rope_base", column->rope_base);
    cJSON_AddNumberToObject(json, "sequences", r->sequences);
    cJSON_AddNumberToObject(json, "loss", r->loss);
    cJSON_AddNumberToObject(json, "loss_random_weights", column->random.loss);
    cJSON_AddNumberToObject(json, "perplexity", r->perplexity);
    cJSON_AddNumberToObject(json, "bits_per_token", r->bits_per_token);
    if (isfinite(r->late_loss))
        cJSON_AddNumberToObject(json, "loss_beyond_training", r->late_loss);
    return json;
}

static int write_json(const struct probe_options *options, const struct column *column,
                      bool changed, const char *folder)
{
    char path[4096];
    int rc = orr_mkdir(folder);
    rc = rc ? rc : orr_path(path, "%s/evaluate.json", folder);
    if (rc)
        return rc;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "orrery-evaluate-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "checkpoint", options->checkpoint);
    cJSON_AddStringToObject(json, "stage", "pretrain");
    cJSON_AddStringToObject(json, "unit", "nats");
    cJSON_AddItemToObject(json, "as_trained", column_json(&column[0]));
    if (changed)
        cJSON_AddItemToObject(json, "changed", column_json(&column[1]));
    rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

void probe_print_row(const char *name, int columns, const double value[2])
{
    printf("| %s |", name);
    for (int c = 0; c < columns; c++)
        if (isfinite(value[c]))
            printf(value[c] == rint(value[c]) ? " %.0f |" : " %.5g |", value[c]);
        else
            printf(" - |");
    printf("\n");
}

static void print_table(const struct column *column, bool changed)
{
    const struct gpt_text_result *a = &column[0].result, *b = &column[1].result;
    const int columns = changed ? 2 : 1;
    printf("| held-out text | as trained |%s\n|---|---|%s\n", changed ? " changed |" : "",
           changed ? "---|" : "");
    printf("| attention | %s |", column[0].text);
    if (changed)
        printf(" %s |", column[1].text);
    printf("\n");
    probe_print_row("positions", columns, (double[]){a->positions, b->positions});
    probe_print_row("sequences", columns, (double[]){a->sequences, b->sequences});
    probe_print_row("loss, nats", columns, (double[]){a->loss, b->loss});
    probe_print_row("... random weights", columns,
                    (double[]){column[0].random.loss, column[1].random.loss});
    probe_print_row("... beyond the trained positions", columns,
                    (double[]){a->late_loss, b->late_loss});
    probe_print_row("perplexity", columns, (double[]){a->perplexity, b->perplexity});
    probe_print_row("bits per token", columns, (double[]){a->bits_per_token, b->bits_per_token});
}

int probe_evaluate_text(const struct probe_options *options)
{
    struct column column[2] = {0};
    char folder[4096];
    const bool changed = probe_is_changed(options);
    int rc = evaluate_column(options, false, &column[0], folder);
    if (!rc && changed)
        rc = evaluate_column(options, true, &column[1], folder);
    rc = rc ? rc : write_json(options, column, changed, folder);
    if (!rc)
        print_table(column, changed);
    if (!rc)
        orr_note(options->quiet, "evaluate: %s/evaluate.json", folder);
    return rc;
}
