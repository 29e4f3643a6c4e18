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
    char path[2][4096];            /* their checkpoints: model, baseline */
    uint64_t content[2];           /* checksums */
    int first, count;              /* steps: one orbit from orbits.label_from_step on */
    double unit[PROBE_PLANETS][2]; /* unit of the x and y components: solar masses AU / yr^2 */
    /* mean size of the forces trained on, in solar masses AU / yr^2 */
    double mean_size[PROBE_PLANETS];
    double *f[2]; /* (PROBE_PLANETS, T, 2) predictions in units, at the fed rows */
};

struct probe_planets {
    struct probe_session s; /* resamples over planets */
    struct probe_track real[PROBE_PLANETS];
    struct probe_track kepler[PROBE_PLANETS]; /* osculating orbits of step 0 */
    int T, held_out; /* T: rows fed; held_out: number of predicted steps, from step 1 on */
    struct probe_arrows arrows;
};

/* Name of a planet, such as "Mercury". The text is static. */
const char *probe_planets_name(int planet);
/* out (PROBE_PLANETS, T, 2): the head's two outputs at every row of the tracks. ORR_EDIVERGED where
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

/* Looks for the run's vector heads: <run>/<source>/finetune/vector.safetensors, fine-tuned from the
 * probed checkpoint, and untrained/finetune/vector.safetensors. Where the first is not available,
 * arrows.there is false and a note gives the reason. */
int probe_arrows_find(struct probe_planets *p);
/* Predicts forces at the real positions and adds rows of results. The tracks must have been
 * made. */
int probe_arrows_measure(struct probe_planets *p);
/* Newton's force of the Sun on a planet at step k of its real track, in units: f (2). */
void probe_arrows_truth(const struct probe_planets *p, int planet, int k, double f[2]);
/* The model's (which = 0) or the baseline's (1) prediction at step k, in units: f (2). */
void probe_arrows_at(const struct probe_planets *p, int which, int planet, int k, double f[2]);
/* Writes planets_forces.csv, and draws planets_forces_<planet>.png (figures/forces.gp). */
int probe_arrows_write(struct probe_planets *p);
int probe_arrows_draw(struct probe_planets *p);
/* Removes those files of an earlier measurement, if they exist. ORR_EIO. */
int probe_arrows_remove(const struct probe_planets *p);

#endif
