/* tracks.h - tracks of another program (positions of bodies over time) become data sets:
 *
 *   table.c          reads tables: CSV and the layouts of symreg/layout/, also JPL Horizons
 *   arrays.c         reads NumPy's .npy and .npz of shape (n, steps, bodies, d)
 *   units.c          converts to years, AU and solar masses
 *   common_times.c   bodies of a system at common times with one time step
 *   import.c         `orbits import`: from options to a folder of data sets
 *   systems.c        `orbits --systems`: systems of the user, simulated, become data sets
 *
 * Positions have two or three coordinates. docs/tracks.md is for users. */
#ifndef TRACKS_TRACKS_H
#define TRACKS_TRACKS_H

#include "base/base.h"
#include "sim/sim.h"
#include "stage/cli.h"

enum { TRACKS_LEAST = 8 }; /* rows of a track, at least */

/* Options of `orbits import` as given; NULL where absent. */
struct tracks_options {
    const char *time, *position, *velocity, *body, *system, *mass; /* columns or arrays */
    const char *missing;                                           /* drop or error */
    const char *units, *resample, *dt, *steps, *val, *test, *split_by;
    const char *dimensions; /* of columns side by side */
    const char *origin;     /* a flag */
    bool force;
};

/* One body of a system. Coordinate c of row i is x[c * axis + i * stride]; v likewise. */
struct tracks_body {
    const char *name;
    size_t n, axis, stride;
    const double *t; /* (n), rising */
    const double *x, *v;
    double mass; /* 0: not known */
};
struct tracks_system {
    char name[128]; /* for messages: system "a" */
    size_t first, bodies;
};
/* All bodies of a file, system by system. */
struct tracks_source {
    const char *file;
    size_t systems, bodies;
    struct tracks_system *system;
    struct tracks_body *body;
    int dimensions;  /* 2 or 3 */
    int or_in_space; /* as many bodies, if the columns side by side are x, y, z; 0: no doubt */
    bool masses, velocities;
    bool origin;      /* a body at rest at the origin follows the bodies of every system */
    char unit[2][32]; /* of time and length, as the file has them; "" = it does not say */
    void (*release)(void *of);
    void *of; /* owns the numbers */
};
/* Reads a table, or arrays (tracks_is_array()). Errors name file, line, column or array. Free
 * the source, after errors too. */
int tracks_read_table(const char *file, const struct tracks_options *options,
                      struct tracks_source *source);
int tracks_read_arrays(const char *file, const struct tracks_options *options,
                       struct tracks_source *source);
/* Whether a file begins as a .npy or a zip archive does. */
int tracks_is_array(const char *file, bool *is);
void tracks_source_free(struct tracks_source *source);

/* How many years, AU and solar masses the file's units of time, length and mass are, and their
 * texts for the manifest. */
struct tracks_units {
    double scale[3];
    char text[96];
};
/* --units TIME,LENGTH[,MASS], each a known unit or a number; NULL: the units that the file names,
 * else its numbers as they are. ORR_EUSAGE names the word. */
int tracks_units_find(const char *option, const struct tracks_source *source,
                      struct tracks_units *units);

/* Systems at common times. */
struct tracks_common {
    int dimensions;
    size_t systems;
    struct sim_track_system *system;
    double error; /* of interpolation: largest estimate, as a share of its track's size */
};
/* Puts the bodies of every system at common times: those of the file if these are even and equal,
 * or, with resample > 0, at this step (in the file's unit) by interpolation through the six nearest
 * rows. The error of interpolation is estimated by the difference to that through four. ORR_EINVAL
 * names system, body and time: uneven times without resample, tracks that do not overlap, an error
 * above TRACKS_ERROR. Free also after errors. */
#define TRACKS_ERROR 0.01
int tracks_common_make(const struct tracks_source *source, double resample,
                       const struct tracks_units *units, struct tracks_common *common);
void tracks_common_free(struct tracks_common *common);

/* `orbits import FILE --out DIR`. */
int tracks_import(const struct orr_cli *cli, const struct tracks_options *options);
/* `orbits --systems FILE --out DIR`: simulates systems of a table under the law of the settings,
 * each start exactly as given, and writes the tracks as data sets. */
int tracks_simulate(const struct orr_cli *cli, const char *file,
                    const struct tracks_options *options);
/* The options --val, --test, --steps, --split-by, and *resample; shares that are not given stay.
 * ORR_EUSAGE names an option of another form, or shares that leave nothing for train. */
int tracks_read_options(const struct tracks_options *options, struct sim_import *import,
                        double *resample);

#endif
