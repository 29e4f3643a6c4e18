/* settings_near.c - which setting was meant by a key that there is none of: its group was left out,
 * other programs call it otherwise, or it is spelt otherwise. */
#include "base/error.h"
#include "base/text.h"
#include "settings_table.h"

#include <stdio.h>
#include <string.h>

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* Names that other programs have for a setting. */
static const char *usual_name(const char *word)
{
    static const char *const names[][2] = {{"learning_rate", "lr"},    {"batch_size", "batch"},
                                           {"n_layers", "layers"},     {"n_heads", "heads"},
                                           {"warmup_steps", "warmup"}, {"dt", "dt_yr"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], word))
            return names[i][1];
    return word;
}

int orr_settings_named(const char *word, const char *groups, const char *key[ORR_KEYS_NAMED])
{
    const char *name = usual_name(word);
    int count = 0;
    for (const struct orr_setting *f = orr_setting_rows; f->key && count < ORR_KEYS_NAMED; f++)
        if (!strcmp(last_part(f->key), name) && (!groups || orr_settings_in_groups(f->key, groups)))
            key[count++] = f->key;
    return count;
}

/* Settings for a key that is none: of its name in any group, else the nearest by spelling, else
 * those of the nearest name. */
static int meant(const char *word, const char *key[ORR_KEYS_NAMED])
{
    struct orr_nearest whole = {0}, part = {0};
    const int count = orr_settings_named(word, NULL, key);
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
    size_t used = 0;
    const int count = meant(word, key);
    for (int i = 0; i < count && used < sizeof text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\"", i ? " or " : "", key[i]);
    return ORR_FAIL(ORR_EUSAGE, "%sunknown key \"%s\"%s%s%s", where, word,
                    count ? "; did you mean " : "", text, count ? "?" : "");
}
