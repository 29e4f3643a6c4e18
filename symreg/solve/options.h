/* options.h - the options of a table as rows: the program's --help, parsing and refusals, the keys
 * of the library, parameters of Python, docs/symreg_options.md, and the text by which a checkpoint
 * knows its search are made from them.
 *
 * A new option is a row here and its use. */
#ifndef SR_OPTIONS_H
#define SR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "stage/cli.h"

/* Who takes an option. */
enum sr_option_of {
    SR_OF_TABLE = 1,   /* symreg FILE.csv */
    SR_OF_MOTION = 2,  /* symreg motion TRACKS.csv */
    SR_OF_PREDICT = 4, /* symreg predict FRONT.json FILE.csv */
    SR_OF_RUN = 8,     /* laws, the laws of a run: symreg without a FILE hands over to it */
    SR_OF_LIBRARY = 16,
    SR_OF_PROGRAMS = SR_OF_LIBRARY - 1,
    SR_OF_SEARCH = SR_OF_TABLE | SR_OF_MOTION,
    SR_OF_BOTH = SR_OF_SEARCH | SR_OF_LIBRARY, /* of a search, wherever the table comes from */
};
enum sr_option_kind {
    SR_OPTION_TEXT,
    SR_OPTION_WHOLE,    /* a number from low to high */
    SR_OPTION_POSITIVE, /* a number above 0, below high */
    SR_OPTION_WORD,     /* one of those in value_name, "a|b|c" */
    SR_OPTION_SETTING,  /* sets the setting `key` */
};

/* ROW(member of struct sr_csv_options, name, value of --help (NULL: a flag), help, .of = who, ...
 * other members of struct sr_option that are not 0), in the order of --help. */
#define SR_OPTIONS(ROW)                                                                            \
    ROW(orbits, "--orbits", "DIR",                                                                 \
        "of a run: the data sets it was made from, if not those of its settings", .of = SR_OF_RUN) \
    ROW(answers, "--answers", "DIR,DIR",                                                           \
        "of a run: tables of forces of models of other programs (docs/exchange.md)",               \
        .of = SR_OF_RUN)                                                                           \
    ROW(target, "--target", "COLUMN", "column to explain, A,B: each; FILE - is stdin",             \
        .of = SR_OF_TABLE, .recorded = true, .python = "y of fit()")                               \
    ROW(target_interval, "--target-interval", "LOW,HIGH",                                          \
        "instead of --target: it is between the numbers of two columns; an empty cell: no end",    \
        .of = SR_OF_TABLE, .recorded = true, .without = "--target",                                \
        .python = "y_low, y_high of fit()")                                                        \
    ROW(features, "--features", "A,B,C", "columns to explain it with (default: all others)",       \
        .of = SR_OF_TABLE, .recorded = true, .python = "X of fit()")                               \
    ROW(exclude, "--exclude", "A,B", "columns that formulas must not use", .of = SR_OF_TABLE,      \
        .recorded = true)                                                                          \
    ROW(require, "--require", "A,B", "columns that every formula of the front must use",           \
        .of = SR_OF_BOTH, .recorded = true, .python = "required_features")                         \
    ROW(weights, "--weights", "COLUMN|relative|equal",                                             \
        "row weights; relative: 1/y^2; equal: alike", .of = SR_OF_TABLE | SR_OF_LIBRARY,           \
        .recorded = true, .same_as_none = "equal", .python = "weights of fit()")                   \
    ROW(missing, "--missing", "drop|error",                                                        \
        "leave rows with a missing value out, or refuse them (default)",                           \
        .of = SR_OF_SEARCH | SR_OF_PREDICT, .kind = SR_OPTION_WORD, .initial = "error")            \
    ROW(missing_value, "--missing-value", "NUMBER,NUMBER",                                         \
        "numbers that stand for a missing value, as 99999.9 or -999: their rows are left out",     \
        .of = SR_OF_SEARCH | SR_OF_PREDICT)                                                        \
    ROW(sigma, "--sigma", "COLUMN", "error of the target per row; weights 1/sigma^2",              \
        .of = SR_OF_TABLE, .python = "sigma of fit()")                                             \
    ROW(sigma_x, "--sigma-x", "A=COLUMN,B=NUMBER",                                                 \
        "standard deviations of features: constants by orthogonal distance regression",            \
        .of = SR_OF_TABLE, .recorded = true, .without = "--category",                              \
        .python = "sigma_x of fit()")                                                              \
    ROW(category, "--category", "COLUMN",                                                          \
        "one formula, with constants of each value of this column; of simulate: a value",          \
        .of = SR_OF_BOTH, .recorded = true, .python = "category of fit()")                         \
    ROW(test, "--test", "FILE", "a second table: loss and R2 of every formula on it",              \
        .of = SR_OF_TABLE, .python = "X_test, y_test of fit()")                                    \
    ROW(log_target, "--log-target", NULL, "explain the logarithm of the target", .of = SR_OF_BOTH, \
        .recorded = true)                                                                          \
    ROW(binary, "--binary", "+,-,*,/,^", "operators of two arguments", .of = SR_OF_SEARCH,         \
        .recorded = true, .kind = SR_OPTION_SETTING, .key = "symreg.binary",                       \
        .python = "binary_operators")                                                              \
    ROW(unary, "--unary", "inv,exp,sin", "operators of one argument", .of = SR_OF_SEARCH,          \
        .recorded = true, .kind = SR_OPTION_SETTING, .key = "symreg.unary",                        \
        .python = "unary_operators")                                                               \
    ROW(define, "--define", "G(X)=FORMULA",                                                        \
        "operators of your own, \"g(x)=x*exp(-x); h(u,v)=u/(u+v)\"", .of = SR_OF_BOTH,             \
        .recorded = true, .python = "binary_operators, unary_operators")                           \
    ROW(loss, "--loss", "NAME|FORMULA", "a name of symreg.loss, or of p and t: \"abs(p-t)^1.5\"",  \
        .of = SR_OF_BOTH, .recorded = true, .python = "elementwise_loss")                          \
    ROW(round_constants, "--round-constants", "digits|integers|rationals|likely",                  \
        "what constants are rounded to (default: likely, fractions that are no coincidence)",      \
        .of = SR_OF_BOTH, .kind = SR_OPTION_WORD, .initial = "likely", .without = "--category",    \
        .python = "round_constants")                                                               \
    ROW(guess, "--guess", "FORMULAS", "start with these, \"a*b/r^2; a/r\"; constants are refined", \
        .of = SR_OF_BOTH, .recorded = true, .python = "guesses")                                   \
    ROW(form, "--template", "FORM",                                                                \
        "find f, g in a given form: \"sin(x)*f(r) + g(m)\"; other names: constants",               \
        .of = SR_OF_BOTH, .recorded = true, .without = "--category", .python = "template")         \
    ROW(maxsize, "--maxsize", "N", "largest complexity", .of = SR_OF_SEARCH, .recorded = true,     \
        .kind = SR_OPTION_SETTING, .key = "symreg.maxsize", .python = "maxsize")                   \
    ROW(maxdepth, "--maxdepth", "N", "nodes on the longest path of a formula", .of = SR_OF_BOTH,   \
        .recorded = true, .kind = SR_OPTION_WHOLE, .low = 1, .high = 64, .python = "maxdepth")     \
    ROW(complexity, "--complexity", "OP=N,...",                                                    \
        "price of an operator, constant, variable or column, \"exp=3\"", .of = SR_OF_BOTH,         \
        .recorded = true,                                                                          \
        .python = "complexity_of_operators, complexity_of_constants, complexity_of_variables")     \
    ROW(constrain, "--constrain", "OP:N,M;...",                                                    \
        "largest complexity of arguments, -1 = any: \"^:-1,1\"", .of = SR_OF_BOTH,                 \
        .recorded = true, .python = "constraints")                                                 \
    ROW(constrain_constants, "--constrain-constants", "LOW,HIGH|k>0,0<p<1",                        \
        "bounds of every number of a formula, or of constants of --template", .of = SR_OF_BOTH,    \
        .recorded = true, .without = "--category", .python = "constant_bounds")                    \
    ROW(monotone, "--monotone", "A=+,B=-",                                                         \
        "formulas that rise (+) or fall (-) with these columns over the table's range",            \
        .of = SR_OF_BOTH, .recorded = true, .without = "--category", .python = "monotone")         \
    ROW(positive, "--positive", NULL, "formulas above 0 over the table's range", .of = SR_OF_BOTH, \
        .recorded = true, .without = "--category", .python = "positive")                           \
    ROW(nest, "--nest", "OP:OP=N;...",                                                             \
        "how often one may stand inside another: \"sin:cos=0\" (default: no sin(sin(x)))",         \
        .of = SR_OF_BOTH, .recorded = true, .python = "nested_constraints")                        \
    ROW(units, "--units", "A=UNIT,...", "dimensions of columns, \"r=AU, F=kg*AU/yr^2\"",           \
        .of = SR_OF_BOTH, .recorded = true, .python = "X_units, y_units")                          \
    ROW(constants, "--constants", "NAME[=VALUE UNIT],...",                                         \
        "known constants, \"G=6.674e-11 m^3/kg/s^2, c\"", .of = SR_OF_BOTH, .recorded = true,      \
        .without = "--category", .python = "named_constants")                                      \
    ROW(units_penalty, "--units-penalty", "X",                                                     \
        "wrong dimensions cost X constants' losses (default: forbidden)", .of = SR_OF_BOTH,        \
        .recorded = true, .kind = SR_OPTION_POSITIVE, .high = 1000000000, .needs = "--units",      \
        .python = "units_penalty")                                                                 \
    ROW(seconds, "--seconds", "S", "stop after so long (with a FILE: 60)", .of = SR_OF_SEARCH,     \
        .kind = SR_OPTION_SETTING, .key = "symreg.seconds", .python = "timeout_in_seconds",        \
        .unit = "s")                                                                               \
    ROW(evaluations, "--evaluations", "N", "stop after so many formulas", .of = SR_OF_SEARCH,      \
        .kind = SR_OPTION_SETTING, .key = "symreg.evaluations", .python = "max_evals",             \
        .unit = "formulas")                                                                        \
    ROW(iterations, "--iterations", "N", "stop after so many epochs", .of = SR_OF_SEARCH,          \
        .kind = SR_OPTION_SETTING, .key = "symreg.iterations", .python = "niterations",            \
        .unit = "epochs")                                                                          \
    ROW(stop_loss, "--stop-loss", "X", "stop at this loss", .of = SR_OF_SEARCH,                    \
        .kind = SR_OPTION_SETTING, .key = "symreg.stop_loss", .python = "early_stop_condition")    \
    ROW(tolerance, "--tolerance", "REL",                                                           \
        "choose the simplest formula with an rms residual up to REL of the target's rms spread, "  \
        "and stop there",                                                                          \
        .of = SR_OF_BOTH, .kind = SR_OPTION_POSITIVE, .high = 1, .without = "--category",          \
        .python = "tolerance")                                                                     \
    ROW(batch, "--batch", "ROWS",                                                                  \
        "search on so many random rows, refine on all; 0: search on all (default: 4096 above "     \
        "10000 rows)",                                                                             \
        .of = SR_OF_BOTH, .recorded = true, .kind = SR_OPTION_WHOLE, .high = 1000000000,           \
        .python = "batch_size", .unit = "rows")                                                    \
    ROW(compat, "--compat", "pysr", "the algorithm of SymbolicRegression.jl (also of a run)",      \
        .of = SR_OF_SEARCH | SR_OF_RUN, .recorded = true, .kind = SR_OPTION_SETTING,               \
        .key = "symreg.algorithm")                                                                 \
    ROW(permutations, "--permutations", "N",                                                       \
        "repeat the search on N shuffled targets, for a p-value; 19 suffice for 0.05",             \
        .of = SR_OF_SEARCH, .kind = SR_OPTION_WHOLE, .low = 1, .high = 9999,                       \
        .without = "--category", .python = "permutations", .unit = "searches")                     \
    ROW(alternatives, "--alternatives", "N",                                                       \
        "also list up to N other formulas of each complexity that are as good as what best "       \
        "selects",                                                                                 \
        .of = SR_OF_BOTH, .recorded = true, .kind = SR_OPTION_WHOLE, .high = 20, .initial = "0",   \
        .same_as_none = "0", .without = "--category", .python = "alternatives",                    \
        .unit = "formulas")                                                                        \
    ROW(rule, "--rule", "accuracy|score|best|mdl",                                                 \
        "whose choice the report shows, or predict evaluates (default best)",                      \
        .of = SR_OF_BOTH | SR_OF_PREDICT, .kind = SR_OPTION_WORD, .initial = "best",               \
        .python = "model_selection")

struct sr_answer;
struct orr_file;
/* Writes what report.html shows of row `row` of the front beside what it shows of every table. */
struct sr_page_part {
    int (*write)(void *context, const struct sr_answer *answer, int row, struct orr_file *html);
    void *context;
};

struct sr_problem;
struct sr_solution;
struct sr_fit;
/* Is given what was found, before the search of a table ends. */
struct sr_receiver {
    int (*take)(void *context, const struct sr_problem *problem,
                const struct sr_solution *solution);
    void *context;
};

struct sr_measured;
/* Who else judges a finished front, after the table. */
struct sr_further_judge {
    /* May change the front. seconds: of the search that are left for this; 0: no limit */
    int (*judge)(void *context, const struct sr_problem *problem, double seconds,
                 struct sr_fit *fit);
    void *context;
    double share;                       /* of the seconds, which the search leaves */
    const struct sr_measured *measured; /* what it fills in; NULL: nothing */
};

/* Options as given, NULL where absent; docs/symreg.md explains them. */
struct sr_csv_options {
#define MEMBER(member, ...) const char *member;
    SR_OPTIONS(MEMBER)
#undef MEMBER
    const char *other_targets; /* columns that are no features by default, each in quotes */
    const char *high_ends;     /* of intervals whose low ends are --target; NULL: numbers */
    bool use_seconds;          /* --seconds without --iterations: the whole time is used */
    /* Factor of the variances of constants, where errors of rows with sigmas are not independent.
     * The variances are also multiplied by chi^2 per degree of freedom where that is above 1.
     * 0: neither */
    double variance_factor;
    const char *remark; /* about the table, for the terminal and report.md; NULL or "": none */
    const char *made;   /* the text of a table that was made, kept in --out as accelerations.csv */
    const struct sr_further_judge *judge; /* of squared losses; NULL: none */
    const struct sr_page_part *part;      /* of report.html; NULL: none */
    const struct sr_receiver *receiver;   /* NULL: none */
};

struct sr_option {
    const char *name, *value_name, *help; /* value_name: NULL for a flag */
    size_t offset;                        /* of its text in struct sr_csv_options */
    unsigned of;                          /* enum sr_option_of */
    enum sr_option_kind kind;
    bool recorded;            /* it changes the data, or the meaning, cost or shape of formulas: a
                                 search resumes with the same value only */
    const char *same_as_none; /* a value that means the same as no option */
    long low, high;
    const char *key;             /* the setting that it sets */
    const char *initial, *unit;  /* the default, and what a number counts; of no setting */
    const char *needs, *without; /* another option that must, or must not, be given, too */
    const char *python;          /* the parameter of SymbolicRegressor */
};
enum sr_option_number {
#define NUMBER(member, ...) SR_OPTION_##member,
    SR_OPTIONS(NUMBER)
#undef NUMBER
        SR_OPTION_COUNT
};
extern const struct sr_option sr_option[SR_OPTION_COUNT];

/* Where the text of an option is kept, NULL where it is not given. */
const char **sr_option_place(struct sr_csv_options *options, int number);
/* Writes the options of `who` (some of enum sr_option_of) as a command line takes them, which fills
 * `options`; returns their number. */
int sr_options_list(struct sr_csv_options *options, unsigned who,
                    struct orr_option list[SR_OPTION_COUNT]);
/* Checks the value of an option by its row; NULL: not given. ORR_EUSAGE names the option. */
int sr_option_check(int number, const char *text);
/* The number of a text among the words of an option, "a|b|c", from 0; -1: it is none of them. */
int sr_option_word(int number, const char *text);
/* Checks each option by its row: numbers, words, what it needs and excludes. ORR_EUSAGE names
 * it. */
int sr_options_check(const struct sr_csv_options *options);
/* The options that are recorded as lines NAME=VALUE, but for settings, which sr_search() records
 * as it has them. The caller frees the text; NULL: no memory. */
char *sr_options_record(const struct sr_csv_options *options);

#endif
