/** @file orrery.h
 * The C library of Orrery: orbits under any force law, formulas from tables, models from
 * checkpoints, attention, results of runs.
 *
 * Link with `pkg-config --cflags --libs orrery`; C11, and C++ from C++11 on.
 *
 * Handles are opaque. Every call returns one of enum orrery_status; ORRERY_OK is 0. After any other
 * status, the handle's message says in one line what was expected and what was found. A handle is
 * used by one thread at a time (else ORRERY_EBUSY); any number of threads may use different handles
 * at once. The library prints nothing, never ends the process, installs no signal handler and
 * changes neither the environment nor the locale. GSL's error handler and the floating-point
 * environment are restored when a call returns.
 *
 * Structs that the caller passes begin with their size in bytes, which tells the library how many
 * members the caller knows: later versions add members at the end. Arrays belong to the caller
 * unless stated otherwise. Units: AU, Gaussian years (G = 4 pi^2), solar masses, radians. */
#ifndef ORRERY_H
#define ORRERY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Precedes every function of the library. */
#if defined(__GNUC__)
#define ORRERY_CALL __attribute__((visibility("default")))
#else
#define ORRERY_CALL
#endif

/** The version of this interface. Functions that create a handle take it, so that a library with
 * another interface refuses (ORRERY_EVERSION) instead of misreading arguments. */
#define ORRERY_INTERFACE 1

/** What a call returns. */
enum orrery_status {
    ORRERY_OK = 0,       /**< the call has succeeded */
    ORRERY_EUSAGE = 1,   /**< a name, key or setting that is unknown or out of range */
    ORRERY_EINVAL = 2,   /**< an argument: NULL, a wrong size, a number that is not finite */
    ORRERY_EDOM = 3,     /**< outside the mathematical domain */
    ORRERY_EIO = 4,      /**< the operating system refused an operation */
    ORRERY_EFORMAT = 5,  /**< bytes that are truncated, foreign or damaged */
    ORRERY_EMISSING = 6, /**< a file, key or library is missing */
    ORRERY_ENOMEM = 7,   /**< out of memory */
    ORRERY_STOPPED = 10, /**< the callback, or orrery_regression_stop(), ended the search */
    ORRERY_EBUSY = 20,   /**< another thread uses the handle; its message is not changed */
    ORRERY_EVERSION = 21 /**< header and library have different interfaces */
};

/** The version of the library that was loaded: "0.2.0".
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_version(void);
/** Describes a status, for calls without a handle: creation, ORRERY_EBUSY.
 * @param status one of enum orrery_status
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_status_text(int status);

/** @defgroup regression Regression
 * Finds a Pareto front of formulas for a table, like the program symreg: equal settings, numbers
 * and seed give equal formulas, for any number of threads. @{ */

/** A handle: see orrery_regression_create(). */
struct orrery_regression;

/** Types of numbers in arrays. */
enum orrery_type {
    ORRERY_FLOAT64 = 0, /**< double */
    ORRERY_FLOAT32 = 1  /**< float */
};
/** Orders of the numbers in a table. */
enum orrery_order {
    ORRERY_ROWS = 0,   /**< row after row */
    ORRERY_COLUMNS = 1 /**< column after column */
};

/** A table of finite numbers. x: (rows, columns) if order is ORRERY_ROWS, else (columns, rows). */
struct orrery_table {
    size_t bytes;             /**< sizeof(struct orrery_table) */
    size_t rows;              /**< at least 2 to search, at least 1 to predict */
    size_t columns;           /**< 1 to 1024; beyond 64, those most related to y are used */
    int type;                 /**< enum orrery_type, of x, y and weights */
    int order;                /**< enum orrery_order, of x */
    const void *x;            /**< (rows, columns) or (columns, rows) */
    const void *y;            /**< (rows); may be NULL if only x is read */
    const void *weights;      /**< (rows), at least 0; NULL: all 1 */
    const char *const *names; /**< (columns) UTF-8; NULL: x1, x2, ... */
    const char *target;       /**< the name of y; NULL: y */
};

/** The state of a running search. */
struct orrery_progress {
    size_t bytes;       /**< size of this struct in the library */
    double seconds;     /**< since the search began */
    double evaluations; /**< formulas evaluated on all rows */
    int epoch;          /**< epoch of the island search, from 0 */
    int rows;           /**< rows of the front so far */
    double loss;        /**< loss of the front's last row, its smallest */
    const char *best;   /**< formula of that row; valid until the callback returns */
};
/** Called in the search's thread after every epoch; the handle is in use meanwhile. A value other
 * than 0 ends the search.
 * @param progress the state of the search
 * @param context the context given to orrery_regression_search()
 * @return 0 to continue the search */
typedef int orrery_progress_call(const struct orrery_progress *progress, void *context);

/** A row of the front: complexity rises, loss falls. */
struct orrery_formula {
    size_t bytes;              /**< sizeof(struct orrery_formula) */
    int complexity;            /**< number of nodes, weighted by their costs */
    int constants;             /**< number of constants */
    double loss;               /**< loss defined by symreg.loss */
    double score;              /**< decrease of ln(loss) per node; infinite if the loss is 0 */
    double description_length; /**< nats; NaN if unknown */
};

/** Notations of formulas. */
enum orrery_notation {
    ORRERY_TEXT = 0,    /**< as symreg prints and orrery_regression_evaluate() reads */
    ORRERY_LATEX = 1,   /**< LaTeX */
    ORRERY_C = 2,       /**< a C expression with <math.h> */
    ORRERY_SYMPY = 3,   /**< a Python expression with SymPy */
    ORRERY_NUMPY = 4,   /**< functions of np on arrays */
    ORRERY_JAX = 5,     /**< functions of jnp on arrays */
    ORRERY_PYTORCH = 6, /**< functions of torch on tensors */
    ORRERY_MATHML = 7   /**< the content of a math element of HTML */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param regression *regression becomes the handle or NULL; free it with orrery_regression_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_regression_create(int interface_, struct orrery_regression **regression);
/** Frees a handle.
 * @param regression a handle that no call uses, or NULL */
ORRERY_CALL void orrery_regression_free(struct orrery_regression *regression);
/** The message of the last call; "" if it succeeded.
 * @param regression the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_regression_message(const struct orrery_regression *regression);
/** Changes a setting. Keys are "seed", those of symreg.* as `symreg --help` lists them
 * ("symreg.maxsize", or "maxsize"), and options of symreg for tables: "loss", "units",
 * "units-penalty", "constants", "define", "guess", "constrain", "nest", "complexity", "maxdepth",
 * "require", "round-constants", "batch", "log-target" ("1"), "weights" ("relative", if the table
 * has none), "category" (a column of tables given later, whose numbers have constants of their
 * own), "template" (a form with unknown functions, "sin(x)*f(r) + g(m)"), "alternatives" (how many
 * of each complexity). With "keep-state" ("1") the search can be resumed.
 * @param regression the handle
 * @param key the name of a setting
 * @param value its value as text; NULL: the default
 * @return a status; ORRERY_EUSAGE names the nearest key */
ORRERY_CALL int orrery_regression_set(struct orrery_regression *regression, const char *key,
                                      const char *value);
/** Copies a table for all later searches; the front of an earlier table is discarded.
 * @param regression the handle
 * @param table a table with y and at least 2 rows
 * @return a status */
ORRERY_CALL int orrery_regression_data(struct orrery_regression *regression,
                                       const struct orrery_table *table);
/** Searches for formulas.
 * @param regression the handle
 * @param threads 0: all cores that the process may use
 * @param progress called after each epoch; may be NULL
 * @param context given to progress
 * @return a status; ORRERY_STOPPED: the front is what was found until then */
ORRERY_CALL int orrery_regression_search(struct orrery_regression *regression, int threads,
                                         orrery_progress_call *progress, void *context);
/** Ends a search that runs in another thread, within about a second. Safe in signal handlers. This
 * is the only call allowed while the handle is in use.
 * @param regression the handle, or NULL */
ORRERY_CALL void orrery_regression_stop(struct orrery_regression *regression);
/** The state of the last search with keep-state, from which a later one resumes. Valid until the
 * next search or orrery_regression_free().
 * @param regression the handle
 * @param state *state becomes the bytes, which belong to the handle
 * @param bytes *bytes becomes their number
 * @return a status; ORRERY_EMISSING: there is none */
ORRERY_CALL int orrery_regression_state(struct orrery_regression *regression, const void **state,
                                        size_t *bytes);
/** Makes the next search continue from a state, which is copied. The table and settings must be the
 * same, except limits (ORRERY_EINVAL names the difference), and so must the library's version
 * (ORRERY_EFORMAT).
 * @param regression the handle
 * @param state bytes of orrery_regression_state()
 * @param bytes their number
 * @return a status; ORRERY_EINVAL, ORRERY_EFORMAT */
ORRERY_CALL int orrery_regression_resume(struct orrery_regression *regression, const void *state,
                                         size_t bytes);
/** The number of rows in the front; 0 before a search. With "alternatives", other functions as good
 * as the row of rule best follow; their score is how many nats longer their description is.
 * @param regression the handle
 * @param rows *rows becomes the number
 * @return a status */
ORRERY_CALL int orrery_regression_rows(struct orrery_regression *regression, int *rows);
/** Describes a row of the front.
 * @param regression the handle
 * @param row from 0
 * @param formula is filled; the caller sets formula->bytes
 * @return a status */
ORRERY_CALL int orrery_regression_formula(struct orrery_regression *regression, int row,
                                          struct orrery_formula *formula);
/** Selects a row by a rule.
 * @param regression the handle
 * @param rule "accuracy", "score", "best" or "mdl"
 * @param row *row becomes the selected row
 * @return a status */
ORRERY_CALL int orrery_regression_select(struct orrery_regression *regression, const char *rule,
                                         int *row);
/** Writes a row as text into text[bytes], NUL-terminated. ORRERY_EINVAL if it does not fit. With
 * text NULL and bytes 0 only *needed is set, and the call succeeds.
 * @param regression the handle
 * @param row from 0
 * @param notation enum orrery_notation
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_print(struct orrery_regression *regression, int row, int notation,
                                        char *text, size_t bytes, size_t *needed);
/** Evaluates a row's formula on new columns, with the number and order of columns of the search's
 * table. NaN where the formula has no finite value.
 * @param regression the handle
 * @param row from 0
 * @param table new columns; its y is not read
 * @param y (rows of the table), the formula's values
 * @return a status */
ORRERY_CALL int orrery_regression_predict(struct orrery_regression *regression, int row,
                                          const struct orrery_table *table, double *y);
/** Evaluates any formula in the notation ORRERY_TEXT, with the column names of the table given to
 * orrery_regression_data(). NaN where the formula has no finite value.
 * @param regression the handle
 * @param formula in the notation ORRERY_TEXT
 * @param table new columns; its y is not read
 * @param y (rows of the table), the formula's values
 * @return a status */
ORRERY_CALL int orrery_regression_evaluate(struct orrery_regression *regression,
                                           const char *formula, const struct orrery_table *table,
                                           double *y);
/** Writes any formula in the notation ORRERY_TEXT, with the column names of the table given to
 * orrery_regression_data(), in another notation.
 * @param regression the handle
 * @param formula in the notation ORRERY_TEXT
 * @param notation one of enum orrery_notation
 * @param text receives the formula, as in orrery_regression_print()
 * @param bytes size of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_write(struct orrery_regression *regression, const char *formula,
                                        int notation, char *text, size_t bytes, size_t *needed);
/** Writes what the formulas need beside the columns: named constants with their values in the units
 * of the columns, and user-defined operators, "c=299792458; g(x)=x*exp(-x)". The option "define"
 * reads the text back. It is empty where there are none.
 * @param regression the handle
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_definitions(struct orrery_regression *regression, char *text,
                                              size_t bytes, size_t *needed);
/** Makes a front of given formulas, with the table's column names. Their constants are fitted to
 * the table, from their given values and from random points near them, and rounded as after a
 * search. Rows that do not improve on a shorter one are removed. Constraints and units are not
 * checked. After an error there is no front.
 * @param regression the handle
 * @param formulas (count) in the notation ORRERY_TEXT
 * @param count 1 to 64
 * @return a status */
ORRERY_CALL int orrery_regression_refit(struct orrery_regression *regression,
                                        const char *const *formulas, int count);
/** The constants of a row in order, as many as orrery_formula.constants, and their standard errors:
 * NaN where the table does not determine them, or if the loss is not least squares.
 * @param regression the handle
 * @param row of the front, from 0
 * @param constants (constants of the row) or NULL
 * @param errors (constants of the row) or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_constants(struct orrery_regression *regression, int row,
                                            double *constants, double *errors);
/** A constant that a row has in each category, after a search with the option "category"; its name
 * in formulas is c1[COLUMN] for number 0. Categories are in the order of their first rows.
 * @param regression the handle
 * @param row of the front, from 0
 * @param number of the constant, from 0; ORRERY_EMISSING from the row's count on
 * @param categories *categories becomes their number; may be NULL
 * @param constants (categories) or NULL
 * @param errors (categories) standard errors as orrery_regression_constants(), or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_category(struct orrery_regression *regression, int row,
                                           int number, size_t *categories, double *constants,
                                           double *errors);
/** 95% profile intervals of the constants of a row: the values of a constant at which the loss, all
 * other constants refitted, exceeds its minimum by no more than noise explains. Infinite without a
 * bound; NaN if the rows are no more than the constants or above 100,000, or the loss is not l2.
 * @param regression the handle
 * @param row of the front, from 0
 * @param low (constants of the row)
 * @param high (constants of the row)
 * @return a status */
ORRERY_CALL int orrery_regression_intervals(struct orrery_regression *regression, int row,
                                            double *low, double *high);
/** The covariance of the constants of a row, and the variance of the residuals: NaN where the table
 * does not determine them, or if the loss is not least squares.
 * @param regression the handle
 * @param row of the front, from 0
 * @param covariance (n (n + 1) / 2 of n constants) its lower triangle, row by row
 * @param residual_variance sum of squared residuals, rows alike, divided by the degrees of freedom
 * @param freedom rows minus constants
 * @return a status */
ORRERY_CALL int orrery_regression_covariance(struct orrery_regression *regression, int row,
                                             double *covariance, double *residual_variance,
                                             double *freedom);
/** Evaluates any formula in the notation ORRERY_TEXT with the standard deviations of its values
 * that follow from the covariance of its constants, to first order. With probability `level` a new
 * observation lies within y +- orrery_interval_factor(level, freedom) sqrt(deviation^2 +
 * residual_variance). NaN where the formula has no finite value.
 * @param regression the handle
 * @param formula in the notation ORRERY_TEXT
 * @param table new columns; its y is not read
 * @param constants number of the formula's constants
 * @param covariance of the constants in their order, as orrery_regression_covariance() writes it
 * @param y (rows of the table), the formula's values
 * @param deviation (rows of the table)
 * @return a status */
ORRERY_CALL int orrery_regression_deviation(struct orrery_regression *regression,
                                            const char *formula, const struct orrery_table *table,
                                            int constants, const double *covariance, double *y,
                                            double *deviation);
/** Half the width of an interval, in standard deviations, by Student's t distribution.
 * @param level probability of the interval, 0 to 1
 * @param freedom degrees of freedom; infinite: the normal distribution
 * @return the factor; NaN for other arguments */
ORRERY_CALL double orrery_interval_factor(double level, double freedom);

/** @} */

/** @defgroup simulation Simulation
 * Simulates orbits of planets under any of Orrery's force laws. Sequences are pure functions of
 * settings, set and index. Their bits are equal on every CPU, for any number of threads, and in the
 * program orbits. @{ */

/** A handle: see orrery_simulation_create(). */
struct orrery_simulation;

/** A data set of the settings. */
struct orrery_set {
    size_t bytes;       /**< sizeof(struct orrery_set) */
    uint64_t sequences; /**< number of sequences; 0: the settings make none */
    size_t positions;   /**< rows of a sequence; row 0 is the time step */
    int tokens;         /**< 1: observations are tokens, 0: coordinates */
    int labelled;       /**< 1: the set has states and forces */
};
/** Receives sequences; arrays that are NULL are not filled. P: positions of the set, n: number of
 * sequences. docs/formats.md describes the columns. */
struct orrery_arrays {
    size_t bytes;           /**< sizeof(struct orrery_arrays) */
    uint16_t *tokens;       /**< (n, P, 2), for sets with tokens */
    float *coordinates;     /**< (n, P, 2), for other sets: x, y in AU */
    uint8_t *bodies;        /**< (n) */
    float *full_state;      /**< (n, P, 6), labelled sets */
    float *state;           /**< (n, P, 5), labelled sets */
    float *force_magnitude; /**< (n, P), labelled sets; infinite: no label */
    float *force;           /**< (n, P, 2), labelled sets */
    float *scale;           /**< (n) divisor of the coordinates, AU */
};
/** Elements of a planet's Newtonian orbit around the common centre of mass. */
struct orrery_elements {
    double a_au;      /**< semi-major axis of the relative orbit, above 0 */
    double e;         /**< eccentricity, from 0, below 1 */
    double omega_rad; /**< angle of the periapsis from +x */
    double phase_rad; /**< mean anomaly at the start */
    int clockwise;    /**< 1: clockwise, 0: counterclockwise */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param simulation *simulation becomes the handle or NULL; free it with orrery_simulation_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_simulation_create(int interface_, struct orrery_simulation **simulation);
/** Frees a handle.
 * @param simulation a handle that no call uses, or NULL */
ORRERY_CALL void orrery_simulation_free(struct orrery_simulation *simulation);
/** The message of the last call; "" if it succeeded.
 * @param simulation the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_simulation_message(const struct orrery_simulation *simulation);
/** Changes settings, one KEY=VALUE per line; "#" begins a comment. Keys are seed, orbits.* and
 * planets.* as `orbits --help` lists them. All settings are checked together; after an error none
 * is changed.
 * @param simulation the handle
 * @param settings lines KEY=VALUE
 * @return a status */
ORRERY_CALL int orrery_simulation_set(struct orrery_simulation *simulation, const char *settings);
/** Describes a data set by its name: "train", "val", "test", "two_body_train", ...,
 * "planets_solar".
 * @param simulation the handle
 * @param name of a data set
 * @param set is filled; the caller sets set->bytes
 * @return a status */
ORRERY_CALL int orrery_simulation_describe(struct orrery_simulation *simulation, const char *name,
                                           struct orrery_set *set);
/** Makes `count` sequences of a set, beginning with number `first`, and writes them into arrays.
 * @param simulation the handle
 * @param name of a data set
 * @param first number of a sequence, from 0
 * @param count sequences, n
 * @param threads 0: all cores
 * @param arrays receive the sequences
 * @return a status; ORRERY_EINVAL if an array is given that the set does not have */
ORRERY_CALL int orrery_simulation_sequences(struct orrery_simulation *simulation, const char *name,
                                            uint64_t first, size_t count, int threads,
                                            const struct orrery_arrays *arrays);
/** Computes the relative motion of two bodies under the law of the settings: x, y, vx, vy at times
 * 0, dt, ..., (n - 1) dt. It starts at the position and in the direction of the Newtonian ellipse,
 * with a speed that makes the orbit bound and similar.
 * @param simulation the handle
 * @param elements of the orbit
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param dt_yr time step, years
 * @param n states, at least 1
 * @param state (n, 4)
 * @return a status; ORRERY_EDOM if there is no such orbit, or it cannot be integrated */
ORRERY_CALL int orrery_simulation_orbit(struct orrery_simulation *simulation,
                                        const struct orrery_elements *elements, double m1,
                                        double m2, double dt_yr, size_t n, double *state);
/** Computes the law's force on body 1 at n relative states x, y, vx, vy (body 1 minus body 2), in
 * solar mass AU / yr^2.
 * @param simulation the handle
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param n states
 * @param state (n, 4), finite
 * @param force (n, 2), towards body 2 if the law attracts; or NULL
 * @param magnitude (n), or NULL
 * @return a status */
ORRERY_CALL int orrery_simulation_force(struct orrery_simulation *simulation, double m1, double m2,
                                        size_t n, const double *state, double *force,
                                        double *magnitude);

/** @} */

/** @defgroup model Models
 * Computes with trained transformers from checkpoints (*.safetensors): next states, forces, logits,
 * attention maps and continuations, on the CPU in fp32. A call computes with all cores; calls of
 * several handles wait for one another. The library opens cJSON at run time to read checkpoints,
 * and oneDNN to compute; without oneDNN, slower plain loops compute in one thread
 * (orrery_shape.reference). @{ */

/** A handle: see orrery_model_create(). */
struct orrery_model;

/** Kinds of input of a model. */
enum orrery_input {
    ORRERY_BINS = 0,        /**< two tokens per position: bins of x and y */
    ORRERY_COORDINATES = 1, /**< x and y as floats */
    ORRERY_CHARACTERS = 2   /**< one token per row */
};
/** Kinds of output of a model at each row. */
enum orrery_head {
    ORRERY_HEAD_BINS = 0,      /**< logits of the bins of x, then of y */
    ORRERY_HEAD_NUMBERS = 1,   /**< numbers: the next position, or a force */
    ORRERY_HEAD_CHARACTERS = 2 /**< logits of the next token */
};
/** Gates that multiply the output of attention. */
enum orrery_gate {
    ORRERY_GATE_NONE = 0,    /**< no gate */
    ORRERY_GATE_SIGMOID = 1, /**< sigmoid of a linear map of the attention's input */
    ORRERY_GATE_SOFTPLUS = 2 /**< softplus of a linear map of the attention's input */
};
/** Position encodings of a model. */
enum orrery_positions {
    ORRERY_LEARNED = 0,     /**< a learned vector per row */
    ORRERY_ROPE = 1,        /**< rotary positions of queries and keys */
    ORRERY_NO_POSITIONS = 2 /**< no position encoding */
};

/** The shape of a model, with its present attention (orrery_model_attend). */
struct orrery_shape {
    size_t bytes;          /**< sizeof(struct orrery_shape) */
    int layers;            /**< blocks */
    int heads;             /**< attention heads per block */
    int width;             /**< C, the width of the residual stream */
    int feedforward;       /**< hidden units of a feed-forward layer */
    int context;           /**< maximum number of rows in a sequence */
    int input;             /**< enum orrery_input */
    int head;              /**< enum orrery_head */
    int outputs;           /**< outputs per row */
    int vocabulary;        /**< tokens per channel; 0: coordinates are the input */
    int positions;         /**< enum orrery_positions */
    int gate;              /**< enum orrery_gate */
    const char *attention; /**< the variant; valid until the next call */
    double power;          /**< of re-weighted variants */
    int window;            /**< most keys that a row attends to; 0: all earlier ones */
    uint64_t parameters;   /**< number of trained parameters */
    int64_t step;          /**< training step of the checkpoint */
    int reference;         /**< 1: computed by plain loops */
    int reweight;          /**< 1: rows are re-weighted, whatever `attention` is */
    int unshifted_rows;    /**< rows of up to this many keys are neither shifted nor re-centred */
    double rope_base;      /**< base of rotary positions */
};
/** Rows of sequences for a model; the array that is not the model's input is NULL. Each sequence
 * begins `stride` rows after the one before, so that arrays of orrery_arrays can be passed as they
 * are. */
struct orrery_sequences {
    size_t bytes;             /**< sizeof(struct orrery_sequences) */
    size_t sequences;         /**< n, at least 1 */
    size_t rows;              /**< T, 1 to the model's context; row 0 of orbits is the time step */
    size_t stride;            /**< at least T; 0: T */
    const uint16_t *tokens;   /**< (n, stride, 2) below the vocabulary; characters: (n, stride) */
    const float *coordinates; /**< (n, stride, 2), finite */
};
/** Changes of a model's attention after training; 0 or NULL changes nothing. */
struct orrery_attend {
    size_t bytes;          /**< sizeof(struct orrery_attend) */
    const char *attention; /**< another variant */
    int reweight;          /**< 1: turns LSSAR's re-weighting on, 2: off */
    double power;          /**< exponent of the re-weighting, at least 1 */
    int set_window;        /**< 1: `window` applies */
    int window;            /**< 0: all earlier rows */
    int context;           /**< longer than trained: with rotary positions, or without positions */
    int ntk;               /**< 1: NTK-aware scaling of rotary positions, for a longer context */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param model *model becomes the handle, NULL after an error; free it with orrery_model_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_model_create(int interface_, struct orrery_model **model);
/** Frees a handle.
 * @param model a handle that no call uses, or NULL */
ORRERY_CALL void orrery_model_free(struct orrery_model *model);
/** The message of the last call; "" if it succeeded.
 * @param model the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_model_message(const struct orrery_model *model);
/** Opens a checkpoint, with its averaged weights if it has them. After an error the handle keeps
 * its former model.
 * @param model the handle
 * @param path of a file *.safetensors
 * @param threads 0: all cores
 * @param reference 1: plain loops, even if oneDNN is available
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no such file, or no cJSON */
ORRERY_CALL int orrery_model_open(struct orrery_model *model, const char *path, int threads,
                                  int reference);
/** Describes the model.
 * @param model the handle
 * @param shape is filled; the caller sets shape->bytes
 * @return a status */
ORRERY_CALL int orrery_model_describe(struct orrery_model *model, struct orrery_shape *shape);
/** Writes a value of the checkpoint's metadata as text, as orrery_regression_print() does.
 * docs/checkpoints.md lists the keys; "made" is the record of what the model was made from (JSON).
 * @param model the handle
 * @param key of the metadata
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status; ORRERY_EMISSING: no such key */
ORRERY_CALL int orrery_model_metadata(struct orrery_model *model, const char *key, char *text,
                                      size_t bytes, size_t *needed);
/** Changes the model's attention, relative to its training. ORRERY_EUSAGE if a change does not
 * apply to the model, which is then unchanged.
 * @param model the handle
 * @param attend the changes; NULL: attends as trained
 * @return a status */
ORRERY_CALL int orrery_model_attend(struct orrery_model *model, const struct orrery_attend *attend);
/** Computes the output of the head at each row: logits of bins (of x, then of y), logits of
 * characters, or numbers.
 * @param model the handle
 * @param sequences rows for the model
 * @param outputs (n, T, outputs)
 * @return a status */
ORRERY_CALL int orrery_model_outputs(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, float *outputs);
/** Predicts the position that follows each row, in units of the input. For bins, the centre of the
 * most probable bin in AU, in a square from -extent_au to extent_au; coordinates do not need
 * extent_au. ORRERY_EINVAL if the model does not predict the next state.
 * @param model the handle
 * @param sequences rows for the model
 * @param extent_au of bins: half the side of the square, AU
 * @param next (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_next(struct orrery_model *model,
                                  const struct orrery_sequences *sequences, double extent_au,
                                  double *next);
/** Computes the forces of a fine-tuned model: (n, T), magnitudes in solar masses AU / yr^2, or (n,
 * T, 2), vectors in the units of each body that the metadata "force" lists. ORRERY_EINVAL if the
 * model was not fine-tuned on forces; ORRERY_EMISSING if its checkpoint, of an earlier version,
 * does not say how magnitudes are scaled.
 * @param model the handle
 * @param sequences rows for the model
 * @param force (n, T) or (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_forces(struct orrery_model *model,
                                    const struct orrery_sequences *sequences, double *force);
/** Computes the attention weights of a layer; 0 for keys that a row does not attend to.
 * @param model the handle
 * @param sequences rows for the model
 * @param layer from 0
 * @param weights (n, heads, T, T)
 * @return a status */
ORRERY_CALL int orrery_model_attention(struct orrery_model *model,
                                       const struct orrery_sequences *sequences, int layer,
                                       double *weights);
/** Continues sequences autoregressively, with cached keys and values. Rows from `prefix` on are not
 * read; their predictions are written to path, as orrery_model_next() makes them.
 * @param model the handle
 * @param sequences rows for the model
 * @param prefix rows that are given, 1 to T
 * @param extent_au of bins: half the side of the square, AU
 * @param path (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_rollout(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, size_t prefix,
                                     double extent_au, float *path);
/** Stops a call that runs in another thread (ORRERY_STOPPED), between two batches or rows; usable
 * like orrery_regression_stop().
 * @param model the handle, or NULL */
ORRERY_CALL void orrery_model_stop(struct orrery_model *model);

/** @} */

/** @defgroup attention Attention
 * Forward and backward pass of any variant (docs/attention.md) on arrays, for an operator of a
 * framework. float32 uses the kernels of the models; float64, or `reference`, uses plain loops in
 * double precision, for gradient checks. @{ */

/** A handle: see orrery_attention_create(). */
struct orrery_attention;

/** The shape of attention: B sequences of T rows, H heads of D numbers. Row i attends to itself and
 * earlier rows. */
struct orrery_attention_shape {
    size_t bytes;        /**< sizeof(struct orrery_attention_shape) */
    const char *variant; /**< "softmax", "lssar", ...: orrery_attention_variant() */
    double power;        /**< exponent of re-weighted variants, at least 1 */
    int window;          /**< most keys that a row attends to; 0: all earlier ones */
    int type;            /**< enum orrery_type, of all arrays */
    int reference;       /**< 1: plain loops */
    int sequences;       /**< B */
    int rows;            /**< T */
    int heads;           /**< H */
    int size;            /**< D */
    int threads;         /**< 0: all cores */
};

/** One row of the table of variants (docs/attention.md), in words. */
struct orrery_attention_line {
    size_t bytes;          /**< sizeof(struct orrery_attention_line) */
    const char *name;      /**< name; texts are valid while the library is loaded */
    const char *score;     /**< dot, cosine: ln d ln n cos(q, k) */
    const char *bias;      /**< none, length: - ln L, row: - ln n */
    const char *phi;       /**< exp, softplus, identity, relu, relu2, relu6, gelu, sigmoid, mish */
    const char *norm;      /**< none, l1, length: / L, root: / sqrt(n / 2) */
    const char *transform; /**< none, inverse, recentred, recentred_l1 */
    int reweight;          /**< 1: re-weighted */
    int reweightable;      /**< 1: re-weighting is defined for the variant */
    int unshifted_rows;    /**< rows of up to this many keys are neither shifted nor re-centred */
    const char *source;    /**< paper, equation or table */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param attention *attention becomes the handle or NULL; free it with orrery_attention_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_attention_create(int interface_, struct orrery_attention **attention);
/** Frees a handle.
 * @param attention a handle that no call uses, or NULL */
ORRERY_CALL void orrery_attention_free(struct orrery_attention *attention);
/** The message of the last call; "" if it succeeded.
 * @param attention the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_attention_message(const struct orrery_attention *attention);
/** The name of variant number i; NULL after the last.
 * @param i from 0
 * @return a text that is always valid, or NULL */
ORRERY_CALL const char *orrery_attention_variant(int i);
/** Describes a variant by its name.
 * @param attention the handle
 * @param variant its name
 * @param line is filled; the caller sets line->bytes
 * @return a status */
ORRERY_CALL int orrery_attention_describe(struct orrery_attention *attention, const char *variant,
                                          struct orrery_attention_line *line);
/** The number of values that `saved` holds for this shape.
 * @param attention the handle
 * @param shape of the arrays
 * @param count *count becomes the number
 * @return a status */
ORRERY_CALL int orrery_attention_saved(struct orrery_attention *attention,
                                       const struct orrery_attention_shape *shape, size_t *count);
/** Computes out from qkv, which holds q, k, v of each row. `saved` receives what the backward pass
 * needs besides out; NULL if no backward pass follows.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param out (B, T, H, D)
 * @param saved as many values as orrery_attention_saved() says, or NULL
 * @return a status */
ORRERY_CALL int orrery_attention_forward(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, void *out, void *saved);
/** Computes the attention weights in double precision; exactly 0 for keys that a row does not
 * attend to.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param weights (B, H, T, T)
 * @return a status */
ORRERY_CALL int orrery_attention_weights(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, double *weights);
/** Computes dqkv, the gradient with respect to qkv, from dout, the gradient with respect to out.
 * qkv, out and saved must be those of the forward pass of this shape.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), as the forward pass had it
 * @param out (B, T, H, D), as the forward pass left it
 * @param saved as the forward pass left it
 * @param dout (B, T, H, D), finite
 * @param dqkv (B, T, 3, H, D)
 * @return a status */
ORRERY_CALL int orrery_attention_backward(struct orrery_attention *attention,
                                          const struct orrery_attention_shape *shape,
                                          const void *qkv, const void *out, const void *saved,
                                          const void *dout, void *dqkv);

/** @} */

/** @defgroup results Results
 * Results of runs as columns (docs/library.md). JSON files and runs need cJSON at run time. @{ */

/** A handle: see orrery_results_create(). */
struct orrery_results;
/** Kinds of columns. */
enum orrery_kind {
    ORRERY_NUMBERS = 0, /**< all cells are numbers or empty */
    ORRERY_WORDS = 1    /**< at least one cell is text */
};
/** A column. Its arrays belong to the handle until the next successful orrery_results_open(). */
struct orrery_column {
    size_t bytes;             /**< sizeof(struct orrery_column) */
    const char *name;         /**< name in the file */
    int kind;                 /**< enum orrery_kind */
    const double *numbers;    /**< (rows); NaN where the cell is empty or text */
    const char *const *words; /**< (rows) for ORRERY_WORDS; else NULL */
};
/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param results *results becomes the handle or NULL; free it with orrery_results_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_results_create(int interface_, struct orrery_results **results);
/** Frees a handle.
 * @param results a handle that no call uses, or NULL */
ORRERY_CALL void orrery_results_free(struct orrery_results *results);
/** The message of the last call; "" if it succeeded.
 * @param results the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_results_message(const struct orrery_results *results);
/** Reads a table: a CSV file, a training log (*.jsonl), a file of results (*.json), or a run
 * directory. After an error the handle keeps its former table.
 * @param results the handle
 * @param path of the file or run directory
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no file, no laws, or no cJSON */
ORRERY_CALL int orrery_results_open(struct orrery_results *results, const char *path);
/** Checks a JSON file of results: the checksum that it states, if any, and the files that it names.
 * @param results the handle
 * @param path of the file
 * @return a status; ORRERY_EFORMAT: changed since it was made; else as orrery_results_open() */
ORRERY_CALL int orrery_results_check(struct orrery_results *results, const char *path);
/** The size of the table; 0 rows and columns before orrery_results_open().
 * @param results the handle
 * @param rows *rows becomes the number of rows; may be NULL
 * @param columns *columns becomes the number of columns; may be NULL
 * @return a status */
ORRERY_CALL int orrery_results_size(struct orrery_results *results, size_t *rows, size_t *columns);
/** A column by its index.
 * @param results the handle
 * @param number from 0
 * @param column is filled; the caller sets column->bytes
 * @return a status */
ORRERY_CALL int orrery_results_column(struct orrery_results *results, size_t number,
                                      struct orrery_column *column);
/** The first column with a name.
 * @param results the handle
 * @param name of the column
 * @param column is filled; the caller sets column->bytes
 * @return a status; ORRERY_EMISSING names the existing columns */
ORRERY_CALL int orrery_results_find(struct orrery_results *results, const char *name,
                                    struct orrery_column *column);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
