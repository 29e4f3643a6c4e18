/* settings.h - every setting of a run, in one struct.
 *
 * stage/settings_table.c has one row per member: key ("orbits.train"), type, default, range or
 * choices, help. Defaults, --help, --set, validation and the saved preset all come from that table.
 * To add a setting, add a member here and a row there; settings of laws of force are in
 * force_laws.h. */
#ifndef ORR_SETTINGS_H
#define ORR_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "force_laws.h"

enum { ORR_LIST = 64, ORR_NAME = 64 };

/* A list of names ("softmax,lssar"). */
struct orr_name_list {
    int count;
    char item[ORR_LIST][ORR_NAME];
};

/* How masses are drawn. */
enum orr_mass_prior {
    ORR_MASS_STUDY,      /* lognormal star, gamma planets, clamped (Vafa et al. 2025) */
    ORR_MASS_UNIFORM,    /* two bodies, each U(m_min, m_max), independent: either may be lighter */
    ORR_MASS_LOGUNIFORM, /* two bodies, log-uniform in [m_min, m_max] each, independent */
};

enum orr_protocol { ORR_PROTOCOL_VAFA2025, ORR_PROTOCOL_IDENTIFIABLE };
enum orr_encounters { ORR_ENCOUNTERS_ERROR, ORR_ENCOUNTERS_REDRAW };
enum orr_output { ORR_OUTPUT_TOKENS, ORR_OUTPUT_CONTINUOUS };
enum orr_positions { ORR_POSITIONS_LEARNED, ORR_POSITIONS_ROPE, ORR_POSITIONS_NONE };
enum orr_gate { ORR_GATE_NONE, ORR_GATE_SIGMOID, ORR_GATE_SOFTPLUS };
enum orr_schedule {
    ORR_SCHEDULE_CONSTANT,
    ORR_SCHEDULE_COSINE,
    ORR_SCHEDULE_LINEAR,
    ORR_SCHEDULE_INVERSE_SQRT
};
enum orr_recompute { ORR_RECOMPUTE_NONE, ORR_RECOMPUTE_BLOCK };
enum orr_force_loss { ORR_LOSS_RAW, ORR_LOSS_LOG, ORR_LOSS_SCALED };
/* The unit of a planet's force vectors. */
enum orr_vector_scale {
    ORR_VECTOR_LABELLED, /* the largest |F| on its labelled positions */
    ORR_VECTOR_LARGEST,  /* per axis the largest component on all positions (Vafa et al. 2025) */
};
enum orr_precision {
    ORR_PRECISION_AUTO, /* bf16 where it is faster on this machine */
    ORR_PRECISION_FP32,
    ORR_PRECISION_BF16,
    ORR_PRECISION_TF32 /* fp32 where the machine has no TF32 */
};
/* Where to compute. In the command line, auto leaves the choice to the preset; in the preset, auto
 * uses a GPU if there is one. */
enum orr_device { ORR_DEVICE_AUTO, ORR_DEVICE_CPU, ORR_DEVICE_CUDA };
/* The last is a user-defined formula, which a preset cannot choose. */
enum orr_symreg_loss {
    ORR_SR_L1,
    ORR_SR_L2,
    ORR_SR_STUDY,
    ORR_SR_RELATIVE,
    ORR_SR_HUBER,
    ORR_SR_LOGCOSH,
    ORR_SR_QUANTILE,
    ORR_SR_POISSON,
    ORR_SR_GAMMA,
    ORR_SR_BERNOULLI,
    ORR_SR_CUSTOM
};

/* The search for formulas: Orrery's, or SymbolicRegression.jl's. */
enum orr_symreg_algorithm { ORR_SR_ORRERY, ORR_SR_PYSR };

/* Data sets of two-body or many-planet systems. Lengths in AU, times in years, masses in
 * solar masses. */
struct orr_orbits_settings {
    enum orr_protocol protocol;
    enum orr_output output; /* binned token pairs, or coordinates */
    int dimensions;         /* of coordinates: 2, the plane, or 3 */
    long train, val, test;  /* sequences for next-state training */
    long train_files;       /* at most this many training sequences are written; when fewer
                                    than `train`, pretraining streams all of them instead */
    long shard_sequences;   /* larger sets are written as several files of this many sequences; does
                               not affect content, so not in digests */
    long two_body_train, two_body_val, two_body_test; /* sequences with force labels */
    int positions;                                    /* rows of a sequence, the dt row included */
    int bins;                                         /* per axis */
    double extent_au;                                 /* bins cover [-extent, extent] */
    int planets_max;                                  /* N ~ uniform {1..planets_max} */
    double a_min_au, a_max_au;
    double e_alpha, e_beta, e_max; /* e ~ Beta(alpha, beta), redrawn above e_max */
    enum orr_mass_prior mass_prior;
    double m_min, m_max;             /* for uniform and log-uniform priors */
    double dt_yr;                    /* identifiable protocol: the fixed time step */
    double samples_min, samples_max; /* identifiable: orbits outside are redrawn */
    double com_sigma_au;             /* centre of mass ~ N(0, sigma^2) per axis */
    double clockwise;                /* fraction of clockwise orbits */
    int label_from_step; /* first labelled time step (0-based), two-body continuous sets */
    /* Range of separations and of products m1 m2 whose labels magnitudes are fine-tuned on; 0 = no
     * bound. Files hold all labels. */
    double label_r_min, label_r_max, label_m_min, label_m_max;
    bool solar_system; /* also write the solar system */
    enum orr_law law;  /* docs/laws.md */
    /* settings of single laws (force_laws.h) */
#define NUMBER(law, key, ...)  double key;
#define FORMULA(law, key, ...) char key[256];
    ORR_FORCE_LAWS(ORR_SETTINGS_OF_LAW, NUMBER, FORMULA)
#undef NUMBER
#undef FORMULA
    bool nbody;                     /* planets attract each other, the star moves */
    enum orr_encounters encounters; /* close encounters that the integrator cannot resolve */
    long jump_step;                 /* G is multiplied from this step on; 0 = never */
    double jump_factor;
    /* Switches that reproduce published behaviour (docs/formats.md); false = fixed. */
    bool compat_velocity_sign, compat_relative_state, compat_repeated_planets, compat_solar_dt;
};

/* Planet runs: scaled coordinates, for the force-vector task (docs/probes/planets.md). */
struct orr_planets_settings {
    bool enabled;
    long train, val, test;           /* pretraining sequences; test: for the final evaluation */
    int steps;                       /* time steps in a sequence: positions = 1 + 2 steps */
    double samples_min, samples_max; /* orbits with this many samples per period are kept */
    double light_fraction;           /* fraction with m1/m2 log-uniform in light_min..max */
    double light_min, light_max;
    double samples_per_orbit; /* of the planets' own sequences, >= 40 */
    bool eccentric;           /* also four bodies on eccentric orbits */
    int labels;               /* labelled positions per planet */
};

struct orr_model_settings {
    int layers, heads, width, ffn_mult;
    enum orr_positions positions;
    double attention_p;   /* exponent of re-weighting */
    int attention_window; /* 0 = all earlier positions */
    double rope_base;
    double init_std;       /* of the random initial weights */
    enum orr_gate gate;    /* of the attention's output; makes the feed-forward width / 2 smaller */
    int fourier;           /* continuous input: bands of sin/cos features, 0 = none */
    double fourier_min_au; /* shortest wavelength */
    bool tie;              /* text: embedding and head share weights */
    enum orr_precision precision;
    enum orr_device device;       /* where to compute; does not affect content, so not in digests */
    enum orr_recompute recompute; /* in the backward pass; not in digests */
};

/* Trains on text instead of orbits (docs/text.md): bytes, or tokens in shards. */
enum { ORR_PATHS = 256 };
/* The type of tokens in a text file without a header. */
enum orr_tokens { ORR_TOKENS_AUTO, ORR_TOKENS_BYTES, ORR_TOKENS_UINT16, ORR_TOKENS_UINT32 };

struct orr_text_settings {
    char train[ORR_PATHS]; /* files, folders, patterns: a,b,c; "" = orbits */
    char val[ORR_PATHS];   /* "": held out from train */
    int positions;         /* tokens per sequence: positions - 1 inputs, each with its next token */
    double val_fraction;   /* last fraction of train, held out if val is "" */
    int vocab;             /* number of tokens; 256 for bytes */
    enum orr_tokens tokens;
};

/* Which weights a training changes. */
enum orr_trained {
    ORR_TRAINED_ALL,
    ORR_TRAINED_HEAD,       /* the head alone */
    ORR_TRAINED_LAST_BLOCK, /* the last block, the final norm and the head */
};

/* One training stage. */
/* How weights follow from gradients: model/optimizer.c has a row for each. */
enum orr_optimizer { ORR_OPTIMIZER_ADAMW, ORR_OPTIMIZER_MUON, ORR_OPTIMIZERS };

struct orr_train_settings {
    long steps;
    enum orr_trained train;  /* for fine-tuned magnitudes; all other trainings change all weights */
    int batch, accumulation; /* sequences per forward pass; passes per step */
    int micro_batches;       /* pretraining: splits the batch x accumulation sequences of a step
                                into this many equal parts, summed by a tree; 0 = off */
    bool zero;               /* pretraining: ranks share the optimiser's moments; not in digests */
    enum orr_optimizer optimizer;
    double muon_lr, muon_momentum;
    int muon_steps;      /* of Newton-Schulz */
    double lr, lr_final; /* lr_final: final lr as a fraction of lr */
    enum orr_schedule schedule;
    long warmup;
    double weight_decay, beta1, beta2, clip;
    double ema;      /* decay of the averaged weights, 0 = off */
    double noise_au; /* Gaussian noise on continuous inputs */
    double huber;    /* regression: delta of the pseudo-Huber loss, 0 = squared errors */
    long eval_every, checkpoint_every;
    int eval_sequences;
    int keep;        /* step-numbered checkpoints to keep, 0 = none; keep and keep_every are not in
                        digests */
    long keep_every; /* steps between kept checkpoints, 0 = every checkpoint */
    long patience;   /* stop after this many evaluations without improvement, 0 = off; the model is
                        then the best weights, not the last */
    double outlier_sigma;             /* 0 = off */
    int outlier_window, outlier_most; /* window of accepted steps; most steps skipped in a row */
};

struct orr_finetune_settings {
    struct orr_train_settings magnitude, vector;
    enum orr_force_loss magnitude_loss;
    enum orr_vector_scale vector_scale;
    int samples, sample_size;      /* regression samples of held-out positions; no two samples share
                                      a sequence */
    int knn_magnitude, knn_vector; /* neighbours of the nearest-neighbour oracles */
};

struct orr_symreg_settings {
    enum orr_symreg_algorithm algorithm;
    struct orr_name_list binary, unary;
    enum orr_symreg_loss loss;
    double loss_parameter; /* for huber, logcosh, quantile */
    int maxsize, iterations, populations, population_size, cycles;
    int restarts;
    double parsimony;
    double enumerate;                       /* formulas */
    int patience;                           /* epochs */
    double seconds, evaluations, stop_loss; /* stopping criteria, 0 = none */
    struct orr_name_list rules;             /* accuracy, score, best, mdl */
    double constant_tolerance;              /* for the check against the true law's structure */
};

struct orr_settings {
    char name[ORR_NAME]; /* file name without .json */
    char about[256];
    /* The folder of imported tracks, which hold the place of simulated orbits (stage/tracks.h); ""
     * = none. No row of the table: the folder that a program reads decides it. A file has it as
     * "tracks" where it is not empty. */
    char tracks[4096];
    uint64_t seed;
    struct orr_name_list attention; /* variants to train; the untrained baseline has the first */
    struct orr_orbits_settings orbits;
    struct orr_planets_settings planets;
    struct orr_text_settings text;
    struct orr_model_settings model;
    struct orr_train_settings pretrain, pretrain_planets;
    uint64_t planets_own; /* bit k: setting k of pretrain_planets was given itself */
    struct orr_finetune_settings finetune;
    struct orr_symreg_settings symreg;
};

/* A row of the table: what --help, parsing and lists of options are made from. */
enum orr_setting_type {
    ORR_FIELD_INT,
    ORR_FIELD_LONG,
    ORR_FIELD_U64,
    ORR_FIELD_DOUBLE,
    ORR_FIELD_BOOL,
    ORR_FIELD_ENUM,
    ORR_FIELD_TEXT,
    ORR_FIELD_NAMES
};

/* The kinds of artefacts, as bits 1 << kind, whose records exclude a setting, and why. */
struct orr_left_out {
    unsigned kinds;
    const char *reason;
};

struct orr_setting {
    const char *key; /* "pretrain.steps" */
    enum orr_setting_type type;
    size_t offset;       /* in struct orr_settings */
    const char *initial; /* default, as text */
    double min, max;     /* numbers: allowed range, inclusive */
    const char *choices; /* "a|b|c": of an enum in its order; of a list what may be in it */
    const char *help;
    const char *needs;
    struct orr_left_out left_out[3]; /* ended by kinds == 0 */
    /* Came later than files of runs: where it has its default, texts and checksums of all settings
     * are without it, so that those of earlier versions stay as they are. */
    bool later;
};
/* The row of a key; NULL if there is none. */
const struct orr_setting *orr_setting_find(const char *key);

struct cJSON;

/* Sets all defaults of the table. Settings of pretrain_planets, except its steps, follow those of
 * pretrain until a file or an assignment gives them. */
void orr_settings_defaults(struct orr_settings *settings);
/* Loads a preset by NAME ("quick": presets/quick.json, searched in $ORRERY_PRESETS, ./presets and
 * the program's data, base/data.h) or a FILE ending in .json. Starts from the defaults. ORR_EUSAGE
 * for unknown keys, wrong types and values out of range; the message names file, key, expected,
 * found and the nearest key. */
int orr_settings_load(struct orr_settings *settings, const char *name_or_file);
/* Loads settings from a JSON object; `path` names its file in messages. */
int orr_settings_from_json(struct orr_settings *settings, const struct cJSON *json,
                           const char *path);
/* Assigns one setting: "pretrain.steps=500". */
int orr_settings_set(struct orr_settings *settings, const char *assignment);
/* Assigns one setting for a command-line option, which messages name before the key. */
int orr_settings_set_by(struct orr_settings *settings, const char *option, const char *key,
                        const char *value);
/* Whether the data is text: text.train is not empty. */
bool orr_settings_is_text(const struct orr_settings *settings);
/* Whether training sequences are generated on the fly because not all were written to files. */
bool orr_settings_streams(const struct orr_settings *settings);
/* ORR_EUSAGE if the data is text; `needs` says what needs forces ("fine-tuning"). */
int orr_settings_needs_orbits(const struct orr_settings *settings, const char *needs);
/* ORR_EUSAGE for impossible combinations (heads not dividing width, odd head size with RoPE,
 * ...). */
int orr_settings_check(const struct orr_settings *settings);
/* ORR_EUSAGE if the heads do not divide the width, or the head size is odd with rotary
 * positions. */
int orr_heads_check(int width, int heads, enum orr_positions positions);
/* Whether the other settings make a setting ineffective; why: "orbits.law is newton". */
bool orr_settings_unused(const struct orr_settings *settings, const char *key, char why[256]);
/* ORR_EUSAGE if `key` is a setting of another law than orbits.law; the message names `where` it was
 * given, the law, and the law that reads it. 0 for settings that belong to no law. */
int orr_settings_check_law(const struct orr_settings *settings, const char *where, const char *key);
/* orr_settings_check_law() for every setting that differs from its default. */
int orr_settings_check_laws(const struct orr_settings *settings, const char *where);
/* Resets settings that the law does not read to their defaults. */
int orr_settings_drop_laws(struct orr_settings *settings);
/* All settings except the name, as in a preset file; cJSON_Delete() it. */
struct cJSON *orr_settings_json(const struct orr_settings *settings);
/* The key of setting i, in the order of the table; NULL after the last. */
const char *orr_settings_key(int i);
/* A setting as text for --set: numbers in the shortest form that reads back as the same number,
 * lists with commas; "" for an unknown key. */
enum { ORR_SETTING = ORR_LIST * ORR_NAME };
void orr_settings_value(const struct orr_settings *settings, const char *key,
                        char text[ORR_SETTING]);
/* Writes all settings except those that follow others, so that --preset FILE repeats the run. */
int orr_settings_save(const struct orr_settings *settings, const char *path);
/* Whether a key is in one of the groups: "seed,orbits". */
bool orr_settings_in_groups(const char *key, const char *groups);
/* XXH64 of the keys and values of the groups. */
uint64_t orr_settings_checksum(const struct orr_settings *settings, const char *groups);
#endif
