/* dynamics.h - equations of motion of any system from its tracks:
 *
 *   state_tracks.c        reads a file into tracks: times, states, inputs
 *   smooth.c              smoothed states, their derivatives and the errors of these
 *   epoch.c               times that are far from 0
 *   equation_table.c      the table in which the search finds one equation
 *   judge.c               how well a system of equations explains the tracks
 *   formula_prior.c       what the form of an equation costs
 *   single_equation.c     the tracks of one state, the others known
 *   tied_constants.c      which constants have a value in each category
 *   resmooth.c            tracks smoothed by the solutions of a system
 *   separate_constants.c  formulas with a constant of each term
 *   time_dependence.c     whether equations without the time need it
 *   choose.c              which of the equations that were found the tracks support together
 *   refit_all_rows.c      a part of many rows, for the choice; constants by all rows
 *   profile.c             intervals of constants
 *   tidy_equations.c      equations as people write them
 *   vectors.c             accelerations as sums of vectors
 *   vector_sums.c         which sums of vectors explain the tracks by least squares
 *   symmetry.c            whether the tracks support such a sum, beside what components gave
 *   symmetry_evidence.c   which symmetries the equations have
 *   sentences.c           sentences about a system, and the terminal
 *   equation_files.c      equations.json, report.md, right-hand sides in C and Python
 *   page.c                report.html
 *   term_sums.c           sums of products as guesses for the search
 *   term_library.c        terms that equations of motion are made of
 *   weak.c                sums of them that explain the tracks in integral form
 *   solutions.c           the tracks beside the solutions, as a table and a picture
 *   derivative_units.c    units of derivatives from those of states and time
 *   dynamics.c            the command: symreg motion --state, symreg motion --position --general
 *
 * Of order 1, dx/dt = f(x, t, u); of order 2, d2x/dt2 = f(x, v, t, u). Units are those of the file.
 * docs/motion.md explains the method. */
#ifndef SR_DYNAMICS_H
#define SR_DYNAMICS_H

#include "conserved.h"
#include "symmetry.h"
#include "symreg/table/program.h"

enum {
    SR_STATES = 8,     /* columns of states, at most */
    SR_INPUTS = 8,     /* columns of inputs, at most */
    SR_STATE_ROWS = 8, /* rows of a track, at least */
    SR_STATE_NAME = 256,
    /* names of what an equation may contain: states, velocities, the time, inputs */
    SR_STATE_NAMES = 2 * SR_STATES + 1 + SR_INPUTS,
    SR_SYSTEM_NAMES = SR_EACH_FIRST + SR_EACH, /* ... and the constants of each category */
};

/* Options of `symreg motion` for any dynamics; NULL where absent. */
struct sr_dynamics_options {
    const char *time, *state, *position; /* either states or positions */
    const char *general;                 /* with positions: accelerations of any kind */
    const char *track, *category, *input, *explicit_time;
    const char *missing, *missing_value; /* of the table */
};
/* Reads tracks, searches for an equation of each state, chooses among all by the tracks, prints
 * and writes the result. */
int sr_dynamics_run(const struct orr_cli *cli, const char *file,
                    const struct sr_dynamics_options *dynamics, const struct sr_csv_options *given);

/* One track. Arrays of numbers are (dims, n), one state after the other, but for those of (n). */
struct sr_state_track {
    const char *label; /* cell of --track; "" where the option is absent */
    size_t category;   /* 0 without --category */
    size_t n;
    size_t *line;      /* (n) line numbers in the file */
    double *t;         /* (n) */
    double *x, *input; /* input: (inputs, n) */
    /* Filled by smoothing: states, behind them first derivatives, then second ones; variances of
     * all three; sigma: standard deviation of the noise of x. */
    double *smooth, *rate, *bend, *smooth_variance, *rate_variance, *bend_variance, *sigma;
};
struct sr_states {
    const char *file;
    int order, dims, inputs;
    bool explicit_time;
    /* what an equation may contain: states (dims), with order 2 velocities (dims), the time,
     * inputs; the time is in the list without explicit_time, too */
    int names;
    char name[SR_STATE_NAMES][SR_STATE_NAME];
    char target[SR_STATES][2 * SR_STATE_NAME + 8]; /* "dx/dt" or "d2x/dt2" */
    size_t count, rows;                            /* tracks, and rows of all tracks */
    /* --category: 0, or how many, by their first tracks; the column, and what stands in it */
    int categories;
    char category[SR_STATE_NAME], *category_label[SR_CATEGORIES];
    bool part; /* of other states, which own the labels of categories */
    char each_name[SR_EACH][SR_STATE_NAME + 16]; /* names of constants of each: c1[star] */
    struct sr_state_track *track;
    double epoch; /* what times of tracks are counted from, 0 unless they are far from 0 */
    bool proportional[SR_STATES]; /* the noise of this state is a share of its value */
    double noise[SR_STATES];      /* median sigma; as a share of the value where proportional */
    struct orr_csv csv;
    struct sr_dropped dropped;
    void *block, *lines;
};
/* The number of the time among the names. */
static inline int sr_states_time(const struct sr_states *states)
{
    return states->order * states->dims;
}
/* What name number `name` is at row i of a track: a smoothed state, a velocity, the time, an
 * input. */
static inline double sr_state_value(const struct sr_states *s, const struct sr_state_track *track,
                                    int name, size_t i)
{
    const int time = sr_states_time(s);
    if (name == time)
        return track->t[i];
    if (name > time)
        return track->input[(size_t)(name - time - 1) * track->n + i];
    return name < s->dims ? track->smooth[(size_t)name * track->n + i]
                          : track->rate[(size_t)(name - s->dims) * track->n + i];
}
/* Reads a file; "-" is standard input. ORR_EMISSING, ORR_EFORMAT, ORR_EUSAGE or ORR_EINVAL, with
 * file, line and column: columns that do not exist, cells that are no finite numbers, times that
 * repeat or fall, tracks of fewer than SR_STATE_ROWS rows, with a gap of half of their duration, or
 * that stay at one point, and states that no track changes. The caller frees the states, after
 * errors too. */
int sr_states_read(const char *file, const struct sr_dynamics_options *options,
                   struct sr_states *states);
/* Creates states with rows[k] rows of zeros in track k, which the caller fills. */
int sr_states_create(struct sr_states *states, size_t count, const size_t *rows);
void sr_states_free(struct sr_states *states);
/* Whether state d has one value in all rows of a track. */
bool sr_state_rests(const struct sr_state_track *track, size_t d);

/* Counts times from the first one where all are far from 0: in s->epoch. */
void sr_states_count_time(struct sr_states *states);
/* Gives tracks their own times again, and the equations of a system t - epoch in place of t.
 * ORR_EINVAL where that makes one too long. */
struct sr_system;
int sr_system_restore_time(struct sr_states *states, const struct sr_language *language,
                           struct sr_system *system);

/* Smooths each state of each track by Gaussian processes in windows
 * (symreg/motion/gaussian_process.c), and tells for each state whether noise of one size or in
 * proportion to the value is likelier.
 * ORR_EINVAL names file, line and column where no process fits. */
int sr_states_smooth(struct sr_states *states, int threads);

/* Rows by which equations are searched and chosen in so many seconds for each, at most; 0: there is
 * no limit. */
size_t sr_states_enough(double seconds);
/* A part of smoothed states: of more than `most` rows pieces of tracks that are evenly spread and
 * have about so many, one of each category at least; of fewer all tracks. Labels stay those of
 * `states`. ORR_ENOMEM; the caller frees the part, after errors too. */
int sr_states_part(const struct sr_states *states, size_t most, struct sr_states *part);

/* The tracks of state `d`, of which all other states and, with order 2, their velocities are inputs
 * as they were smoothed. number[k]: what name k of `states` is called there. ORR_ENOMEM; the caller
 * frees the new states, after errors too. */
int sr_states_alone(const struct sr_states *states, int d, struct sr_states *alone,
                    int number[SR_STATE_NAMES]);

/* The variance that errors of other smoothed states give state d, about, when these are its inputs:
 * the largest share of a state's variance along the track that smoothing does not know, of that of
 * state d. */
double sr_smoothing_error(const struct sr_states *states, const struct sr_state_track *track,
                          int d);

/* Whether that leaves no more inputs than a flow may have. */
bool sr_states_may_be_alone(const struct sr_states *states);
/* Renames the features of a formula from k to number[k], or back. */
void sr_equation_rename(struct sr_expr *expr, const int *number, int names, bool back);

/* ---- one equation */

/* The table of state `d` as CSV text, which the caller frees: lines of the file, track, the names,
 * the target, its standard deviation. Of more than `most` rows every k-th. */
int sr_states_table(const struct sr_states *states, int d, size_t most, char **text);
/* The least standard deviation of the derivative in that table: no row counts for more than one
 * with the median, or with a small share of the rms derivative. ORR_ENOMEM. */
int sr_states_least(const struct sr_states *states, int d, double *least);
/* The name of the column of standard deviations. */
void sr_states_sigma_name(const struct sr_states *states, int d, char text[3 * SR_STATE_NAME]);

/* --units of the table of state `d`, whose velocities and derivative have theirs by those that
 * `given` has for states and the time. ORR_EUSAGE where it names other columns. The caller frees
 * the text. */
int sr_states_units(const struct sr_states *states, int d, const char *given, char **text);

/* The formulas found for one state: those of a front, in terms of sr_states.name, and behind them
 * sums of products. */
enum { SR_SUMS = 80, SR_EQUATIONS_FOUND = SR_NODES + 1 + SR_SUMS };
struct sr_equations_found {
    int count, best;                 /* best: what the rule of the search selects */
    double loss[SR_EQUATIONS_FOUND]; /* on the derivatives; 0: exact, or a sum */
    struct sr_expr expr[SR_EQUATIONS_FOUND];
    int first; /* of the constants of each category that stand in these formulas */
    struct sr_each_own each[SR_EQUATIONS_FOUND];
    const bool *allowed; /* (SR_OPS) operators of sums that are made anew; NULL: none are */
    int maxsize;         /* their nodes, at most */
};
/* How many products of at most so many of the names there are, with powers, and the 1. */
int sr_products_count(int names, int factors);
/* Fills in sums of products that explain the derivative, of at most `maxsize` nodes; with
 * categories short ones have coefficients of each. ORR_ENOMEM. */
int sr_states_sums(const struct sr_states *states, int d, int maxsize,
                   struct sr_equations_found *sums);
/* Whether the noise of state d is below a ten-thousandth of its values: derivatives are then better
 * than integrals between rows. */
bool sr_state_is_exact(const struct sr_states *states, int d);
bool sr_states_are_exact(const struct sr_states *states);
/* Appends sums of terms of a library, functions and saturations among them, that explain the tracks
 * in integral form, unless the state is exact: formulas of at most `maxsize` nodes of the operators
 * that are `allowed` (SR_OPS). ORR_ENOMEM. */
int sr_states_weak(const struct sr_states *states, int d, const bool *allowed, int maxsize,
                   struct sr_equations_found *sums);
/* These sums in the form of --guess; "": none. The caller frees the text. */
int sr_sums_text(const struct sr_states *states, const struct sr_equations_found *sums,
                 char **text);

/* Multiplies products of sums out and gives each term a coefficient of its own, from the values
 * that the formula has: (2.4 z - x) / 1.3 becomes 1.846 z - 0.769 x. Terms that differ
 * between the categories get constants of each, from `first` on (each NULL: there are none). False,
 * with the formula unchanged, where that adds no constant, or with constants of each category gives
 * the same formula, or where the result is too long. */
bool sr_equation_loosen(const struct sr_language *language, int categories, int first,
                        struct sr_each *each, struct sr_expr *expr);

/* A system: one formula of each state. */
struct sr_system {
    int choice[SR_STATES]; /* row of each front */
    struct sr_expr expr[SR_STATES];
    /* standard errors of the numbers of each formula, in their order; NAN: not known */
    double error[SR_STATES][SR_NODES];
    double low[SR_STATES][SR_NODES], high[SR_STATES][SR_NODES]; /* 95% bounds of these; NAN */
    /* constants of each category, in the order of the equations, and their standard errors */
    int constants;
    struct sr_each each, each_error;
    double residual; /* rms residual of the tracks in standard deviations of their noise; NAN */
    double nats;     /* of the description, by the tracks; infinite: not followed */
    size_t segments; /* pieces in which the tracks were followed; 0: not followed */
    bool by_track;   /* the choice was made by the tracks */
    bool alone[SR_STATES]; /* fitted with the other states known, as the system misses the tracks */
    int follows_time;      /* the equation whose residuals depend on the time; -1: none */
    struct sr_symmetry symmetry;
    double time_gain;      /* nats by which equations with the time are better, if that is why they
                              have it; else 0 */
    bool still[SR_STATES]; /* a constant explains this state as well as the equations */
    struct sr_conserved conserved;
};
/* Chooses a formula of each front, in at most `seconds` of processor time (0: no limit). */
int sr_system_choose(const struct sr_states *states, const struct sr_language *language,
                     const struct sr_equations_found *found, double seconds,
                     struct sr_system *system);

/* Numbers the constants of each category in the order in which the equations have them. */
void sr_system_number(const struct sr_states *states, struct sr_system *system);

/* Whether the equations may be sums of vectors: accelerations in two or three dimensions, without
 * inputs or categories. */
bool sr_may_be_vectors(const struct sr_states *states);
/* Finds the sum of vectors that the tracks support most, as a system; system->by_track is false
 * where none follows them. ORR_ENOMEM. */
int sr_system_vectors(const struct sr_states *states, const struct sr_language *language,
                      double seconds, struct sr_system *system);
/* Whether it replaces what was found by components. */
bool sr_vectors_win(const struct sr_system *vectors, const struct sr_system *components);

/* Fits the constants of a system that a part of the tracks chose to all of them, which gives them
 * other values and errors. ORR_ENOMEM. */
int sr_system_refit(const struct sr_states *states, const struct sr_language *language,
                    struct sr_system *system);

/* Fills in 95% bounds of the numbers that have a standard error, by profiles of the likelihood
 * along the tracks; NAN where these give none, the tracks are exact, an equation was fitted alone,
 * or the seconds end (0: no limit) before. ORR_ENOMEM. */
int sr_system_profile(const struct sr_states *states, const struct sr_language *language,
                      double seconds, struct sr_system *system);

/* Makes equations 0 that, along whole tracks, move their state by less than what counts as exact
 * beside the noise of each row, as those of uniform motion. ORR_ENOMEM. */
int sr_system_rest(const struct sr_states *states, const struct sr_language *language,
                   struct sr_system *system);

/* Writes equations as people do, with what is known of their numbers: -2 * x for x / -0.5. One that
 * would be too long stays. */
void sr_system_tidy(const struct sr_states *states, const struct sr_language *language,
                    struct sr_system *system);

/* Fills in system->follows_time: the equation with which the system follows the tracks better with
 * a parabola of the time, if there is one. `seconds` limits fits as in sr_system_choose().
 * ORR_ENOMEM. */
int sr_system_time(const struct sr_states *states, const struct sr_language *language,
                   double seconds, struct sr_system *system);

/* Whether all formulas that were found for state `d` leave much more of its derivative than errors.
 * ORR_ENOMEM. */
int sr_states_lack(const struct sr_states *states, const struct sr_language *language, int d,
                   const struct sr_equations_found *found, bool *lack);

/* Fills in system->still: states of which the tracks, or where no solution follows them the
 * smoothed tracks, say no more than that they are constant with noise. ORR_ENOMEM. */
int sr_system_still(const struct sr_states *states, const struct sr_language *language,
                    struct sr_system *system);

/* ---- results */

/* Prints the equations as the last lines on the terminal. */
int sr_system_print(const struct sr_states *states, const struct sr_language *language,
                    const struct sr_system *system);
/* Writes equations.json, equations.py, equations.c and report.md into the folder. */
int sr_system_write(const struct sr_states *states, const struct sr_language *language,
                    const struct sr_system *system, const char *define, const char *folder);
/* Writes solutions.csv, the tracks beside the solutions of the equations that follow them, each
 * from its best start, report.html, and solutions.png, a picture of the first track, its residuals
 * and its phase portrait. Without gnuplot there is no picture, without the files of figures/ no
 * page, which is noted unless quiet. */
int sr_system_tracks(const struct sr_states *states, const struct sr_language *language,
                     const struct sr_system *system, const char *folder, bool quiet);
/* Writes report.html; track: the tracks with their solutions. */
int sr_system_page(const struct sr_states *states, const struct sr_language *language,
                   const struct sr_system *system, const struct sr_flow_track *track,
                   const char *folder, bool quiet);

#endif
