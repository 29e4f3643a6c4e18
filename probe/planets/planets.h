/* planets.h - inside probe/: what the files of probe planets share. */
#ifndef PROBE_PLANETS_H
#define PROBE_PLANETS_H

#include "probe/core/session.h"
#include "track.h"

enum { PROBE_PLANETS = SIM_SUN_PLANETS };

/* Forces that fine-tuned models of the run predict at the real positions. */
struct probe_arrows {
    bool there, has_baseline;        /* the probed model's own head; that of random weights */
    char path[2][4096];              /* their checkpoints: model, baseline */
    uint64_t content[2];             /* checksums */
    int first, count;                /* steps: one orbit from orbits.label_from_step on */
    double unit[PROBE_PLANETS][2];   /* of x and y: solar masses AU / yr^2 */
    double mean_size[PROBE_PLANETS]; /* of the forces trained on; solar masses AU/yr^2 */
    double *f[2];                    /* (PROBE_PLANETS, T, 2) in units, at the rows fed */
};

struct probe_planets {
    struct probe_session s; /* resamples: of planets */
    struct probe_track real[PROBE_PLANETS];
    struct probe_track kepler[PROBE_PLANETS]; /* osculating orbits of step 0 */
    int T, held_out;                          /* rows fed; next positions of steps 1 .. judged */
    struct probe_arrows arrows;
};

/* "Mercury". The text is static. */
const char *probe_planets_name(int planet);
/* out (PROBE_PLANETS, T, 2): the head's two numbers at every row of the tracks. ORR_EDIVERGED where
 * one is not a number. */
int probe_planets_predict(struct gpt_model *model, const struct probe_track track[], int T,
                          double *out);
/* error (PROBE_PLANETS): mean over steps 1 .. judged of the distance between the planet and what
 * the model, fed rows 0 .. T - 1 of the true positions, predicted at the step before; in units of
 * the track's first separation. judged <= (T - 1) / 2. */
int probe_planets_errors(struct gpt_model *model, const struct probe_track track[], int T,
                         int held_out, double error[PROBE_PLANETS]);
/* Adds a row of every planet, and one of their mean, whose interval is over planets. values
 * (4, PROBE_PLANETS): value, upper bound, baseline, raw, NaN where there is none. n: positions of
 * each planet. */
int probe_planets_add(struct probe_planets *p, const char *what, const char *measure,
                      double values[4][PROBE_PLANETS], long n);

/* Looks for the vector heads of the run: <run>/<source>/finetune/vector.safetensors, fine-tuned
 * from the probed checkpoint, and untrained/finetune/vector.safetensors. Where the first one is not
 * to be had, arrows.there is false and a note says why. */
int probe_arrows_find(struct probe_planets *p);
/* Predicts at the real positions and adds rows of results. Call it after the tracks are made. */
int probe_arrows_measure(struct probe_planets *p);
/* Newton's force of the Sun on a planet at step k of its real track, in units: f (2). */
void probe_arrows_truth(const struct probe_planets *p, int planet, int k, double f[2]);
/* The prediction of the model (which 0) or the baseline (1) there. */
void probe_arrows_at(const struct probe_planets *p, int which, int planet, int k, double f[2]);
/* planets_forces.csv, and planets_forces_<planet>.png (figures/forces.gp). */
int probe_arrows_write(struct probe_planets *p);
int probe_arrows_draw(struct probe_planets *p);
/* Removes these files of an earlier measurement, where they are. ORR_EIO. */
int probe_arrows_remove(const struct probe_planets *p);

#endif
