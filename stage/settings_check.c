/* settings_check.c - refuses combinations of settings that cannot work. */
#include "base/error.h"
#include "settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A force needs two masses: a massless body would have neither a force nor a label. */
static int check_mass(const char *key, double value, double least)
{
    if (value >= least)
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: massless test particles are not simulated: expected at least %g, found %g",
                    key, least, value);
}

static int check_orbits(const struct orr_orbits_settings *o)
{
    TRY(check_mass("orbits.m_min", o->m_min, 1e-12));
    if (o->a_min_au >= o->a_max_au)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.a_min_au: must be below orbits.a_max_au = %g, found "
                        "%g",
                        o->a_max_au, o->a_min_au);
    if (o->e_max >= 1)
        return ORR_FAIL(ORR_EUSAGE, "orbits.e_max: must be below 1 (bound orbits), found %g",
                        o->e_max);
    if (o->m_min > o->m_max)
        return ORR_FAIL(ORR_EUSAGE, "orbits.m_min: must not exceed orbits.m_max = %g, found %g",
                        o->m_max, o->m_min);
    if (o->samples_min >= o->samples_max)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.samples_min: must be below orbits.samples_max = %g, "
                        "found %g",
                        o->samples_max, o->samples_min);
    if (o->protocol == ORR_PROTOCOL_VAFA2025 && o->mass_prior != ORR_MASS_STUDY)
        return ORR_FAIL(ORR_EUSAGE, "orbits.mass_prior: protocol vafa2025 needs study");
    if (o->protocol == ORR_PROTOCOL_IDENTIFIABLE && o->mass_prior == ORR_MASS_STUDY)
        return ORR_FAIL(ORR_EUSAGE, "orbits.mass_prior: protocol identifiable needs uniform or "
                                    "loguniform, found study");
    if (o->protocol == ORR_PROTOCOL_VAFA2025 && o->output == ORR_OUTPUT_CONTINUOUS)
        return ORR_FAIL(ORR_EUSAGE, "orbits.output: protocol vafa2025 needs tokens");
    if (o->protocol == ORR_PROTOCOL_IDENTIFIABLE && o->output == ORR_OUTPUT_TOKENS)
        return ORR_FAIL(ORR_EUSAGE, "orbits.output: protocol identifiable needs continuous");
    if (o->dimensions == 3 && o->output == ORR_OUTPUT_TOKENS)
        return ORR_FAIL(ORR_EUSAGE, "orbits.dimensions: expected 2 with orbits.output = tokens, "
                                    "whose bins lie in a plane, found 3");
    if (o->dimensions == 3 && o->clockwise > 0)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.clockwise: expected 0 with orbits.dimensions = 3, where orbits "
                        "already go either way, found %g",
                        o->clockwise);
    if (o->label_r_max > 0 && o->label_r_min >= o->label_r_max)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.label_r_min: must be below orbits.label_r_max = %g, found %g",
                        o->label_r_max, o->label_r_min);
    if (o->label_m_max > 0 && o->label_m_min >= o->label_m_max)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.label_m_min: must be below orbits.label_m_max = %g, found %g",
                        o->label_m_max, o->label_m_min);
    const bool labelled = o->two_body_train > 0;
    if (labelled && o->output == ORR_OUTPUT_CONTINUOUS &&
        1 + 2 * (o->label_from_step + 1) >= o->positions)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.label_from_step: %d leaves no labelled row in %d "
                        "positions",
                        o->label_from_step, o->positions);
    if (labelled && o->two_body_test < 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.two_body_test: expected at least 1 held-out sequence "
                        "beside orbits.two_body_train = %ld",
                        o->two_body_train);
    return 0;
}

static int check_law(const struct orr_orbits_settings *o)
{
    if (o->law == ORR_LAW_POWER && o->law_exponent <= -3)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.law_exponent: must be above -3 (bound orbits), found %g",
                        o->law_exponent);
    if (o->law == ORR_LAW_POST_NEWTONIAN && o->nbody)
        return ORR_FAIL(ORR_EUSAGE, "orbits.nbody: expected false with orbits.law = "
                                    "post_newtonian, which is an equation of two bodies");
    return 0;
}

int orr_heads_check(int width, int heads, enum orr_positions positions)
{
    if (width % heads)
        return ORR_FAIL(ORR_EUSAGE, "model.heads: must divide model.width = %d, found %d", width,
                        heads);
    if (positions == ORR_POSITIONS_ROPE && width / heads % 2)
        return ORR_FAIL(ORR_EUSAGE,
                        "model.positions: rope needs an even head size, found "
                        "%d / %d = %d",
                        width, heads, width / heads);
    return 0;
}

static int check_planets(const struct orr_settings *settings)
{
    const struct orr_planets_settings *p = &settings->planets;
    if (!p->enabled)
        return 0;
    if (settings->orbits.output != ORR_OUTPUT_CONTINUOUS)
        return ORR_FAIL(ORR_EUSAGE, "planets.enabled: needs orbits.output = continuous");
    TRY(check_mass("planets.light_min", p->light_min, 1e-15));
    if (p->samples_min >= p->samples_max)
        return ORR_FAIL(ORR_EUSAGE,
                        "planets.samples_min: must be below planets.samples_max = "
                        "%g, found %g",
                        p->samples_max, p->samples_min);
    if (p->light_min >= p->light_max)
        return ORR_FAIL(ORR_EUSAGE,
                        "planets.light_min: must be below planets.light_max = %g, "
                        "found %g",
                        p->light_max, p->light_min);
    if (p->labels >= p->steps)
        return ORR_FAIL(ORR_EUSAGE, "planets.labels: must be below planets.steps = %d, found %d",
                        p->steps, p->labels);
    if (settings->pretrain_planets.steps > 0 && p->train < 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "planets.train: expected at least 1 sequence for "
                        "pretrain_planets.steps = %ld",
                        settings->pretrain_planets.steps);
    return 0;
}

bool orr_settings_is_text(const struct orr_settings *settings)
{
    return *settings->text.train != '\0';
}

bool orr_settings_streams(const struct orr_settings *settings)
{
    return settings->orbits.train_files < settings->orbits.train;
}

int orr_settings_needs_orbits(const struct orr_settings *settings, const char *needs)
{
    if (!orr_settings_is_text(settings))
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "preset %s: %s needs orbits and their forces, found text (text.train = "
                    "\"%s\")",
                    settings->name, needs, settings->text.train);
}

static int check_text(const struct orr_settings *settings)
{
    if (!orr_settings_is_text(settings))
        return *settings->text.val ? ORR_FAIL(ORR_EUSAGE, "text.val: needs text.train") : 0;
    if (settings->planets.enabled)
        return ORR_FAIL(ORR_EUSAGE, "planets.enabled: expected false with text.train, found true");
    return 0;
}

/* Refuses repeated names, which would be trained, searched and drawn twice. */
static int check_attention(const struct orr_name_list *names)
{
    if (names->count < 1)
        return ORR_FAIL(ORR_EUSAGE, "attention: expected at least one variant");
    for (int i = 1; i < names->count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(names->item[i], names->item[k]))
                return ORR_FAIL(ORR_EUSAGE, "attention: \"%s\" stands twice", names->item[i]);
    return 0;
}

static int check_micro_batches(const char *stage, const struct orr_train_settings *t)
{
    const long passes = t->accumulation > 1 ? t->accumulation : 1, sequences = t->batch * passes;
    if (t->micro_batches < 1 || sequences % t->micro_batches == 0)
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s.micro_batches: expected a divisor of %s.batch x %s.accumulation = %d x %ld "
                    "= %ld sequences, found %d",
                    stage, stage, stage, t->batch, passes, sequences, t->micro_batches);
}

/* Patience counts evaluations, so it needs held-out sequences and an evaluation before the last
 * step. none: why there are no held-out sequences; NULL if there are. */
static int check_training(const char *stage, const struct orr_train_settings *t, const char *none)
{
    if (t->patience > 0 && none)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s.patience: expected 0 without held-out sequences (%s), found %ld", stage,
                        none, t->patience);
    if (t->patience > 0 && t->eval_every < 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s.eval_every: expected at least 1 with %s.patience = %ld, found 0", stage,
                        stage, t->patience);
    return check_micro_batches(stage, t);
}

int orr_settings_check(const struct orr_settings *settings)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    const struct orr_planets_settings *planets = &settings->planets;
    const bool text = orr_settings_is_text(settings);
    const char *no_val =
        text ? (*settings->text.val || settings->text.val_fraction > 0 ? NULL
                                                                       : "text.val_fraction = 0")
             : (o->val > 0 ? NULL : "orbits.val = 0");
    const char *no_planets = planets->enabled && planets->val < 1 ? "planets.val = 0" : NULL;
    const char *no_two_body =
        o->two_body_train > 0 && o->two_body_val < 1 ? "orbits.two_body_val = 0" : NULL;
    TRY(check_orbits(&settings->orbits));
    TRY(check_law(&settings->orbits));
    TRY(orr_heads_check(settings->model.width, settings->model.heads, settings->model.positions));
    TRY(check_planets(settings));
    TRY(check_training("pretrain", &settings->pretrain, no_val));
    TRY(check_training("pretrain_planets", &settings->pretrain_planets, no_planets));
    TRY(check_training("finetune.magnitude", &settings->finetune.magnitude, no_two_body));
    TRY(check_text(settings));
    return check_attention(&settings->attention);
}
