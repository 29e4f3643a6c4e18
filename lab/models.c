/* models.c - networks of a run in the page: two bodies as a network reads them, and what it makes
 * of an orbit that is longer than its context, window after window. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/orrery.h"

enum { AXES = 2, STATE = 4 };

void lab_model_free(struct orrery_model *model)
{
    orrery_model_free(model);
}

void lab_model_rows(const double *track, int steps, double share, double dt, float *rows)
{
    rows[0] = (float)log(dt);
    rows[1] = 0;
    for (int step = 0; step < steps; step++)
        for (int c = 0; c < AXES; c++) {
            const double apart = track[STATE * step + c]; /* of the planet from the star */
            rows[AXES * (1 + 2 * step) + c] = (float)((1 - share) * apart);
            rows[AXES * (2 + 2 * step) + c] = (float)(-share * apart);
        }
}

/* A window of an orbit: the row of the time step, then rows of bodies from row `first` on. */
struct window {
    struct orrery_model *model;
    int context, first, rows; /* rows: with that of the time step */
    float *copy;              /* (context, 2) */
    struct orrery_sequences sequences;
};

static int open_window(struct orrery_model *model, struct window *w)
{
    struct orrery_shape shape = {.bytes = sizeof shape};
    int status = lab_note(orrery_model_describe(model, &shape), model);
    if (status)
        return status;
    if (shape.input != ORRERY_COORDINATES || shape.context < 6)
        return lab_say(ORRERY_EINVAL, "a network of the page reads coordinates in the plane, at "
                                      "least 6 rows of them; this one does not");
    *w = (struct window){.model = model, .context = shape.context};
    w->copy = malloc((size_t)shape.context * AXES * sizeof *w->copy);
    return w->copy ? 0 : lab_note(ORRERY_ENOMEM, NULL);
}

/* Rows from `first` on, a planet's, as many as fit, of the (rows, 2) of an orbit. */
static void fill_window(struct window *w, int first, int rows, const float *orbit)
{
    const int most = w->context, left = rows - first + 1;
    w->first = first;
    w->rows = left < most ? left : most;
    memcpy(w->copy, orbit, AXES * sizeof *orbit);
    memcpy(w->copy + AXES, orbit + AXES * first, (size_t)(w->rows - 1) * AXES * sizeof *orbit);
    w->sequences = (struct orrery_sequences){.bytes = sizeof w->sequences,
                                             .sequences = 1,
                                             .rows = (size_t)w->rows,
                                             .coordinates = w->copy};
}

/* Where a window begins that continues after row `done` - 1 with half a context of known rows. */
static int next_first(const struct window *w, int done)
{
    const int first = done - w->context / 4 * 2;
    return first < 1 ? 1 : first - (first + 1) % 2; /* rows of the planet are odd */
}

/* Calls `of` for windows that overlap by half a context, and keeps `columns` numbers of each row
 * that no window before had. */
static int in_windows(struct orrery_model *model, int rows, const float *orbit, int columns,
                      int (*of)(struct window *w, double *to), double *to)
{
    struct window w;
    int status = open_window(model, &w);
    if (status)
        return status;
    double *part = malloc((size_t)w.context * (size_t)columns * sizeof *part);
    status = part ? 0 : lab_note(ORRERY_ENOMEM, NULL);
    for (int done = 0; done < rows && !status;) {
        fill_window(&w, done ? next_first(&w, done) : 1, rows, orbit);
        status = lab_note(of(&w, part), model);
        const int end = w.first + w.rows - 1;
        const int from = done ? done - w.first + 1 : 0; /* row of the window that comes next */
        if (!status)
            memcpy(to + columns * done, part + columns * from,
                   (size_t)(end - done) * (size_t)columns * sizeof *to);
        done = end;
    }
    free(part);
    free(w.copy);
    return status;
}

static int next_of(struct window *w, double *to)
{
    return orrery_model_next(w->model, &w->sequences, 1, to);
}

int lab_model_next(struct orrery_model *model, int rows, const float *orbit, double *next)
{
    return in_windows(model, rows, orbit, AXES, next_of, next);
}

static int forces_of(struct window *w, double *to)
{
    return orrery_model_forces(w->model, &w->sequences, to);
}

int lab_model_forces(struct orrery_model *model, int rows, const float *orbit, double *force)
{
    return in_windows(model, rows, orbit, 1, forces_of, force);
}

int lab_model_continue(struct orrery_model *model, int known, int rows, float *orbit)
{
    struct window w;
    int status = open_window(model, &w);
    if (status)
        return status;
    float *path = malloc((size_t)w.context * AXES * sizeof *path);
    status = path ? 0 : lab_note(ORRERY_ENOMEM, NULL);
    for (int done = known; done < rows && !status;) {
        fill_window(&w, done < w.context ? 1 : next_first(&w, done), rows, orbit);
        const int given = done - w.first + 1;
        status = lab_note(orrery_model_rollout(model, &w.sequences, (size_t)given, 1, path), model);
        const int end = w.first + w.rows - 1;
        if (!status)
            memcpy(orbit + AXES * done, path + AXES * given,
                   (size_t)(w.rows - given) * AXES * sizeof *orbit);
        done = end;
    }
    free(path);
    free(w.copy);
    return status;
}

int lab_model_attention(struct orrery_model *model, int rows, const float *orbit, int layer,
                        double *weights, int *first)
{
    struct window w;
    struct orrery_shape shape = {.bytes = sizeof shape};
    int status = open_window(model, &w);
    if (status)
        return status;
    (void)orrery_model_describe(model, &shape);
    fill_window(&w, rows <= w.context ? 1 : rows - w.context + 1 + (rows - w.context) % 2, rows,
                orbit);
    const size_t T = (size_t)w.rows, square = T * T;
    double *all = malloc((size_t)shape.heads * square * sizeof *all);
    status = all ? lab_note(orrery_model_attention(model, &w.sequences, layer, all), model)
                 : lab_note(ORRERY_ENOMEM, NULL);
    for (size_t t = 0; t < T && !status; t++) {
        double sum = 0;
        for (size_t h = 0; h < (size_t)shape.heads; h++)
            sum += all[h * square + (T - 1) * T + t];
        weights[t] = sum / shape.heads;
    }
    *first = w.first;
    free(all);
    free(w.copy);
    return status ? -status : w.rows;
}
