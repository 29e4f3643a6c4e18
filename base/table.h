/* table.h - results as one long table: a row is one value of one model and seed, with its bounds.
 * Every comparison of results is a contrast of rows, averaged over seeds. */
#ifndef ORR_TABLE_H
#define ORR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statistics.h"

enum { ORR_SEEDS = 1024, ORR_MODEL = 4096 };

struct orr_row {
    const char *model; /* its settings: "attention=lssar model.gate=none" */
    const char *quantity, *measure;
    int layer, context;
    uint64_t seed;
    int seeds;          /* 0: the value of one seed; else the mean over so many seeds */
    double value, half; /* value: NaN for none; half: half of the mean's 95% interval */
    double low, high;   /* 95% interval of one seed's value, over held-out sequences */
    double upper_bound, baseline, raw; /* fed the truth; with random weights; from raw inputs */
    long n; /* held-out rows, trials, data sets or pairs behind the value; 0: unknown */
};

/* A row without texts, layer, context or numbers: what others begin as. */
extern const struct orr_row orr_row_none;

/* Rows in the order in which they were added. Begin with {0}; free with orr_table_free(). */
struct orr_table {
    size_t count, texts;
    struct orr_row *row; /* (count) */
    bool crossed;        /* rows exist for every combination of settings */
    char **text;         /* (texts) strings of the rows */
};
/* Copies the row and its texts. ORR_ENOMEM, also where a text is NULL. */
int orr_table_add(struct orr_table *table, const struct orr_row *row);
void orr_table_free(struct orr_table *table);
/* The table's own copy of a text, which lives as long as the table; NULL: out of memory. */
const char *orr_table_text(struct orr_table *table, const char *text);

/* Whether two rows are of the same quantity: equal but for model, seed and numbers. */
bool orr_row_same(const struct orr_row *a, const struct orr_row *b);
/* The first row of the same quantity (with_model: and of the same model); NULL: none. */
const struct orr_row *orr_table_find(const struct orr_table *table, const struct orr_row *like,
                                     bool with_model);

/* Whether the row's model has the setting "key=value"; always true for "". */
bool orr_row_has(const struct orr_row *row, const char *setting);
/* The value after "key=" in the row's model; NULL if the model has no such setting. */
const char *orr_row_setting(const struct orr_row *row, const char *key);

/* Numbers of a row. */
enum orr_row_number {
    ORR_ROW_VALUE,
    ORR_ROW_UPPER_BOUND,
    ORR_ROW_BASELINE,
    ORR_ROW_RAW,
    ORR_ROW_LEARNED,  /* value above random weights */
    ORR_ROW_NEARNESS, /* closeness to the truth: at most 0 */
    ORR_ROW_GAIN,     /* how much closer than random weights */
    ORR_ROW_SHARE     /* share of the headroom between random weights and the truth */
};
double orr_row_number(const struct orr_row *row, enum orr_row_number number);

/* Writes the seeds of the rows in order of appearance, at most ORR_SEEDS; returns how many. */
int orr_table_seeds(const struct orr_table *table, uint64_t seed[ORR_SEEDS]);

/* For each seed, `number` of the models with the setting `of` minus `number` of the models with
 * `from` in its place ("": nothing is subtracted), both otherwise equal. NaN where a row is
 * missing. For two settings, "a=1 x b=1" and "a=0 x b=0": their interaction, the difference of
 * differences. Averages over the other settings of a crossed table; in other tables NaN if several
 * models have `of`, because the choice would be ambiguous. */
void orr_table_values(const struct orr_table *table, const uint64_t *seed, int seeds,
                      const char *of, const char *from, enum orr_row_number number, double *value);
/* The mean of these differences over all seeds of the table. */
struct orr_mean orr_table_contrast(const struct orr_table *table, const char *of, const char *from,
                                   enum orr_row_number number);

#endif
