/* regress.h - inside api/: a regression with its settings, table and last search. */
#ifndef API_REGRESS_H
#define API_REGRESS_H

#include "call.h"
#include "symreg/table/output.h"

enum { API_OPTIONS = 18 };
struct orrery_regression {
    struct api_handle handle;
    struct orr_settings settings;
    bool seconds_given, iterations_given;
    char *option[API_OPTIONS]; /* by index in options.c; NULL: not given */
    struct sr_csv_options options;
    struct sr_table table;
    bool has_table;
    size_t columns;             /* of the caller's table */
    size_t column[SR_FEATURES]; /* index of each feature in them */
    bool keep_state;
    char *state, *resumed; /* of the last search; to resume from */
    size_t state_bytes, resumed_bytes;
    struct sr_csv_setup setup; /* language of the last search's formulas */
    struct sr_fit *fit;        /* result of the last search; NULL: none */
};

/* Discards the last search. */
void api_forget(struct orrery_regression *r);
/* Sets up language, constraints and loss from settings and table; all are freed after an error. */
int api_set_up(struct orrery_regression *r);
/* Parses a formula in the language of the last search, or of the settings if there was none. */
int api_parse(struct orrery_regression *r, const char *formula, struct sr_expr *expr);
/* options.c: the defaults of symreg for tables. */
int api_default_settings(struct orr_settings *settings);
/* Copies and checks a caller's table. ORR_EINVAL if the struct or its numbers are invalid; needs_y:
 * the table is to be searched. */
int api_check_table(const struct orrery_table *given, bool needs_y, struct orrery_table *table);
/* The number in `row` and `column` of x. */
double api_cell(const struct orrery_table *table, size_t row, size_t column);

#endif
