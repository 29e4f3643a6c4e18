/** @file orrery.h
 * The C library of Orrery: orbits under any force law, formulas from tables, models from
 * checkpoints, attention, results of runs.
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

/** Before every function of the library. */
#if defined(__GNUC__)
#define ORRERY_CALL __attribute__((visibility("default")))
#else
#define ORRERY_CALL
#endif

/** The interface of this header. Functions that create a handle are given it, so that a library of
 * another interface refuses (ORRERY_EVERSION) instead of misreading arguments. */
#define ORRERY_INTERFACE 1

/** What a call returns. */
enum orrery_status {
    ORRERY_OK = 0,       /**< the call has done what it is for */
    ORRERY_EUSAGE = 1,   /**< a name, key or setting that is unknown or out of range */
    ORRERY_EINVAL = 2,   /**< an argument: null, a size, a number that is not finite */
    ORRERY_EDOM = 3,     /**< outside the mathematical domain */
    ORRERY_EIO = 4,      /**< the operating system refused */
    ORRERY_EFORMAT = 5,  /**< bytes that are truncated, foreign or damaged */
    ORRERY_EMISSING = 6, /**< something that should be there is not */
    ORRERY_ENOMEM = 7,   /**< out of memory */
    ORRERY_STOPPED = 10, /**< the callback, or orrery_regression_stop(), ended the search */
    ORRERY_EBUSY = 20,   /**< another thread uses the handle; its message is not changed */
    ORRERY_EVERSION = 21 /**< header and library are of different interfaces */
};

/** The version of the library that was loaded: "0.2.0".
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_version(void);
/** A status in words, for calls that have no handle: creation, ORRERY_EBUSY.
 * @param status one of enum orrery_status
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_status_text(int status);

/* ------------------------------------------------------------------------------ regression */

/** @defgroup regression Regression
 *
 * From a table to a Pareto front of formulas, as the program symreg does it: the same settings, the
 * same formulas for the same numbers and seed, for any number of threads.
 * @{ */

/** A handle: see orrery_regression_create(). */
struct orrery_regression;

/** Types of numbers in arrays. */
enum orrery_type {
    ORRERY_FLOAT64 = 0, /**< double */
    ORRERY_FLOAT32 = 1  /**< float */
};
/** Orders of the numbers of a table. */
enum orrery_order {
    ORRERY_ROWS = 0,   /**< a row after another */
    ORRERY_COLUMNS = 1 /**< a column after another */
};

/** A table of finite numbers. x: (rows, columns) if order is ORRERY_ROWS, else (columns, rows). */
struct orrery_table {
    size_t bytes;             /**< sizeof(struct orrery_table) */
    size_t rows;              /**< at least 2 to search, at least 1 to predict */
    size_t columns;           /**< 1 to 1024; of more than 64 those most related to y are used */
    int type;                 /**< enum orrery_type, of x, y and weights */
    int order;                /**< enum orrery_order, of x */
    const void *x;            /**< (rows, columns) or (columns, rows) */
    const void *y;            /**< (rows); may be NULL where only x is read */
    const void *weights;      /**< (rows), at least 0; NULL: all 1 */
    const char *const *names; /**< (columns) UTF-8; NULL: x1, x2, ... */
    const char *target;       /**< the name of y; NULL: y */
};

/** What a search has so far. */
struct orrery_progress {
    size_t bytes;       /**< of this struct, as the library has it */
    double seconds;     /**< since the search began */
    double evaluations; /**< formulas evaluated on all rows */
    int epoch;          /**< of the island search, from 0 */
    int rows;           /**< of the front so far */
    double loss;        /**< of its last row, the smallest */
    const char *best;   /**< that row's formula; valid until the callback returns */
};
/** Called in the thread of the search, after every epoch and with the handle in use. Another value
 * than 0 ends the search.
 * @param progress what the search has so far
 * @param context that of orrery_regression_search()
 * @return 0: the search goes on */
typedef int orrery_progress_call(const struct orrery_progress *progress, void *context);

/** A row of the front: complexity rises, loss falls. */
struct orrery_formula {
    size_t bytes;              /**< sizeof(struct orrery_formula) */
    int complexity;            /**< nodes, each at its price */
    int constants;             /**< numbers in it */
    double loss;               /**< as symreg.loss has it */
    double score;              /**< fall of ln(loss) per node; infinite where the loss is 0 */
    double description_length; /**< nats; NaN where it is not known */
};

/** Notations in which a formula is written. */
enum orrery_notation {
    ORRERY_TEXT = 0,   /**< as symreg prints it, and orrery_regression_evaluate() reads it */
    ORRERY_LATEX = 1,  /**< of mathematics in LaTeX */
    ORRERY_C = 2,      /**< an expression in C, of <math.h> */
    ORRERY_SYMPY = 3,  /**< an expression in Python, of SymPy */
    ORRERY_NUMPY = 4,  /**< functions of np, of arrays */
    ORRERY_JAX = 5,    /**< functions of jnp, of arrays */
    ORRERY_PYTORCH = 6 /**< functions of torch, of tensors */
};

/** Makes a handle of this interface.
 * @param interface_ ORRERY_INTERFACE
 * @param regression becomes the handle, NULL after an error; orrery_regression_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_regression_create(int interface_, struct orrery_regression **regression);
/** Frees a handle.
 * @param regression a handle that no call uses, or NULL */
ORRERY_CALL void orrery_regression_free(struct orrery_regression *regression);
/** The message of the last call that failed, "" when it did not.
 * @param regression the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_regression_message(const struct orrery_regression *regression);
/** Changes a setting: "seed", one of symreg.* as `symreg --help` lists them ("symreg.maxsize", or
 * "maxsize"), or an option of symreg for tables: "loss", "units", "units-penalty", "define",
 * "guess", "constrain", "nest", "complexity", "maxdepth", "batch", "log-target" ("1"), "weights"
 * ("relative", where the table has none). "keep-state" ("1"): the search can be resumed.
 * value NULL: the default again. ORRERY_EUSAGE names the nearest key.
 * @param regression the handle
 * @param key the name of a setting
 * @param value its value as text; NULL: the default
 * @return a status; ORRERY_EUSAGE names the nearest key */
ORRERY_CALL int orrery_regression_set(struct orrery_regression *regression, const char *key,
                                      const char *value);
/** Copies a table, which every later search is about; the front of another one is forgotten.
 * @param regression the handle
 * @param table with y, at least 2 rows
 * @return a status */
ORRERY_CALL int orrery_regression_data(struct orrery_regression *regression,
                                       const struct orrery_table *table);
/** Searches with so many threads, 0: all cores that the process may use. progress may be NULL.
 * ORRERY_STOPPED: the front is what was found until then.
 * @param regression the handle
 * @param threads 0: all cores that the process may use
 * @param progress called after each epoch; may be NULL
 * @param context given to progress
 * @return a status; ORRERY_STOPPED: the front is what was found until then */
ORRERY_CALL int orrery_regression_search(struct orrery_regression *regression, int threads,
                                         orrery_progress_call *progress, void *context);
/** Ends the search that another thread is in, within about a second. Safe in signal handlers; the
 * only call that may be made while the handle is in use.
 * @param regression the handle, or NULL */
ORRERY_CALL void orrery_regression_stop(struct orrery_regression *regression);
/** After a search with keep-state: what a later one resumes from. *state is valid until the next
 * search or orrery_regression_free(). ORRERY_EMISSING: there is none.
 * @param regression the handle
 * @param state *state becomes the bytes, which belong to the handle
 * @param bytes *bytes becomes their number
 * @return a status; ORRERY_EMISSING: there is none */
ORRERY_CALL int orrery_regression_state(struct orrery_regression *regression, const void **state,
                                        size_t *bytes);
/** The next search goes on from there: same table and settings but for limits (ORRERY_EINVAL
 * names what differs), same version of the library (ORRERY_EFORMAT). Copies the state.
 * @param regression the handle
 * @param state bytes of orrery_regression_state()
 * @param bytes their number
 * @return a status; ORRERY_EINVAL, ORRERY_EFORMAT */
ORRERY_CALL int orrery_regression_resume(struct orrery_regression *regression, const void *state,
                                         size_t bytes);
/** *rows = rows of the front, 0 before a search.
 * @param regression the handle
 * @param rows *rows becomes the number
 * @return a status */
ORRERY_CALL int orrery_regression_rows(struct orrery_regression *regression, int *rows);
/** Fills *formula, whose bytes are set, with a row, from 0.
 * @param regression the handle
 * @param row from 0
 * @param formula is filled; its bytes are set
 * @return a status */
ORRERY_CALL int orrery_regression_formula(struct orrery_regression *regression, int row,
                                          struct orrery_formula *formula);
/** *row = the row that a rule chooses: "accuracy", "score", "best" or "mdl".
 * @param regression the handle
 * @param rule "accuracy", "score", "best" or "mdl"
 * @param row *row becomes the row
 * @return a status */
ORRERY_CALL int orrery_regression_select(struct orrery_regression *regression, const char *rule,
                                         int *row);
/** Writes a row as text into text[bytes], NUL-terminated. *needed, unless it is NULL, becomes the
 * bytes that the text takes with its NUL; ORRERY_EINVAL when there is less room (text NULL and
 * bytes 0: only that is asked, ORRERY_OK).
 * @param regression the handle
 * @param row from 0
 * @param notation enum orrery_notation
 * @param text (bytes); NULL: only *needed is asked
 * @param bytes of text
 * @param needed *needed becomes the bytes that the text takes; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_print(struct orrery_regression *regression, int row, int notation,
                                        char *text, size_t bytes, size_t *needed);
/** y[i] (rows of the table) = the row's formula of new columns: as many as the table of the search
 * had, in its order. NaN where the formula has no finite value.
 * @param regression the handle
 * @param row from 0
 * @param table new columns; its y is not read
 * @param y (rows of the table)
 * @return a status */
ORRERY_CALL int orrery_regression_predict(struct orrery_regression *regression, int row,
                                          const struct orrery_table *table, double *y);
/** The same of any formula in the notation ORRERY_TEXT, of the names of the table that was given to
 * orrery_regression_data().
 * @param regression the handle
 * @param formula in the notation ORRERY_TEXT
 * @param table new columns; its y is not read
 * @param y (rows of the table)
 * @return a status */
ORRERY_CALL int orrery_regression_evaluate(struct orrery_regression *regression,
                                           const char *formula, const struct orrery_table *table,
                                           double *y);
/** Any formula in the notation ORRERY_TEXT, of the names of that table, in another notation.
 * @param regression the handle
 * @param formula in the notation ORRERY_TEXT
 * @param notation one of enum orrery_notation
 * @param text becomes the formula, as of orrery_regression_print()
 * @param bytes at text
 * @param needed *needed becomes the bytes that it takes, or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_write(struct orrery_regression *regression, const char *formula,
                                        int notation, char *text, size_t bytes, size_t *needed);
/** A front of given formulas, of the names of the table: their constants are fitted to the table
 * from where they stand and from points near by, and rounded as after a search. Rows that gain
 * nothing over a shorter one go. Constraints and units are not asked for. After an error there is
 * no front.
 * @param regression the handle
 * @param formulas (count) in the notation ORRERY_TEXT
 * @param count 1 to 64
 * @return a status */
ORRERY_CALL int orrery_regression_refit(struct orrery_regression *regression,
                                        const char *const *formulas, int count);
/** The numbers of a row in their order, as many as orrery_formula.constants says, and their
 * standard errors, NaN where the rows do not determine them, and where the loss is not one of least
 * squares.
 * @param regression the handle
 * @param row of the front, from 0
 * @param constants (constants of the row) or NULL
 * @param errors (constants of the row) or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_constants(struct orrery_regression *regression, int row,
                                            double *constants, double *errors);

/** @} */

/* ------------------------------------------------------------------------------ simulation */

/** @defgroup simulation Simulation
 *
 * Orbits of planets under any of Orrery's force laws. Sequences are pure functions of settings, set
 * and index: the same bits on every CPU and for any number of threads, and those of the program
 * orbits.
 * @{ */

/** A handle: see orrery_simulation_create(). */
struct orrery_simulation;

/** What a data set of the settings is. */
struct orrery_set {
    size_t bytes;       /**< sizeof(struct orrery_set) */
    uint64_t sequences; /**< 0: the settings make none */
    size_t positions;   /**< rows of a sequence; row 0 is the time step */
    int tokens;         /**< 1: observations are tokens, 0: coordinates */
    int labelled;       /**< 1: it has states and forces */
};
/** Where sequences go; arrays that are NULL are not filled. P: positions of the set, n: sequences
 * asked for. What columns mean: docs/formats.md. */
struct orrery_arrays {
    size_t bytes;           /**< sizeof(struct orrery_arrays) */
    uint16_t *tokens;       /**< (n, P, 2) of sets with tokens */
    float *coordinates;     /**< (n, P, 2) of the others: x, y in AU */
    uint8_t *bodies;        /**< (n) */
    float *full_state;      /**< (n, P, 6) of labelled sets */
    float *state;           /**< (n, P, 5) of labelled sets */
    float *force_magnitude; /**< (n, P) of labelled sets; infinite: no label */
    float *force;           /**< (n, P, 2) of labelled sets */
    float *scale;           /**< (n) what coordinates were divided by, AU */
};
/** A planet's orbit around the common centre of mass, as Newton's law has it. */
struct orrery_elements {
    double a_au;      /**< semi-major axis of the relative orbit, above 0 */
    double e;         /**< eccentricity, from 0, below 1 */
    double omega_rad; /**< angle of the periapsis from +x */
    double phase_rad; /**< mean anomaly at the start */
    int clockwise;    /**< 0: counterclockwise */
};

/** Makes a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param simulation becomes the handle, NULL after an error; orrery_simulation_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_simulation_create(int interface_, struct orrery_simulation **simulation);
/** Frees a handle.
 * @param simulation a handle that no call uses, or NULL */
ORRERY_CALL void orrery_simulation_free(struct orrery_simulation *simulation);
/** The message of the last call that failed, "" when it did not.
 * @param simulation the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_simulation_message(const struct orrery_simulation *simulation);
/** Settings, a line KEY=VALUE each, "#" begins a comment: seed, orbits.* and planets.* as `orbits
 * --help` lists them. All of them together are checked; after an error none is changed.
 * @param simulation the handle
 * @param settings lines KEY=VALUE
 * @return a status */
ORRERY_CALL int orrery_simulation_set(struct orrery_simulation *simulation, const char *settings);
/** Fills *set, whose bytes are set, of a data set by its name: "train", "val", "test",
 * "two_body_train", ..., "planets_solar".
 * @param simulation the handle
 * @param name of a data set
 * @param set is filled; its bytes are set
 * @return a status */
ORRERY_CALL int orrery_simulation_describe(struct orrery_simulation *simulation, const char *name,
                                           struct orrery_set *set);
/** Makes `count` sequences of a set from number `first` on into arrays.
 * @param simulation the handle
 * @param name of a data set
 * @param first number of a sequence, from 0
 * @param count sequences, n
 * @param threads 0: all cores
 * @param arrays where they go
 * @return a status; ORRERY_EINVAL where an array is given that the set does not have */
ORRERY_CALL int orrery_simulation_sequences(struct orrery_simulation *simulation, const char *name,
                                            uint64_t first, size_t count, int threads,
                                            const struct orrery_arrays *arrays);
/** Relative motion of two bodies under the law of the settings: state (n, 4) is x, y, vx, vy at the
 * times 0, dt, ..., (n - 1) dt. The start is the Newtonian ellipse's, with the speed that makes the
 * orbit bound and similar. ORRERY_EDOM where no such orbit is, or it cannot be followed.
 * @param simulation the handle
 * @param elements of the orbit
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param dt_yr time step, years
 * @param n states, at least 1
 * @param state (n, 4)
 * @return a status; ORRERY_EDOM where no such orbit is, or it cannot be followed */
ORRERY_CALL int orrery_simulation_orbit(struct orrery_simulation *simulation,
                                        const struct orrery_elements *elements, double m1,
                                        double m2, double dt_yr, size_t n, double *state);
/** The law's force on body 1 at n relative states (n, 4), x, y, vx, vy of body 1 minus body 2:
 * force (n, 2), towards body 2 when it attracts, and magnitude (n), solar mass AU / yr^2; either
 * may be NULL.
 * @param simulation the handle
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param n states
 * @param state (n, 4), finite
 * @param force (n, 2), or NULL
 * @param magnitude (n), or NULL
 * @return a status */
ORRERY_CALL int orrery_simulation_force(struct orrery_simulation *simulation, double m1, double m2,
                                        size_t n, const double *state, double *force,
                                        double *magnitude);

/** @} */

/* ---------------------------------------------------------------------------------- models */

/** @defgroup model Models
 *
 * Trained transformers from checkpoints (*.safetensors): next states, forces, logits, attention
 * maps and continuations, by the CPU in fp32. A call computes with all cores; calls of several
 * handles wait for one another. What is opened at run time: cJSON, which reads checkpoints, and
 * oneDNN, without which plain loops compute, slower and in one thread (orrery_shape.reference).
 * @{ */

/** A handle: see orrery_model_create(). */
struct orrery_model;

/** What comes into a model. */
enum orrery_input {
    ORRERY_BINS = 0,        /**< two tokens a position, bins of x and y */
    ORRERY_COORDINATES = 1, /**< x and y as numbers */
    ORRERY_CHARACTERS = 2   /**< a token a row */
};
/** What a model puts out at each row. */
enum orrery_head {
    ORRERY_HEAD_BINS = 0,      /**< logits of the bins of x, then of y */
    ORRERY_HEAD_NUMBERS = 1,   /**< numbers: the next position, or a force */
    ORRERY_HEAD_CHARACTERS = 2 /**< logits of the next token */
};
/** Gates that the output of attention is multiplied by. */
enum orrery_gate {
    ORRERY_GATE_NONE = 0,    /**< none */
    ORRERY_GATE_SIGMOID = 1, /**< a sigmoid of the attention's input */
    ORRERY_GATE_SOFTPLUS = 2 /**< a softplus of it */
};
/** How a model knows the number of a row. */
enum orrery_positions {
    ORRERY_LEARNED = 0,     /**< by a learned vector per row */
    ORRERY_ROPE = 1,        /**< by rotations of queries and keys */
    ORRERY_NO_POSITIONS = 2 /**< not at all */
};

/** What a model is, as it attends now (orrery_model_attend). */
struct orrery_shape {
    size_t bytes;          /**< sizeof(struct orrery_shape) */
    int layers;            /**< blocks */
    int heads;             /**< of attention, in a block */
    int width;             /**< C */
    int feedforward;       /**< hidden units of a block */
    int context;           /**< the most rows of a sequence */
    int input;             /**< enum orrery_input */
    int head;              /**< enum orrery_head */
    int outputs;           /**< numbers of a row that comes out */
    int vocabulary;        /**< of a channel of tokens; 0: coordinates come in */
    int positions;         /**< enum orrery_positions */
    int gate;              /**< enum orrery_gate */
    const char *attention; /**< the variant; valid until the next call */
    double power;          /**< of re-weighted variants */
    int window;            /**< keys that a row attends at most; 0: all earlier ones */
    uint64_t parameters;   /**< trained numbers */
    int64_t step;          /**< of the training */
    int reference;         /**< 1: plain loops compute */
    int reweight;          /**< 1: rows are re-weighted, whatever `attention` says */
    int unshifted_rows;    /**< rows of so few keys are neither shifted nor re-centred */
    double rope_base;      /**< of rotary positions */
};
/** Rows of sequences for a model; what is not the model's input is NULL. A sequence begins `stride`
 * rows after the one before, so that the arrays of orrery_arrays serve as they are. */
struct orrery_sequences {
    size_t bytes;             /**< sizeof(struct orrery_sequences) */
    size_t sequences;         /**< n, at least 1 */
    size_t rows;              /**< T, 1 to the model's context; row 0 of orbits is the time step */
    size_t stride;            /**< at least T; 0: T */
    const uint16_t *tokens;   /**< (n, stride, 2) below the vocabulary; characters: (n, stride) */
    const float *coordinates; /**< (n, stride, 2), finite */
};
/** How a model attends otherwise than it was trained; 0 or NULL changes nothing. */
struct orrery_attend {
    size_t bytes;          /**< sizeof(struct orrery_attend) */
    const char *attention; /**< another variant */
    int reweight;          /**< 1: the re-weighting of LSSAR on, 2: off */
    double power;          /**< its power, at least 1 */
    int set_window;        /**< 1: window counts */
    int window;            /**< 0: all earlier rows */
    int context;           /**< longer than trained: rotary positions, or none */
    int ntk;               /**< 1: NTK-aware scaling of rotary positions, with context */
};

/** Makes a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param model becomes the handle, NULL after an error; orrery_model_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_model_create(int interface_, struct orrery_model **model);
/** Frees a handle.
 * @param model a handle that no call uses, or NULL */
ORRERY_CALL void orrery_model_free(struct orrery_model *model);
/** The message of the last call that failed, "" when it did not.
 * @param model the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_model_message(const struct orrery_model *model);
/** Reads a checkpoint, its averaged weights where it has some; after an error the handle has the
 * model of before. threads: 0: all cores. reference: 1: plain loops, also where oneDNN is.
 * ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no such file, or no cJSON.
 * @param model the handle
 * @param path of a file *.safetensors
 * @param threads 0: all cores
 * @param reference 1: plain loops, also where oneDNN is
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no such file, or no cJSON */
ORRERY_CALL int orrery_model_open(struct orrery_model *model, const char *path, int threads,
                                  int reference);
/** Fills *shape, whose bytes are set.
 * @param model the handle
 * @param shape is filled; its bytes are set
 * @return a status */
ORRERY_CALL int orrery_model_describe(struct orrery_model *model, struct orrery_shape *shape);
/** A value of the checkpoint's metadata as text, as orrery_regression_print() writes it: what
 * docs/checkpoints.md lists, "made": what it was made from (JSON). ORRERY_EMISSING: no such key.
 * @param model the handle
 * @param key of the metadata
 * @param text (bytes); NULL: only *needed is asked
 * @param bytes of text
 * @param needed *needed becomes the bytes that the text takes; may be NULL
 * @return a status; ORRERY_EMISSING: no such key */
ORRERY_CALL int orrery_model_metadata(struct orrery_model *model, const char *key, char *text,
                                      size_t bytes, size_t *needed);
/** The model attends as it was trained, but for this; NULL: as it was trained. ORRERY_EUSAGE where
 * that has no meaning for the model, which stays as it was.
 * @param model the handle
 * @param attend the changes; NULL: as it was trained
 * @return a status */
ORRERY_CALL int orrery_model_attend(struct orrery_model *model, const struct orrery_attend *attend);
/** outputs (n, T, outputs): what the head puts out at each row. Logits of bins: those of x, then
 * those of y; of characters; or numbers.
 * @param model the handle
 * @param sequences rows for the model
 * @param outputs (n, T, outputs)
 * @return a status */
ORRERY_CALL int orrery_model_outputs(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, float *outputs);
/** next (n, T, 2): the position that follows each row, in units of the input; of bins the centre of
 * the most probable one, AU, of a square from -extent_au to extent_au, which coordinates do not
 * need. ORRERY_EINVAL: the model does not predict the next state.
 * @param model the handle
 * @param sequences rows for the model
 * @param extent_au of bins: half the side of the square, AU
 * @param next (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_next(struct orrery_model *model,
                                  const struct orrery_sequences *sequences, double extent_au,
                                  double *next);
/** The forces of a fine-tuned model: force (n, T), magnitudes in solar masses AU / yr^2; or
 * (n, T, 2), vectors in the units of each body that the metadata "force" lists. ORRERY_EINVAL: the
 * model was not fine-tuned to forces; ORRERY_EMISSING: its checkpoint, of an earlier
 * version of Orrery, does not say how magnitudes are scaled.
 * @param model the handle
 * @param sequences rows for the model
 * @param force (n, T) or (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_forces(struct orrery_model *model,
                                    const struct orrery_sequences *sequences, double *force);
/** weights (n, heads, T, T): what each row attends, of a layer from 0 on; 0 where it does not.
 * @param model the handle
 * @param sequences rows for the model
 * @param layer from 0
 * @param weights (n, heads, T, T)
 * @return a status */
ORRERY_CALL int orrery_model_attention(struct orrery_model *model,
                                       const struct orrery_sequences *sequences, int layer,
                                       double *weights);
/** Continues sequences by the model's own predictions, keys and values of earlier rows being kept:
 * rows from `prefix` on are not read, and those of path (n, T, 2) are written, as
 * orrery_model_next() has them. prefix: 1 to T.
 * @param model the handle
 * @param sequences rows for the model
 * @param prefix rows that are given, 1 to T
 * @param extent_au of bins: half the side of the square, AU
 * @param path (n, T, 2)
 * @return a status */
ORRERY_CALL int orrery_model_rollout(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, size_t prefix,
                                     double extent_au, float *path);
/** Ends a call that another thread is in (ORRERY_STOPPED) between two batches or rows; as
 * orrery_regression_stop().
 * @param model the handle, or NULL */
ORRERY_CALL void orrery_model_stop(struct orrery_model *model);

/** @} */

/* ------------------------------------------------------------------------------- attention */

/** @defgroup attention Attention
 *
 * Forward and backward of any variant (docs/attention.md) on arrays: what an operator of a
 * framework needs. float32: the kernels that models compute with. float64, or `reference`: plain
 * loops in double, for gradient checks.
 * @{ */

/** A handle: see orrery_attention_create(). */
struct orrery_attention;

/** B sequences of T rows, H heads of D numbers; row i attends itself and rows before it. */
struct orrery_attention_shape {
    size_t bytes;        /**< sizeof(struct orrery_attention_shape) */
    const char *variant; /**< "softmax", "lssar", ...: orrery_attention_variant() */
    double power;        /**< of re-weighted variants, at least 1 */
    int window;          /**< keys that a row attends at most; 0: all earlier ones */
    int type;            /**< enum orrery_type of all arrays */
    int reference;       /**< 1: plain loops */
    int sequences;       /**< B */
    int rows;            /**< T */
    int heads;           /**< H */
    int size;            /**< D */
    int threads;         /**< 0: all cores */
};

/** A line of the table of variants (docs/attention.md), in words: score, bias, phi and so on. */
struct orrery_attention_line {
    size_t bytes;          /**< sizeof(struct orrery_attention_line) */
    const char *name;      /**< texts are valid as long as the library is loaded */
    const char *score;     /**< dot, cosine: ln d ln n cos(q, k) */
    const char *bias;      /**< none, length: - ln L, row: - ln n */
    const char *phi;       /**< exp, softplus, identity, relu, relu2, relu6, gelu, sigmoid, mish */
    const char *norm;      /**< none, l1, length: / L, root: / sqrt(n / 2) */
    const char *transform; /**< none, inverse, recentred, recentred_l1 */
    int reweight;          /**< 1: re-weighted */
    int reweightable;      /**< 1: re-weighting is defined for it */
    int unshifted_rows;    /**< rows of so few keys are neither shifted nor re-centred */
    const char *source;    /**< paper, equation or table */
};

/** Makes a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param attention becomes the handle, NULL after an error; orrery_attention_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_attention_create(int interface_, struct orrery_attention **attention);
/** Frees a handle.
 * @param attention a handle that no call uses, or NULL */
ORRERY_CALL void orrery_attention_free(struct orrery_attention *attention);
/** The message of the last call that failed, "" when it did not.
 * @param attention the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_attention_message(const struct orrery_attention *attention);
/** The name of variant number i, from 0 on; NULL: there are no more.
 * @param i from 0
 * @return a text that is always valid, or NULL */
ORRERY_CALL const char *orrery_attention_variant(int i);
/* Fills *line, whose bytes are set, of a variant by its name. */
ORRERY_CALL int orrery_attention_describe(struct orrery_attention *attention, const char *variant,
                                          struct orrery_attention_line *line);
/**< *count = numbers of `saved` for this shape. */
/** *count = numbers of `saved` for this shape.
 * @param attention the handle
 * @param shape of the arrays
 * @param count *count becomes the number
 * @return a status */
ORRERY_CALL int orrery_attention_saved(struct orrery_attention *attention,
                                       const struct orrery_attention_shape *shape, size_t *count);
/** out (B, T, H, D) from qkv (B, T, 3, H, D), finite: q, k, v of each row. saved: what the backward
 * pass needs beside, orrery_attention_saved() numbers; NULL: no backward pass follows.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param out (B, T, H, D)
 * @param saved numbers of orrery_attention_saved(), or NULL
 * @return a status */
ORRERY_CALL int orrery_attention_forward(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, void *out, void *saved);
/** weights (B, H, T, T): what each row attends, in double; exactly 0 where it does not.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param weights (B, H, T, T)
 * @return a status */
ORRERY_CALL int orrery_attention_weights(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, double *weights);
/** dqkv (B, T, 3, H, D) = the gradient by qkv from dout, finite, by out (B, T, H, D); out, saved
 * and qkv as the forward pass of this shape had them.
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

/* --------------------------------------------------------------------------------- results */

/** @defgroup results Results
 *
 * Results of runs as columns of numbers and of text. What can be opened: docs/library.md. Files of
 * JSON, and run directories, need cJSON, which is opened at run time.
 * @{ */

/** A handle: see orrery_results_create(). */
struct orrery_results;

/** Kinds of columns. */
enum orrery_kind {
    ORRERY_NUMBERS = 0, /**< all cells are numbers, or empty */
    ORRERY_WORDS = 1    /**< at least one cell is text */
};
/** A column of a table of results. Arrays belong to the handle, until the next
 * orrery_results_open() that does not fail, or orrery_results_free(). */
struct orrery_column {
    size_t bytes;             /**< sizeof(struct orrery_column) */
    const char *name;         /**< as the file has it */
    int kind;                 /**< enum orrery_kind */
    const double *numbers;    /**< (rows); NaN where the cell is empty or text */
    const char *const *words; /**< (rows) of ORRERY_WORDS; else NULL */
};

/** Makes a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param results becomes the handle, NULL after an error; orrery_results_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_results_create(int interface_, struct orrery_results **results);
/** Frees a handle.
 * @param results a handle that no call uses, or NULL */
ORRERY_CALL void orrery_results_free(struct orrery_results *results);
/** The message of the last call that failed, "" when it did not.
 * @param results the handle
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_results_message(const struct orrery_results *results);
/** Reads a table: a CSV file, a training log (*.jsonl), a file of results (*.json), or a run
 * directory. After an error the handle has the table of before.
 * @param results the handle
 * @param path of the file or run directory
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no such file, a run without laws,
 *     or no cJSON */
ORRERY_CALL int orrery_results_open(struct orrery_results *results, const char *path);
/** The size of the table; 0 and 0 before orrery_results_open().
 * @param results the handle
 * @param rows *rows becomes the number of rows; may be NULL
 * @param columns *columns becomes the number of columns; may be NULL
 * @return a status */
ORRERY_CALL int orrery_results_size(struct orrery_results *results, size_t *rows, size_t *columns);
/** A column by its number.
 * @param results the handle
 * @param number from 0
 * @param column is filled; its bytes are set
 * @return a status */
ORRERY_CALL int orrery_results_column(struct orrery_results *results, size_t number,
                                      struct orrery_column *column);
/** A column by its name, the first that has it.
 * @param results the handle
 * @param name of the column
 * @param column is filled; its bytes are set
 * @return a status; ORRERY_EMISSING names the columns that there are */
ORRERY_CALL int orrery_results_find(struct orrery_results *results, const char *name,
                                    struct orrery_column *column);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
