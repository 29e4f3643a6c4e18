/** @file formula.h
 * Part of orrery.h: formulas as objects. */
#ifndef ORRERY_FORMULA_H
#define ORRERY_FORMULA_H

#include "regression.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup formula Formulas
 * A formula as an object: from a text or from an answer, evaluated, printed and taken apart. It
 * depends on nothing: the handle that it came from may be freed. @{ */

/** A handle: see orrery_formula_parse(), orrery_formula_of_row(). */
struct orrery_formula;

/** Reads a formula in the notation ORRERY_TEXT.
 * @param interface_ ORRERY_INTERFACE
 * @param text the formula
 * @param names (columns) of the columns of tables that it is evaluated on, UTF-8; NULL: x1, x2, ...
 * @param columns their number, 1 to 1024; a formula uses at most 64
 * @param define named constants and operators, as orrery_regression_definitions() writes them; NULL
 * @param formula *formula becomes the handle, after ORRERY_EUSAGE and ORRERY_EINVAL too, for its
 * message; free it with orrery_formula_free()
 * @return a status */
ORRERY_CALL int orrery_formula_parse(int interface_, const char *text, const char *const *names,
                                     size_t columns, const char *define,
                                     struct orrery_formula **formula);
/** Copies the formula of a row of the front.
 * @param regression the handle
 * @param row from 0
 * @param formula *formula becomes the handle or NULL; free it with orrery_formula_free()
 * @return a status; the message is the regression's */
ORRERY_CALL int orrery_formula_of_row(struct orrery_regression *regression, int row,
                                      struct orrery_formula **formula);
/** Copies the formula of an alternative.
 * @param regression the handle
 * @param number from 0
 * @param formula *formula becomes the handle or NULL; free it with orrery_formula_free()
 * @return a status; the message is the regression's */
ORRERY_CALL int orrery_formula_of_alternative(struct orrery_regression *regression, int number,
                                              struct orrery_formula **formula);
/** Frees a handle.
 * @param formula a handle that no call uses, or NULL */
ORRERY_CALL void orrery_formula_free(struct orrery_formula *formula);
/** Writes a formula as text into text[bytes], NUL-terminated. ORRERY_EINVAL if it does not fit.
 * With text NULL and bytes 0 only *needed is set, and the call succeeds.
 * @param formula the handle
 * @param notation enum orrery_notation
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_formula_print(struct orrery_formula *formula, int notation, char *text,
                                     size_t bytes, size_t *needed);
/** Evaluates a formula. NaN where it has no finite value.
 * @param formula the handle; ORRERY_EINVAL if it has constants of each category
 * (orrery_regression_predict())
 * @param table with the columns of the formula, in their order; its y and names are not read
 * @param y (rows of the table), the formula's values
 * @return a status */
ORRERY_CALL int orrery_formula_evaluate(struct orrery_formula *formula,
                                        const struct orrery_table *table, double *y);
/** Which columns a formula uses.
 * @param formula the handle
 * @param columns the number of columns that the formula was made with
 * @param used (columns) 1 if the column stands in the formula, else 0
 * @return a status */
ORRERY_CALL int orrery_formula_columns(struct orrery_formula *formula, size_t columns, int *used);
/** The numbers of a formula in their order.
 * @param formula the handle
 * @param count *count becomes their number
 * @param constants (*count) or NULL
 * @return a status */
ORRERY_CALL int orrery_formula_constants(struct orrery_formula *formula, int *count,
                                         double *constants);
/** Evaluates a formula with the standard deviations of its values that follow from the covariance
 * of its constants, to first order. With probability `level` a new observation lies within y +-
 * orrery_interval_factor(level, freedom) sqrt(deviation^2 + residual_variance).
 * @param formula the handle
 * @param table as for orrery_formula_evaluate()
 * @param constants number of the formula's constants
 * @param covariance of the constants in their order, as orrery_regression_covariance() writes it
 * @param y (rows of the table), the formula's values; NaN where there is no finite value
 * @param deviation (rows of the table)
 * @return a status */
ORRERY_CALL int orrery_formula_deviation(struct orrery_formula *formula,
                                         const struct orrery_table *table, int constants,
                                         const double *covariance, double *y, double *deviation);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
