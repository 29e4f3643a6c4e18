/* probe.h - bin/probe: probes of trained models (docs/probe.md).
 *
 * A probe opens a checkpoint of any stage of a run, may change its attention (model/gpt.h, struct
 * gpt_attention_override), and feeds it held-out sequences of the validation split, or of the test
 * split for final results. The sequences are read from the run's files or generated from the seed,
 * which gives equal sequences; longer ones are always generated. A text model is fed held-out text,
 * cut into sequences of the requested length.
 *
 * Layers and heads count from 0, as in the names of parameters ("block.0.attention"). Positions i
 * (query) and j (key) count from 1, as in the equations (docs/probes/attention.md). */
#ifndef PROBE_H
#define PROBE_H

#include "base/base.h"
#include "model/gpt.h"

struct probe_answers;

struct probe_options {
    const struct orr_settings *settings;
    const struct k_ops *ops; /* opened by the caller */
    const char *checkpoint;
    const char *run;    /* the run of the checkpoint; "": unknown */
    const char *orbits; /* data files to use; "": the run's, if they fit */
    const char *out;    /* folder for results; "": see probe_folder() */
    int layer, head;    /* layer and head whose maps are drawn; -1: all */
    int sequences;      /* 0: the probe's default */
    int length;         /* positions fed; 0: as trained */
    bool final;         /* use gpt_final_split(), on which nothing was selected */
    /* change of attention; all zero except context: as trained */
    struct gpt_attention_override change;
    int steps, draws;  /* steps of fine-tuning and number of data sets; 0: the default */
    bool no_untrained; /* labels, extrapolate: leave the untrained model out */
    const char *sizes; /* numbers of labelled sequences; NULL: the default */
    bool resume;       /* keep existing results with an equal key */
    bool quiet;
    /* no checkpoint is opened: probe_export() needs none, and answers stand for one */
    bool no_model;
    /* What a model of another program answered (probe/core/answers.h), and its untrained twin;
     * NULL: a checkpoint is probed, and there is no twin. */
    const struct probe_answers *answers, *twin;
    bool planet_runs;                               /* no_model: the model is one of planet runs */
    const char *answers_list, *twins_list, *judged; /* of judge: DIR,DIR, DIR,DIR, NAME,NAME; "" */
    bool no_table;                                  /* results are not printed */
    const char *exported; /* of answer: the folder of the export; "": the run's */
};

/* A model with its data. It contains pointers into itself and must not be copied. */
struct probe {
    struct orr_settings settings; /* settings of the data, with positions and counts adapted */
    struct gpt_model model;       /* averaged weights where the checkpoint has them */
    struct gpt_config trained;    /* configuration before the change */
    char stage[ORR_NAME];  /* stage of training: pretrain, pretrain_planets, magnitude, vector */
    char source[ORR_NAME]; /* as in file names: the variant, or "untrained" */
    enum sim_split split;
    struct gpt_source *data;
    bool from_files;
    int sequences, T; /* fed: sequences 0 .. sequences - 1, rows 0 .. T - 1 of each */
};
/* Opens checkpoint and data; of answers the data alone, and a model that has a shape but no
 * weights. sequences: 0 for the number in the stage's own evaluation. changed:
 * applies options->change and options->length. ORR_EMISSING or ORR_EINVAL where the checkpoint is
 * missing or does not fit the preset's kind of data; ORR_EUSAGE where the change does not apply.
 * Close the probe after an error, too. */
int probe_open(struct probe *probe, const struct probe_options *options, bool changed,
               int sequences);
void probe_close(struct probe *probe);
/* For a probe that varies the length itself (`range` of the trained one, with and without NTK):
 * ORR_EUSAGE where the options set a length, ORR_EINVAL where learned positions end. */
int probe_check_lengths(const struct probe *probe, const struct probe_options *options,
                        const char *name, const char *range);
/* The untrained baseline: the same shape with the random weights of the preset's seed. Call
 * gpt_free(). */
int probe_baseline(const struct probe *probe, const struct probe_options *options,
                   struct gpt_model *baseline);
/* A copy that may be trained: the weights of the probed model, or the random ones of its baseline.
 * Call gpt_free(). */
int probe_copy(const struct probe *probe, const struct probe_options *options, bool random,
               struct gpt_model *model);
/* Fills the batch (B = 1) with the inputs of sequence i. */
int probe_fill(struct probe *probe, uint64_t i, struct gpt_batch *batch);
/* The folder for results: options->out, else <run>/<source>/probe for pretrained models and
 * <run>/<source>/probe_<stage> for others, else (no run, or answers) the folder "probe" next to the
 * checkpoint or in the folder of answers. */
int probe_folder(const struct probe *probe, const struct probe_options *options, char folder[4096]);
/* Locks the folder for writing; waits for a probe that holds the lock. Call orr_unlock(). */
int probe_lock(const char *folder, int *lock);
/* A description such as "lssar, p = 15, window 8". */
enum { PROBE_TEXT = 160 };
void probe_describe(const struct gpt_model *model, char text[PROBE_TEXT]);

/* ------------------------------------------------------------------- statistics of weights */

/* Sums over rows of weights; zero-initialise, add rows, read the means. Sums may be merged in any
 * grouping that keeps the order. Row i attends n_i = min(i, window) keys; S_i = sum_j |A_ij|. A row
 * with S_i = 0 is degenerate and counts only in `rows` and `degenerate`. */
struct probe_sums {
    long rows, degenerate;
    long entries, zeros;       /* attended entries of rows that are not degenerate; exact zeros */
    long entropy_rows;         /* not degenerate, n_i > 1 */
    double entropy, relative;  /* H_i = -sum_j p ln p, p = |A_ij| / S_i; H_i / ln n_i */
    long sink_rows;            /* not degenerate, 1 < i <= window: rows that attend position 1 */
    double sink, sink_uniform; /* |A_i1| / S_i; 1 / n_i */
};
/* Adds weights (rows, T): rows first .. first + rows - 1 (from 0) of one head; window 0: none. */
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

/* Adds the sums of every layer and head of the last forward pass to sums (layers, heads). map, if
 * not NULL: weights (heads, T, T) of `map_layer`. B = 1. ORR_EDIVERGED, naming layer and head,
 * where a weight is NaN. */
int probe_weights(struct gpt_model *model, int T, struct probe_sums *sums, int map_layer,
                  float *map);

/* ---------------------------------------------------------------------------------- maps */

/* One page of maps: heads first .. first + count - 1 of a layer. */
struct probe_page {
    int layer, first, count, T, window;
    bool has_sign;                   /* weights may be negative: diverging colours, [-0.5, 0.5] */
    const float *map;                /* (count, T, T) */
    const struct probe_means *means; /* (count) for the panels' captions */
    char title[2 * PROBE_TEXT];
};
/* Draws <folder>/<name>.png by gnuplot (figures/attention_map.gp), atomically. Above 256 positions
 * a cell of the picture is the largest weight of a block. */
int probe_draw(const struct probe_page *page, const char *folder, const char *name);
/* Cells (n, n) of the picture of one map (T, T): for each block of `block` positions the entry of
 * largest absolute value; NaN where nothing is attended. n = ceil(T / block). */
void probe_cells(float *cells, const float *map, int T, int block, int window);

/* ----------------------------------------------------------------------------- the probes */

/* Writes attention.csv, attention.json, and a picture and an array per layer
 * (docs/probes/attention.md). */
int probe_attention(const struct probe_options *options);
/* Prints next-state metrics, as trained and changed, and writes evaluate.json. For a text model:
 * its held-out loss, by default on the same text in sequences of each column's own length. */
int probe_evaluate(const struct probe_options *options);
/* Whether the options change how the model attends. */
bool probe_is_changed(const struct probe_options *options);
/* For probes that fine-tune: ORR_EUSAGE where the options change the attention. */
int probe_check_unchanged(const struct probe_options *options);
/* Writes inputs.npy, the rows fed: tokens uint16 or coordinates float32 (sequences, T, 2); and
 * outputs.npy, the head's outputs: float32 (sequences, T, OC). */
int probe_outputs(const struct probe_options *options);
/* Writes linear.csv, linear.json, linear.png: R^2 of ridge readouts of physical quantities from the
 * residual stream, by layer and context. */
int probe_linear(const struct probe_options *options);
/* Writes rollout.csv, rollout.json, rollout.png: errors of autoregressive rollouts, in position and
 * in constants of the motion, by horizon. */
int probe_rollout(const struct probe_options *options);
/* Writes intervene.csv, intervene.json, intervene.png: whether changing a quantity in the residual
 * stream moves the continuation as it moves the orbit. */
int probe_intervene(const struct probe_options *options);

/* Writes length.csv, length.json, length.png: errors, entropy and sinks in sequences of 1 to 16
 * times the trained length, with and without NTK scaling and under other powers. */
int probe_length(const struct probe_options *options);

/* Writes passkey.csv, passkey.json, passkey.png: how often a text model retrieves a key hidden in
 * records of half to 16 times the trained length. */
int probe_passkey(const struct probe_options *options);

/* Writes the orbit lab with the networks of options->run into the file options->out, by default
 * <run>/lab.html. */
int probe_lab(const struct probe_options *options);

/* Writes label curves and label savings: labels.csv, labels.json, labels.png; labels_cells.jsonl
 * grows while it runs. */
int probe_labels(const struct probe_options *options);
/* Writes forces in the outer quarters of r and of m1 m2, learned from labels of the middle half
 * alone: extrapolate.csv, extrapolate.json, and extrapolate_<r|m>_<source>.csv for symbolic
 * regression. */
int probe_extrapolate(const struct probe_options *options);
/* Writes linear readouts of the force from the frozen and the fine-tuned model, and the fine-tuned
 * model's own output, in the outer quarters of r: adaptation.csv, adaptation.json, and
 * adaptation_<frozen|adapted|output>[_untrained].csv for symbolic regression. */
int probe_adaptation(const struct probe_options *options);
/* Writes the inductive-bias probe: inductive.csv, inductive.json, inductive.png;
 * inductive_cells.jsonl grows while it runs. */
int probe_inductive(const struct probe_options *options);

/* Writes errors of next positions of the real planets (from an ephemeris), and forces there
 * predicted by the run's vector heads: planets.csv, planets.json, planets.png; for forces
 * planets_forces.csv and a picture per planet. ORR_EMISSING where libnova is not built in. */
int probe_planets(const struct probe_options *options);
/* Writes tracks of the real planets and the Sun in space, in AU, Gaussian years after J2000 and
 * solar masses: planets.steps steps, planets.samples_per_orbit of an orbit, real_planets.csv in
 * --out. ORR_EMISSING where libnova is not built in. */
int probe_ephemeris(const struct probe_options *options);

/* Writes what a model of another program is asked: inputs, rows to predict forces at, and
 * export.json (docs/exchange.md). */
int probe_export(const struct probe_options *options);
/* Answers an export with a checkpoint of the run, and with its untrained baseline: the files that a
 * model of another program would write. */
int probe_answer(const struct probe_options *options);
/* Runs all probes that answers allow, and writes the card of the model: card.md and card.json. */
int probe_judge(const struct probe_options *options);

/* A subcommand of bin/probe. */
struct probe_command {
    const char *name, *purpose; /* subcommand; text of --help */
    int (*run)(const struct probe_options *options);
    /* Options that not every probe takes, "--layer,--head" (stage/cli.h); for --resume see
     * probe_results_there(). */
    const char *takes;
    bool exact;          /* computes matrix products in fp32, never in bf16 */
    bool planets;        /* with a run: takes the models of planet runs */
    const char *program; /* the program that does it now, in place of `run`; NULL: this one */
    bool judges;         /* runs other probes */
    bool no_model;       /* takes the settings of a run, and no model */
    bool states;         /* needs states, forces or longer sequences, which imported tracks lack */
    const char *about, *usage, *usual; /* of its own --help (stage/cli.h); NULL: that of all */
};
extern const struct probe_command probe_table[]; /* ends with name == NULL */
/* Finds a probe by name. An unknown name, or NULL, is ORR_EUSAGE; the message lists all probes. */
int probe_find(const char *name, const struct probe_command **command);

#endif
