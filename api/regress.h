/* regress.h - inside api/: a regression: its settings, its table, its last search. */
#ifndef API_REGRESS_H
#define API_REGRESS_H

#include "call.h"
#include "symreg/table/output.h"

enum { API_OPTIONS = 14 };
struct orrery_regression {
    struct api_handle handle;
    struct orr_settings settings;
    bool seconds_given, iterations_given;
    char *option[API_OPTIONS]; /* by their number in options.c; NULL: not given */
    struct sr_csv_options options;
    struct sr_table table;
    bool has_table;
    size_t columns;             /* that the caller's table had */
    size_t column[SR_FEATURES]; /* of them, that each feature is */
    bool keep_state;
    char *state, *resumed; /* of the last search, of the one to go on with */
    size_t state_bytes, resumed_bytes;
    struct sr_csv_setup setup; /* of the last search, whose formulas are in its language */
    struct sr_fit *fit;        /* its result; NULL: none */
};

/* Forgets the last search. */
void api_forget(struct orrery_regression *r);
/* Language, constraints and loss of the settings and the table; none are left after an error. */
int api_set_up(struct orrery_regression *r);
/* A formula in the language of the last search, or of the settings where there was none. */
int api_parse(struct orrery_regression *r, const char *formula, struct sr_expr *expr);
/* options.c: the defaults of symreg for tables. */
int api_default_settings(struct orr_settings *settings);
/* ORR_EINVAL where the struct or its numbers are not as expected; needs_y: a table to search on. */
int api_check_table(const struct orrery_table *given, bool needs_y, struct orrery_table *table);
/* Number `column` of row `row` of x. */
double api_cell(const struct orrery_table *table, size_t row, size_t column);

#endif
