/* source.c - sequences for next-state training: read from files, generated from (seed, index),
 * or taken from a text. */
#include "source.h"
#include "model/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gpt_source {
    const struct orr_settings *settings;
    const struct gpt_config *config;
    enum sim_split split;
    bool stream;
    long count;
    struct sim_dataset set;       /* files */
    struct sim_sequence sequence; /* streaming: one sequence, requested by index */
    struct sim_stream *ahead;     /* streaming: training draws, generated ahead by a thread */
    struct sim_stream_order order;
    gsl_rng *rng;
    struct gpt_text *text; /* text: replaces all members above */
};

int gpt_source_open(struct gpt_source **source, const struct orr_settings *settings,
                    const char *orbits_dir, enum sim_split split, const struct gpt_config *config)
{
    struct gpt_source *s = calloc(1, sizeof *s);
    if (!s)
        return ORR_FAIL(ORR_ENOMEM, "training data: out of memory");
    s->settings = settings;
    s->config = config;
    s->split = split;
    s->stream = !orbits_dir || (split == SIM_SPLIT_TRAIN && orr_settings_streams(settings));
    int rc = 0;
    if (orr_settings_is_text(settings)) {
        rc = gpt_text_open(&s->text, settings, split != SIM_SPLIT_TRAIN);
        s->count = rc ? 0 : gpt_text_sequences(s->text);
    } else if (s->stream) {
        s->count = (long)sim_split_count(settings, split);
        rc = sim_sequence_create(&s->sequence, settings, split);
    } else {
        rc = sim_dataset_open(&s->set, settings, orbits_dir, split);
        s->count = (long)s->set.n;
    }
    s->rng = orr_rng_create(settings->seed, ORR_STAGE_NOISE, 0);
    if (!rc && !s->rng)
        rc = ORR_FAIL(ORR_ENOMEM, "training data: out of memory");
    if (rc) {
        gpt_source_close(s);
        return rc;
    }
    *source = s;
    return 0;
}

void gpt_source_close(struct gpt_source *source)
{
    if (!source)
        return;
    gpt_text_close(source->text);
    sim_stream_close(source->ahead);
    if (source->stream)
        sim_sequence_free(&source->sequence);
    else
        sim_dataset_close(&source->set);
    if (source->rng)
        gsl_rng_free(source->rng);
    free(source);
}

bool gpt_source_is_tracks(const struct gpt_source *source)
{
    return *source->settings->tracks != '\0';
}

long gpt_source_count(const struct gpt_source *source)
{
    return source->count;
}

int gpt_source_sequence(struct gpt_source *source, uint64_t i, const uint16_t **tokens,
                        const float **coords, int *bodies)
{
    if (source->text) {
        *coords = NULL;
        *bodies = 0;
        return gpt_text_sequence(source->text, i, tokens);
    }
    if (source->stream) {
        TRY(sim_sequence_make(&source->sequence, source->settings, source->split, i));
        *tokens = source->sequence.tokens;
        *coords = source->sequence.coords;
        *bodies = source->sequence.num_bodies;
        return 0;
    }
    TRY(sim_dataset_check_rows(&source->set, i));
    *tokens = sim_dataset_tokens(&source->set, i);
    *coords = sim_dataset_coords(&source->set, i);
    *bodies = source->set.num_bodies[i];
    return 0;
}

/* Draw d of an order. A thread makes a batch while the optimiser works on the batch before. */
static int next_draw(struct gpt_source *source, const struct sim_stream_order *order, uint64_t d,
                     const uint16_t **tokens, const float **coords, int *bodies)
{
    if (!source->stream)
        return gpt_source_sequence(source, sim_stream_index(order, d), tokens, coords, bodies);
    const struct sim_stream_order *now = &source->order;
    if (!source->ahead || now->shuffled != order->shuffled || now->seed != order->seed) {
        sim_stream_close(source->ahead);
        source->ahead = NULL;
        source->order = *order;
        TRY(sim_stream_open(&source->ahead, source->settings, source->split, order, 1));
    }
    return sim_stream_draw(source->ahead, d, tokens, coords, bodies);
}

static void fill_tokens(const uint16_t *tokens, int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, at = (size_t)b * T;
    memcpy(batch->tokens + 2 * at, tokens, 2 * T * sizeof *tokens);
    memcpy(batch->target_tokens + 2 * at, tokens + 2, 2 * T * sizeof *tokens);
    for (size_t t = 0; t < T; t++)
        batch->weight[at + t] = 1;
}

static void fill_coords(struct gpt_source *source, const float *coords, int bodies, double noise_au,
                        int b, struct gpt_batch *batch)
{
    const size_t T = (size_t)batch->T, axes = (size_t)gpt_config_axes(source->config);
    gpt_fill_coords(source->config, coords, noise_au, source->rng, b, batch);
    for (size_t t = 0; t < T; t++) {
        const size_t at = (size_t)b * T + t;
        for (size_t c = 0; c < axes; c++)
            batch->target[axes * at + c] = (real)coords[axes * (t + 1) + c];
        /* targets of step 0 are draws from the prior */
        batch->weight[at] = t < (size_t)bodies ? 0 : 1;
    }
}

int gpt_source_fill(struct gpt_source *source, uint64_t first, bool in_order, double noise_au,
                    uint64_t seed, struct gpt_batch *batch)
{
    /* the random numbers of the two pretrainings of a run are disjoint, also from those of
     * fine-tuning, which uses shuffle stream 1 and noise from 1 << 40 and 2 << 40 on */
    const bool planets = source->split == SIM_SPLIT_PLANETS_TRAIN;
    const uint64_t noise = planets ? 3ull << 40 : 0;
    const struct sim_stream_order order = {.count = (uint64_t)source->count,
                                           .shuffled = !in_order,
                                           .seed = seed,
                                           .stream = planets ? 2 : 0};
    if (source->text)
        return gpt_text_fill(source->text, first, in_order, seed, batch);
    for (int b = 0; b < batch->B; b++) {
        const uint64_t draw = first + (uint64_t)b;
        const uint16_t *tokens;
        const float *coords;
        int bodies;
        TRY(next_draw(source, &order, draw, &tokens, &coords, &bodies));
        if (tokens) {
            fill_tokens(tokens, b, batch);
            continue;
        }
        if (noise_au > 0)
            orr_rng_seek(source->rng, seed, ORR_STAGE_NOISE, noise + draw);
        fill_coords(source, coords, bodies, noise_au, b, batch);
    }
    return 0;
}
