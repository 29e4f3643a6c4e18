/* motion.h - turns tracks (positions of bodies over time) into a table of accelerations or forces,
 * in which the search finds a law:
 *
 *   tracks.c            reads a CSV file into one track per body
 *   horizons.c          makes such a file of files of JPL Horizons
 *   relative_tracks.c   tracks relative to a body
 *   gaussian_process.c  a window of one track by such a process: position, acceleration
 *                and their variances; noise and length scale by maximum likelihood
 *   smooth.c            windows along a whole track
 *   force_bounds.c      how large the force of a pair may be
 *   pair_forces.c       forces between the bodies of a system from their accelerations
 *   central_point.c     accelerations towards a point or a body
 *   paths.c, bodies.c, arcs.c, forms.c, decide.c   laws fitted to the tracks by integrating, and
 *                chosen there
 *   smoothing_bias.c    takes back what smoothing took from bent paths
 *   amplitude_errors.c  standard errors of an amplitude, whatever the errors of rows share
 *   motion_table.c      the rows of the table and their weights
 *   page.c              the tracks beside the law's, for report.html
 *   motion.c            the options, the table, the search
 *
 * Units are those of the file. docs/motion.md explains the method. */
#ifndef SR_MOTION_H
#define SR_MOTION_H

#include "symreg/table/program.h"
#include "symreg/value/cholesky.h"

enum {
    SR_MOTION_DIMS = 3,
    SR_TRACK_ROWS = 8,     /* rows that a track needs, at least */
    SR_MOTION_BODIES = 16, /* bodies of a system whose pairs are resolved, at most */
    SR_MOTION_WINDOW = 64, /* rows of a window */
};

/* Options of `symreg motion` as given; NULL where absent. */
struct sr_motion_options {
    const char *time, *position, *body, *system, *mass, *centre;
    const char *missing;       /* drop or error */
    const char *missing_value; /* numbers; NULL: none */
    const char *velocity;      /* of sr_tracks_read_plain(), as many columns as position */
};
/* Makes a table of motion from a file of tracks and searches it for the law. With --out DIR the
 * table is written to DIR/accelerations.csv. Without --time and --position, and of several files,
 * the files are of JPL Horizons, a body each. */
int sr_motion_run(const struct orr_cli *cli, const char *const *file, int files,
                  const struct sr_motion_options *motion, const struct sr_csv_options *table);

/* ---- files of JPL Horizons */

enum { SR_HORIZONS_FILES = SR_MOTION_BODIES };
/* A table of the columns t, body, x, y, z and, where it is known of all bodies of several files,
 * GM: in the first file's unit of length, and days. */
struct sr_horizons {
    char *text; /* CSV */
    bool with_gm;
    const char *lacking; /* the first file of several whose GM is not known; else NULL */
    int bodies;          /* with the centre, which several files have as a body at the origin */
    char centre[80], frame[80], length[8];
};
/* Reads vectors or elements. ORR_EUSAGE where a file is none of Horizons, ORR_EFORMAT, ORR_EINVAL
 * where bodies, centres or frames do not fit together. */
int sr_horizons_join(const char *const *file, int count, struct sr_horizons *made);
void sr_horizons_free(struct sr_horizons *made);

/* ---- tracks */

/* The track of a body. Arrays have n entries; positions are (dims, n), one coordinate after the
 * other. */
struct sr_track {
    const char *system, *body; /* cells of the file; "" where the column is absent */
    size_t n;
    double mass;  /* 0 where the column is absent */
    size_t *line; /* line number in the file */
    double *t, *x;
    double *v; /* (dims, n) velocities, where the options name their columns; else NULL */
    /* Filled by smoothing: position and acceleration (dims, n), and the variance of one coordinate
     * of each (n). */
    double *smooth, *acceleration, *variance, *smooth_variance;
    /* The acceleration of row i is the sum over j of weight[i * SR_MOTION_WINDOW + j] times the
     * position of row start[i] + j; its smoothed position likewise with smooth_weight. Both pass
     * straight lines as they are. */
    double *weight, *smooth_weight;
    size_t *start;
    double *gap;  /* time after which errors of accelerations are nearly uncorrelated */
    double noise; /* standard deviation of the noise of one coordinate */
    double size;  /* standard deviation of one coordinate along the track */
    bool origin;  /* a moving body that the system's tracks were made relative to */
};
struct sr_tracks {
    const char *file;
    int dims;
    size_t count;
    struct sr_track *track; /* (count) ordered by system, then as in the file */
    struct orr_csv csv;
    struct sr_dropped dropped; /* rows of the file with a missing value */
    void *block, *lines;
};
/* Reads a file; "-" is standard input. ORR_EMISSING, ORR_EFORMAT or ORR_EINVAL, with file, line and
 * column. The caller frees the tracks, after errors too. */
int sr_tracks_read(const char *file, const struct sr_motion_options *options,
                   struct sr_tracks *tracks);
/* Likewise from the text of a CSV file, which is overwritten; `name` stands for it in messages. */
int sr_tracks_parse(const char *name, char *text, const struct sr_motion_options *options,
                    struct sr_tracks *tracks);
/* sr_tracks_read() of tracks that are not smoothed: without the memory for it, a kilobyte a row. */
int sr_tracks_read_plain(const char *file, const struct sr_motion_options *options,
                         struct sr_tracks *tracks);
/* Creates tracks with rows[k] rows of zeros each, which the caller fills. The caller keeps
 * `file`. */
int sr_tracks_create(struct sr_tracks *tracks, int dims, size_t count, const size_t *rows);
void sr_tracks_free(struct sr_tracks *tracks);

/* ---- differences of tracks */

/* Makes the tracks of each system relative to the body `centre`; with NULL those of systems of two
 * bodies, to the first one. A system whose bodies have different times, or that has no such body,
 * stays as it is. */
void sr_tracks_relative(struct sr_tracks *tracks, const char *centre);
/* After smoothing: gives both bodies of a relative system of two an equal share of the noise of
 * their difference. */
void sr_tracks_share_noise(struct sr_tracks *tracks);
bool sr_track_same_times(const struct sr_track *a, const struct sr_track *b);
/* Whether all positions of a track are the same. */
bool sr_track_rests(int dims, const struct sr_track *track);

/* ---- smoothing */

/* Consecutive rows of one track, to which a Gaussian process is fitted. */
struct sr_window {
    size_t n;
    int dims;
    const double *t; /* (n) */
    const double *x; /* x[d * stride + i] */
    size_t stride;
    const double *spread; /* (n) variances of the rows' noise in their mean; NULL: all alike */
    bool even;            /* time is not warped */
};
/* Logarithms of the length scale in median time steps, and of the ratio of the noise variance to
 * the signal variance. */
struct sr_process {
    double log_length, log_noise;
};
struct sr_process_work;
struct sr_process_work *sr_process_create(void);
void sr_process_free(struct sr_process_work *work);
/* Fits a window by maximum likelihood, with a noise of at most `most_noise` (a standard deviation).
 * Returns the standard deviation of the noise, NaN where no fit exists. */
double sr_process_fit(struct sr_process_work *work, const struct sr_window *window,
                      double most_noise, struct sr_process *process);
/* Likewise of a window beside others, whose time is not warped: from the likelier one of *process
 * and `other` on by a few steps, in a tenth of the time. sr_process_gap() is not known then. */
double sr_process_fit_near(struct sr_process_work *work, const struct sr_window *window,
                           struct sr_process other, struct sr_process *process);
/* Row `at` of the window fitted last: smoothed position and acceleration (dims each), and the
 * variance of one coordinate of each. */
struct sr_process_state {
    double x[SR_MOTION_DIMS], a[SR_MOTION_DIMS], x_variance, a_variance;
};
void sr_process_state(struct sr_process_work *work, size_t at, struct sr_process_state *state);
/* The velocity of that row (dims), and the variance of one coordinate of it. */
void sr_process_velocity(struct sr_process_work *work, size_t at, double v[SR_MOTION_DIMS],
                         double *variance);
/* The log-likelihood of the window fitted last, and the standard deviation of a row's noise. */
double sr_process_likelihood(const struct sr_process_work *work);
double sr_process_noise(const struct sr_process_work *work, size_t at);

/* The weights of the window's positions in the smoothed position and in the acceleration of row
 * `at`, given the fitted process and its warp; changed so that straight lines stay as they are. */
void sr_process_weights(struct sr_process_work *work, size_t at, double position[SR_MOTION_WINDOW],
                        double acceleration[SR_MOTION_WINDOW]);

/* Time after row `at` from which errors of accelerations in this window have a correlation of at
 * most 0.05 with the row's error. */
double sr_process_gap(const struct sr_process_work *work, size_t at);

/* Smooths all tracks. ORR_EINVAL names file and body. With 8 or more tracks a common noise is
 * estimated, absolute or as a share of the track's size, whichever varies less. A track whose noise
 * exceeds twice the common noise was sampled too rarely, and is smoothed again with that limit. */
int sr_tracks_smooth(struct sr_tracks *tracks, int threads);

/* ---- the size of forces before they are known */

/* The heaviest body's pulls on the other bodies of a system at one time, per product of masses.
 * disturbed: all of these bodies have another one near by, so that their accelerations are no pulls
 * of the heaviest body. */
struct sr_pulls {
    size_t count;
    double r[SR_MOTION_BODIES], pull[SR_MOTION_BODIES];
    double sign[SR_MOTION_BODIES]; /* 1: attraction, -1 */
    bool disturbed;
};
/* track: (bodies) smoothed tracks with masses; at: the row of each. */
void sr_pulls_measure(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                      struct sr_pulls *pulls);
/* Sums for the slope of log pull over log r of pulls at many times, of bodies that are not
 * disturbed. All zeros at first. */
struct sr_slope {
    double n, x0, y0, x, y, xx, xy, yy;
};
void sr_slope_add(struct sr_slope *slope, const struct sr_pulls *pulls);
/* The slope; -2 where the pulls have none, because their distances vary too little or other forces
 * scatter them. */
double sr_slope_value(const struct sr_slope *slope);
/* The expected size of the force between the bodies a and b; in *widest the largest one that is
 * believed; in *middle the expected force with its sign, 0 where this is unknown. */
double sr_pulls_expect(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                       const struct sr_pulls *pulls, double slope, size_t a, size_t b,
                       double *widest, double *middle);

/* ---- rows of the table */

/* What a row's value is made of: the sum over parts and coordinates of weight[d] times the
 * acceleration of row `at` of the track. */
struct sr_motion_part {
    const struct sr_track *track;
    size_t at;
    double weight[SR_MOTION_DIMS];
};
/* One row: an acceleration or force, positive towards the other body or the centre. */
struct sr_motion_row {
    const struct sr_track *track, *other; /* other: NULL where the centre is not a body */
    double t, r, m1, m2, value, sigma;
    double r_variance; /* of the error of r */
    double expected;   /* expected size of the value, estimated from other rows; 0: unknown */
    /* squared residual across the line to the other body or centre, in variances; 0: unknown */
    double across;
    /* size of what is across a centre's line, in the unit of the value; of pairs the value times
     * the share of the bodies' accelerations that no force between them explains; 0: unknown */
    double aside;
    /* d ln |value| / d ln r about its r; 0: unknown, or errors of r are in smoothing_bias.c */
    double slope;
    size_t first, parts; /* its parts in the table */
};
struct sr_motion_table {
    size_t count, room;
    /* rows left out because the noise exceeds half of the value or of the expected value */
    size_t weak;
    struct sr_motion_row *row;
    struct sr_motion_part *part;
    size_t parts, part_room;
    /* Variance of an amplitude of the law over that of independent rows with these sigmas */
    double inflation;
    bool by_centre;                /* --centre was given */
    bool force;                    /* value is a force, otherwise an acceleration */
    double centre[SR_MOTION_DIMS]; /* the fixed centre */
    double centre_error;           /* its standard error where it was fitted, else 0 */
};
void sr_motion_free(struct sr_motion_table *table);
/* Appends a row, with its `parts` parts. */
int sr_motion_add(struct sr_motion_table *table, const struct sr_motion_row *row,
                  const struct sr_motion_part *part, size_t parts);
/* The weights of the positions of all tracks in the relative error of a law's amplitude. */
struct sr_amplitude {
    const struct sr_tracks *tracks;
    size_t *from;     /* first element of each track */
    double *position; /* (dims, n) for each track */
    double squares;   /* sum of (value / sigma)^2 */
};
/* Adds the rows' accelerations, and by their slopes the errors of their distances. The caller frees
 * the weights, after errors too. */
int sr_amplitude_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                        struct sr_amplitude *amplitude);
void sr_amplitude_free(struct sr_amplitude *amplitude);
/* Sets table->inflation from the noise of the tracks. */
void sr_amplitude_measure(const struct sr_amplitude *amplitude, struct sr_motion_table *table);
/* What the variances of constants that follow from independent rows of these sigmas are to be
 * multiplied by, for a formula of this chi^2. */
double sr_motion_variance(double inflation, double chi2, double freedom);
/* Makes the rows of smoothed tracks, with their sigmas; those that are there are replaced. */
int sr_motion_rows(const struct sr_tracks *tracks, const char *centre,
                   struct sr_motion_table *table);
/* Compares struct sr_motion_row ** by track and other; 0: rows of one pair. */
int sr_motion_by_pair(const void *a, const void *b);
/* Pointers to the rows, pair by pair, which the caller frees; NULL where memory ran out. */
struct sr_motion_row **sr_motion_sorted(const struct sr_motion_table *table);
/* Corrects the accelerations for what smoothing took from bent paths, as long as the rows then
 * scatter less around a smooth curve of the force over r, and makes the rows again. Sets
 * table->inflation. */
int sr_motion_unbend(struct sr_tracks *tracks, const char *centre, struct sr_motion_table *table);
/* A law: the value of the table's rows at a distance and the masses of a row. */
struct sr_motion_law {
    double (*value)(void *context, double r, double m1, double m2);
    void *context;
};
/* The positions that the law gives the first `most` tracks at least: its accelerations integrated
 * twice along the smoothed paths, and the straight line that is nearest to the positions added,
 * (dims, n) of one track after the other. NAN for tracks in no row. ORR_ENOMEM. */
int sr_motion_model(const struct sr_tracks *tracks, const char *centre,
                    const struct sr_motion_table *table, const struct sr_motion_law *law,
                    size_t most, double *model);
/* The part of report.html that shows the tracks; context: struct sr_motion_page *. */
struct sr_motion_page {
    const struct sr_tracks *tracks;
    const struct sr_motion_table *table;
    const struct sr_motion_options *options;
};
int sr_motion_page(void *context, const struct sr_answer *answer, int row, struct orr_file *html);
/* All steps from tracks to a table ready for the search. ORR_EINVAL where fewer than two rows
 * remain. */
int sr_motion_make(struct sr_tracks *tracks, const char *centre, int threads,
                   struct sr_motion_table *table);
/* Number of tracks that belong to the system of track[first]; 0 after the last track. Tracks of a
 * system are contiguous. */
size_t sr_system_size(const struct sr_tracks *tracks, size_t first);
/* The mass by which a force on the body is divided, in a system of so many bodies. */
double sr_motion_mass(const struct sr_track *track, size_t bodies);
/* Forces between all bodies of every system. Masses are needed, except in systems of two bodies:
 * without masses these give the relative acceleration. */
int sr_motion_pairs(const struct sr_tracks *tracks, struct sr_motion_table *table);
/* Accelerations towards a centre: comma-separated coordinates, `fit` for a fitted point, or the
 * name of a body of every system; accelerations are then relative to that body. */
int sr_motion_centre(const struct sr_tracks *tracks, const char *centre,
                     struct sr_motion_table *table);
/* The name of the body in the text of --centre; NULL where that is a point, `fit` or NULL. */
const char *sr_centre_body(const char *centre);
/* The first row from `from` on whose time is not before t; n if there is none. */
size_t sr_track_at(const struct sr_track *track, double t, size_t from);

#endif
