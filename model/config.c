/* config.c - derives the shape of a model from a preset. */
#include "config.h"
#include "model/text/text.h"

#include <limits.h>
#include <string.h>

int gpt_config_features(const struct gpt_config *config)
{
    const int axes = gpt_config_axes(config);
    return axes + 1 + 2 * axes * config->fourier;
}

int gpt_config_channels(const struct gpt_config *config)
{
    return config->input == GPT_INPUT_TEXT ? 1 : gpt_config_axes(config);
}

int gpt_config_unknown_attention(const char *attention)
{
    char known[800] = "", meant[128];
    struct orr_nearest nearest = {0};
    for (const struct k_attention *a = k_attention_table; a->name; a++) {
        orr_nearest_offer(&nearest, attention, a->name);
        orr_append(known, sizeof known, "%s%s", *known ? ", " : "", a->name);
    }
    orr_nearest_text(&nearest, meant);
    return ORR_FAIL(ORR_EUSAGE, "attention: unknown variant \"%s\"%s; expected one of %s",
                    attention, meant, known);
}

static int check_sizes(const struct gpt_config *c)
{
    const bool tokens = !gpt_is_continuous(c);
    const int least_vocab = c->input == GPT_INPUT_TEXT ? 2
                            : tokens                   ? 4
                                                       : 0; /* one bin, and three special tokens */
    const struct {
        const char *key;
        int found, least, most;
    } sizes[] = {
        {"layers", c->layers, 1, 1000},
        {"heads", c->heads, 1, 1000},
        {"width", c->width, 1, 1000000},
        {"ffn", c->ffn, 1, 100000000},
        {"context", c->context, 1, 1000000},
        {"outputs", c->outputs, 1, 200000},
        {"input", (int)c->input, GPT_INPUT_TOKENS, GPT_INPUT_SPACE},
        {"head", (int)c->head, GPT_HEAD_TOKENS, GPT_HEAD_TEXT},
        {"head_bias", c->head_bias, 0, c->head == GPT_HEAD_TOKENS},
        {"positions", (int)c->positions, ORR_POSITIONS_LEARNED, ORR_POSITIONS_NONE},
        {"attention_window", c->attention_window, 0, INT_MAX},
        {"gate", (int)c->gate, K_GATE_NONE, K_GATE_SOFTPLUS},
        {"vocab", c->vocab, least_vocab, tokens ? 65536 : 0},
        {"tied", c->tied, 0, c->head == GPT_HEAD_TEXT},
        {"fourier", c->fourier, 0, tokens ? 0 : 24},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].found < sizes[i].least || sizes[i].found > sizes[i].most)
            return ORR_FAIL(ORR_EUSAGE, "model.%s: expected %d to %d, found %d", sizes[i].key,
                            sizes[i].least, sizes[i].most, sizes[i].found);
    return 0;
}

int gpt_config_check(const struct gpt_config *c)
{
    TRY(check_sizes(c));
    if (!k_attention_find(c->attention))
        return gpt_config_unknown_attention(c->attention);
    TRY(orr_heads_check(c->width, c->heads, c->positions));
    if (!(c->power >= 1))
        return ORR_FAIL(ORR_EUSAGE, "model.attention_p: expected at least 1, found %g", c->power);
    if (c->positions == ORR_POSITIONS_ROPE && !(c->rope_base >= 1))
        return ORR_FAIL(ORR_EUSAGE, "model.rope_base: expected at least 1, found %g", c->rope_base);
    if (!(c->init_std >= 0 && c->init_std <= 100))
        return ORR_FAIL(ORR_EUSAGE, "model.init_std: expected 0 to 100, found %g", c->init_std);
    if (!(c->huber >= 0) || (c->huber > 0 && c->head != GPT_HEAD_REGRESSION))
        return ORR_FAIL(ORR_EUSAGE,
                        "model.huber: expected 0, or with a regression head more, found %g",
                        c->huber);
    if (c->fourier && !(c->fourier_min_au > 0))
        return ORR_FAIL(ORR_EUSAGE, "model.fourier_min_au: must be positive, found %g",
                        c->fourier_min_au);
    if (c->head == GPT_HEAD_TOKENS && (c->input != GPT_INPUT_TOKENS || c->outputs != 2 * c->vocab))
        return ORR_FAIL(ORR_EUSAGE,
                        "model.head: a head of tokens needs token inputs and %d "
                        "outputs, found %d",
                        2 * c->vocab, c->outputs);
    if (c->head == GPT_HEAD_TEXT && (c->input != GPT_INPUT_TEXT || c->outputs != c->vocab))
        return ORR_FAIL(ORR_EUSAGE,
                        "model.head: a head of text needs text inputs and %d outputs, found %d",
                        c->vocab, c->outputs);
    return 0;
}

/* Sets the members that depend on the data: input, vocabulary, head. */
static int set_data(struct gpt_config *config, const struct orr_settings *settings)
{
    const bool tokens = settings->orbits.output == ORR_OUTPUT_TOKENS;
    if (orr_settings_is_text(settings)) {
        TRY(gpt_text_vocab(settings, &config->vocab));
        config->input = GPT_INPUT_TEXT;
        config->head = GPT_HEAD_TEXT;
        config->outputs = config->vocab;
        config->tied = settings->model.tie;
        return 0;
    }
    config->input = tokens                             ? GPT_INPUT_TOKENS
                    : settings->orbits.dimensions == 3 ? GPT_INPUT_SPACE
                                                       : GPT_INPUT_CONTINUOUS;
    config->vocab = tokens ? settings->orbits.bins + 3 : 0;
    config->fourier = tokens ? 0 : settings->model.fourier;
    config->head = tokens ? GPT_HEAD_TOKENS : GPT_HEAD_REGRESSION;
    config->outputs = tokens ? 2 * config->vocab : gpt_config_axes(config);
    return 0;
}

/* Settings and kernels use equal numbers for the gates. */
_Static_assert((int)ORR_GATE_NONE == (int)K_GATE_NONE &&
                   (int)ORR_GATE_SIGMOID == (int)K_GATE_SIGMOID &&
                   (int)ORR_GATE_SOFTPLUS == (int)K_GATE_SOFTPLUS,
               "gates of settings and of kernels");

int gpt_config_from_preset(struct gpt_config *config, const struct orr_settings *settings,
                           const char *attention, int positions)
{
    const struct orr_model_settings *m = &settings->model;
    if (!k_attention_find(attention))
        return gpt_config_unknown_attention(attention);
    if (positions < 3)
        return ORR_FAIL(ORR_EUSAGE, "positions: a sequence needs at least 3 rows, found %d",
                        positions);
    *config = (struct gpt_config){
        .layers = m->layers,
        .heads = m->heads,
        .width = m->width,
        .ffn = m->ffn_mult * m->width - (m->gate == ORR_GATE_NONE ? 0 : m->width / 2),
        .context = positions - 1,
        .fourier_min_au = m->fourier_min_au,
        .positions = m->positions,
        .rope_base = m->rope_base,
        .init_std = m->init_std,
        .power = m->attention_p,
        .attention_window = m->attention_window,
        .gate = (enum k_gate)m->gate,
        .recompute = m->recompute == ORR_RECOMPUTE_BLOCK,
    };
    snprintf(config->attention, sizeof config->attention, "%s", attention);
    return set_data(config, settings);
}
