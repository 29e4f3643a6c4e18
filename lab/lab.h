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
 * where the planet reaches the star, the force has no value or 200,000 steps were not enough, and
 * lab_message() says which. */
int lab_orbit(struct lab_law *law, double gm, double p, double dt, int rows, double *track);
/* The motion for a picture: the integrator's own steps, each with relative errors below 1e-6, as
 * rows x, y, vx, vy and the time (yr) into path (rows, 5), until `years`. Returns how many rows
 * were written: all `rows` where there are more steps, and fewer where the motion ends before. */
int lab_path(struct lab_law *law, double gm, double p, double years, const double *from, int rows,
             double *path);
/* The angle between the first two points nearest to the star after `from` (x, y, vx, vy), less a
 * turn, in (-pi, pi]; found on the integrator's own steps, so that no orbit is too fast for it. NaN
 * where there are not two of them within `years`, or the distance does not change (a circle). */
double lab_precession(struct lab_law *law, double gm, double p, double years, const double *from);

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

/* Networks: two bodies of masses `share` and 1 - share around their centre of mass. A network reads
 * rows (x, y): the logarithm of the time step, then planet and star of each step. Networks see
 * orbits that are longer than their context in windows, which overlap by half of it. */
struct orrery_model;
/* Opens a checkpoint in memory (lab/tensors.c): `header` has a line "KEY=VALUE" for each metadata
 * and a line "NAME DTYPE ROWS COLUMNS OFFSET" for each tensor (COLUMNS 0: of one dimension), with
 * an empty line between; `data` (bytes) stays the caller's and is read in this call alone. */
int lab_model_open(const char *header, const char *data, int bytes, struct orrery_model **model);
void lab_model_free(struct orrery_model *model);
/* Rows (1 + 2 steps, 2) of a track (steps, 4) with steps of dt. */
void lab_model_rows(const double *track, int steps, double share, double dt, float *rows);
/* Continues an orbit (rows, 2), of which `known` rows are given, with its own predictions. */
int lab_model_continue(struct orrery_model *model, int known, int rows, float *orbit);
/* The position that follows each row (rows, 2); the force that a fine-tuned network says at each
 * row (rows), solar masses AU / yr^2. */
int lab_model_next(struct orrery_model *model, int rows, const float *orbit, double *next);
int lab_model_forces(struct orrery_model *model, int rows, const float *orbit, double *force);
/* Attention weights of the last row, the mean over the heads of a layer, in the last window, which
 * holds the time step and the rows from *first on: weights (the window's rows, at most the
 * context). Returns the number of rows, or -status. */
int lab_model_attention(struct orrery_model *model, int rows, const float *orbit, int layer,
                        double *weights, int *first);

/* Inside the module: keep the message of a handle, or a text; return the status. */
int lab_note(int status, const void *handle);
int lab_say(int status, const char *text);

/* Why the last call failed; "" where none did. Valid until the next call. */
const char *lab_message(void);
/* Memory of the module for the page's arrays. */
void *lab_alloc(size_t bytes);
void lab_free(void *memory);

#endif
