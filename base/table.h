/* table.h - results as one long table: a row is one value of one model and seed, beside its bounds;
 * whatever is asked of results is a contrast of such rows, over seeds. */
#ifndef ORR_TABLE_H
#define ORR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statistics.h"

enum { ORR_SEEDS = 1024, ORR_MODEL = 4096 };

struct orr_row {
    const char
        *model; /* the settings that tell it from others: "attention=lssar model.gate=none" */
    const char *quantity, *measure;
    int layer, context;
    uint64_t seed;
    int n;              /* 0: the value of a seed; else the mean over n seeds */
    double value, half; /* NaN: none; half of the mean's 95% interval */
    double upper_bound, baseline,
        raw; /* of the same procedure fed the truth, random weights, inputs */
};

/* Rows in the order of their adding; zero it, free it. */
struct orr_table {
    size_t count, texts;
    struct orr_row *row; /* (count) */
    bool crossed;        /* rows of one value are of every combination of settings */
    char **text;         /* (texts) what rows point at */
};
/* Copies the row and its texts. ORR_ENOMEM. */
int orr_table_add(struct orr_table *table, const struct orr_row *row);
void orr_table_free(struct orr_table *table);

/* Whether the row's model has the setting "key=value"; "": all models have. */
bool orr_row_has(const struct orr_row *row, const char *setting);
/* What stands behind "key=" in the row's model, NULL where it has no such setting. */
const char *orr_row_setting(const struct orr_row *row, const char *key);

/* Numbers of a row. */
enum orr_row_number {
    ORR_ROW_VALUE,
    ORR_ROW_UPPER_BOUND,
    ORR_ROW_BASELINE,
    ORR_ROW_RAW,
    ORR_ROW_LEARNED,  /* value beyond random weights */
    ORR_ROW_NEARNESS, /* how near to the truth: 0, or below */
    ORR_ROW_GAIN,     /* how much nearer than random weights */
    ORR_ROW_SHARE     /* of the headroom between random weights and the truth */
};
double orr_row_number(const struct orr_row *row, enum orr_row_number number);

/* The seeds of the rows as they appear, ORR_SEEDS at most; how many. */
int orr_table_seeds(const struct orr_table *table, uint64_t seed[ORR_SEEDS]);

/* By seed a number of the models that have the setting `of`, less that of the same models and seeds
 * with `from` in its place ("": of no others), NaN where one is not there. Two settings, "a=1 x
 * b=1" and "a=0 x b=0": their interaction, the difference of differences. Averaged over the other
 * settings of a table that is crossed; elsewhere NaN where several models have `of`, since which
 * one is meant would be a guess. */
void orr_table_values(const struct orr_table *table, const uint64_t *seed, int seeds,
                      const char *of, const char *from, enum orr_row_number number, double *value);
/* Their mean over all seeds of the table. */
struct orr_mean orr_table_contrast(const struct orr_table *table, const char *of, const char *from,
                                   enum orr_row_number number);

#endif
