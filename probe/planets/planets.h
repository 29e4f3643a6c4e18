/* planets.h - inside probe/: shared by the files of probe planets. */
#ifndef PROBE_PLANETS_H
#define PROBE_PLANETS_H

#include "probe/core/session.h"
#include "track.h"

enum { PROBE_PLANETS = SIM_SUN_PLANETS };

/* Forces that the run's fine-tuned models predict at the real positions. */
struct probe_arrows {
    /* whether the probed model's head exists; whether that of random weights exists */
    bool there, has_baseline;
    char path[2][4096];  /* their checkpoints: model, baseline */
    uint64_t content[2]; /* checksums */
    int first, count;    /* steps: one orbit from orbits.label_from_step on */
    /* unit of each component: solar masses AU / yr^2 */
    double unit[PROBE_PLANETS][SIM_AXES];
    /* mean size of the forces trained on, in solar masses AU / yr^2 */
    double mean_size[PROBE_PLANETS];
    /* Squared ratio of the first distances of the simulated and the real planet: forces in answers
     * are in solar masses AU / yr^2 of the simulated one, the labels' own. */
    double ratio2[PROBE_PLANETS];
    double *f[2]; /* (PROBE_PLANETS, T, d) predictions in units, at the fed rows */
};

struct probe_planets {
    struct probe_session s; /* resamples over planets */
    struct probe_track real[PROBE_PLANETS];
    struct probe_track kepler[PROBE_PLANETS]; /* osculating orbits of step 0 */
    int axes;                                 /* coordinates d, 2 or 3 */
    int T, held_out; /* T: rows fed; held_out: number of predicted steps, from step 1 on */
    struct probe_arrows arrows;
};

/* Name of a planet, such as "Mercury". The text is static. */
const char *probe_planets_name(int planet);
/* out (PROBE_PLANETS, T, d): the head's d outputs at every row of the tracks. ORR_EDIVERGED where
 * an output is NaN. */
int probe_planets_predict(struct gpt_model *model, const struct probe_track track[], int T,
                          double *out);
/* error (PROBE_PLANETS): mean over steps 1 .. held_out of the distance between the planet and the
 * model's prediction at the previous step, in units of the track's first separation. The model is
 * fed rows 0 .. T - 1 of the true positions. held_out <= (T - 1) / 2. */
int probe_planets_errors(struct gpt_model *model, const struct probe_track track[], int T,
                         int held_out, double error[PROBE_PLANETS]);
/* Adds a row for every planet, and one for their mean with an interval over planets. values (4,
 * PROBE_PLANETS): value, upper bound, baseline, raw; NaN where missing. n: positions of each
 * planet. */
int probe_planets_add(struct probe_planets *p, const char *what, const char *measure,
                      double values[4][PROBE_PLANETS], long n);

/* Opens the model, or what answers are of; makes the tracks. */
int probe_planets_open(void *of);
int probe_planets_tracks(struct probe_planets *p);

/* ---- models of other programs (planets_answers.c, docs/exchange.md): predictions at the rows of
 * the real tracks and of the osculating orbits, and forces at the steps of the real tracks */
#define PROBE_PLANETS_PREDICTIONS "predictions_planets.npy"
#define PROBE_PLANETS_FORCES      "forces_planets.csv"
enum { PROBE_PLANET_TRACKS = 2 * PROBE_PLANETS };
/* out (PROBE_PLANETS, T, d) from track number `first` on. */
int probe_planets_answered(const struct probe_planets *p, const struct probe_answers *answers,
                           int first, double *out);
/* Reads forces into p->arrows.f[which]. ORR_EFORMAT, naming the line. */
int probe_arrows_answered(struct probe_planets *p, const struct probe_answers *answers, int which);
/* Appends the names of the components of a vector to the header of a table: ",fx_true,fy_true". */
enum { PROBE_HEADER = 128 };
void probe_arrows_name(int axes, const char *before, const char *after, char header[PROBE_HEADER]);
/* Writes the table of all steps with forces; which = -1: without predictions, as it is asked. */
int probe_arrows_table(const struct probe_planets *p, int which, struct orr_file *file);

/* Finds the steps with forces; *why: NULL, or why there are none. */
void probe_arrows_steps(struct probe_planets *p, const char **why);
/* Finds units and, but for answers, what the heads predict: which = 0 model, 1 baseline. */
int probe_arrows_units(struct probe_planets *p);
int probe_arrows_predict(struct probe_planets *p, int which);
/* Looks for the run's vector heads: <run>/<source>/finetune/vector.safetensors, fine-tuned from the
 * probed checkpoint, and untrained/finetune/vector.safetensors. Where the first is not available,
 * arrows.there is false and a note gives the reason. */
int probe_arrows_find(struct probe_planets *p);
/* Predicts forces at the real positions and adds rows of results. The tracks must have been
 * made. */
int probe_arrows_measure(struct probe_planets *p);
/* Newton's force of the Sun on a planet at step k of its real track, in units: f (d). */
void probe_arrows_truth(const struct probe_planets *p, int planet, int k, double f[]);
/* The model's (which = 0) or the baseline's (1) prediction at step k, in units: f (d). */
void probe_arrows_at(const struct probe_planets *p, int which, int planet, int k, double f[]);
/* Writes planets_forces.csv, and draws planets_forces_<planet>.png (figures/forces.gp). */
int probe_arrows_write(struct probe_planets *p);
int probe_arrows_draw(struct probe_planets *p);
/* Removes those files of an earlier measurement, if they exist. ORR_EIO. */
int probe_arrows_remove(const struct probe_planets *p);

#endif
