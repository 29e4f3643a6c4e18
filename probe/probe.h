/* probe.h - looking into a trained model: what bin/probe does (spec/probes.md of the study).
 *
 * A probe opens a checkpoint of any stage of a run, may change how it attends (model/gpt.h,
 * struct gpt_attention_override), and feeds it held-out sequences, of the validation split, or,
 * where final figures are measured, of the test split: those of the run's files, or the same ones
 * made on the fly from the seed; longer ones are always made on the fly. A text model is fed
 * held-out text, cut into sequences of the length asked for.
 *
 * Indices of layers and heads count from 0 as in the names of parameters ("block.0.attention");
 * positions i (query) and j (key) count from 1 as in the equations (docs/probes/attention.md). */
#ifndef PROBE_H
#define PROBE_H

#include "base/base.h"
#include "model/gpt.h"

struct probe_options {
    const struct orr_settings *preset;
    const struct k_ops *ops; /* open */
    const char *checkpoint;
    const char *run;                      /* the run it belongs to, "" = none known */
    const char *orbits;                   /* data files that must be used, "" = the run's if fit */
    const char *out;                      /* folder for results, "" = see probe_folder */
    int layer, head;                      /* maps of these alone, -1 = all */
    int sequences;                        /* 0 = the probe's default */
    int length;                           /* positions fed, 0 = as trained */
    bool final;                           /* sequences of gpt_final_split(): nothing was selected
                                             on them */
    struct gpt_attention_override change; /* all zero but context: as trained */
    int steps, draws;                     /* of fine-tuning, 0 = the default; data sets to do so */
    const char *sizes;                    /* numbers of labelled sequences, NULL = the default */
    const char *figure;                   /* of a grid: what to draw, NULL = the first figure */
    bool resume;                          /* keep results that are there, of the same key */
    const char *const *file;              /* (file_count), of probes that take files */
    int file_count;
    bool quiet;
};

/* A model with its data. It is read through its own address: not to be copied. */
struct probe {
    struct orr_settings preset; /* of the data: positions and counts as needed */
    struct gpt_model model;     /* averaged weights where the checkpoint has them */
    struct gpt_config trained;  /* before the change */
    char stage[ORR_NAME];       /* of training: pretrain, pretrain_planets, magnitude, vector */
    char source[ORR_NAME];      /* as in file names: the variant, or "untrained" */
    enum sim_split split;
    struct gpt_source *data;
    bool from_files;
    int sequences, T; /* fed: sequences 0 .. sequences - 1, rows 0 .. T - 1 of each */
};
/* Opens checkpoint and data, sequences of them (0: as many as the stage's own evaluation took);
 * changed: applies options->change and options->length. A checkpoint
 * that is not there, or does not fit the preset's kind of data: ORR_EMISSING, ORR_EINVAL; a change
 * without meaning: ORR_EUSAGE. Close also after an error. */
int probe_open(struct probe *probe, const struct probe_options *options, bool changed,
               int sequences);
void probe_close(struct probe *probe);
/* For a probe that takes lengths by itself, `range` of the trained one, with and without NTK:
 * ORR_EUSAGE where options name one, ORR_EINVAL where learned positions end. */
int probe_check_lengths(const struct probe *probe, const struct probe_options *options,
                        const char *name, const char *range);
/* The baseline of what a probe reads in a trained model: the same shape with the random weights
 * that the preset's seed gives. gpt_free() it. */
int probe_baseline(const struct probe *probe, const struct probe_options *options,
                   struct gpt_model *baseline);
/* A model of its own to be trained: the weights of the probed one, or the random ones of its
 * baseline. gpt_free() it. */
int probe_copy(const struct probe *probe, const struct probe_options *options, bool random,
               struct gpt_model *model);
/* Inputs of sequence i as the only row of the batch (B = 1). */
int probe_fill(struct probe *probe, uint64_t i, struct gpt_batch *batch);
/* options->out, else <run>/<source>/probe for pretrained models and <run>/<source>/probe_<stage>
 * for others, else (no run) the folder "probe" beside the checkpoint. */
int probe_folder(const struct probe *probe, const struct probe_options *options, char folder[4096]);
/* One probe at a time writes into the folder; others have measured already, and wait. orr_unlock()
 * it. */
int probe_lock(const char *folder, int *lock);
/* "lssar, p = 15, window 8". */
enum { PROBE_TEXT = 160 };
void probe_describe(const struct gpt_model *model, char text[PROBE_TEXT]);

/* ------------------------------------------------------------------- statistics of weights */

/* Sums over rows of weights; zero it, add rows, read the means. Sums add up in any grouping that
 * keeps the order. Row i attends n_i = min(i, window) keys; S_i = sum_j |A_ij|. A row with S_i = 0
 * is degenerate and counts in `rows` and `degenerate` only. */
struct probe_sums {
    long rows, degenerate;
    long entries, zeros;       /* attended entries of rows that are not degenerate; exact zeros */
    long entropy_rows;         /* not degenerate, n_i > 1 */
    double entropy, relative;  /* H_i = -sum_j p ln p, p = |A_ij| / S_i; H_i / ln n_i */
    long sink_rows;            /* not degenerate, 1 < i <= window: rows that attend position 1 */
    double sink, sink_uniform; /* |A_i1| / S_i; 1 / n_i */
};
/* weights (rows, T): rows first .. first + rows - 1 (from 0) of one head; window 0 = none. */
void probe_add(struct probe_sums *sums, const double *weights, int T, int first, int rows,
               int window);
/* Adds the sums of other rows. */
void probe_merge(struct probe_sums *sums, const struct probe_sums *other);

/* Means; NaN where no row counts. */
struct probe_means {
    double entropy_nats, entropy_relative;
    double sink, sink_uniform; /* uniform: what uniform attention would give */
    double zeros, degenerate;  /* shares */
};
void probe_mean(const struct probe_sums *sums, struct probe_means *means);

/* Sums of every layer and head of the last forward pass: sums (layers, heads), added to. map, when
 * not NULL: weights (heads, T, T) of `map_layer`. B = 1. A weight that is no number: ORR_EDIVERGED
 * naming layer and head. */
int probe_weights(struct gpt_model *model, int T, struct probe_sums *sums, int map_layer,
                  float *map);

/* ---------------------------------------------------------------------------------- maps */

/* One page of maps: heads first .. first + count - 1 of a layer. */
struct probe_page {
    int layer, first, count, T, window;
    bool has_sign;                   /* weights may be negative: diverging colours, [-0.5, 0.5] */
    const float *map;                /* (count, T, T) */
    const struct probe_means *means; /* (count), for the panels' captions */
    char title[2 * PROBE_TEXT];
};
/* Draws <folder>/<name>.png by gnuplot (figures/attention_map.gp), whole or not at all. Above 256
 * positions a cell of the picture is the largest weight of a block. */
int probe_draw(const struct probe_page *page, const char *folder, const char *name);
/* Draws <folder>/<name>.png by a script of gnuplot, whole or not at all, from what `write`
 * puts into a data file and a file of settings: <stem>.dat and <stem>.set, with the stem as
 * the script's argument, in a working folder that is gone afterwards. `write` may leave alone what
 * writing returns, and neither commits nor closes. */
int probe_picture(const char *folder, const char *name, const char *script,
                  int (*write)(const void *of, struct orr_file *data, struct orr_file *settings),
                  const void *of);
/* Cells (n, n) of the picture of one map (T, T): blocks of `block` positions, the entry of largest
 * size of each; NaN where nothing is attended. n = ceil(T / block). */
void probe_cells(float *cells, const float *map, int T, int block, int window);

/* ----------------------------------------------------------------------------- the probes */

/* attention.csv, attention.json, a picture and an array per layer (docs/probes/attention.md). */
int probe_attention(const struct probe_options *options);
/* Next-state metrics, as trained and changed, to stdout and evaluate.json; of a text model its
 * held-out loss, by default of the same text in sequences of each column's own length. */
int probe_evaluate(const struct probe_options *options);
/* Whether the options change how the model attends. */
bool probe_is_changed(const struct probe_options *options);
/* Of probes that fine-tune: ORR_EUSAGE where the options change it. */
int probe_check_unchanged(const struct probe_options *options);
/* inputs.npy, the rows fed: tokens uint16 or coordinates float32 (sequences, T, 2); outputs.npy,
 * those of the head: float32 (sequences, T, OC). */
int probe_outputs(const struct probe_options *options);
/* linear.csv, linear.json, linear.png: R^2 of ridge readouts of physical quantities from the
 * residual stream, by layer and context. */
int probe_linear(const struct probe_options *options);
/* rollout.csv, rollout.json, rollout.png: errors of a model's own continuation, in place and in
 * constants of the motion, by horizon. */
int probe_rollout(const struct probe_options *options);
/* intervene.csv, intervene.json, intervene.png: whether a quantity that is changed in the residual
 * stream moves the continuation as it moves the orbit. */
int probe_intervene(const struct probe_options *options);

/* Errors, entropy and sinks in sequences of 1 to 16 times the trained length, with and without NTK
 * scaling and under other powers: length.csv, length.json, length.png. */
int probe_length(const struct probe_options *options);

/* How often a model of text finds a key hidden in records of half to 16 times the trained length:
 * passkey.csv, passkey.json, passkey.png. */
int probe_passkey(const struct probe_options *options);

/* Means over seeds of what a probe measured, from its files: a table, <out>/<probe>_seeds.json. */
int probe_seeds(const struct probe_options *options);

/* Label curves and label saving: labels.csv, labels.json, labels.png, and labels_cells.jsonl, which
 * grows meanwhile. */
int probe_labels(const struct probe_options *options);
/* Forces in the outer quarters of r and of m1 m2, learned from labels of the middle half alone:
 * extrapolate.csv, extrapolate.json, and extrapolate_<r|m>_<source>.csv for symbolic regression. */
int probe_extrapolate(const struct probe_options *options);
/* What a line reads about the force in the frozen and in the fine-tuned model, and what that says
 * itself, in the outer quarters of r: adaptation.csv, adaptation.json, and
 * adaptation_<frozen|adapted|output>[_untrained].csv for symbolic regression. */
int probe_adaptation(const struct probe_options *options);
/* The inductive-bias probe: inductive.csv, inductive.json, inductive.png, and
 * inductive_cells.jsonl, which grows meanwhile. */
int probe_inductive(const struct probe_options *options);

/* Errors of next positions of the real planets, whose positions an ephemeris gives, and forces
 * there by the run's vector heads: planets.csv, planets.json, planets.png, and of forces
 * planets_forces.csv and a picture per planet. ORR_EMISSING where libnova was not built in. */
int probe_planets(const struct probe_options *options);

/* Effects of settings, and of two together, on what a probe measured of the cells of a grid:
 * tables, <out>/<probe>_grid.json, and a picture of one figure. */
int probe_grid(const struct probe_options *options);

/* A subcommand of bin/probe. */
struct probe_command {
    const char *name, *purpose; /* as in the command line; as in --help */
    int (*run)(const struct probe_options *options);
    /* Options that not every probe takes, between blanks; --resume: probe_results_there(). */
    const char *takes;
    bool exact;   /* computes matrix products in fp32, never in bf16 */
    bool planets; /* of a run: takes the models of planet runs */
    bool files;   /* takes files of results instead of a model, and no option of models */
};
extern const struct probe_command probe_table[]; /* ended by name == NULL */
bool probe_takes(const struct probe_command *command, const char *option);
/* The probe of that name; of an unknown one, or of NULL, ORR_EUSAGE names all that there are. */
int probe_find(const char *name, const struct probe_command **command);

#endif
