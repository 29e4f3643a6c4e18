/* sim.h - orbits: from elements and masses to positions, states, forces and data sets.
 * Units: AU, Gaussian years (365.2569 days: G = 4 pi^2), solar masses; angles in
 * radians. Orbits lie in the x, y plane, or in space (orbits.dimensions = 3): positions then have d
 * = 3 coordinates in place of 2. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/base.h"
#include "stage/settings.h"

#include <math.h>

#define SIM_G 39.478417604357434475 /* 4 pi^2, AU^3 / (yr^2 solar mass) */

/* -------------------------------------------------------------------------- dimensions */

/* Most coordinates of a position, and most numbers of a state: position and velocity, 2 d. */
enum { SIM_AXES = 3, SIM_STATE = 2 * SIM_AXES };
/* The length of a vector of d coordinates. */
static inline double sim_length(const double v[], int d)
{
    const double square = v[0] * v[0] + v[1] * v[1];
    return sqrt(d == 3 ? square + v[2] * v[2] : square);
}
static inline double sim_distance(const double a[], const double b[], int d)
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = d == 3 ? a[2] - b[2] : 0;
    return sqrt(d == 3 ? x * x + y * y + z * z : x * x + y * y);
}
static inline double sim_dot(const double a[], const double b[], int d)
{
    const double sum = a[0] * b[0] + a[1] * b[1];
    return d == 3 ? sum + a[2] * b[2] : sum;
}
/* Lengths and distances by hypot(), whose last bit may differ; of rows of data sets, too. */
static inline double sim_hypot(const double v[], int d)
{
    const double flat = hypot(v[0], v[1]);
    return d == 3 ? hypot(flat, v[2]) : flat;
}
static inline double sim_row_length(const float v[], int d)
{
    const double flat = hypot((double)v[0], (double)v[1]);
    return d == 3 ? hypot(flat, (double)v[2]) : flat;
}
static inline double sim_row_distance(const float a[], const float b[], int d)
{
    const double flat = hypot((double)a[0] - (double)b[0], (double)a[1] - (double)b[1]);
    return d == 3 ? hypot(flat, (double)a[2] - (double)b[2]) : flat;
}
/* Columns of arrays of states (docs/formats.md): position, velocity and both masses; position,
 * velocity and their ratio. */
static inline int sim_full_columns(int d)
{
    return 2 * d + 2;
}
static inline int sim_state_columns(int d)
{
    return 2 * d + 1;
}

/* ---------------------------------------------------------------------- two-body Newton */

struct sim_elements {
    double a_au;            /* semi-major axis of the relative orbit, > 0 */
    double e;               /* eccentricity, [0, 1) */
    double omega_rad;       /* angle of periapsis from +x, in space from the ascending node */
    double phase_rad;       /* mean anomaly at t = 0 */
    bool clockwise;         /* whether the orbit is mirrored at its major axis */
    bool in_space;          /* whether positions have a z, and the orbit the following angles */
    double inclination_rad; /* of the orbit's plane to the x, y plane, 0 to pi */
    double node_rad;        /* angle of the ascending node from +x */
};
/* The number d of coordinates of positions on an orbit. */
static inline int sim_elements_axes(const struct sim_elements *elements)
{
    return elements->in_space ? 3 : 2;
}

/* Solves Kepler's equation E - e sin E = M for n mean anomalies. M, E: (n), radians, may alias; e
 * in [0, 1). |residual| <= 1e-15 for e <= 0.999 and |M| <= pi; for larger |M| the rounding of M is
 * added. The bits are equal on every CPU. ORR_EDOM if e is out of range. */
int sim_kepler_solve(size_t n, const double M[], double e, double E[]);

/* Period of a relative orbit around the total mass, Kepler III: P^2 = a^3 / M. */
double sim_period_yr(double a_au, double total_mass);

/* Relative position and velocity (planet minus sun) at times k * dt_yr, k = 0 .. n-1:
 * state (n, 2 d) = x, y[, z], vx, vy[, vz] in AU and AU/yr. */
int sim_orbit_states(const struct sim_elements *elements, double total_mass, double dt_yr, size_t n,
                     double state[]);

/* Newton's force between two masses at distance r: G m1 m2 / r^2. */
double sim_force(double m1, double m2, double r_au);

/* -------------------------------------------------------------------------- systems */

enum { SIM_PLANETS = 10 };

/* One drawn system: planets around a star. Each is an independent two-body problem, unless
 * orbits.nbody is set. */
struct sim_system {
    int planets;
    double star_mass;
    double mass[SIM_PLANETS];
    struct sim_elements orbit[SIM_PLANETS];
    double dt_yr;
    int dt_token;            /* 0: first, 1: second dt token of the study */
    double com_au[SIM_AXES]; /* centre of mass; with several planets the star's position */
    bool star_moves;         /* around the barycentre: two-body systems, nbody */
};

/* Bodies of the solar system, in the order of the sequences of planets_solar: the planets from
 * Mercury on, and four others that planets.eccentric adds. */
enum { SIM_SUN_PLANETS = 8, SIM_SUN_BODIES = 12 };
struct sim_body {
    const char *name; /* "mercury" */
    double mass, a_au, e;
    double inclination_deg; /* to the ecliptic; used in space */
};
extern const struct sim_body sim_sun_bodies[SIM_SUN_BODIES];

/* The data sets, numbered in the order of writing. Those from SIM_SPLIT_PLANETS_TRAIN on are planet
 * runs. */
enum sim_split {
    SIM_SPLIT_TRAIN,
    SIM_SPLIT_VAL,
    SIM_SPLIT_TEST,
    SIM_SPLIT_TWO_BODY_TRAIN,
    SIM_SPLIT_TWO_BODY_VAL,
    SIM_SPLIT_TWO_BODY_TEST,
    SIM_SPLIT_SOLAR_SYSTEM,
    SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY,
    SIM_SPLIT_PLANETS_TRAIN,
    SIM_SPLIT_PLANETS_VAL,
    SIM_SPLIT_PLANETS_SOLAR,
    SIM_SPLIT_PLANETS_TEST,
    SIM_SPLITS
};
/* The set's name in file names: "two_body_train". */
const char *sim_split_name(enum sim_split split);
/* Finds a set by name. False if there is none; *nearest is then the nearest name. */
bool sim_split_find(const char *name, enum sim_split *split, struct orr_nearest *nearest);
/* Number of sequences of a split under a preset (train: all, written or not); 0 = no such set. */
uint64_t sim_split_count(const struct orr_settings *settings, enum sim_split split);
/* Number of rows in a sequence of a split. */
int sim_split_positions(const struct orr_settings *settings, enum sim_split split);
/* Whether a split has states and forces. */
bool sim_split_labelled(enum sim_split split);

/* Draws system `index` of a split, a pure function of (preset, split, index). For the solar system,
 * indices that differ by multiples of 2^48 give the same bodies. rng: any orr_rng_philox generator.
 * Sources: spec of the study section 1 (vafa2025), section 3 (identifiable, planet runs). */
int sim_system_draw(const struct orr_settings *settings, enum sim_split split, uint64_t index,
                    gsl_rng *rng, struct sim_system *system);

/* Facts about a prior, before any model is trained, over systems 0 .. SIM_PRIOR_SYSTEMS - 1. */
enum { SIM_PRIOR_SYSTEMS = 5000 };
/* R^2 of ln T on ln dt, where T is the period of the first planet: how much the time step reveals
 * of the period. Near 1, a model that is given dt knows the period, and hence M / a^3, without
 * using the orbit. 0 if dt is constant. */
int sim_prior_period_r2(const struct orr_settings *settings, enum sim_split split, double *r2);
/* For two bodies of similar mass (protocol identifiable), over systems of two_body_train. */
struct sim_prior_facts {
    double kept;               /* fraction of first draws of an axis inside the window */
    double mass_sd[2], mass_r; /* standard deviations of ln m1, ln m2; their correlation */
    size_t rows;               /* labelled rows, which the following describe */
    double condition;          /* of the columns ln r, ln m1, ln m2: root of the ratio of the
                                  largest to the smallest eigenvalue of their covariance */
    double left[3];            /* standard deviation of each column, given the two others */
    double baseline_r,
        baseline_scale;  /* R^2 of ln F on ln r; on ln r and the sequence's ln mean r */
    double motion_au[2]; /* largest distance from its start of the body that moves less: 0.01
                            quantile and median over sequences */
};
int sim_prior_facts(const struct orr_settings *settings, struct sim_prior_facts *facts);
/* Prints these facts to stdout (identifiable), and R^2 of ln T on ln dt (planet runs, vafa2025). */
int sim_prior_print(const struct orr_settings *settings);

/* --------------------------------------------------------------------------- force laws */

#define SIM_LIGHT_AU_YR 63241.077 /* speed of light */

/* The parameters of a law. */
struct sim_law_params {
    double gravity; /* G, multiplied after a jump; AU^3 / (yr^2 solar mass) */
    double jump;    /* gravity / SIM_G, the factor for laws without G */
#define NUMBER(law, key, ...) double key;
    ORR_FORCE_LAWS(ORR_SETTINGS_OF_LAW, NUMBER, ORR_NO_FORCE_LAW) /* the settings of all laws */
#undef NUMBER
    double light_au_yr;                /* SIM_LIGHT_AU_YR; smaller in tests */
    struct sim_expression *expression; /* law "expression" */
};

/* A law: the attraction F(r) between two masses, equal and opposite on both. Names, settings and
 * how to add one: stage/force_laws.h. Equations: docs/laws.md. */
struct sim_law {
    /* F, solar mass AU / yr^2, positive = attraction */
    double (*force)(const struct sim_law_params *p, double m1, double m2, double r_au);
    /* U with F = dU/dr, solar mass AU^2 / yr^2; NULL: not known in closed form */
    double (*potential)(const struct sim_law_params *p, double m1, double m2, double r_au);
    /* Adds the velocity-dependent part to the relative acceleration; NULL: there is none. rel (2
     * d): position and velocity of body 1 minus body 2; acc (d): AU / yr^2 */
    void (*correct)(const struct sim_law_params *p, double m1, double m2, int d, const double rel[],
                    double acc[]);
};
extern const struct sim_law sim_laws[ORR_LAWS]; /* at their enum orr_law */

/* The dynamics of a preset. One per thread, because it holds the integrator's memory. */
struct sim_dynamics {
    const struct sim_law *law;
    struct sim_law_params params;
    bool nbody;
    bool in_space;    /* positions have d = 3 coordinates, else 2 */
    size_t jump_step; /* 0 = never */
    double jump_factor;
    bool met; /* the last integration failed by a close encounter of planets */
    struct sim_integrator *integrator;
};
/* ORR_EUSAGE if orbits.expression is invalid; the message names the position and what was
 * expected. */
int sim_dynamics_create(struct sim_dynamics *dynamics, const struct orr_settings *settings);
/* The number d of coordinates of positions. */
static inline int sim_dynamics_axes(const struct sim_dynamics *dynamics)
{
    return dynamics->in_space ? 3 : 2;
}
/* The law's value of orbits.law. */
const char *sim_law_name(const struct sim_dynamics *dynamics);
void sim_dynamics_free(struct sim_dynamics *dynamics);
/* Sets the law's G for a step: multiplied from the jump on. */
void sim_dynamics_seek(struct sim_dynamics *dynamics, size_t step);

/* Compiles an expression F of r, m1, m2, and the constant G = SIM_G, of at most 64 operands and
 * operators. Free *expression with sim_expression_free(). ORR_EUSAGE as sim_dynamics_create().
 * The force is NaN where it is not defined. */
int sim_expression_create(struct sim_expression **expression, const char *text);
void sim_expression_free(struct sim_expression *expression);
double sim_expression_force(const struct sim_expression *expression, double m1, double m2,
                            double r_au);

/* The force on body 1 at relative state rel (2 d) at a step. force: (d), towards body 2 if the law
 * attracts. Returns its magnitude. */
double sim_law_force(struct sim_dynamics *dynamics, size_t step, double m1, double m2,
                     const double rel[], double force[]);
/* sim_law_force() of two masses at rest at a distance: its magnitude. */
double sim_law_force_at(struct sim_dynamics *dynamics, size_t step, double m1, double m2,
                        double r_au);
/* Relative acceleration (d) d2/dt2 (x1 - x2) of two bodies. */
void sim_law_acceleration(const struct sim_dynamics *dynamics, double m1, double m2,
                          const double rel[], double acc[]);

/* Integrates the relative motion of two bodies by gsl_odeiv2 rk8pd: state (n, 2 d) at times k
 * dt_yr; the first row is the start. ORR_EDOM names r and the time if the force is not finite or
 * the integrator fails. */
int sim_integrate_pair(struct sim_dynamics *dynamics, double m1, double m2, double dt_yr, size_t n,
                       double state[]);
/* Integrates bodies that all attract each other; the last is the star. start: (bodies, 2 d) in an
 * inertial frame. out: (bodies, n, 2 d) in that frame, or, heliocentric, (bodies - 1, n, 2 d)
 * relative to the last body. Masses must be above 0 (ORR_EDOM). ORR_EDOM with dynamics->met names
 * the planets of a close encounter that cannot be resolved. */
int sim_integrate_bodies(struct sim_dynamics *dynamics, int bodies, const double mass[],
                         const double start[], double dt_yr, size_t n, bool heliocentric,
                         double out[]);

/* Integrates 2 to SIM_PLANETS + 1 bodies that all attract each other from start (bodies, 2 d) in an
 * inertial frame, at the speeds that it has under any law: out (bodies, n, 2 d) at times k dt_yr.
 * Errors as sim_integrate_bodies(); ORR_EINVAL for several bodies under a law of two. */
int sim_integrate_given(struct sim_dynamics *dynamics, int bodies, const double mass[],
                        const double start[], double dt_yr, size_t n, double out[]);

/* Whether sim_states() needs no integration. */
bool sim_states_closed(const struct sim_dynamics *dynamics, const struct sim_system *system);
/* States of a system's planets relative to the star: states (planets, steps, 2 d). Closed form for
 * Newton without nbody and without a jump, otherwise integrated. */
int sim_states(struct sim_dynamics *dynamics, const struct sim_system *system, size_t steps,
               double states[]);
/* The initial state of a planet under the law: position and direction of the Newtonian ellipse at t
 * = 0, with a speed that makes the orbit bound and similar (docs/laws.md). */
int sim_start(struct sim_dynamics *dynamics, const struct sim_elements *elements, double m1,
              double m2, double state[]);

/* -------------------------------------------------------------------------- sequences */

/* One sequence of P = positions rows; the struct owns the arrays. Row 0 is the time step, then
 * follow the bodies of step 0, of step 1, ..., each step with planets first and the star last. See
 * docs/formats.md. */
struct sim_sequence {
    int positions, num_bodies;
    int dimensions;         /* d, 2 or 3 */
    uint16_t *tokens;       /* (P, 2), or NULL */
    float *coords;          /* (P, d), or NULL */
    float *full_state;      /* (P, 2 d + 2), labelled splits */
    float *state;           /* (P, 2 d + 1) */
    float *force_magnitude; /* (P) */
    float *force_vector;    /* (P, d) */
    float scale;            /* divisor of coordinates, AU; 1 unless planet runs */
    long clipped;           /* coordinates outside the bins */
    gsl_rng *rng;
    double *work;
    struct sim_dynamics dynamics;
    struct sim_system system; /* the system of the sequence */
    int redrawn;              /* number of systems rejected for close encounters */
};
int sim_sequence_create(struct sim_sequence *sequence, const struct orr_settings *settings,
                        enum sim_split split);
void sim_sequence_free(struct sim_sequence *sequence);
/* Makes sequence `index` of the split. With orbits.encounters = redraw, it is made from the first
 * system without a close encounter, drawn as index + k 2^48, k = 0, 1, ... */
int sim_sequence_make(struct sim_sequence *sequence, const struct orr_settings *settings,
                      enum sim_split split, uint64_t index);

/* The bin of a coordinate; *clipped is increased if it lies outside [-extent, extent]. */
uint16_t sim_bin(double x_au, int bins, double extent_au, long *clipped);
/* The time step of a dt token (bins: 7 days, bins + 1: 180 days), years. */
double sim_token_dt_yr(uint16_t token, int bins);

/* -------------------------------------------------------------------------- data sets */

/* Writes all sets of the preset into dir, manifest.json last. Sets of more than
 * orbits.shard_sequences sequences have several files, of which this call makes every parts-th from
 * `part` (0 on) on. Processes or machines may write into one folder in parallel; the one that finds
 * all files complete writes the manifest. With 1 part, all missing files are made. Bytes depend
 * neither on threads nor on parts and their order.
 *
 * Files are written atomically, and finished ones have records. After any interruption, another
 * call resumes after the last record and gives the same bytes. Existing sets of these settings
 * stay, and so do sets that the settings do not include. Sets of other settings are refused
 * (ORR_EINVAL naming set and setting); with force they are replaced, as are files whose bytes
 * differ from the manifest. ORR_EFORMAT if manifest or progress file is damaged, unless force.
 * ORR_EINTR after a signal. ORR_EIO if a process with another plan writes there, or if dir holds
 * external data files, which are never overwritten. */
int sim_dataset_write_part(const struct orr_settings *settings, const char *dir, int part,
                           int parts, int threads, bool force, bool quiet);
/* sim_dataset_write_part() with a single part. */
int sim_dataset_write(const struct orr_settings *settings, const char *dir, int threads, bool force,
                      bool quiet);
/* Returns the refusals of sim_dataset_write_part() without writing anything. */
int sim_dataset_may_write(const struct orr_settings *settings, const char *dir, bool force);
/* sim_dataset_has(): whether dir holds a finished set of these settings. sim_dataset_complete():
 * whether it holds all their sets; sums: also with the checksums of the manifest. */
bool sim_dataset_has(const struct orr_settings *settings, const char *dir, enum sim_split split);
bool sim_dataset_complete(const struct orr_settings *settings, const char *dir, bool sums);
/* Whether dir has data files but neither a manifest nor sets under way: it was made elsewhere. */
bool sim_dataset_is_foreign(const char *dir);
/* Prints a line per set: what sim_dataset_write_part() would do with it. */
int sim_dataset_plan(const struct orr_settings *settings, const char *dir, bool force);
/* Removes what an interrupted run left beside complete sets. */
int sim_dataset_tidy(const char *dir);
/* Checks that the files of these sets exist and match the manifest's sizes and checksums. The
 * message names the command that makes missing ones. own: the sets must have been made from the
 * settings (ORR_EINVAL naming set and setting); otherwise a note says if they were not (unless
 * quiet). Without a manifest: checks types and shapes of external files, with a note. */
int sim_dataset_verify(const struct orr_settings *settings, const char *dir,
                       const enum sim_split splits[], int count, bool own, bool quiet);
/* Checks every file of dir's manifest (existence, size, checksum, header) and prints a line per
 * set. */
int sim_dataset_check(const char *dir);
/* Prints statistics of the sets in dir: bodies, coordinates, clipped ones, time steps, forces. */
int sim_dataset_statistics(const char *dir);
/* Writes OUT/<set>.csv for every set in dir, or for `only` one (NULL: all): a row per sequence,
 * step and body, with units in the header (docs/formats.md). ORR_EMISSING if there is none. */
int sim_folder_export(const char *dir, const char *out, const enum sim_split *only, bool quiet);
/* sim_dataset_bytes(): bytes that a part of the sets needs (with 1 part: all sets).
 * sim_dataset_bytes_there(): bytes of its data files that exist and either stay or are removed
 * first. */
double sim_dataset_bytes(const struct orr_settings *settings, int part, int parts);
double sim_dataset_bytes_there(const struct orr_settings *settings, const char *dir, int part,
                               int parts);

/* ------------------------------------------------------------------------ imported tracks */

/* Bodies of one system at common times k dt, k = 0 .. steps - 1. */
struct sim_track_system {
    const char *name; /* for messages */
    size_t steps;
    int bodies;
    double dt;
    double *position; /* (steps, bodies, d) */
    double *velocity; /* likewise; NULL: not known */
    double *mass;     /* (bodies); NULL: not known */
};
struct sim_import {
    int dimensions; /* d of all systems: 2 or 3 */
    size_t systems;
    const struct sim_track_system *system; /* (systems) */
    /* Time steps of a sequence, in the system with the most bodies; 0: those of the shortest
     * system, in equal pieces of about SIM_IMPORT_ROWS rows. Longer tracks are cut into sequences
     * one after the other. */
    int steps;
    double val, test;        /* shares of the systems, at least one system each; 0: no such set */
    bool by_time;            /* the last pieces of every system in place of whole systems */
    uint64_t seed;           /* of the choice of systems */
    const char *file;        /* where the tracks come from, */
    uint64_t content;        /* and its XXH64 */
    const struct cJSON *how; /* object of texts: how it was read; becomes part of the manifest */
};
#define SIM_OWN_UNITS "of the file" /* how->units of numbers that were not converted */
enum { SIM_IMPORT_ROWS = 128, SIM_IMPORT_LEAST = 4 }; /* least: time steps of a sequence */
/* Writes train, val and test into dir as data sets of coordinates without labels, atomically, with
 * manifest.json last, whose object "tracks" tells other programs that the data are imported
 * (stage/tracks.h). Sets of the same tracks stay as they are. ORR_EINVAL names the system that is
 * too short, has too few bodies, numbers beyond float32 or no size, or says that dir holds other
 * data or a run; force replaces imported tracks, nothing else. */
int sim_dataset_import(const char *dir, const struct sim_import *import, bool force, bool quiet);

/* A split mapped read-only; arrays that it lacks are NULL. P = positions. For sets in several
 * files, tokens and coords are NULL in unlabelled sets (sim_dataset_tokens() finds the shard), and
 * the other arrays are gathered in memory. */
enum { SIM_KINDS = 10 };
struct sim_dataset {
    size_t n;
    int positions, bins;
    int dimensions; /* d of coordinates, 2 or 3 */
    enum sim_split split;
    char dir[4096];
    const uint16_t *tokens;    /* (n, P, 2) */
    const float *coords;       /* (n, P, d) */
    const uint8_t *num_bodies; /* (n) */
    /* (n, P, 2 d + 2 | 2 d + 1 | 1 | d) */
    const float *full_state, *state, *force_magnitude, *force_vector;
    const float *scale; /* (n) */
    const float *mass,
        *velocity; /* (n, P, 1 | d) of the row's body: imported tracks that have them */
    size_t shards, shard_sequences; /* files of observations; sequences per file, except the last */
    struct orr_npy *shard;          /* (shards) */
    struct orr_npy file[SIM_KINDS];
    void *gathered[SIM_KINDS];
};
/* Opens a split. External sets may have num_bodies and obs of wider integer types, which are
 * copied. Checks the numbers of bodies and, in labelled splits, every row, label and state
 * (ORR_EFORMAT). */
int sim_dataset_open(struct sim_dataset *set, const struct orr_settings *settings, const char *dir,
                     enum sim_split split);
/* Opens a split without a preset: tokens or coordinates of any number of positions. Checks only the
 * numbers of bodies; bins: 0. */
int sim_dataset_open_any(struct sim_dataset *set, const char *dir, enum sim_split split);
void sim_dataset_close(struct sim_dataset *set);
/* Rows (P, 2), of coordinates (P, d), of sequence i; NULL if the set has the other kind. */
const uint16_t *sim_dataset_tokens(const struct sim_dataset *set, size_t i);
const float *sim_dataset_coords(const struct sim_dataset *set, size_t i);
/* Checks that the rows of sequence i are a time step and positions: tokens below the bins, or
 * finite coordinates (ORR_EFORMAT). Sets without labels are too large to be checked when they are
 * opened, so callers check each sequence that they use. */
int sim_dataset_check_rows(const struct sim_dataset *set, size_t i);

/* ------------------------------------------------------------------------------ streaming */

/* Sequences made on the fly by separate threads, a bounded number ahead of the reader. The bytes
 * equal those of sim_sequence_make(), whatever the number of threads. */
struct sim_stream;
struct sim_stream_order {
    uint64_t count; /* sequences to draw from */
    bool shuffled;  /* draw d is a random sequence, keyed by (seed, stream, d); else sequence d
                       modulo count */
    uint64_t seed, stream;
};
enum { SIM_STREAM_BLOCK = 16 }; /* draws per block */
int sim_stream_open(struct sim_stream **stream, const struct orr_settings *settings,
                    enum sim_split split, const struct sim_stream_order *order, int threads);
/* Stops the threads and frees everything; NULL is allowed. */
void sim_stream_close(struct sim_stream *stream);
/* Rows of draw d, valid until the next call. Consecutive draws are made ahead; any other d restarts
 * there. Returns errors of the threads; ORR_EINTR after a signal. */
int sim_stream_draw(struct sim_stream *stream, uint64_t d, const uint16_t **tokens,
                    const float **coords, int *bodies);
/* The sequence index of draw d. */
uint64_t sim_stream_index(const struct sim_stream_order *order, uint64_t d);
/* XXH64 of the rows of all training sequences in order, without files. */
int sim_stream_checksum(const struct orr_settings *settings, int threads, bool quiet,
                        uint64_t *sum);

/* -------------------------------------------------------------------------- one sequence */

/* Prints elements, masses and sampling of one sequence, with a warning if a body has too few
 * samples per orbit. picture: a .png or .svg file to draw, or NULL. */
int sim_sequence_show(const struct orr_settings *settings, enum sim_split split, uint64_t index,
                      const char *picture);
/* sim_sequence_show() for a sequence in a folder. Rows come from its files, elements from the
 * settings in its manifest; a note says why if these are missing or of another version. given:
 * ORR_EINVAL naming the setting if the set was made from other settings; NULL: any. */
int sim_folder_show(const char *dir, const struct orr_settings *given, enum sim_split split,
                    uint64_t index, const char *picture);

#endif
