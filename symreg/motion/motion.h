/* motion.h - from tracks, positions of bodies over time, to a table of accelerations or forces that
 * the search explains:
 *
 *   tracks.c     a CSV file becomes one track per body, sorted out of its rows
 *   process.c    a Gaussian process fitted to a window of one track: smooth position, acceleration
 *                and their variances; noise and length scale by maximum likelihood
 *   smooth.c     windows along a whole track
 *   pairs.c      forces between the bodies of a system from their accelerations
 *   centre.c     accelerations towards a point or a body
 *   rows.c       the rows of the table, and what each counts for
 *   motion.c     the options, the table, the search
 *
 * Units are those of the file. docs/motion.md explains the method. */
#ifndef SR_MOTION_H
#define SR_MOTION_H

#include "symreg/table/table.h"
#include "symreg/value/cholesky.h"

enum {
    SR_MOTION_DIMS = 3,
    SR_TRACK_ROWS = 8,     /* least rows of a track */
    SR_MOTION_BODIES = 16, /* most bodies of a system whose pairs are resolved */
    SR_MOTION_WINDOW = 64, /* rows of a window */
};

/* Options of `symreg motion` as given, NULL where not. */
struct sr_motion_options {
    const char *time, *position, *body, *system, *mass, *centre;
};
/* Makes the table of motion of a file of tracks and searches for the law in it. With --out DIR the
 * table is DIR/accelerations.csv. */
int sr_motion_run(const struct orr_cli *cli, const char *file,
                  const struct sr_motion_options *motion, const struct sr_csv_options *table);

/* ---- tracks */

/* The path of a body. Arrays have n entries; positions are (dims, n), one coordinate after the
 * other. */
struct sr_track {
    const char *system, *body; /* cells of the file, "" without the column */
    size_t n;
    double mass;  /* 0 without the column */
    size_t *line; /* of the file */
    double *t, *x;
    /* What smoothing adds: position and acceleration, the variance of one coordinate of each. */
    double *smooth, *acceleration, *variance, *smooth_variance;
    double *gap;  /* time after which the error of the acceleration is nearly another one */
    double noise; /* standard deviation of one coordinate of a position */
    double size;  /* the same of the path */
};
struct sr_tracks {
    const char *file;
    int dims;
    size_t count;
    struct sr_track *track; /* (count) by system, then in the order of the file */
    struct orr_csv csv;
    void *block, *lines;
};
/* Reads a file, "-" being standard input. ORR_EMISSING, ORR_EFORMAT or ORR_EINVAL naming file, line
 * and column. Free also after an error. */
int sr_tracks_read(const char *file, const struct sr_motion_options *options,
                   struct sr_tracks *tracks);
/* Empty tracks of so many rows each, of zeros, for the caller to fill. `file` stays the caller's.
 * */
int sr_tracks_create(struct sr_tracks *tracks, int dims, size_t count, const size_t *rows);
void sr_tracks_free(struct sr_tracks *tracks);

/* ---- smoothing */

/* Rows of one track that a Gaussian process is fitted to. */
struct sr_window {
    size_t n;
    int dims;
    const double *t; /* (n) */
    const double *x; /* x[d * stride + i] */
    size_t stride;
};
/* Logarithms of the length scale, in median time steps, and of the variance of the noise over that
 * of the path. */
struct sr_process {
    double log_length, log_noise;
};
struct sr_process_work;
struct sr_process_work *sr_process_create(void);
void sr_process_free(struct sr_process_work *work);
/* Maximum likelihood, the noise being at most `most_noise`. Returns the standard deviation of the
 * noise, NaN where nothing can be fitted. */
double sr_process_fit(struct sr_process_work *work, const struct sr_window *window,
                      double most_noise, struct sr_process *process);
/* Of row `at` of the window that was fitted last: smooth position and acceleration (dims each), and
 * the variances of one coordinate. */
struct sr_process_state {
    double x[SR_MOTION_DIMS], a[SR_MOTION_DIMS], x_variance, a_variance;
};
void sr_process_state(struct sr_process_work *work, size_t at, struct sr_process_state *state);

/* Time after a row from which the error of another acceleration of that window is correlated with
 * the row's by less than 0.3. */
double sr_process_gap(const struct sr_process_work *work, size_t at);

/* Fills what smoothing adds to tracks; ORR_EINVAL names file and body. Where there are many, one
 * whose noise is above that of most others, or above theirs as a share of the path's size where
 * that varies less, was sampled too rarely for its path, and is smoothed again with at most twice
 * their noise. */
int sr_tracks_smooth(struct sr_tracks *tracks, int threads);

/* ---- rows of the table */

/* One row: acceleration or force, positive towards the other body or the centre. */
struct sr_motion_row {
    const struct sr_track *track, *other; /* other: NULL for a centre that is no body */
    double t, r, m1, m2, value, sigma;
    double expected; /* size of a value, by other rows; 0: unknown */
    double across; /* what is not along the line between both, squared, in variances; 0: unknown */
};
struct sr_motion_table {
    size_t count, room;
    size_t weak; /* rows left out, as noise is more than half of them or of what is expected */
    struct sr_motion_row *row;
    bool force;                    /* value is a force, else an acceleration */
    double centre[SR_MOTION_DIMS]; /* the point */
    double centre_error;           /* its standard error, where it was fitted, else 0 */
};
int sr_motion_add(struct sr_motion_table *table, const struct sr_motion_row *row);
/* The whole way from tracks to rows that are ready for a search. ORR_EINVAL: fewer than two. */
int sr_motion_make(struct sr_tracks *tracks, const char *centre, int threads,
                   struct sr_motion_table *table);
/* Systems: track[first .. first + count - 1] have the same one; 0 after the last. */
size_t sr_system_size(const struct sr_tracks *tracks, size_t first);
/* Forces between all bodies of every system; needs masses, unless systems have two bodies: then
 * accelerations of one relative to the other. */
int sr_motion_pairs(const struct sr_tracks *tracks, struct sr_motion_table *table);
/* Accelerations towards a point: coordinates with commas between, `fit` to find it, or the name of
 * a body of every system, relative to which the accelerations then are. */
int sr_motion_centre(const struct sr_tracks *tracks, const char *centre,
                     struct sr_motion_table *table);
/* The first row from `from` on whose time is not before t; n: there is none. */
size_t sr_track_at(const struct sr_track *track, double t, size_t from);

#endif
