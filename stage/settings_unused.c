/* settings_unused.c - settings that have no effect beside others, so that nobody waits for one. */
#include "base/base.h"
#include "settings.h"
#include "settings_table.h"

#include <string.h>

/* A setting (or with a dot at its end all of a group) has an effect only while another one has one
 * of the values named, or, after "!", any but that one. "*" stands for the group of a training. The
 * lines that match decide in their order; one without condition ends the search. */
static const struct {
    const char *key, *other, *values;
} conditions[] = {
    {"orbits.planets_max", "orbits.protocol", "vafa2025"},
    {"orbits.dt_yr", "orbits.protocol", "identifiable"},
    {"orbits.samples_min", "orbits.protocol", "identifiable"},
    {"orbits.samples_max", "orbits.protocol", "identifiable"},
    {"orbits.compat_repeated_planets", "orbits.protocol", "vafa2025"},
    {"orbits.m_min", "orbits.mass_prior", "!study"},
    {"orbits.m_max", "orbits.mass_prior", "!study"},
    {"orbits.bins", "orbits.output", "tokens"},
    {"orbits.extent_au", "orbits.output", "tokens"},
    {"orbits.solar_system", "orbits.output", "tokens"},
    {"orbits.compat_solar_dt", "orbits.output", "tokens"},
    {"orbits.label_from_step", "orbits.output", "continuous"},
    {"orbits.law_exponent", "orbits.law", "power"},
    {"orbits.law_alpha", "orbits.law", "yukawa"},
    {"orbits.law_lambda_au", "orbits.law", "yukawa"},
    {"orbits.law_a0", "orbits.law", "mond"},
    {"orbits.law_softening_au", "orbits.law", "plummer"},
    {"orbits.law_constant", "orbits.law", "lambda"},
    {"orbits.expression", "orbits.law", "expression"},
    {"orbits.clockwise", "orbits.clockwise", "!0"},       /* as before there was such a setting */
    {"orbits.encounters", "orbits.encounters", "redraw"}, /* the same */
    {"orbits.encounters", "orbits.nbody", "true"},
    {"orbits.jump_factor", "orbits.jump_step", "!0"},
    {"orbits.jump_factor", "orbits.jump_factor", "!1"}, /* no jump, whenever it is */
    {"orbits.jump_step", "orbits.jump_factor", "!1"},
    {"orbits.jump_step", "orbits.jump_step", "!0"},
    {"planets.enabled", NULL, NULL},
    {"planets.labels", NULL, NULL}, /* also of the solar system in tokens */
    {"planets.", "planets.enabled", "true"},
    {"pretrain_planets.", "planets.enabled", "true"},
    {"text.train", NULL, NULL},
    {"text.val_fraction", "text.val", ""},
    {"text.", "text.train", "!"},
    {"model.tie", "text.train", "!"},
    {"model.rope_base", "model.positions", "rope"},
    {"model.fourier", "orbits.output", "continuous"},
    {"model.fourier_min_au", "model.fourier", "!0"},
    {"*.steps", NULL, NULL},
    {"pretrain.huber", "orbits.output", "continuous"},
    {"*.noise_au", "orbits.output", "continuous"},
    {"*.lr_final", "*.schedule", "cosine|linear"},
    {"*.keep_every", "*.keep", "!0"},
    {"*.micro_batches", "*.micro_batches", "!0"}, /* off: as before there was such a setting */
    {"*.zero", "*.micro_batches", "!0"},          /* ranks have these */
    {"*.outlier_window", "*.outlier_sigma", "!0"},
    {"*.outlier_most", "*.outlier_sigma", "!0"},
    {"*.", "*.steps", "!0"},
    {"finetune.magnitude_loss", "finetune.magnitude.steps", "!0"},
    {"symreg.loss_parameter", "symreg.loss", "huber|logcosh|quantile"},
    {"symreg.patience", "symreg.algorithm", "orrery"},
    {"symreg.enumerate", "symreg.algorithm", "orrery"},
    {"orbits.", "text.train", ""},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* Length of the group of a training setting with its dot, 0 for other settings. */
static size_t training_group(const char *key)
{
    static const char *const groups[] = {"pretrain.", "pretrain_planets.", "finetune.magnitude.",
                                         "finetune.vector."};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strncmp(key, groups[i], strlen(groups[i])))
            return strlen(groups[i]);
    return 0;
}

/* "*.steps" for a key of a training group is that group's "steps". */
static void expand(const char *pattern, const char *key, char name[128])
{
    const size_t group = *pattern == '*' ? training_group(key) : 0;
    snprintf(name, 128, "%.*s%s", (int)group, key, group ? pattern + 2 : pattern);
}

static bool matches(const char *pattern, const char *key)
{
    char name[128];
    expand(pattern, key, name);
    const size_t length = strlen(name);
    return name[length - 1] == '.' ? !strncmp(key, name, length) : !strcmp(key, name);
}

/* Whether a text is one of "a|b|c", or not "x" of "!x". */
static bool is_one_of(const char *text, const char *values)
{
    if (*values == '!')
        return strcmp(text, values + 1) != 0;
    for (const char *at = values;; at++) {
        const size_t length = strcspn(at, "|");
        if (strlen(text) == length && !strncmp(text, at, length))
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

/* The line of a setting of the law of force; NULL for all others. */
static const char *law_of(const char *key)
{
    for (int i = 0; i < CONDITIONS; i++)
        if (conditions[i].other && !strcmp(conditions[i].other, "orbits.law") &&
            !strcmp(conditions[i].key, key))
            return conditions[i].values;
    return NULL;
}

int orr_preset_check_law(const struct orr_preset *preset, const char *where, const char *key)
{
    char why[256];
    const char *law = law_of(key);
    if (!law || !orr_preset_unused(preset, key, why))
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: %s: %s, which does not read it; expected orbits.law=%s beside it", where,
                    key, why, law);
}

/* Whether the setting has its default. */
static bool is_default(const struct orr_preset *preset, const struct orr_field *f)
{
    char text[ORR_FIELD_TEXT_BYTES], initial[ORR_FIELD_TEXT_BYTES];
    struct orr_preset defaults;
    orr_preset_defaults(&defaults);
    orr_field_text(preset, f, text);
    orr_field_text(&defaults, f, initial);
    return !strcmp(text, initial);
}

int orr_preset_check_laws(const struct orr_preset *preset, const char *where)
{
    int rc = 0;
    for (const struct orr_field *f = orr_fields; f->key && !rc; f++)
        if (law_of(f->key) && !is_default(preset, f))
            rc = orr_preset_check_law(preset, where, f->key);
    return rc;
}

int orr_preset_drop_laws(struct orr_preset *preset)
{
    char why[256];
    int rc = 0;
    for (const struct orr_field *f = orr_fields; f->key && !rc; f++)
        if (law_of(f->key) && orr_preset_unused(preset, f->key, why))
            rc = orr_preset_set_by(preset, "default", f->key, f->initial);
    return rc;
}

bool orr_preset_unused(const struct orr_preset *preset, const char *key, char why[256])
{
    for (int i = 0; i < CONDITIONS; i++) {
        char other[128], value[ORR_FIELD_TEXT_BYTES];
        if (!matches(conditions[i].key, key))
            continue;
        if (!conditions[i].other)
            return false;
        expand(conditions[i].other, key, other);
        for (const struct orr_field *f = orr_fields; f->key; f++)
            if (!strcmp(f->key, other))
                orr_field_text(preset, f, value);
        if (is_one_of(value, conditions[i].values))
            continue; /* the next condition */
        snprintf(why, 256, "%.100s is %.100s", other, *value ? value : "empty");
        return true;
    }
    return false;
}
