/* override.c - changes the attention of a trained model without training: re-weighting on or off
 * (LSSAR, first version: applied without re-training), another variant, power or window, and
 * sequences longer than trained (NTK-aware scaling of the rotary base). */
#include "override.h"

#include <math.h>
#include <string.h>

enum { FREE_ROWS = 3 }; /* LSSAR Eq. (5): [i > 3] */

static bool same_formula(const struct k_attention *a, const struct k_attention *b)
{
    return a->score == b->score && a->bias == b->bias && a->phi == b->phi && a->norm == b->norm &&
           a->transform == b->transform && a->reweight == b->reweight &&
           a->unshifted_rows == b->unshifted_rows;
}

/* Switches re-weighting; if the result is a line of the table, it gets that line's name. */
static int change_reweighting(struct k_attention *variant, enum gpt_reweight reweight)
{
    const bool on = reweight == GPT_REWEIGHT_ON;
    if (reweight == GPT_REWEIGHT_AS_TRAINED || variant->reweight == on)
        return 0;
    if (on && !k_attention_reweightable(variant))
        return ORR_FAIL(ORR_EUSAGE,
                        "re-weighting: expected a variant whose rows are non-negative and sum to "
                        "one, found \"%s\"",
                        variant->name);
    variant->reweight = on;
    variant->unshifted_rows = on ? FREE_ROWS : 0;
    for (const struct k_attention *a = k_attention_table; a->name; a++)
        if (same_formula(a, variant)) {
            *variant = *a;
            break;
        }
    return 0;
}

bool gpt_has_ntk(const struct gpt_config *config)
{
    return config->positions == ORR_POSITIONS_ROPE && config->width / config->heads > 2;
}

/* On entry, config has the trained context. */
static int change_context(struct gpt_config *config, int context, bool ntk)
{
    const int trained = config->context, d = config->width / config->heads;
    const bool rope = config->positions == ORR_POSITIONS_ROPE;
    if (context < 0)
        return ORR_FAIL(ORR_EUSAGE, "context: expected at least 1, found %d", context);
    if (ntk && !gpt_has_ntk(config))
        return ORR_FAIL(ORR_EUSAGE,
                        "NTK scaling: expected rotary positions with a head size above 2, found "
                        "%s with head size %d",
                        rope                                         ? "rope"
                        : config->positions == ORR_POSITIONS_LEARNED ? "learned positions"
                                                                     : "no positions",
                        d);
    if (context > trained && config->positions == ORR_POSITIONS_LEARNED)
        return ORR_FAIL(ORR_EUSAGE,
                        "context: learned positions end at %d, found %d; longer sequences need "
                        "rope or no positions",
                        trained, context);
    if (context > 0)
        config->context = context;
    if (ntk && context > trained)
        config->rope_base *= pow((double)context / trained, d / (d - 2.0));
    return 0;
}

int gpt_override_attention(struct gpt_model *model, const struct gpt_attention_override *change)
{
    const struct gpt_config trained = model->overridden ? model->trained : model->config;
    struct gpt_config config = trained;
    const char *name = change->attention ? change->attention : trained.attention;
    const struct k_attention *line = k_attention_find(name);
    if (!line)
        return gpt_config_unknown_attention(name);
    struct k_attention variant = *line;
    TRY(change_reweighting(&variant, change->reweight));
    if (change->power != 0) /* an invalid power is rejected below */
        config.power = change->power;
    if (change->set_window)
        config.attention_window = change->window;
    TRY(change_context(&config, change->context, change->ntk));
    /* also clears the rest of a longer name */
    memset(config.attention, 0, sizeof config.attention);
    snprintf(config.attention, sizeof config.attention, "%s", variant.name);
    TRY(gpt_config_check(&config));
    if (!isfinite(config.power))
        return ORR_FAIL(ORR_EUSAGE, "attention_p: expected a finite power, found %g",
                        change->power);
    model->config = config;
    model->variant = variant;
    model->trained = trained;
    model->overridden = change->attention || change->reweight || change->power != 0 ||
                        change->set_window || change->context || change->ntk;
    return 0;
}
