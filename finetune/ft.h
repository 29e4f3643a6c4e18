/* ft.h - fine-tuning to forces: magnitude and vector heads, oracles, held-out predictions.
 *
 * Protocol (Vafa et al. 2025, arXiv 2507.06952): all weights are trained, the head is new.
 * Labels of two_body_train are trained on; two_body_test is only predicted. Every source has a
 * table: truth (the upper bound), oracle (k nearest neighbours on the true state), untrained
 * (baseline: a model with random weights, fine-tuned in the usual way), and the pretrained
 * models. Units: AU, years, solar masses. */
#ifndef FT_FT_H
#define FT_FT_H

#include "model/gpt.h"
#include "sim/sim.h"

/* Turns forces into the targets of the head, fitted to training labels: raw F; log (ln F - mean)
 * / std; scaled F / rms. */
struct ft_transform {
    enum orr_force_loss kind;
    double mean, scale;
};
/* Fits the transform to F (n), all > 0; numbers that are not finite are missing labels.
 * ORR_EINVAL when there are no labels. */
int ft_transform_fit(struct ft_transform *transform, enum orr_force_loss kind, const float *F,
                     size_t n);
double ft_transform_apply(const struct ft_transform *transform, double F);
double ft_transform_invert(const struct ft_transform *transform, double target);
/* The transform as text in a checkpoint (docs/checkpoints.md): the name of the loss, mean,
 * scale. */
enum { FT_TRANSFORM_TEXT = 96 };
void ft_transform_print(const struct ft_transform *transform, char text[FT_TRANSFORM_TEXT]);
bool ft_transform_parse(const char *text, struct ft_transform *transform);

/* Bounds of the labels used for magnitudes: separations r in AU, and products m1 m2 in solar
 * masses squared. Both ends are included; 0 = no bound. */
struct ft_bounds {
    double r_min, r_max, m_min, m_max;
};
/* orbits.label_r_min ... label_m_max. */
void ft_bounds_of(const struct orr_settings *settings, struct ft_bounds *bounds);
/* The length of a row's vector (axes). sqrt is used instead of hypot(), whose result depends on the
 * CPU; squares of floats are exact in double. */
double ft_length(const float v[], int axes);
/* r and m1 m2 at the labelled position `at` = sequence * positions + row. */
double ft_separation(const struct sim_dataset *set, size_t at);
const float *ft_masses(const struct sim_dataset *set, size_t at); /* m1, m2 */
double ft_mass_product(const struct sim_dataset *set, size_t at);
/* Whether there is a label at the position, within the bounds. */
bool ft_label_counts(const struct sim_dataset *set, const struct ft_bounds *bounds, size_t at);

/* The labelled sequences used for magnitudes. Only labels within the bounds count, on rows that
 * are inputs of the model: all but the last of a sequence. */
struct ft_labels {
    const struct sim_dataset *set;
    struct ft_bounds bounds;
    size_t *sequence, count; /* (count) */
};
/* All sequences of a set or, with bounds, those that have a label inside; call ft_labels_free(). */
int ft_labels_find(struct ft_labels *labels, const struct sim_dataset *set,
                   const struct ft_bounds *bounds);
void ft_labels_free(struct ft_labels *labels);
/* States (n, 2 d + 2) and forces (n) of the labels; either may be NULL. Returns n. */
size_t ft_labels_points(const struct ft_labels *labels, float *states, float *forces);
/* ORR_EINVAL, naming the bounds, where they leave fewer than `least` labels. */
int ft_labels_enough(const struct ft_labels *labels, size_t least);
/* The transform of a loss, fitted to the labels. ORR_EINVAL when there are none, naming the
 * bounds. */
int ft_labels_transform(const struct ft_labels *labels, enum orr_force_loss loss,
                        struct ft_transform *transform);

struct ft_inputs {
    const struct gpt_config *config;
};
/* Writes rows 0..T-1 of a sequence as input b of the batch. Noise is added only to continuous
 * rows of bodies; rng may be NULL without noise. */
void ft_fill_inputs(const struct ft_inputs *in, const struct sim_dataset *set, size_t sequence,
                    double noise_au, gsl_rng *rng, int b, struct gpt_batch *batch);
/* Fine-tunes in memory: gives the model a new head (gpt_replace_head with the seed) with one
 * output and trains it on T rows for train->steps steps, without files, evaluations or patience.
 * fill(of, step, pass, batch) writes inputs, targets and weights of train->batch sequences; the
 * batch keeps its content between steps, so that constant data need to be written only once.
 * Afterwards the model has the weights for predictions. ORR_EINTR after a signal; ORR_EDIVERGED
 * where gradients are not finite. */
int ft_fit_batches(struct gpt_model *model, const struct orr_train_settings *train, int T,
                   uint64_t seed,
                   int (*fill)(void *of, long step, int pass, struct gpt_batch *batch), void *of);
/* As ft_fit_batches, for force magnitudes, on the batches of ft_magnitude_model. */
int ft_fit(struct gpt_model *model, const struct orr_train_settings *train,
           const struct ft_labels *labels, enum orr_force_loss loss, uint64_t seed,
           struct ft_transform *transform);
/* Predicts F (count, T), T = positions - 1, for sequences sequence[0 .. count - 1] of the set,
 * or for its first `count` sequences when sequence is NULL. */
int ft_predict(struct gpt_model *model, const struct ft_transform *transform,
               const struct sim_dataset *set, const size_t *sequence, size_t count, double *F);

/* A labelled position of a data set. */
struct ft_row {
    int sample;
    long sequence;
    int row;
};
/* Draws `samples` x `size` labelled rows (rows < T) of the set. The sequences are divided among
 * the samples at random, from (seed, ORR_STAGE_SAMPLE), as evenly as possible, and each sample's
 * rows are drawn from its own sequences without repeats: no two samples share a sequence. rows
 * (samples * size), sorted by sequence and row within a sample. ORR_EINVAL, naming the settings
 * and their values, when a sample's sequences have too few labelled rows. */
int ft_sample(const struct sim_dataset *set, int T, uint64_t seed, int samples, int size,
              struct ft_row *rows);
/* Chooses `count` labelled rows (rows < T) of one sequence, ascending, from (seed,
 * ORR_STAGE_LABELS, sequence): the labels of the vector task. ORR_EINVAL when there are too few. */
int ft_choose_labels(const struct sim_dataset *set, long sequence, int T, uint64_t seed, int count,
                     int *rows);

/* out (m, cols) = the mean of values (n, cols) over the k nearest (Euclidean) of points (n,
 * dims) to each of queries (m, dims). Ties go to the lower index. Brute force, multithreaded. */
int ft_knn(int k, size_t dims, size_t n, const float *points, size_t cols, const float *values,
           size_t m, const float *queries, float *out);
/* Standardises a (n, dims) in place: subtracts each column's mean over the n rows and divides by
 * its standard deviation. Applies the same map to b (m, dims). */
void ft_standardise(size_t dims, size_t n, float *a, size_t m, float *b);

/* State that all tables of a fine-tuning call share. */
struct ft_run {
    const struct orr_settings *settings;
    const struct k_ops *ops;
    struct orr_lineage *lineage;         /* records of what models and tables should be made from */
    char run[4096];                      /* run directory */
    struct sim_dataset train, val, test; /* two_body_* */
    struct sim_dataset planets;          /* planets_solar, or solar_system_two_body */
    bool has_magnitude, has_vector;
    struct ft_row *rows; /* (samples * sample_size) */
    size_t row_count;
    int *labels; /* (planets.n, planets.labels) rows with training labels */
    bool resume, quiet;
    bool force; /* models of other settings or data, or any without resume, may be lost */
};
int ft_run_open(struct ft_run *run, const struct orr_settings *settings, const char *run_dir,
                const char *orbits_dir, const struct k_ops *ops, struct orr_lineage *lineage);
void ft_run_close(struct ft_run *run);

/* Decides about a source's table of forces: keep it, make it (its model first, where it has
 * one), or refuse to replace a table that was made elsewhere, and why. */
int ft_table_status(struct orr_lineage *lineage, const char *run_dir, const char *source,
                    bool vector, struct orr_artefact *table);

/* The model of a source as a training for gpt_training_status; `training` points to the other
 * members. */
struct ft_training {
    char folder[4096], last[ORR_NAME], best[ORR_NAME];
    struct gpt_training training;
};
int ft_training_of(struct ft_training *of, struct orr_lineage *lineage, const char *run_dir,
                   const char *source, bool vector);

/* Each makes the predictions of one source: F (row_count) at run->rows. Model sources are
 * fine-tuned first; `from` is the pretrained checkpoint, NULL = random weights. */
int ft_magnitude_model(struct ft_run *run, const char *source, const char *attention,
                       const char *from);
int ft_magnitude_truth(struct ft_run *run);
int ft_magnitude_oracle(struct ft_run *run);
int ft_vector_model(struct ft_run *run, const char *source, const char *attention,
                    const char *from);
int ft_vector_truth(struct ft_run *run);
int ft_vector_oracle(struct ft_run *run);

/* Writes forces_magnitude.csv of a source (docs/formats.md); F (row_count). */
int ft_write_magnitude(struct ft_run *run, const char *source, const double *F);
/* Writes forces_vector.csv; f (planets, T, d) in the units of ft_vector_scale(). */
int ft_write_vector(struct ft_run *run, const char *source, const double *f);
/* The unit of each planet's force along x, y and, in space, z. By default it is the largest |F|
 * of run->labels on all axes, so that no held-out value enters. With finetune.vector_scale =
 * largest it is the largest |Fx|, |Fy| and |Fz| of the whole sequence; the study scales like this,
 * which turns directions by up to 0.87 degrees. */
enum { FT_PLANETS = SIM_SUN_BODIES };
void ft_vector_scale(const struct ft_run *run, double unit[FT_PLANETS][SIM_AXES]);

#endif
