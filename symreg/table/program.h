/* program.h - bin/symreg on any table: reads it, has it solved, prints and writes the answer. */
#ifndef SR_PROGRAM_H
#define SR_PROGRAM_H

#include "stage/cli.h"
#include "symreg/solve/solve.h"

/* CSV mode: reads a table, or takes options->made, and reports a Pareto front. `file` names the
 * table, or what it was made from; errors in cells of the latter name SR_TABLE_OF_MOTION. */
#define SR_TABLE_OF_MOTION "table of motion"
int sr_csv_run(const struct orr_cli *cli, const char *file, const struct sr_csv_options *options);

/* sr_csv_run() for each column of --target A,B in turn, into folders of --out with their names. The
 * other targets are no features unless --features names them. A target that fails is reported and
 * does not end the others; the error at the end names those that failed. */
int sr_csv_run_targets(const struct orr_cli *cli, const char *file,
                       const struct sr_csv_options *options);

/* The folder of the n-th of several targets below --out: its name, with "_" for what a file system
 * may refuse. A name that an earlier target has already gets a number. */
enum { SR_TARGET_NAME = 256, SR_TARGET_FOLDER = 2 * SR_TARGET_NAME };
void sr_target_folder(const char *const *name, int n, char folder[][SR_TARGET_FOLDER]);

/* Prints the values of a formula of a front.json on the rows of a table as CSV: one column with the
 * target's name, and a line for each row. With `interval` two more columns, low and high: a new
 * observation is between them with this probability. A value is nan where the formula is not
 * finite, and empty where a cell is missing with `missing` drop. NULL: option absent. */
struct sr_predict_options {
    /* a row number from 1 on, or a rule; default: the rule best */
    const char *index, *rule, *missing, *missing_value;
    const char *interval; /* percent */
    bool quiet;
};
int sr_predict_run(const char *front, const char *file, const struct sr_predict_options *options);

/* Writes the units that the file gives to the columns used in the form of --units. Those that are
 * not understood are named in a note and left out. *units: NULL where none is left; free() it. */
int sr_table_units(const struct sr_table *table, const char *file, bool quiet, char **units);
/* Refuses a folder in which a file that is not a search's own has the name of one of its results;
 * made: with the table of symreg motion. ORR_EUSAGE, ORR_EIO. */
#define SR_MADE_TABLE "accelerations.csv" /* of symreg motion */
/* How the header of such a table begins that is of states (symreg/dynamics/). */
#define SR_STATES_TABLE "\"line of the file\",\"track of the row\""
int sr_own_files(const char *folder, bool made);
/* Removes the files of an earlier search of such a table, and the folder where nothing else is in
 * it; refuses it as sr_own_files() does. */
int sr_own_remove(const char *folder);
/* The same for other results. A kind of file: its content begins with `begins` and has `holds`
 * (NULL: anything) in its first bytes. Pictures are one's own beside such a file. */
struct sr_own_kind {
    const char *name, *begins, *holds;
};
int sr_own_kinds(const char *folder, const struct sr_own_kind *kind, size_t kinds,
                 const char *const *picture, size_t pictures);

/* The first failure of what is written beside the front, which is printed and written before the
 * program ends with it. */
struct sr_late {
    int code;
    char message[1024];
};

/* What is said of a table before its front: a text around a piece of code, which may be empty.
 * False where there is nothing to say. */
enum sr_statement_of { SR_STATED_DEFINE, SR_STATED_FORM, SR_STATED_WEIGHTS, SR_STATEMENTS };
struct sr_statement {
    const char *before, *code, *after;
    char formula[SR_TEXT]; /* where code may be */
};
bool sr_output_statement(const struct sr_answer *output, enum sr_statement_of which,
                         struct sr_statement *statement);

/* Prints the constants that the formula of o->rule has in each category: of at most `most`
 * categories, and their mean and standard deviation. To standard output, or as a table in Markdown
 * or HTML into the file. */
enum sr_medium { SR_TERMINAL, SR_MARKDOWN, SR_HTML };
void sr_output_categories(const struct sr_answer *output, int most, enum sr_medium medium,
                          struct orr_file *file);

/* Prints the unknown parts of a template in the formula of o->rule: to standard output, or as a
 * table into the file. Nothing without a template. */
void sr_output_parts(const struct sr_answer *output, enum sr_medium medium, struct orr_file *file);

/* The name of the number in front->score, for the heading of a table. */
static inline const char *sr_output_score(const struct sr_answer *o)
{
    return o->beside ? "nats" : "score";
}
/* Writes "Complexity,Loss,Score,DescriptionLength,Equation,LaTeX,C,SymPy,NumPy,JAX,PyTorch,MathML";
 * of alternatives with Nats in place of Score. */
int sr_output_table(const struct sr_answer *output, const char *path);
int sr_output_json(const struct sr_answer *output, const char *path);
/* Numbers of a row for tables: constants with standard errors and, for the row that o->rule selects
 * and where there are any, 95% profile intervals. None (count 0) without least squares. */
struct sr_shown_constants {
    int count;
    bool profiles; /* low and high are filled in */
    double constant[SR_NODES], error[SR_NODES], low[SR_NODES], high[SR_NODES];
};
int sr_output_constants(const struct sr_answer *output, int row, struct sr_shown_constants *shown);
/* The standard deviation of a row's target, as the table gave it (--sigma); 0: none is known. */
double sr_row_sigma(const struct sr_answer *output, size_t row);
/* Writes report.md, front.png and residuals.png. Without gnuplot there are no pictures, which is
 * reported on stderr unless quiet. */
int sr_report(const struct sr_answer *output, const char *folder, bool quiet);
/* Writes report.html, one self-contained page: the front as formulas, each with its predictions,
 * residuals, constants and texts for programs. Without the page's style and script (figures/) there
 * is none, which is reported on stderr unless quiet. */
int sr_page(const struct sr_answer *output, const char *folder, const struct sr_page_part *part,
            bool quiet);
/* Writes text of a number's bound: six digits, or as many as show a hundredth of its distance from
 * the constant. */
void sr_bound_print(double bound, double constant, char *text, size_t bytes);
/* Draws the pictures. ORR_EMISSING without gnuplot or its scripts. */
int sr_report_pictures(const struct sr_answer *output, const char *folder);
/* ---- intervals of predictions, from what sr_output_json() writes */

/* The noise of a new observation. */
struct sr_noise {
    enum { SR_NOISE_ALIKE, SR_NOISE_SIGMA, SR_NOISE_WEIGHT, SR_NOISE_RELATIVE } kind;
    const char *column; /* of sigmas or weights; else NULL. Owned by the JSON */
    bool logarithm;     /* the target is the logarithm of what the sigmas are of */
    double mean;        /* of the weights */
    double largest;     /* weight, for SR_NOISE_RELATIVE */
};
struct cJSON;
/* Reads the uncertainty of row `row` (from 0) of a front.json, whose formula is `expr`, and its
 * noise. An error names what is lacking. */
int sr_uncertainty_read(const char *path, const struct cJSON *json, int row,
                        const struct sr_expr *expr, struct sr_uncertainty *uncertainty,
                        struct sr_noise *noise);
/* Half the width of the interval of a new observation with probability `level`, in standard
 * deviations; and the variance of its noise. cell: the row's number in noise->column; value: the
 * prediction. Rows of the noise SR_NOISE_ALIKE have the scatter of the residuals. */
double sr_noise_factor(const struct sr_uncertainty *uncertainty, const struct sr_noise *noise,
                       double level);
double sr_noise_variance(const struct sr_uncertainty *uncertainty, const struct sr_noise *noise,
                         double cell, double value);

/* ---- the live view: the front so far, redrawn on a terminal, and the log */

struct sr_live;
/* A line for each formula, cut to the terminal, with constants to five digits, and the one that the
 * problem's rule would choose now. log: path of the JSONL file, "" for none. The log is continued
 * when the search resumes; otherwise it is created, and begins with the number of lines before the
 * table's header, if any. On a terminal the key q ends the search like a signal. Shows nothing when
 * quiet. */
int sr_live_start(const struct sr_problem *problem, bool quiet, const char *log,
                  struct sr_live **live);
/* The callback sr_settings.observe. */
void sr_live_observe(void *live, const struct sr_observation *seen);
/* Removes the view and restores the terminal. *asked: the user pressed q. ORR_EIO when the log
 * could not be written. */
int sr_live_end(struct sr_live *live, bool *asked);

/* Reads keys from the terminal on standard input until sr_keys_end(): q sets *asked and sends
 * SIGINT. False where standard input is not a terminal, or this process is not in the foreground.
 * Only one reader at a time. */
bool sr_keys_start(atomic_bool *asked);
/* Restores the terminal. */
void sr_keys_end(void);

#endif
