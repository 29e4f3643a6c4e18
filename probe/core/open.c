/* open.c - opens a checkpoint, as trained or with changed attention, and held-out sequences for
 * it. */
#include "answers.h"

#include <string.h>

/* The held-out split for each stage of training. */
static enum sim_split split_of(const struct orr_settings *settings, const char *stage, bool final)
{
    if (final && !strncmp(stage, "pretrain", 8))
        return gpt_final_split(settings, !strcmp(stage, "pretrain_planets"));
    if (!strcmp(stage, "pretrain_planets"))
        return SIM_SPLIT_PLANETS_VAL;
    if (!strcmp(stage, "magnitude"))
        return SIM_SPLIT_TWO_BODY_VAL;
    if (!strcmp(stage, "vector"))
        return settings->planets.enabled ? SIM_SPLIT_PLANETS_SOLAR
                                         : SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY;
    return SIM_SPLIT_VAL;
}

static int check_stage(const char *checkpoint, const char *stage)
{
    static const char *const known[] = {"pretrain", "pretrain_planets", "magnitude", "vector"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(stage, known[i]))
            return 0;
    return ORR_FAIL(ORR_EINVAL,
                    "%s: metadata \"stage\": expected pretrain, pretrain_planets, magnitude or "
                    "vector, found \"%s\": no data to feed this model",
                    checkpoint, stage);
}

/* Checks that the text has the model's kind of tokens. */
static int check_text(const struct probe *probe, const char *checkpoint)
{
    const struct orr_settings *p = &probe->settings;
    struct gpt_config of_text;
    const int rc = gpt_config_from_preset(&of_text, p, "softmax", p->text.positions);
    if (rc || of_text.vocab == probe->trained.vocab)
        return rc;
    return ORR_FAIL(ORR_EINVAL, "%s: a vocabulary of %d, the text of preset %s has %d", checkpoint,
                    probe->trained.vocab, p->name, of_text.vocab);
}

/* Checks that the preset makes the kind of rows that the model accepts. */
static int check_input(const struct probe *probe, const char *checkpoint)
{
    const struct gpt_config *c = &probe->trained;
    const struct orr_settings *p = &probe->settings;
    const bool tokens = p->orbits.output == ORR_OUTPUT_TOKENS, text = orr_settings_is_text(p);
    if (text != (c->input == GPT_INPUT_TEXT))
        return ORR_FAIL(ORR_EINVAL, "%s: a model of %s, preset %s is of %s; give its --preset",
                        checkpoint, text ? "orbits" : "text", p->name, text ? "text" : "orbits");
    if (text)
        return check_text(probe, checkpoint);
    if (tokens != (c->input == GPT_INPUT_TOKENS))
        return ORR_FAIL(ORR_EINVAL, "%s: a model of %s, preset %s makes %s; give its --preset",
                        checkpoint, tokens ? "coordinates" : "tokens", p->name,
                        tokens ? "tokens" : "coordinates");
    if (tokens && c->vocab != p->orbits.bins + 3)
        return ORR_FAIL(ORR_EINVAL, "%s: a model of %d bins, preset %s makes %d; give its --preset",
                        checkpoint, c->vocab - 3, p->name, p->orbits.bins);
    return 0;
}

/* A model of another program: the rows that it is given are those of the settings' models. */
static int describe_answers(struct probe *probe, const struct probe_options *options)
{
    const struct orr_settings *p = &probe->settings;
    struct gpt_config *c = &probe->trained;
    const char *name = options->answers ? options->answers->name : "";
    if (orr_settings_is_text(p) || p->orbits.output != ORR_OUTPUT_CONTINUOUS)
        return ORR_FAIL(ORR_EINVAL,
                        "preset %s: models of other programs are asked about coordinates "
                        "(orbits.output=continuous), not about %s",
                        p->name, orr_settings_is_text(p) ? "text" : "tokens");
    if (options->planet_runs && !orr_has_pretrain(p, true))
        return ORR_FAIL(ORR_EINVAL,
                        "preset %s has no models of planet runs (planets.enabled, "
                        "pretrain_planets.steps)",
                        p->name);
    TRY(gpt_config_from_preset(
        c, p, "softmax",
        sim_split_positions(p, options->planet_runs ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN)));
    snprintf(c->attention, sizeof c->attention, "%s", name);
    snprintf(probe->source, sizeof probe->source, "%s", name);
    strcpy(probe->stage, options->planet_runs ? "pretrain_planets" : "pretrain");
    probe->model.config = *c;
    return 0;
}

static int load_model(struct probe *probe, const struct probe_options *options)
{
    const char *path = options->checkpoint;
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: no such checkpoint; orrery pretrain makes them", path);
    int rc = gpt_load(&probe->model, path, options->ops, NULL);
    rc = rc ? rc : gpt_checkpoint_metadata(path, "stage", probe->stage, sizeof probe->stage);
    rc = rc ? rc : gpt_checkpoint_metadata(path, "source", probe->source, sizeof probe->source);
    rc = rc ? rc : check_stage(path, probe->stage);
    if (rc)
        return rc;
    probe->trained = probe->model.config;
    if (!*probe->source)
        strcpy(probe->source, probe->trained.attention);
    gpt_swap_average(&probe->model); /* the averaged weights, which evaluations use */
    return check_input(probe, path);
}

/* The number of sequences in the stage's own evaluation. */
static int default_sequences(const struct probe *probe)
{
    const struct orr_settings *p = &probe->settings;
    if (orr_settings_is_text(p)) { /* an equal amount of text, whatever the length */
        const long tokens = (long)p->pretrain.eval_sequences * probe->trained.context;
        return tokens > probe->T ? (int)(tokens / probe->T) : 1;
    }
    const uint64_t count = sim_split_count(p, probe->split);
    const bool planets =
        probe->split == SIM_SPLIT_PLANETS_VAL || probe->split == SIM_SPLIT_PLANETS_TEST;
    const int asked = planets ? p->pretrain_planets.eval_sequences : p->pretrain.eval_sequences;
    return (uint64_t)asked < count ? asked : (int)count;
}

/* Enlarges the split to at least `count` sequences, where its size may be changed. */
static void set_count(struct orr_settings *settings, enum sim_split split, long count)
{
    if (split == SIM_SPLIT_VAL && settings->orbits.val < count)
        settings->orbits.val = count;
    else if (split == SIM_SPLIT_TEST && settings->orbits.test < count)
        settings->orbits.test = count;
    else if (split == SIM_SPLIT_TWO_BODY_VAL && settings->orbits.two_body_val < count)
        settings->orbits.two_body_val = count;
    else if (split == SIM_SPLIT_PLANETS_VAL && settings->planets.val < count)
        settings->planets.val = count;
    else if (split == SIM_SPLIT_PLANETS_TEST && settings->planets.test < count)
        settings->planets.test = count;
}

/* Opens held-out text in sequences of T + 1 tokens. */
static int open_text(struct probe *probe, const struct probe_options *options, int sequences)
{
    if (*options->orbits)
        return ORR_FAIL(ORR_EUSAGE, "--orbits: preset %s is of text", probe->settings.name);
    probe->settings.text.positions = probe->T + 1;
    probe->from_files = true;
    const int rc =
        gpt_source_open(&probe->data, &probe->settings, NULL, probe->split, &probe->model.config);
    if (rc)
        return rc;
    const long count = gpt_source_count(probe->data);
    probe->sequences = sequences < count ? sequences : (int)count;
    return count > 0 ? 0
                     : ORR_FAIL(ORR_EINVAL, "%s: preset %s holds no text out; give text.val",
                                options->checkpoint, probe->settings.name);
}

/* Opens the run's files or generates the sequences. The files hold the preset's own sequences, so
 * the choice affects only the run time. */
static int open_data(struct probe *probe, const struct probe_options *options, int sequences)
{
    struct orr_settings *p = &probe->settings;
    const bool longer = probe->T + 1 > sim_split_positions(p, probe->split);
    const bool enough = sim_split_count(p, probe->split) >= (uint64_t)sequences;
    const bool tracks = *p->tracks != '\0'; /* which cannot be made on the fly */
    char dir[4096] = "";
    int rc = *options->orbits ? orr_path(dir, "%s", options->orbits)
             : tracks         ? orr_path(dir, "%s", p->tracks)
             : *options->run  ? orr_path(dir, "%s/orbits", options->run)
                              : 0;
    if (!rc && tracks && longer)
        rc = ORR_FAIL(ORR_EUSAGE, "--length: %s holds tracks of %d positions, %d are needed", dir,
                      sim_split_positions(p, probe->split), probe->T + 1);
    else if (!rc && *options->orbits && !tracks && (longer || !enough))
        rc = ORR_FAIL(ORR_EUSAGE,
                      "--orbits: %s has %llu sequences of %d positions, %d of %d are needed; "
                      "without it they are made on the fly",
                      dir, (unsigned long long)sim_split_count(p, probe->split),
                      sim_split_positions(p, probe->split), sequences, probe->T + 1);
    else if (!rc && (*options->orbits || tracks))
        rc = sim_dataset_verify(p, dir, &probe->split, 1, false, options->quiet);
    if (rc)
        return rc;
    probe->from_files = *options->orbits || tracks ||
                        (*dir && !longer && enough && sim_dataset_has(p, dir, probe->split));
    if (longer && probe->split >= SIM_SPLIT_PLANETS_TRAIN)
        p->planets.steps = (probe->T + 1) / 2;
    else if (longer)
        p->orbits.positions = probe->T + 1;
    if (!probe->from_files)
        set_count(p, probe->split, sequences);
    rc = orr_settings_check(p);
    if (!rc)
        rc = gpt_source_open(&probe->data, p, probe->from_files ? dir : NULL, probe->split,
                             &probe->model.config);
    if (rc)
        return rc;
    const long count = gpt_source_count(probe->data);
    probe->sequences = sequences < count ? sequences : (int)count;
    return count > 0 ? 0
                     : ORR_FAIL(ORR_EINVAL, "%s: preset %s has no sequences of %s",
                                options->checkpoint, p->name, sim_split_name(probe->split));
}

int probe_open(struct probe *probe, const struct probe_options *options, bool changed,
               int sequences)
{
    memset(probe, 0, sizeof *probe);
    probe->settings = *options->settings;
    int rc = options->no_model ? describe_answers(probe, options) : load_model(probe, options);
    if (rc)
        return rc;
    probe->split = split_of(&probe->settings, probe->stage, options->final);
    probe->T = changed && options->length ? options->length : probe->trained.context;
    if (changed && !options->no_model) {
        struct gpt_attention_override change = options->change;
        change.context = probe->T == probe->trained.context ? 0 : probe->T;
        rc = gpt_override_attention(&probe->model, &change);
    }
    if (!rc && !sequences)
        sequences = default_sequences(probe);
    if (!rc)
        rc = (orr_settings_is_text(&probe->settings) ? open_text : open_data)(probe, options,
                                                                              sequences);
    return rc;
}

int probe_check_lengths(const struct probe *probe, const struct probe_options *options,
                        const char *name, const char *range)
{
    if (options->length || options->change.ntk)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: probe %s takes lengths of %s the trained one, with and without NTK, "
                        "by itself",
                        options->length ? "--length" : "--ntk", name, range);
    if (probe->model.config.positions == ORR_POSITIONS_LEARNED)
        return ORR_FAIL(ORR_EINVAL,
                        "probe %s: %s: learned positions end at %d; longer sequences need a model "
                        "with rope or no positions",
                        name, options->checkpoint, probe->model.config.context);
    return 0;
}

void probe_close(struct probe *probe)
{
    gpt_source_close(probe->data);
    gpt_free(&probe->model);
    memset(probe, 0, sizeof *probe);
}

int probe_baseline(const struct probe *probe, const struct probe_options *options,
                   struct gpt_model *baseline)
{
    TRY(gpt_create(baseline, &probe->model.config, options->ops, probe->settings.seed));
    /* a variant with re-weighting may have no name of its own */
    baseline->variant = probe->model.variant;
    return 0;
}

int probe_copy(const struct probe *probe, const struct probe_options *options, bool random,
               struct gpt_model *model)
{
    const struct gpt_model *from = &probe->model;
    TRY(probe_baseline(probe, options, model));
    const int rc =
        random ? 0 : from->ops->copy(model->param, from->param, from->total * sizeof(real));
    if (rc)
        gpt_free(model);
    return rc;
}

int probe_fill(struct probe *probe, uint64_t i, struct gpt_batch *batch)
{
    const struct gpt_config *c = &probe->model.config;
    const uint16_t *tokens;
    const float *coords;
    int bodies;
    const int rc = gpt_source_sequence(probe->data, i, &tokens, &coords, &bodies);
    if (rc)
        return rc;
    const size_t T = (size_t)batch->T, F = (size_t)gpt_config_features(c);
    const size_t axes = (size_t)gpt_config_axes(c);
    if (tokens)
        memcpy(batch->tokens, tokens, (size_t)gpt_config_channels(c) * T * sizeof *tokens);
    for (size_t t = 0; t < T && !tokens; t++)
        gpt_row_features(c, coords + axes * t, t == 0, batch->features + t * F);
    return 0;
}

int probe_folder(const struct probe *probe, const struct probe_options *options, char folder[4096])
{
    if (*options->out)
        return orr_path(folder, "%s", options->out);
    if (options->answers)
        return orr_path(folder, "%s/probe", options->answers->folder);
    const bool first = !strcmp(probe->stage, "pretrain");
    if (*options->run)
        return orr_path(folder, "%s/%s/probe%s%s", options->run, probe->source, first ? "" : "_",
                        first ? "" : probe->stage);
    const char *slash = strrchr(options->checkpoint, '/');
    return orr_path(folder, "%.*sprobe", slash ? (int)(slash - options->checkpoint) + 1 : 0,
                    options->checkpoint);
}

int probe_lock(const char *folder, int *lock)
{
    enum { WAIT_S = 600 }; /* seconds; the waiting probe has already measured */
    return orr_lock(folder, "writing", WAIT_S, lock);
}

void probe_describe(const struct gpt_model *model, char text[PROBE_TEXT])
{
    const struct gpt_config *c = &model->config;
    const struct k_attention *named = k_attention_find(c->attention);
    snprintf(text, PROBE_TEXT, "%s", c->attention);
    if (named && named->reweight != model->variant.reweight)
        orr_append(text, PROBE_TEXT, ", re-weighting %s", model->variant.reweight ? "on" : "off");
    if (model->variant.reweight)
        orr_append(text, PROBE_TEXT, ", p = %g", c->power);
    if (c->attention_window > 0)
        orr_append(text, PROBE_TEXT, ", window %d", c->attention_window);
}
