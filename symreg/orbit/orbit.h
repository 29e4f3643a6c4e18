/* orbit.h - orbits of stars around barycentres, from radial velocities: up to two Keplerian orbits,
 * whose planets do not disturb each other.
 *
 *   velocities.c         reads a table
 *   far_velocities.c     notes velocities far from the others, and times that are dense
 *   periodogram.c        the generalised Lomb-Scargle periodogram
 *   model.c              velocities of given orbits, and their derivatives
 *   fit.c                maximum likelihood from a start: orbits, offsets and jitter
 *   search.c             starts from peaks of the periodogram
 *   elements.c           K, P, e, omega, times, masses; their errors by covariance
 *   profile_intervals.c  95% intervals by the profile of the likelihood
 *   aliases.c            periods that the sampling may have mistaken for each other
 *   figure.c, report.c, json.c, page.c   the results; orbit.c: the command
 *
 * The velocity of the star is K (cos(nu + omega) + e cos omega) + gamma, nu the true anomaly and
 * omega the star's argument of periastron (Wright & Howard 2009, ApJS 182, 205). Angles are in
 * radians, times in the unit of the table (days for masses and named aliases), velocities in that
 * of the table (m/s for masses). docs/orbit.md explains the method. */
#ifndef SR_ORBIT_H
#define SR_ORBIT_H

#include "symreg/table/program.h"

enum {
    SR_ORBIT_PLANETS = 2,
    SR_ORBIT_INSTRUMENTS = 16,
    SR_ORBIT_SHAPE = 5, /* parameters of an orbit */
    SR_ORBIT_PARAMETERS = SR_ORBIT_SHAPE * SR_ORBIT_PLANETS + SR_ORBIT_INSTRUMENTS,
};
#define SR_ORBIT_TURN    6.283185307179586476925
#define SR_ORBIT_DEGREES (360 / SR_ORBIT_TURN)

/* Options of `symreg orbit` as given; NULL where absent. */
struct sr_orbit_options {
    const char *time, *velocity, *sigma, *instrument;
    const char *planets;   /* 0, 1, 2; NULL: by the BIC */
    const char *star_mass; /* solar masses: "0.87", "0.87,0.03" with a standard error */
    const char *periods;   /* LOW,HIGH: where the periodogram looks */
    const char *missing, *missing_value;
};
/* Fits orbits to the velocities of a file and prints them. With --out DIR writes orbit.json,
 * orbit.csv, report.md and orbit.png there. Errors name file, line and column. */
int sr_orbit_run(const struct orr_cli *cli, const char *file, const struct sr_orbit_options *o);

/* ---- velocities */

/* Arrays have n entries, ordered by time. */
struct sr_velocities {
    const char *file;
    size_t n;
    double *t, *v, *sigma; /* t: since `middle`; sigma: 0 without --sigma */
    int *instrument;
    int instruments;
    char *name[SR_ORBIT_INSTRUMENTS]; /* "" without --instrument */
    double middle;                    /* a time near the mean of all */
    double span;                      /* from the first time to the last */
    double scatter;                   /* standard deviation of v around each instrument's mean */
    bool has_sigma;
    struct orr_csv csv;
    struct sr_dropped dropped;
    void *block;
};
/* Reads a file; "-" is standard input. ORR_EMISSING, ORR_EFORMAT, ORR_EINVAL or ORR_EUSAGE, with
 * file, line and column. The caller frees the velocities, after errors too. */
int sr_velocities_read(const char *file, const struct sr_orbit_options *o,
                       struct sr_velocities *data);
void sr_velocities_free(struct sr_velocities *data);
/* Notes a velocity that is 100 times as far from its instrument's median as half of them are. */
void sr_velocities_note_far(const struct sr_velocities *data, bool quiet);
/* Notes that the times would show shorter periods than are looked for without --period. */
void sr_velocities_note_dense(const struct sr_velocities *data, bool quiet);

/* ---- the model */

/* Parameters of an orbit, regular at e = 0: mean motion, mean longitude at `middle` (the mean
 * anomaly and omega), e cos(omega), e sin(omega), K. */
enum { SR_ORBIT_N, SR_ORBIT_LONGITUDE, SR_ORBIT_X, SR_ORBIT_Y, SR_ORBIT_AMPLITUDE };

/* A fit. x: SR_ORBIT_SHAPE numbers per planet, then an offset per instrument. */
struct sr_orbit {
    int planets, instruments;
    double x[SR_ORBIT_PARAMETERS];
    double jitter[SR_ORBIT_INSTRUMENTS]; /* added to sigma in squares */
    double likelihood;                   /* natural logarithm of the largest */
    double chi2;                         /* with sigma and jitter */
};
static inline int sr_orbit_shape(const struct sr_orbit *orbit)
{
    return SR_ORBIT_SHAPE * orbit->planets;
}
/* Parameters of the model, with the jitters. */
static inline int sr_orbit_count(const struct sr_orbit *orbit)
{
    return sr_orbit_shape(orbit) + 2 * orbit->instruments;
}
/* The variance of row i: its sigma, and the jitter of its instrument. */
static inline double sr_orbit_variance(const struct sr_velocities *data,
                                       const struct sr_orbit *orbit, size_t i)
{
    const double jitter = orbit->jitter[data->instrument[i]];
    return data->sigma[i] * data->sigma[i] + jitter * jitter;
}
/* Velocities (n) of the orbit at times t (n); offsets where instrument is not NULL. slope: (n,
 * SR_ORBIT_SHAPE * planets) derivatives by the shapes, or NULL. False where an orbit is none. */
bool sr_orbit_model(const struct sr_orbit *orbit, size_t n, const double *t, const int *instrument,
                    double *v, double *slope);
/* cos(nu) + e and sin(nu) at times t (n), for a mean anomaly M at time 0. */
void sr_orbit_waves(size_t n, const double *t, double motion, double M, double e, double *cosine,
                    double *sine);

/* ---- maximum likelihood */

/* Numbers that people ask of an orbit. */
enum sr_element {
    SR_ELEMENT_K,
    SR_ELEMENT_P,
    SR_ELEMENT_E,
    SR_ELEMENT_OMEGA,       /* radians, in [0, 2 pi) */
    SR_ELEMENT_PERIASTRON,  /* the time nearest to `middle`, since it */
    SR_ELEMENT_CONJUNCTION, /* of the planet before the star (nu + omega = pi / 2), likewise */
    SR_ELEMENT_A_SIN_I,     /* of the star: K sqrt(1 - e^2) P / (2 pi), velocity times time */
    SR_ELEMENTS
};
/* The element of a planet of the orbit. */
double sr_orbit_element(const struct sr_orbit *orbit, int planet, enum sr_element element);
/* The difference of two values of an element: angles by less than half a turn, times by less than
 * half a period. */
double sr_element_difference(enum sr_element element, double a, double b, double period);
/* Its gradient by the shape of its planet. */
void sr_orbit_gradient(const struct sr_orbit *orbit, int planet, enum sr_element element,
                       double gradient[SR_ORBIT_SHAPE]);

/* An element that is held at a value. */
struct sr_held {
    int planet;
    enum sr_element element;
    double value, width; /* what it may be off: a small part of its standard error */
};
/* Memory for n velocities; free() it. NULL: out of memory. */
struct sr_orbit_work;
struct sr_orbit_work *sr_orbit_work_create(size_t n);
/* Moves an orbit to the largest likelihood near it. held: NULL for none. jitter: whether that is
 * fitted. False where it does not settle at an orbit. */
bool sr_orbit_refine(const struct sr_velocities *data, const struct sr_held *held, bool jitter,
                     struct sr_orbit *orbit, struct sr_orbit_work *work);
/* The orbit without planets. */
bool sr_orbit_constant(const struct sr_velocities *data, struct sr_orbit *orbit,
                       struct sr_orbit_work *work);
/* The covariance (count, count) of x at the orbit: the inverse of Fisher's information. */
bool sr_orbit_covariance(const struct sr_velocities *data, const struct sr_orbit *orbit,
                         double *covariance, struct sr_orbit_work *work);
/* The standard error of an instrument's jitter; NaN where it is 0. */
double sr_orbit_jitter_error(const struct sr_velocities *data, const struct sr_orbit *orbit,
                             int instrument);

/* ---- the periodogram */

struct sr_periodogram {
    size_t count;
    double low, step;   /* frequencies, in turns per time: low + i step */
    double *power;      /* (count) share of chi^2 that a sine takes, Zechmeister & Kuerster
                            2009, A&A 496, 577, Eq. (4), with an offset per instrument */
    double independent; /* number of independent frequencies */
};
/* Reads "LOW,HIGH". ORR_EUSAGE. */
int sr_orbit_periods(const char *text, double *low, double *high);
/* Of the velocities v (n) with the jitter of `orbit`. periods: LOW,HIGH or NULL. */
int sr_periodogram_make(const struct sr_velocities *data, const double *v,
                        const struct sr_orbit *orbit, const char *periods,
                        struct sr_periodogram *of);
/* The shortest period where none are given: 1, or a hundredth of a short span. */
double sr_periodogram_shortest(double span);
void sr_periodogram_free(struct sr_periodogram *of);
/* The highest peaks (at most `most`), by height; returns how many. */
int sr_periodogram_peaks(const struct sr_periodogram *of, double span, int most, size_t *peak);
/* How likely noise alone gives an orbit of eccentricity e somewhere that raises the logarithm of
 * the likelihood by `gain`: the chance at one period of four parameters (Cumming 2004, MNRAS 354,
 * 1165), times `tries` independent periods, times the phases of which each would show another
 * periastron, whose passage takes a share (1 - e)^(3/2) of the period. freedom: rows less
 * parameters. */
double sr_orbit_chance(double tries, double rows, double freedom, double e, double gain);

/* ---- the search */

/* Whether two planets have nearly one period. Their orbits would cross: a second orbit there mends
 * what the first one misses, as a wrong velocity, or a variation of a star that is no orbit. */
bool sr_orbit_has_twins(const struct sr_orbit *orbit);
/* What was found for each number of planets. */
struct sr_orbits {
    int most; /* planets tried */
    struct sr_orbit orbit[SR_ORBIT_PLANETS + 1];
    double bic[SR_ORBIT_PLANETS + 1];
    double chance[SR_ORBIT_PLANETS + 1]; /* of the last planet in noise alone */
    double peak[SR_ORBIT_PLANETS + 1];   /* highest period of what one planet fewer leaves */
    struct sr_orbit rival[SR_ORBIT_PLANETS + 1]; /* another maximum; planets: 0 where there is none
                                                    whose BIC is within SR_ORBIT_EVIDENCE */
    double left_period, left_chance; /* highest peak of what SR_ORBIT_PLANETS leave, and how likely
                                        it is in noise; NaN where fewer are recommended */
    int recommended;
};
/* A further planet has to lower the BIC by so much, and noise alone has to give it more rarely. */
#define SR_ORBIT_EVIDENCE 10
#define SR_ORBIT_CHANCE   1e-3
int sr_orbits_search(const struct sr_velocities *data, const struct sr_orbit_options *o, int most,
                     struct sr_orbits *found, struct sr_orbit_work *work);

/* ---- aliases */

enum { SR_ORBIT_ALIASES = 8 };
struct sr_alias {
    const char *of;     /* "1 day" */
    double period, bic; /* of the orbit there; bic: above that of the orbit */
    struct sr_orbit orbit;
};
/* The periods below `longest` that a planet may have instead, where the times have the gap's period
 * themselves; nearest in BIC first. */
int sr_orbit_aliases(const struct sr_velocities *data, const struct sr_orbit *orbit, int planet,
                     double longest, struct sr_alias alias[SR_ORBIT_ALIASES],
                     struct sr_orbit_work *work);

/* ---- results */

struct sr_value {
    double value, error, low, high; /* low, high: 95%; NaN where there is none */
};
struct sr_planet {
    struct sr_value element[SR_ELEMENTS];
    struct sr_value mass, axis; /* m sin i in masses of Jupiter, a in AU; value NaN: no star mass */
    bool circular;              /* e = 0 is within its interval */
    int aliases;
    struct sr_alias alias[SR_ORBIT_ALIASES];
};
struct sr_orbit_answer {
    const struct sr_velocities *data;
    const struct sr_orbit_options *options;
    const struct sr_orbits *found;
    const struct sr_orbit *orbit; /* the one that is reported */
    struct sr_planet planet[SR_ORBIT_PLANETS];
    struct sr_value gamma[SR_ORBIT_INSTRUMENTS], jitter[SR_ORBIT_INSTRUMENTS];
    double star_mass, star_mass_error; /* 0: not given */
};
/* Fills the values of an answer whose orbit is known. */
int sr_orbit_values(struct sr_orbit_answer *answer, struct sr_orbit_work *work);
/* 95% interval by the profile likelihood; ends that were not found are 1.96 errors away. */
void sr_orbit_profile(const struct sr_velocities *data, const struct sr_orbit *orbit, int planet,
                      enum sr_element element, const double *covariance, struct sr_value *value,
                      struct sr_orbit_work *work);
/* m sin i in masses of Jupiter, and the axis in AU, of K in m/s and P in days. */
void sr_orbit_mass(double K, double P, double e, double star_mass, double *mass, double *axis);

/* Prints the answer for people: as text, or as Markdown into the file. */
void sr_orbit_print(const struct sr_orbit_answer *answer, enum sr_medium medium,
                    struct orr_file *file);
/* Line k of a planet's numbers, or of the instruments' (planet -1); false behind the last. */
struct sr_orbit_line {
    char name[64];
    const char *unit;
    char text[80], interval[80]; /* "14.2 +- 0.3", and "13.6 to 14.8" or "" */
};
bool sr_orbit_line(const struct sr_orbit_answer *answer, int planet, int k,
                   struct sr_orbit_line *line);
/* Prints what a reader should know of a planet, or -1: of the number of planets. */
void sr_orbit_notes(const struct sr_orbit_answer *answer, int planet, FILE *out);
int sr_orbit_json(const struct sr_orbit_answer *answer, const char *path);
/* Writes time, instrument, velocity without offset, model, residual, sigma with jitter, and a phase
 * per planet. */
int sr_orbit_table(const struct sr_orbit_answer *answer, const char *path);
/* The velocities of planet p as a curve: time since periastron in periods, velocity (count). */
void sr_orbit_curve(const struct sr_orbit_answer *answer, int p, size_t count, double *phase,
                    double *v);
/* The phase of a time since `middle`: 0 at periastron. */
double sr_orbit_phase(const struct sr_orbit_answer *answer, int p, double t);
/* What planet p alone would have given: phases of the velocities since periastron, in periods, the
 * velocities without the others, and their errors with jitter (n). p -1: times, residuals. */
void sr_orbit_folded(const struct sr_orbit_answer *answer, int p, double *phase, double *v,
                     double *sigma);
/* Writes report.html. Without the page's style and script there is none, which is noted unless
 * quiet. */
int sr_orbit_page(const struct sr_orbit_answer *answer, const char *folder, bool quiet);
/* Draws orbit.png. ORR_EMISSING without gnuplot. */
int sr_orbit_figure(const struct sr_orbit_answer *answer, const char *folder);

#endif
