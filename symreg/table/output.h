/* output.h - inside symreg/: what CSV mode shows and writes. */
#ifndef SR_OUTPUT_H
#define SR_OUTPUT_H

#include <stdatomic.h>

#include "table.h"

enum {
    SR_COLUMNS = 1024,      /* that may be offered as features */
    SR_LARGE_TABLE = 10000, /* more rows: searched on a sample of them */
};

/* A problem read from a file: columns picked, x column-major. */
struct sr_table {
    struct orr_csv csv;
    const char *name[SR_FEATURES];
    const char *target, *weights; /* names of columns; weights: NULL without, "" for 1/y^2 */
    struct sr_data data;          /* what is fitted: y is ln of the column with --log-target */
    double variance;              /* with --sigma of a row of weight 1, else 0 */
    bool relative;                /* its weights are 1/y^2, not a column */
    struct sr_digits digits[SR_FEATURES + 1]; /* the data's */
    double *block;                            /* all of its arrays */
    int columns;                              /* offered as features; data.features of them are */
    size_t dropped;                           /* rows that --missing drop left out */
};
/* file: "-" is standard input; gzip is decompressed. */
int sr_table_read(const char *file, const struct sr_csv_options *options, struct sr_table *table);
/* The same of table->csv, which is there already; `file` names it in messages. */
int sr_table_fill(const char *file, const struct sr_csv_options *options, struct sr_table *table);
/* A further table with the features, target and weights that `like` has. */
int sr_table_read_like(const char *file, const struct sr_csv_options *options,
                       const struct sr_table *like, struct sr_table *table);
/* The cells of a file: columns of text that nobody uses may stay. */
int sr_table_cells(const char *file, struct orr_csv *csv);
/* A column by its name, or the error that says which there are. */
int sr_table_column(const struct orr_csv *csv, const char *file, const char *name, int *column);
/* The error of a cell that is no finite number. */
int sr_table_wrong_cell(const struct orr_csv *csv, const char *file, size_t row, int column);
/* Whether the text of --missing is drop, error or NULL; ORR_EUSAGE. */
int sr_missing_check(const char *text);
/* Whether a cell says that there is no value. */
bool sr_cell_is_missing(const char *cell);
/* Leaves the rows out of csv that have no value in one of the columns (an empty cell, NA, N/A, NaN,
 * null or None), and returns how many. */
size_t sr_table_drop_missing(struct orr_csv *csv, const int *column, int count);
/* Of *count columns of the file the SR_FEATURES that are most related to the target, in their
 * order. */
int sr_table_select(const struct orr_csv *csv, int goal, int *column, int *count);
/* Says what of a table that was read is not used: lines before the header, columns of text. */
void sr_table_notes(const struct sr_table *table, const char *file,
                    const struct sr_csv_options *options, bool quiet);
/* ROWS rows drawn without replacement, as a table of its own. */
int sr_table_sample(const struct sr_table *table, size_t rows, uint64_t seed,
                    struct sr_table *sample);
void sr_table_free(struct sr_table *table);

/* Settings of CSV mode: the preset's, changed by options, with the operators, the loss and the
 * prices of the user, constraints, units and guesses. */
struct sr_csv_setup {
    struct sr_settings settings;
    struct sr_language *language; /* owned; the settings' */
    struct orr_name_list rules;   /* to report */
    enum sr_rule rule;            /* the report's */
    size_t batch;                 /* rows, 0 = all */
    int permutations;             /* searches on shuffled targets */
    char *about;                  /* the options, for checkpoints */
    struct sr_constraints constraints;
    struct sr_units units;
    struct sr_expr guess[ORR_LIST];
    char loss[256]; /* as text */
};
int sr_csv_setup(const struct orr_settings *preset, const struct sr_csv_options *options,
                 const struct sr_table *table, struct sr_csv_setup *setup);
/* After errors of sr_csv_setup(), too; a setup of zeros is freed already. */
void sr_csv_setup_free(struct sr_csv_setup *setup);

/* Seconds from now on until a search that began at started_s (orr_time_s()) is broken off, in an
 * epoch that takes longer than its `seconds`, or what is left to do after it; at least 0.3. A share
 * of its seconds, and some more. */
enum sr_limit_of { SR_LIMIT_OF_SEARCH, SR_LIMIT_OF_ALL };
double sr_seconds_left(double seconds, enum sr_limit_of what, double started_s);
/* Seconds after a stop, for rounding constants. */
#define SR_AFTER_STOP_S 0.3
/* What the search leaves to do: after one on a sample of the rows, constants and losses of all;
 * round constants where the search has not seen to that on all rows, or a limit or a signal came
 * before; rows that gain nothing. */
int sr_front_finish(const struct sr_settings *settings, const struct sr_data *data, bool sampled,
                    struct sr_fit *fit);
/* Rows that gain no digit of the table go. Then description lengths, and scores that know how few
 * the rows are; PySR's own stay with its algorithm and with the loss of the published study. */
int sr_front_judge(const struct sr_settings *settings, const struct sr_data *data,
                   struct sr_front *front);

/* Bytes of the character at text, and its code; one byte with code 0 where it is not UTF-8. */
size_t sr_character(const char *text, uint32_t *code);

/* How well the formulas of a front predict a second table; NaN where one is not finite there. */
struct sr_test {
    const char *file;
    size_t rows;
    double loss[SR_NODES + 1]; /* (front.count) */
    double r2[SR_NODES + 1];   /* (front.count) 1 - residual / total variance, weighted */
};
/* table: the second one. What is small (sr_loss.unit) is that of the first table, `train`. */
int sr_test_measure(const struct sr_settings *settings, const struct sr_data *train,
                    const struct sr_table *table, const char *file, const struct sr_front *front,
                    struct sr_test *test);
/* "12.5" or "-" for NaN, in so many characters at least, 0 = as many as it takes. */
void sr_test_text(double value, int width, char *text, size_t bytes);

/* How good formulas of shuffled targets get. */
struct sr_permutations {
    int asked, searches;  /* searches that ended; fewer than asked for after a stop */
    int as_good;          /* whose smallest description length is no larger than the table's */
    double p;             /* (as_good + 1) / (searches + 1) */
    int complexity;       /* of the formula of the rule */
    double least, median; /* of the smallest losses up to this complexity */
};
/* The same search, with other orders of the target's rows (each with its weight), drawn by the
 * seed. *stopped: ORR_EINTR when a signal ended one, which does not count then. */
int sr_permutations_run(const struct orr_cli *cli, const struct sr_table *table,
                        struct sr_csv_setup *setup, const struct sr_front *front, int searches,
                        struct sr_permutations *result, int *stopped);
/* One line that says all of it. */
void sr_permutations_text(const struct sr_permutations *permutations, char *text, size_t bytes);

/* Searches a table and finishes the front: of the program's folder (cli->out), view and limits.
 * *stopped: ORR_EINTR when a signal ended it, the front being what was found. */
int sr_csv_front(const struct orr_cli *cli, const struct sr_table *table,
                 struct sr_csv_setup *setup, struct sr_fit *fit, double started_s, int *stopped);

/* A finished fit. */
struct sr_output {
    const char *file, *target, *loss; /* the target's name, "ln y" with --log-target */
    const char *weights;              /* the column's name, "" for 1/y^2, NULL for none */
    double variance;                  /* sr_table.variance: the weights are 1 / sigma^2 */
    bool least_squares;               /* of the loss: constants have standard errors */
    const char *const *names;         /* of the features */
    const struct sr_data *data;
    struct sr_front *front; /* described */
    uint64_t seed;
    double evaluations, seconds;
    enum sr_rule rule;                          /* whose residuals are drawn */
    const struct sr_test *test;                 /* NULL: no second table */
    const struct sr_permutations *permutations; /* NULL: not asked for */
    const char *define;                         /* operators of the user as text, NULL: none */
};

/* Whether a name means something in C or SymPy. */
bool sr_export_reserved(const char *name);

/* front.csv: "Complexity,Loss,Equation", with a test ",TestLoss,TestR2" behind them. */
int sr_output_front(const struct sr_output *output, const char *path);
/* "Complexity,Loss,Score,DescriptionLength,Equation,LaTeX,C,SymPy,NumPy,JAX,PyTorch". */
int sr_output_table(const struct sr_output *output, const char *path);
int sr_output_json(const struct sr_output *output, const char *path);
/* report.md, front.png and residuals.png; without gnuplot the pictures are left out, and said so
 * to stderr unless quiet. */
int sr_report(const struct sr_output *output, const char *folder, bool quiet);
/* The pictures; without gnuplot or its scripts ORR_EMISSING. */
int sr_report_pictures(const struct sr_output *output, const char *folder);
/* A remark such as "4 pi^2 (0.001% off; so close by chance: 0.02%)" about a number that lies as
 * close to one that a person would look for as fewer than one number in a hundred does; false, with
 * an empty text, about others. */
bool sr_constant_remark(double value, char *text, size_t bytes);

/* Share of the variance that predictions leave, NaN where there is none, and the largest deviation:
 * rows have their weight, a deviation the root of its row's. */
void sr_measure_fit(const struct sr_data *data, const double *value, double *left, double *worst);
/* The mean of y by the rows' weights. */
double sr_weighted_mean(const struct sr_data *data);

/* What a table cannot tell, as a sentence: false where there is nothing to say.
 *   undecided  the rows are too few for the formula of o->rule, or another one of the front is as
 *              likely within a factor of 20 and the rows are at most 50
 *   dominated  nine tenths of the loss of the best constant are those of at most one row in twenty
 *   proportional  residuals of the formula of o->rule grow with the size of the target, over a
 *              factor of ten and more, and rows have no weights
 *   zeros      the loss is relative, and the target is 0 in some rows */
enum sr_table_remark { SR_UNDECIDED, SR_DOMINATED, SR_PROPORTIONAL, SR_ZEROS, SR_TABLE_REMARKS };
bool sr_table_remark(const struct sr_output *o, enum sr_table_remark remark, char *text,
                     size_t bytes);

/* ---- the live view: the front so far, redrawn on a terminal, and the log */

struct sr_live;
/* log: path of the JSONL file, "" = none; it is continued when the search resumes, else it begins
 * with the number of lines before the table's header, if there were any. On a terminal
 * `q` ends the search like a signal. Shows nothing when quiet. */
int sr_live_start(const struct sr_table *table, const struct sr_settings *settings, bool quiet,
                  const char *log, struct sr_live **live);
/* sr_settings.observe */
void sr_live_observe(void *live, const struct sr_observation *seen);
/* Takes the view away and gives the terminal back as it was; *asked: the user pressed q. ORR_EIO
 * when the log could not be written. */
int sr_live_end(struct sr_live *live, bool *asked);

/* Reads keys from the terminal of standard input, until sr_keys_end(): q sets *asked and sends
 * SIGINT. False when that is no terminal, or another process has it. Once at a time. */
bool sr_keys_start(atomic_bool *asked);
/* Gives the terminal back as it was. */
void sr_keys_end(void);

#endif
