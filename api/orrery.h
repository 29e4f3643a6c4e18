/* orrery.h - the C library of Orrery: orbits under any force law, and formulas from tables.
 *
 * Link with `pkg-config --cflags --libs orrery`; C11, and C++ from C++11 on.
 *
 * Handles are opaque. Every call returns one of enum orrery_status, ORRERY_OK being 0; where it is
 * another, the handle's message says in one line what was expected and what was found. A handle is
 * used by one thread at a time (ORRERY_EBUSY otherwise), different handles by any number of threads
 * at once. The library prints nothing, ends no process, installs no signal handler and changes
 * neither the environment nor the locale; GSL's error handler and the floating-point environment
 * are as before when a call returns.
 *
 * Structs that a caller passes begin with their size in bytes, which says how much of them the
 * caller knows: later versions add members at the end. Arrays belong to the caller unless said
 * otherwise. Units: AU, years, solar masses, radians. */
#ifndef ORRERY_H
#define ORRERY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ORRERY_CALL __attribute__((visibility("default")))
#else
#define ORRERY_CALL
#endif

/* The interface of this header. Functions that create a handle are given it, so that a library of
 * another interface refuses (ORRERY_EVERSION) instead of misreading arguments. */
#define ORRERY_INTERFACE 1

enum orrery_status {
    ORRERY_OK = 0,
    ORRERY_EUSAGE = 1,   /* a name, key or setting that is unknown or out of range */
    ORRERY_EINVAL = 2,   /* an argument: null, a size, a number that is not finite */
    ORRERY_EDOM = 3,     /* outside the mathematical domain */
    ORRERY_EIO = 4,      /* the operating system refused */
    ORRERY_EFORMAT = 5,  /* bytes that are truncated, foreign or damaged */
    ORRERY_EMISSING = 6, /* something that should be there is not */
    ORRERY_ENOMEM = 7,   /* out of memory */
    ORRERY_STOPPED = 10, /* the callback, or orrery_regression_stop(), ended the search */
    ORRERY_EBUSY = 20,   /* another thread uses the handle; its message is not changed */
    ORRERY_EVERSION = 21 /* header and library are of different interfaces */
};

/* Of the library that was loaded: "0.2.0". */
ORRERY_CALL const char *orrery_version(void);
/* A status in words, for calls that have no handle: creation, ORRERY_EBUSY. */
ORRERY_CALL const char *orrery_status_text(int status);

/* ------------------------------------------------------------------------------ regression
 *
 * From a table to a Pareto front of formulas, as the program symreg does it: the same settings, the
 * same formulas for the same numbers and seed, for any number of threads. */

struct orrery_regression;

enum orrery_type { ORRERY_FLOAT64 = 0, ORRERY_FLOAT32 = 1 };
enum orrery_order { ORRERY_ROWS = 0, ORRERY_COLUMNS = 1 };

/* A table of finite numbers. x: (rows, columns) if order is ORRERY_ROWS, else (columns, rows). */
struct orrery_table {
    size_t bytes;             /* sizeof(struct orrery_table) */
    size_t rows;              /* at least 2 to search, at least 1 to predict */
    size_t columns;           /* 1 to 1024; of more than 64 those most related to y are used */
    int type;                 /* enum orrery_type, of x, y and weights */
    int order;                /* enum orrery_order, of x */
    const void *x;            /* (rows, columns) or (columns, rows) */
    const void *y;            /* (rows); may be NULL where only x is read */
    const void *weights;      /* (rows), at least 0; NULL: all 1 */
    const char *const *names; /* (columns) UTF-8; NULL: x1, x2, ... */
    const char *target;       /* the name of y; NULL: y */
};

/* What a search has so far. */
struct orrery_progress {
    size_t bytes;       /* of this struct, as the library has it */
    double seconds;     /* since the search began */
    double evaluations; /* formulas evaluated on all rows */
    int epoch;          /* of the island search, from 0 */
    int rows;           /* of the front so far */
    double loss;        /* of its last row, the smallest */
    const char *best;   /* that row's formula; valid until the callback returns */
};
/* Called in the thread of the search, after every epoch and with the handle in use. Another value
 * than 0 ends the search. */
typedef int orrery_progress_call(const struct orrery_progress *progress, void *context);

/* A row of the front: complexity rises, loss falls. */
struct orrery_formula {
    size_t bytes;              /* sizeof(struct orrery_formula) */
    int complexity;            /* nodes, each at its price */
    int constants;             /* numbers in it */
    double loss;               /* as symreg.loss has it */
    double score;              /* fall of ln(loss) per node; infinite where the loss is 0 */
    double description_length; /* nats; NaN where it is not known */
};

enum orrery_notation {
    ORRERY_TEXT = 0, /* as symreg prints it, and orrery_regression_evaluate() reads it */
    ORRERY_LATEX = 1,
    ORRERY_C = 2,
    ORRERY_SYMPY = 3
};

/* *regression: free with orrery_regression_free(), which takes NULL, too. `interface` is
 * ORRERY_INTERFACE. ORRERY_ENOMEM, ORRERY_EVERSION. */
ORRERY_CALL int orrery_regression_create(int interface_, struct orrery_regression **regression);
ORRERY_CALL void orrery_regression_free(struct orrery_regression *regression);
/* The message of the last call that failed, "" when it did not; valid until the next call. */
ORRERY_CALL const char *orrery_regression_message(const struct orrery_regression *regression);
/* Changes a setting: "seed", one of symreg.* as `symreg --help` lists them ("symreg.maxsize", or
 * "maxsize"), or an option of symreg for tables: "loss", "units", "units-penalty", "define",
 * "guess", "constrain", "nest", "complexity", "maxdepth", "batch", "log-target" ("1"), "weights"
 * ("relative", where the table has none). "keep-state" ("1"): the search can be resumed.
 * value NULL: the default again. ORRERY_EUSAGE names the nearest key. */
ORRERY_CALL int orrery_regression_set(struct orrery_regression *regression, const char *key,
                                      const char *value);
/* Copies a table, which every later search is about; the front of another one is forgotten. */
ORRERY_CALL int orrery_regression_data(struct orrery_regression *regression,
                                       const struct orrery_table *table);
/* Searches with so many threads, 0: all cores that the process may use. progress may be NULL.
 * ORRERY_STOPPED: the front is what was found until then. */
ORRERY_CALL int orrery_regression_search(struct orrery_regression *regression, int threads,
                                         orrery_progress_call *progress, void *context);
/* Ends the search that another thread is in, within about a second. Safe in signal handlers; the
 * only call that may be made while the handle is in use. */
ORRERY_CALL void orrery_regression_stop(struct orrery_regression *regression);
/* After a search with keep-state: what a later one resumes from. *state is valid until the next
 * search or orrery_regression_free(). ORRERY_EMISSING: there is none. */
ORRERY_CALL int orrery_regression_state(struct orrery_regression *regression, const void **state,
                                        size_t *bytes);
/* The next search goes on from there: same table and settings but for limits (ORRERY_EINVAL
 * names what differs), same version of the library (ORRERY_EFORMAT). Copies the state. */
ORRERY_CALL int orrery_regression_resume(struct orrery_regression *regression, const void *state,
                                         size_t bytes);
/* *rows = rows of the front, 0 before a search. */
ORRERY_CALL int orrery_regression_rows(struct orrery_regression *regression, int *rows);
/* Fills *formula, whose bytes are set, with a row, from 0. */
ORRERY_CALL int orrery_regression_formula(struct orrery_regression *regression, int row,
                                          struct orrery_formula *formula);
/* *row = the row that a rule chooses: "accuracy", "score", "best" or "mdl". */
ORRERY_CALL int orrery_regression_select(struct orrery_regression *regression, const char *rule,
                                         int *row);
/* Writes a row as text into text[bytes], NUL-terminated. *needed, unless it is NULL, becomes the
 * bytes that the text takes with its NUL; ORRERY_EINVAL when there is less room (text NULL and
 * bytes 0: only that is asked, ORRERY_OK). */
ORRERY_CALL int orrery_regression_print(struct orrery_regression *regression, int row, int notation,
                                        char *text, size_t bytes, size_t *needed);
/* y[i] (rows of the table) = the row's formula of new columns: as many as the table of the search
 * had, in its order. NaN where the formula has no finite value. */
ORRERY_CALL int orrery_regression_predict(struct orrery_regression *regression, int row,
                                          const struct orrery_table *table, double *y);
/* The same of any formula in the notation ORRERY_TEXT, of the names of the table that was given to
 * orrery_regression_data(). */
ORRERY_CALL int orrery_regression_evaluate(struct orrery_regression *regression,
                                           const char *formula, const struct orrery_table *table,
                                           double *y);

/* ------------------------------------------------------------------------------ simulation
 *
 * Orbits of planets under any of Orrery's force laws. Sequences are pure functions of settings, set
 * and index: the same bits on every CPU and for any number of threads, and those of the program
 * orbits. */

struct orrery_simulation;

/* What a data set of the settings is. */
struct orrery_set {
    size_t bytes;       /* sizeof(struct orrery_set) */
    uint64_t sequences; /* 0: the settings make none */
    size_t positions;   /* rows of a sequence; row 0 is the time step */
    int tokens;         /* 1: observations are tokens, 0: coordinates */
    int labelled;       /* 1: it has states and forces */
};
/* Where sequences go; arrays that are NULL are not filled. P: positions of the set, n: sequences
 * asked for. What columns mean: docs/formats.md. */
struct orrery_arrays {
    size_t bytes;           /* sizeof(struct orrery_arrays) */
    uint16_t *tokens;       /* (n, P, 2) of sets with tokens */
    float *coordinates;     /* (n, P, 2) of the others: x, y in AU */
    uint8_t *bodies;        /* (n) */
    float *full_state;      /* (n, P, 6) of labelled sets */
    float *state;           /* (n, P, 5) of labelled sets */
    float *force_magnitude; /* (n, P) of labelled sets; infinite: no label */
    float *force;           /* (n, P, 2) of labelled sets */
    float *scale;           /* (n) what coordinates were divided by, AU */
};
/* A planet's orbit around the common centre of mass, as Newton's law has it. */
struct orrery_elements {
    double a_au;      /* semi-major axis of the relative orbit, above 0 */
    double e;         /* eccentricity, from 0, below 1 */
    double omega_rad; /* angle of the periapsis from +x */
    double phase_rad; /* mean anomaly at the start */
    int clockwise;    /* 0: counterclockwise */
};

/* As orrery_regression_create() and so on. */
ORRERY_CALL int orrery_simulation_create(int interface_, struct orrery_simulation **simulation);
ORRERY_CALL void orrery_simulation_free(struct orrery_simulation *simulation);
ORRERY_CALL const char *orrery_simulation_message(const struct orrery_simulation *simulation);
/* Settings, a line KEY=VALUE each, "#" begins a comment: seed, orbits.* and planets.* as `orbits
 * --help` lists them. All of them together are checked; after an error none is changed. */
ORRERY_CALL int orrery_simulation_set(struct orrery_simulation *simulation, const char *settings);
/* Fills *set, whose bytes are set, of a data set by its name: "train", "val", "test",
 * "two_body_train", ..., "planets_solar". */
ORRERY_CALL int orrery_simulation_describe(struct orrery_simulation *simulation, const char *name,
                                           struct orrery_set *set);
/* Makes `count` sequences of a set from number `first` on into arrays, with so many threads (0: all
 * cores). ORRERY_EINVAL where an array is given that the set does not have. */
ORRERY_CALL int orrery_simulation_sequences(struct orrery_simulation *simulation, const char *name,
                                            uint64_t first, size_t count, int threads,
                                            const struct orrery_arrays *arrays);
/* Relative motion of two bodies under the law of the settings: state (n, 4) is x, y, vx, vy at the
 * times 0, dt, ..., (n - 1) dt. The start is the Newtonian ellipse's, with the speed that makes the
 * orbit bound and similar. ORRERY_EDOM where no such orbit is, or it cannot be followed. */
ORRERY_CALL int orrery_simulation_orbit(struct orrery_simulation *simulation,
                                        const struct orrery_elements *elements, double m1,
                                        double m2, double dt_yr, size_t n, double *state);
/* The law's force on body 1 at n relative states (n, 4), x, y, vx, vy of body 1 minus body 2:
 * force (n, 2), towards body 2 when it attracts, and magnitude (n), solar mass AU / yr^2; either
 * may be NULL. */
ORRERY_CALL int orrery_simulation_force(struct orrery_simulation *simulation, double m1, double m2,
                                        size_t n, const double *state, double *force,
                                        double *magnitude);

#ifdef __cplusplus
}
#endif

#endif
