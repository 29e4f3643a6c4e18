/* settings_near.c - suggests settings for an unknown key: its group was omitted, other programs use
 * another name, or it is misspelt. */
#include "base/error.h"
#include "base/text.h"
#include "settings_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of an orbit is given in rows, not steps. */
#define ORBIT_LENGTH "orbits.positions"

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* Names that other programs use for a setting: its last part, or the whole key of one setting. */
static const char *const usual_names[][2] = {
    {"learning_rate", "lr"},   {"batch_size", "batch"},     {"n_layers", "layers"},
    {"n_heads", "heads"},      {"warmup_steps", "warmup"},  {"dt", "dt_yr"},
    {"n_steps", "steps"},      {"num_steps", "steps"},      {"steps", ORBIT_LENGTH},
    {"n_steps", ORBIT_LENGTH}, {"num_steps", ORBIT_LENGTH}, {"n_positions", ORBIT_LENGTH},
    {"length", ORBIT_LENGTH},
};

static bool has_name(const char *key, const char *word)
{
    if (!strcmp(last_part(key), word))
        return true;
    for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
        if (!strcmp(usual_names[i][0], word) &&
            (!strcmp(usual_names[i][1], key) || !strcmp(usual_names[i][1], last_part(key))))
            return true;
    return false;
}

int orr_settings_named(const char *word, const char *groups, const char *key[ORR_KEYS_NAMED])
{
    int count = 0;
    for (const struct orr_setting *f = orr_setting_rows; f->key && count < ORR_KEYS_NAMED; f++)
        if (has_name(f->key, word) && (!groups || orr_settings_in_groups(f->key, groups)))
            key[count++] = f->key;
    return count;
}

/* Settings in the group that the word begins with ("orbits.steps"), by the name after it. */
static int named_in_group(const char *word, const char *key[ORR_KEYS_NAMED])
{
    char group[64];
    const size_t length = (size_t)(last_part(word) - word);
    if (!length || length > sizeof group)
        return 0;
    snprintf(group, sizeof group, "%.*s", (int)length - 1, word);
    return orr_settings_named(last_part(word), group, key);
}

/* Settings that an unknown key may mean: of its name in its group or any group, else the nearest by
 * spelling, else those of the nearest name. */
static int settings_meant(const char *word, const char *key[ORR_KEYS_NAMED])
{
    struct orr_nearest whole = {0}, part = {0};
    int count = named_in_group(word, key);
    count = count ? count : orr_settings_named(word, NULL, key);
    if (count)
        return count;
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
        orr_nearest_offer(&whole, word, f->key);
        orr_nearest_offer(&part, word, last_part(f->key));
    }
    key[0] = whole.name;
    return whole.name ? 1 : part.name ? orr_settings_named(part.name, NULL, key) : 0;
}

int orr_setting_unknown(const char *where, const char *word)
{
    const char *key[ORR_KEYS_NAMED];
    char text[512] = "";
    const int count = settings_meant(word, key);
    for (int i = 0; i < count; i++)
        orr_append(text, sizeof text, "%s\"%s\"", i ? " or " : "", key[i]);
    return ORR_FAIL(ORR_EUSAGE, "%sunknown key \"%s\"%s%s%s", where, word,
                    count ? "; did you mean " : "", text, count ? "?" : "");
}
