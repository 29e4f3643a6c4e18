/* regress.h - inside api/: a regression with its settings, table and last search. */
#ifndef API_REGRESS_H
#define API_REGRESS_H

#include "call.h"
#include "symreg/solve/solve.h"

enum { API_ROLES = 1024 };
struct orrery_regression {
    struct api_handle handle;
    struct orr_settings settings;
    bool seconds_given, iterations_given;
    char *option[SR_OPTION_COUNT]; /* by number of the row; NULL: not given */
    struct sr_csv_options options;
    struct sr_table table;
    struct sr_table second; /* of a test */
    bool has_table, has_test;
    char roles[API_ROLES];      /* api_roles() of the table */
    size_t columns;             /* of the caller's table */
    size_t column[SR_FEATURES]; /* index of each feature in them */
    bool keep_state;
    char *state, *resumed; /* of the last search; to resume from */
    size_t state_bytes, resumed_bytes;
    struct sr_csv_setup setup;    /* language of the last search's formulas */
    struct sr_csv_options solved; /* the options of that search */
    struct sr_solution solution;  /* of the last search, if has_front */
    bool has_front;
};

/* Discards the last search. */
void api_forget(struct orrery_regression *r);
/* Sets up language, constraints and loss from settings and table; all are freed after an error. */
int api_set_up(struct orrery_regression *r);
/* The problem of the table with these settings. */
struct sr_problem api_problem(struct orrery_regression *r, int threads);
/* Sets an option or a setting of an orrery_regression by its key. */
int api_set(void *regression, const char *key, const char *value);
/* The options that are read with a table, as text. */
void api_roles(const struct orrery_regression *r, char text[API_ROLES]);
/* Checks the number of a row of the front. */
int api_check_row(const struct orrery_regression *r, int row);
/* The front that has a row of this number, or with `beside` an alternative. */
int api_find_row(const struct orrery_regression *r, bool beside, int number,
                 const struct sr_front **front);
/* options.c: the defaults of symreg for tables. */
int api_default_settings(struct orr_settings *settings);
/* Copies and checks a caller's table. ORR_EINVAL if the struct or its numbers are invalid; needs_y:
 * the table is to be searched. */
int api_check_table(const struct orrery_table *given, bool needs_y, struct orrery_table *table);
/* The number in `row` and `column` of x. */
double api_cell(const struct orrery_table *table, size_t row, size_t column);

#endif
