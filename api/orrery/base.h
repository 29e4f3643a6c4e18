/** @file base.h
 * Part of orrery.h: statuses, versions, handles, tables, notations. */
#ifndef ORRERY_BASE_H
#define ORRERY_BASE_H

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

/** The version of these headers as a number: 10000 major + 100 minor + patch. */
#define ORRERY_VERSION_NUMBER 200

/** The version of this interface. Functions that create a handle take it, so that a library with
 * another interface refuses (ORRERY_EVERSION) instead of misreading arguments. */
#define ORRERY_INTERFACE 2

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
    ORRERY_STOPPED = 10, /**< the callback, or orrery_stop(), ended the call */
    ORRERY_EBUSY = 20,   /**< another thread uses the handle; its message is not changed */
    ORRERY_EVERSION = 21 /**< header and library have different interfaces */
};

/** The version of the library that was loaded: "0.2.0". ORRERY_VERSION_NUMBER is that of the
 * headers.
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_version(void);
/** Describes a status, for calls without a handle: creation, ORRERY_EBUSY.
 * @param status one of enum orrery_status
 * @return a text that is always valid */
ORRERY_CALL const char *orrery_status_text(int status);
/** The message of the last call with a handle; "" if it succeeded.
 * @param handle of any part: struct orrery_regression *, orrery_formula *, ...; or NULL
 * @return one line; valid until the next call with the handle */
ORRERY_CALL const char *orrery_message(const void *handle);
/** Stops a call that runs in another thread, within about a second: a search, a permutation test, a
 * model's (ORRERY_STOPPED). Safe in signal handlers. This is the only call allowed while the handle
 * is in use.
 * @param handle of any part, or NULL */
ORRERY_CALL void orrery_stop(void *handle);

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
    int type;                 /**< enum orrery_type, of all numbers of the table */
    int order;                /**< enum orrery_order, of x */
    const void *x;            /**< (rows, columns) or (columns, rows) */
    const void *y;            /**< (rows); may be NULL if only x is read */
    const void *weights;      /**< (rows), at least 0; NULL: see the option "weights" */
    const char *const *names; /**< (columns) UTF-8; NULL: x1, x2, ... */
    const char *target;       /**< the name of y; NULL: y */
    const void *sigma;        /**< (rows) standard deviations of y, above 0: weights 1/sigma^2 and
                                   errors of constants by them; NULL: none. Not with weights */
    const void *sigma_x;      /**< (rows, columns) or (columns, rows), as x: standard deviations of
                                   x, 0 where it is exact; constants are those of orthogonal
                                   distance regression. NULL: x is exact. Needs sigma */
    const void *y_low;        /**< (rows) in place of y, with y_high: the targets lie between these
                                   numbers; an infinite or NaN end is open. NULL: y has them */
    const void *y_high;       /**< (rows) at least y_low */
};

/** Notations of formulas. */
enum orrery_notation {
    ORRERY_TEXT = 0,    /**< as symreg prints and orrery_formula_parse() reads */
    ORRERY_LATEX = 1,   /**< LaTeX */
    ORRERY_C = 2,       /**< a C expression with <math.h> */
    ORRERY_SYMPY = 3,   /**< a Python expression with SymPy */
    ORRERY_NUMPY = 4,   /**< functions of np on arrays */
    ORRERY_JAX = 5,     /**< functions of jnp on arrays */
    ORRERY_PYTORCH = 6, /**< functions of torch on tensors */
    ORRERY_MATHML = 7   /**< the content of a math element of HTML */
};

#ifdef __cplusplus
}
#endif

#endif
