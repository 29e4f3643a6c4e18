/* config.c - from a preset to the shape of a model. */
#include "gpt.h"

#include <string.h>

int gpt_config_features(const struct gpt_config *config)
{
    return 3 + 4 * config->fourier;
}

int gpt_config_from_preset(struct gpt_config *config, const struct orr_preset *preset,
                           const char *attention, int positions)
{
    const struct orr_model_preset *m = &preset->model;
    const bool tokens = preset->orbits.output == ORR_OUTPUT_TOKENS;
    if (!k_attention_find(attention)) {
        char known[512] = "";
        for (const struct k_attention *a = k_attention_table; a->name; a++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", a->name);
        }
        return ORR_FAIL(ORR_EUSAGE, "attention: unknown variant \"%s\", expected one of %s",
                        attention, known);
    }
    if (positions < 3)
        return ORR_FAIL(ORR_EUSAGE, "positions: a sequence needs at least 3 rows, found %d",
                        positions);
    *config = (struct gpt_config){
        .layers = m->layers,
        .heads = m->heads,
        .width = m->width,
        .ffn = m->ffn_mult * m->width,
        .context = positions - 1,
        .input = tokens ? GPT_INPUT_TOKENS : GPT_INPUT_CONTINUOUS,
        .vocab = tokens ? preset->orbits.bins + 3 : 0,
        .fourier = tokens ? 0 : m->fourier,
        .fourier_min_au = m->fourier_min_au,
        .head = tokens ? GPT_HEAD_TOKENS : GPT_HEAD_REGRESSION,
        .outputs = tokens ? 2 * (preset->orbits.bins + 3) : 2,
        .positions = m->positions,
        .rope_base = m->rope_base,
        .attention_p = m->attention_p,
        .attention_window = m->attention_window,
    };
    snprintf(config->attention, sizeof config->attention, "%s", attention);
    return 0;
}
