/* lab.h - what the page calls of the module: an orbit under any law, formulas, a search. Texts are
 * UTF-8 with a NUL. A call that fails returns a status of orrery.h, and lab_message() says why. */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <stddef.h>

/* A law: the force per unit of the planet's mass toward the star, as a formula of r (distance, AU)
 * and v (speed, AU/yr), in AU/yr^2; GM (AU^3/yr^2) and p are its constants. `text` is read as
 * `symreg` reads formulas. Returns 0 and *law, which lab_law_free() frees, else a status. */
struct lab_law;
int lab_law_open(const char *text, struct lab_law **law);
void lab_law_free(struct lab_law *law);
/* The law's force at a distance; NaN where it has no finite value. */
double lab_law_force(struct lab_law *law, double gm, double p, double r, double v);

/* The planet's motion around a fixed star: x, y, vx, vy (AU, AU/yr) at the times 0, dt, ...,
 * (rows - 1) dt (yr) into track (rows, 4), beginning with track's first row. Dormand-Prince 5(4),
 * with relative errors of a step below 1e-11. Returns how many rows were written: fewer than `rows`
 * where the planet reaches the star or the force has no value. */
int lab_orbit(struct lab_law *law, double gm, double p, double dt, int rows, double *track);

/* Searches formulas of y (rows) in x (columns, rows) with one thread, by lines of options KEY=VALUE
 * (orrery_regression_set()). `names`: those of the columns, one a line. Replaces the front of the
 * search before. Calls lab_progress() after each epoch. Returns a status. */
int lab_search(const double *x, const double *y, int rows, int columns, const char *names,
               const char *options);
/* The front of the last search: the number of rows; the row that the rule "best" selects, or -1. */
int lab_rows(void);
int lab_best(void);
/* A row: its loss and complexity, and its formula in a notation (enum orrery_notation) as a text
 * that is valid until the next call; NULL where there is none. */
double lab_loss(int row);
int lab_complexity(int row);
const char *lab_formula(int row, int notation);
/* Values of a row's formula on x (columns, rows) into y (rows). Returns a status. */
int lab_predict(int row, const double *x, int rows, int columns, double *y);

/* Why the last call failed; "" where none did. Valid until the next call. */
const char *lab_message(void);
/* Memory of the module for the page's arrays. */
void *lab_alloc(size_t bytes);
void lab_free(void *memory);

#endif
