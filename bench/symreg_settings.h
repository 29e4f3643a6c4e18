/* symreg_settings.h - what benchmarks of tables have in common with `bin/symreg FILE.csv`. */
#ifndef SYMREG_SETTINGS_H
#define SYMREG_SETTINGS_H

/* Members of struct sr_settings: operators and loss of presets/table.json, and the default size of
 * a population and of the enumeration. */
#define TABLE_SETTINGS                                                                             \
    .binary = {SR_ADD, SR_SUB, SR_MUL, SR_DIV},                                                    \
    .unary = {SR_INV, SR_SQUARE, SR_SQRT, SR_EXP, SR_LOG, SR_SIN, SR_COS}, .binary_count = 4,      \
    .unary_count = 7, .loss = ORR_SR_L2, .population_size = 27, .restarts = 1, .enumerate = 5e5

#endif
