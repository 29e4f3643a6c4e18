/* settings_table.h - the table of all settings (inside stage/ only). */
#ifndef ORR_SETTINGS_TABLE_H
#define ORR_SETTINGS_TABLE_H

#include "provenance.h"
#include "settings.h"

/* The conditions under which a setting has an effect, "key=a|b,other!=c": all must hold, and those
 * of its group. ORR_ALWAYS: no conditions, not even the group's; NULL: only the group's. */
#define ORR_ALWAYS ""

/* Common to all settings of a group. */
struct orr_setting_group {
    const char *prefix; /* "pretrain." */
    const char *needs;
    struct orr_left_out left_out[3];
};

extern const struct orr_setting orr_setting_rows[]; /* ended by key == NULL */
extern const struct orr_setting_group
    orr_setting_groups[]; /* ended by prefix == NULL; a key is in at most one */

/* orr_settings_value() of a row. */
void orr_setting_text(const struct orr_settings *settings, const struct orr_setting *f,
                      char text[ORR_SETTING]);
/* Whether a setting of pretrain_planets was not given and has the value of another setting, whose
 * key is written to `key`. */
bool orr_setting_follows(const struct orr_settings *settings, const struct orr_setting *f,
                         char key[ORR_SETTING]);
/* Finds keys whose last part is this name ("lr"), or whose name in other programs it is
 * ("learning_rate"), in these groups (NULL: all), in the order of the table; returns their
 * number. */
enum { ORR_KEYS_NAMED = 6 };
int orr_settings_named(const char *name, const char *groups, const char *key[ORR_KEYS_NAMED]);
/* ORR_EUSAGE for an unknown key, with the keys that may have been meant. */
int orr_setting_unknown(const char *where, const char *key);

#endif
