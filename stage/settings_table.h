/* settings_table.h - the descriptor table of every setting (inside stage/ only). */
#ifndef ORR_SETTINGS_TABLE_H
#define ORR_SETTINGS_TABLE_H

#include "settings.h"

enum orr_field_type {
    ORR_FIELD_INT,
    ORR_FIELD_LONG,
    ORR_FIELD_U64,
    ORR_FIELD_DOUBLE,
    ORR_FIELD_BOOL,
    ORR_FIELD_ENUM,
    ORR_FIELD_TEXT,
    ORR_FIELD_NAMES
};

struct orr_field {
    const char *key; /* "pretrain.steps" */
    enum orr_field_type type;
    size_t offset;       /* in struct orr_preset */
    const char *initial; /* default, as text */
    double min, max;     /* numbers: allowed range, inclusive */
    const char *choices; /* enums: "a|b|c" in the order of the enum */
    const char *help;
};

extern const struct orr_field orr_fields[]; /* ended by key == NULL */

/* orr_preset_value() of a field. */
enum { ORR_FIELD_TEXT_BYTES = ORR_SETTING };
void orr_field_text(const struct orr_preset *preset, const struct orr_field *f,
                    char text[ORR_FIELD_TEXT_BYTES]);

#endif
