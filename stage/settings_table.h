/* settings_table.h - the table of every setting (inside stage/ only). */
#ifndef ORR_SETTINGS_TABLE_H
#define ORR_SETTINGS_TABLE_H

#include "provenance.h"
#include "settings.h"

enum orr_setting_type {
    ORR_FIELD_INT,
    ORR_FIELD_LONG,
    ORR_FIELD_U64,
    ORR_FIELD_DOUBLE,
    ORR_FIELD_BOOL,
    ORR_FIELD_ENUM,
    ORR_FIELD_TEXT,
    ORR_FIELD_NAMES
};

/* Kinds of artefacts, as bits 1 << kind, whose records a setting is no part of, and why. */
struct orr_left_out {
    unsigned kinds;
    const char *reason;
};

/* What a setting needs in order to have an effect: "key=a|b,other!=c", all of it; ORR_ALWAYS: not
 * even what its group needs; NULL: no more than that. */
#define ORR_ALWAYS ""

struct orr_setting {
    const char *key; /* "pretrain.steps" */
    enum orr_setting_type type;
    size_t offset;       /* in struct orr_settings */
    const char *initial; /* default, as text */
    double min, max;     /* numbers: allowed range, inclusive */
    const char *choices; /* enums: "a|b|c" in the order of the enum */
    const char *help;
    const char *needs;
    struct orr_left_out left_out[3]; /* ended by kinds == 0 */
};
/* What all settings of a group have in common. */
struct orr_setting_group {
    const char *prefix; /* "pretrain." */
    const char *needs;
    struct orr_left_out left_out[3];
};

extern const struct orr_setting orr_setting_rows[]; /* ended by key == NULL */
extern const struct orr_setting_group
    orr_setting_groups[]; /* ended by prefix == NULL; in at most one is a key */
/* NULL: there is no such key. */
const struct orr_setting *orr_setting_find(const char *key);

/* orr_settings_value() of a row. */
void orr_setting_text(const struct orr_settings *preset, const struct orr_setting *f,
                      char text[ORR_SETTING]);
/* Whether a setting of pretrain_planets was not given, so that it has the value of another one, of
 * which `key` becomes the key. */
bool orr_setting_follows(const struct orr_settings *preset, const struct orr_setting *f,
                         char key[ORR_SETTING]);
/* Keys whose last part is this name ("lr"), or another program's word for it ("learning_rate"), of
 * these groups (NULL: of all), in the order of the table; their number. */
enum { ORR_KEYS_NAMED = 6 };
int orr_settings_named(const char *name, const char *groups, const char *key[ORR_KEYS_NAMED]);
/* ORR_EUSAGE for a key that there is none of, with those that may have been meant. */
int orr_setting_unknown(const char *where, const char *key);

#endif
