/* attention.c - bin/probe attention: statistics of every layer and head, and maps. */
#include "probe/core/arena.h"
#include "probe/probe.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "kernels/attention_math.h"

enum { DEFAULT_SEQUENCES = 8 };

struct probe_run {
    const struct probe_options *options;
    struct probe_arena arena;
    struct probe probe;
    struct gpt_batch batch;      /* B = 1 */
    struct gpt_model baseline;   /* random weights */
    struct probe_sums *sums[2];  /* of the model and of the baseline, (layers, heads) each */
    struct probe_means *mean[2]; /* of the model and of the baseline, (layers, heads) each */
    char folder[4096], text[PROBE_TEXT];
};

/* The columns of attention.csv and the keys of attention.json. */
static const struct column {
    const char *name;
    size_t offset;
} columns[] = {
    {"entropy_nats", offsetof(struct probe_means, entropy_nats)},
    {"entropy_relative", offsetof(struct probe_means, entropy_relative)},
    {"sink", offsetof(struct probe_means, sink)},
    {"sink_uniform", offsetof(struct probe_means, sink_uniform)},
    {"zeros", offsetof(struct probe_means, zeros)},
    {"degenerate", offsetof(struct probe_means, degenerate)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double value_of(const struct probe_means *mean, size_t column)
{
    return *(const double *)(const void *)((const char *)mean + columns[column].offset);
}

static int measure_sequence(struct probe_run *run)
{
    struct gpt_model *const model[2] = {&run->probe.model, &run->baseline};
    for (int f = 0; f < 2; f++) {
        TRY(gpt_forward_body(model[f], &run->batch));
        TRY(probe_weights(model[f], run->probe.T, run->sums[f], -1, NULL));
    }
    return 0;
}

static int measure_weights(struct probe_run *run)
{
    struct probe *probe = &run->probe;
    struct orr_progress progress;
    int rc = 0;
    orr_progress_init(&progress, "attention", (uint64_t)probe->sequences, run->options->quiet);
    for (int s = 0; s < probe->sequences && !rc; s++) {
        rc = probe_fill(probe, (uint64_t)s, &run->batch);
        rc = rc ? rc : measure_sequence(run);
        if (!rc && orr_signal_seen())
            rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
        if (!rc)
            orr_progress_set(&progress, (uint64_t)s + 1, NULL);
    }
    const int tasks = probe->model.config.layers * probe->model.config.heads;
    for (int k = 0; k < 2 * tasks && !rc; k++)
        probe_mean(&run->sums[k % 2][k / 2], &run->mean[k % 2][k / 2]);
    if (!rc)
        orr_progress_end(&progress, NULL);
    return rc;
}

/* ---------------------------------------------------------------------------------- tables */

static int write_csv(const struct probe_run *run)
{
    const struct gpt_config *c = &run->probe.model.config;
    char path[4096];
    struct orr_file file = {0};
    TRY(orr_path(path, "%s/attention.csv", run->folder));
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "layer,head");
    for (size_t k = 0; k < 2 * COLUMNS; k++)
        orr_file_printf(&file, ",%s%s", k < COLUMNS ? "" : "random_", columns[k % COLUMNS].name);
    for (int i = 0; i < c->layers * c->heads; i++) {
        orr_file_printf(&file, "\n%d,%d", i / c->heads, i % c->heads);
        for (size_t k = 0; k < 2 * COLUMNS; k++)
            orr_file_printf(&file, ",%.9g", value_of(&run->mean[k / COLUMNS][i], k % COLUMNS));
    }
    orr_file_printf(&file, "\n");
    const int rc = orr_file_commit_changes(&file);
    orr_file_close(&file);
    return rc;
}

/* Adds the means of the model and, under "random_weights", of the baseline. */
static void add_means(cJSON *to, const struct probe_means mean[2])
{
    cJSON *const into[2] = {to, cJSON_AddObjectToObject(to, "random_weights")};
    for (size_t k = 0; k < 2 * COLUMNS; k++)
        orr_json_add_exact(into[k / COLUMNS], columns[k % COLUMNS].name,
                           value_of(&mean[k / COLUMNS], k % COLUMNS));
}

static cJSON *json_settings(const struct probe_run *run)
{
    const struct probe *probe = &run->probe;
    const struct gpt_config *c = &probe->model.config;
    cJSON *json = orr_json_create("orrery-attention-1");
    cJSON_AddStringToObject(json, "checkpoint", run->options->checkpoint);
    cJSON_AddStringToObject(json, "stage", probe->stage);
    cJSON_AddStringToObject(json, "attention", c->attention);
    cJSON_AddStringToObject(json, "trained_attention", probe->trained.attention);
    cJSON_AddBoolToObject(json, "reweighted", probe->model.variant.reweight);
    if (probe->model.variant.reweight)
        cJSON_AddNumberToObject(json, "p", c->power);
    else
        cJSON_AddNullToObject(json, "p");
    cJSON_AddNumberToObject(json, "window", c->attention_window);
    if (c->positions == ORR_POSITIONS_ROPE)
        cJSON_AddNumberToObject(json, "rope_base", c->rope_base);
    cJSON_AddStringToObject(json, "preset", probe->settings.name);
    orr_json_add_u64(json, "seed", probe->settings.seed);
    cJSON_AddStringToObject(json, "data", sim_split_name(probe->split));
    cJSON_AddStringToObject(json, "data_from", probe->from_files ? "files" : "seed");
    cJSON_AddNumberToObject(json, "sequences", probe->sequences);
    cJSON_AddNumberToObject(json, "positions", probe->T);
    cJSON_AddNumberToObject(json, "trained_positions", probe->trained.context);
    return json;
}

/* The means of a layer are over the rows of all its heads. */
static int write_json(const struct probe_run *run)
{
    const struct gpt_config *c = &run->probe.model.config;
    char path[4096];
    TRY(orr_path(path, "%s/attention.json", run->folder));
    cJSON *json = json_settings(run), *layers = cJSON_AddArrayToObject(json, "layers");
    for (int l = 0; l < c->layers; l++) {
        struct probe_means mean[2];
        for (int f = 0; f < 2; f++) {
            struct probe_sums all = {0};
            for (int h = 0; h < c->heads; h++)
                probe_merge(&all, &run->sums[f][l * c->heads + h]);
            probe_mean(&all, &mean[f]);
        }
        cJSON *layer = cJSON_CreateObject();
        cJSON_AddItemToArray(layers, layer);
        cJSON_AddNumberToObject(layer, "layer", l);
        add_means(layer, mean);
        cJSON *heads = cJSON_AddArrayToObject(layer, "heads");
        for (int h = 0; h < c->heads; h++) {
            cJSON *head = cJSON_CreateObject();
            cJSON_AddItemToArray(heads, head);
            cJSON_AddNumberToObject(head, "head", h);
            const int at = l * c->heads + h;
            add_means(head, (struct probe_means[2]){run->mean[0][at], run->mean[1][at]});
        }
    }
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

/* ------------------------------------------------------------------------------------ maps */

/* Whether an attention variant has negative weights. */
static bool has_sign(const struct k_attention *v)
{
    return k_math_signed(v->phi) || v->transform != K_TRANSFORM_NONE;
}

/* Writes attention_layer<l>[_head<h>].npy and .png for the sequence in the model's activations. */
static int write_map(struct probe_run *run, int layer, float *map)
{
    const struct probe_options *o = run->options;
    const struct gpt_config *c = &run->probe.model.config;
    const size_t T = (size_t)run->probe.T;
    const bool one = o->head >= 0;
    const int first = one ? o->head : 0, count = one ? 1 : c->heads;
    const size_t shape[] = {(size_t)count, T, T};
    struct probe_sums *unused =
        probe_take(&run->arena, (size_t)c->layers * (size_t)c->heads, sizeof *unused);
    char name[ORR_NAME], path[4096];
    TRY(run->arena.failed);
    TRY(probe_weights(&run->probe.model, run->probe.T, unused, layer, map));
    snprintf(name, sizeof name, one ? "attention_layer%d_head%d" : "attention_layer%d", layer,
             first);
    TRY(orr_path(path, "%s/%s.npy", run->folder, name));
    TRY(orr_npy_write(path, ORR_F32, 3, shape, map + (size_t)first * T * T, NULL));
    struct probe_page page = {.layer = layer,
                              .first = first,
                              .count = count,
                              .T = run->probe.T,
                              .window = c->attention_window,
                              .has_sign = has_sign(&run->probe.model.variant),
                              .map = map + (size_t)first * T * T,
                              .means = &run->mean[0][layer * c->heads + first]};
    snprintf(page.title, sizeof page.title, "Layer %d: %s", layer, run->text);
    return probe_draw(&page, run->folder, name);
}

/* Whether a name is that of a map written by write_map(), and of which layer and head. */
static bool is_map(const char *name, int *layer, int *head)
{
    static const char *const ends[] = {".npy", ".png"};
    char own[ORR_NAME];
    *head = -1;
    if (sscanf(name, "attention_layer%6d_head%6d", layer, head) < 1 || *layer < 0)
        return false;
    for (int i = 0; i < 2; i++) {
        if (*head < 0)
            snprintf(own, sizeof own, "attention_layer%d%s", *layer, ends[i]);
        else
            snprintf(own, sizeof own, "attention_layer%d_head%d%s", *layer, *head, ends[i]);
        if (!strcmp(name, own))
            return true;
    }
    return false;
}

/* Whether a name is that of a map of a layer or head that this model does not have, left by an
 * earlier probe of a larger model. */
static bool is_other(const char *name, const void *config)
{
    const struct gpt_config *c = config;
    int layer, head;
    return is_map(name, &layer, &head) && (layer >= c->layers || head >= c->heads);
}

static int write_maps(struct probe_run *run)
{
    const struct probe_options *o = run->options;
    const struct gpt_config *c = &run->probe.model.config;
    const size_t T = (size_t)run->probe.T;
    float *map = probe_take(&run->arena, (size_t)c->heads * T * T, sizeof *map);
    TRY(run->arena.failed);
    TRY(probe_fill(&run->probe, 0, &run->batch));
    TRY(gpt_forward_body(&run->probe.model, &run->batch));
    for (int l = 0; l < c->layers; l++)
        if (o->layer < 0 || o->layer == l)
            TRY(write_map(run, l, map));
    return 0;
}

/* ---------------------------------------------------------------------------------- probe */

static int check_choice(const char *option, int found, int count)
{
    if (found < count)
        return 0;
    return ORR_FAIL(ORR_EUSAGE, "%s: the model has %d, numbered 0 to %d, found %d", option, count,
                    count - 1, found);
}

static int prepare_run(struct probe_run *run)
{
    struct probe *probe = &run->probe;
    const struct gpt_config *c = &probe->model.config;
    TRY(check_choice("--layer", run->options->layer, c->layers));
    TRY(check_choice("--head", run->options->head, c->heads));
    TRY(gpt_batch_create(&run->batch, c, 1, probe->T));
    TRY(probe_folder(probe, run->options, run->folder));
    probe_describe(&probe->model, run->text);
    const size_t tasks = (size_t)c->layers * (size_t)c->heads;
    for (int f = 0; f < 2; f++) {
        run->sums[f] = probe_take(&run->arena, tasks, sizeof *run->sums[f]);
        run->mean[f] = probe_take(&run->arena, tasks, sizeof *run->mean[f]);
    }
    TRY(run->arena.failed);
    return probe_baseline(probe, run->options, &run->baseline);
}

/* Removes older files first, so that results of two probes never mix; the JSON is written last. */
static int write_files(struct probe_run *run)
{
    char path[4096];
    TRY(orr_path(path, "%s/attention.json", run->folder));
    TRY(orr_remove(path));
    TRY(orr_remove_where(run->folder, is_other, &run->probe.model.config));
    TRY(write_csv(run));
    TRY(write_maps(run));
    return write_json(run);
}

static int write_all(struct probe_run *run)
{
    int lock;
    TRY(orr_mkdir(run->folder));
    TRY(probe_lock(run->folder, &lock));
    const int rc = write_files(run);
    orr_unlock(lock);
    return rc;
}

int probe_attention(const struct probe_options *options)
{
    struct probe_run run = {.options = options};
    const int sequences = options->sequences ? options->sequences : DEFAULT_SEQUENCES;
    int rc = orr_picture_check("attention_map.gp");
    rc = rc ? rc : probe_open(&run.probe, options, true, sequences);
    rc = rc ? rc : prepare_run(&run);
    rc = rc ? rc : measure_weights(&run);
    rc = rc ? rc : write_all(&run);
    if (!rc)
        orr_note(options->quiet, "attention: %s, %d sequences of %d positions: %s", run.text,
                 run.probe.sequences, run.probe.T, run.folder);
    gpt_batch_free(&run.batch);
    gpt_free(&run.baseline);
    probe_rewind(&run.arena, 0);
    probe_close(&run.probe);
    return rc;
}
