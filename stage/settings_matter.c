/* settings_matter.c - where a setting matters: with which other settings it has an effect, and
 * which artefacts' records contain it. */
#include "base/error.h"
#include "settings_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct orr_setting *orr_setting_find(const char *key)
{
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
        if (f->key == key) /* that of a row, which most callers have: half of the time of a plan */
            return f;
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
        if (!strcmp(f->key, key))
            return f;
    return NULL;
}

static const struct orr_setting_group *group_of(const char *key)
{
    for (const struct orr_setting_group *g = orr_setting_groups; g->prefix; g++)
        if (!strncmp(g->prefix, key, strlen(g->prefix)))
            return g;
    return NULL;
}

/* ------------------------------------------------------------------- needs of other settings */

/* Whether a text equals one of the alternatives "a|b|c" in `values`, of `length` bytes. */
static bool is_one_of(const char *text, const char *values, size_t length)
{
    for (const char *at = values;; at++) {
        const size_t part = strcspn(at, "|,");
        if (strlen(text) == part && !strncmp(text, at, part))
            return true;
        at += part;
        if (at >= values + length)
            return false;
    }
}

/* The first condition of "key=a|b,other!=c" that does not hold; NULL: all hold. Skips a condition
 * on `itself`. `value`: the present value of that setting. */
static const struct orr_setting *unmet_condition(const struct orr_settings *settings,
                                                 const char *needs, const char *itself,
                                                 char value[ORR_SETTING])
{
    for (const char *at = needs; at && *at; at += *at == ',') {
        char key[128];
        const size_t name = strcspn(at, "!="), length = strcspn(at, ",");
        const bool not = at[name] == '!';
        const char *values = at + name + 1 + not ;
        snprintf(key, sizeof key, "%.*s", (int)name, at);
        at += length;
        if (itself && !strcmp(itself, key))
            continue;
        const struct orr_setting *f = orr_setting_find(key);
        orr_setting_text(settings, f, value);
        if (is_one_of(value, values, (size_t)(at - values)) == not )
            return f;
    }
    return NULL;
}

bool orr_settings_unused(const struct orr_settings *settings, const char *key, char why[256])
{
    char value[ORR_SETTING];
    const struct orr_setting *f = orr_setting_find(key), *other;
    const struct orr_setting_group *group = group_of(key);
    if (!f)
        return false;
    other = unmet_condition(settings, f->needs, NULL, value);
    if (!other && group && !(f->needs && !*f->needs))
        other = unmet_condition(settings, group->needs, key, value);
    if (other)
        snprintf(why, 256, "%.100s is %.100s", other->key, *value ? value : "empty");
    return other != NULL;
}

/* -------------------------------------------------------------------------------- force laws */

/* The law that reads a setting; NULL for other settings. */
static const char *law_of(const struct orr_setting *f)
{
    static const char law[] = "orbits.law=";
    const bool is_of_law = f && f->needs && !strncmp(f->needs, law, strlen(law));
    return is_of_law ? f->needs + strlen(law) : NULL;
}

int orr_settings_check_law(const struct orr_settings *settings, const char *where, const char *key)
{
    char why[256];
    const char *law = law_of(orr_setting_find(key));
    if (!law || !orr_settings_unused(settings, key, why))
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: %s: %s, which does not read it; expected orbits.law=%s beside it", where,
                    key, why, law);
}

/* Whether the setting has its default. */
static bool is_default(const struct orr_settings *settings, const struct orr_setting *f)
{
    char text[ORR_SETTING], initial[ORR_SETTING];
    struct orr_settings defaults;
    orr_settings_defaults(&defaults);
    orr_setting_text(settings, f, text);
    orr_setting_text(&defaults, f, initial);
    return !strcmp(text, initial);
}

int orr_settings_check_laws(const struct orr_settings *settings, const char *where)
{
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
        if (law_of(f) && !is_default(settings, f))
            TRY(orr_settings_check_law(settings, where, f->key));
    return 0;
}

int orr_settings_drop_laws(struct orr_settings *settings)
{
    char why[256];
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
        if (law_of(f) && orr_settings_unused(settings, f->key, why))
            TRY(orr_settings_set_by(settings, "default", f->key, f->initial));
    return 0;
}

/* --------------------------------------------------------------------------------- artefacts */

static const char *reason_in(const struct orr_left_out left_out[3], enum orr_kind kind)
{
    for (int i = 0; i < 3 && left_out[i].kinds; i++)
        if (left_out[i].kinds & 1u << kind)
            return left_out[i].reason;
    return NULL;
}

const char *orr_kind_leaves_out(enum orr_kind kind, const char *key)
{
    const struct orr_setting *f = orr_setting_find(key);
    const struct orr_setting_group *group = group_of(key);
    const char *reason = f ? reason_in(f->left_out, kind) : NULL;
    return reason || !f || !group ? reason : reason_in(group->left_out, kind);
}

const char *orr_setting_stage(const char *key)
{
    static const struct {
        const char *program;
        enum orr_kind last;
    } stages[] = {{"orbits", ORR_KIND_PLANETS_SOLAR},
                  {"pretrain", ORR_KIND_EVALUATION_PLANETS},
                  {"finetune", ORR_KIND_VECTOR_MODEL},
                  {"symreg", ORR_KIND_LAWS}};
    int kind = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (; kind <= (int)stages[i].last; kind++)
            for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
                if (strcspn(f->key, ".") == strcspn(key, ".") &&
                    !strncmp(f->key, key, strcspn(key, ".")) &&
                    !orr_kind_leaves_out((enum orr_kind)kind, f->key))
                    return stages[i].program;
    return "pretrain"; /* attention is a fact in its records */
}

bool orr_made_from(const char *key)
{
    for (int kind = 0; kind <= ORR_KIND_LAWS; kind++)
        if (!orr_kind_leaves_out((enum orr_kind)kind, key))
            return true;
    return false;
}
