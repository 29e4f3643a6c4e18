/* settings_table.c - every setting, one row each: key and member, type, default, range or choices,
 * help, the conditions under which it has an effect, and the artefacts that exclude it.
 *
 * Defaults are the published study's where it has one (Vafa et al. 2025, the code of the force
 * experiments). A setting has an effect only if all conditions of its row and of its group hold. It
 * is part of the record of every artefact unless its row or its group excludes it for named kinds,
 * with the reason. A new setting therefore belongs to all records: remaking an artefact needlessly
 * costs minutes, but keeping an outdated one gives a wrong result. tests/stage/test_provenance.c
 * declares for every setting what it affects. */
#include "settings_table.h"

#define ROW(member, kind, first)                                                                   \
    .key = #member, .type = ORR_FIELD_##kind, .offset = offsetof(struct orr_settings, member),     \
    .initial = first
#define INT(member, initial, min, max)    ROW(member, INT, initial), min, max, NULL
#define LONG(member, initial, min, max)   ROW(member, LONG, initial), min, max, NULL
#define U64(member, initial, min, max)    ROW(member, U64, initial), min, max, NULL
#define DOUBLE(member, initial, min, max) ROW(member, DOUBLE, initial), min, max, NULL
#define BOOL(member, initial)             ROW(member, BOOL, initial), 0, 0, NULL
#define TEXT(member, initial)             ROW(member, TEXT, initial), 0, 0, NULL
#define NAMES(member, initial, choices)   ROW(member, NAMES, initial), 0, 0, choices
#define ENUM(member, initial, choices)    ROW(member, ENUM, initial), 0, 0, choices

/* the choices of orbits.law, without the first bar, and rows of settings of single laws */
#define LAW_BAR(id, name, help, settings) "|" #name
#define LAW_NAMES                         &(ORR_FORCE_LAWS(LAW_BAR, ORR_NO_FORCE_LAW, ORR_NO_FORCE_LAW))[1]
#define LAW_ROW(law, help)                                                                         \
    "law " #law ": " help, .needs = "orbits.law=" #law, .left_out = {{AFTER_SETS, by_data}}
#define LAW_NUMBER(law, key, initial, least, most, help)                                           \
    {DOUBLE(orbits.key, initial, least, most), LAW_ROW(law, help)},
#define LAW_FORMULA(law, key, initial, help) {TEXT(orbits.key, initial), LAW_ROW(law, help)},
#define LAW_KEY(law, key, ...)               " orbits." #key
#define LAW_TEXTS(id, name, help, settings)  {#name, "" settings, help},
const struct orr_force_law orr_force_laws[ORR_LAWS] = {ORR_FORCE_LAWS(LAW_TEXTS, LAW_KEY, LAW_KEY)};

/* kinds of artefacts, as bits */
#define BIT(kind) (1u << ORR_KIND_##kind)
enum {
    STATES = BIT(STATES),
    PLANETS = BIT(PLANETS),
    SETS = BIT(STATES) | BIT(TWO_BODY) | BIT(SOLAR) | BIT(PLANETS) | BIT(PLANETS_SOLAR),
    RUNS = BIT(PLANETS) | BIT(PLANETS_SOLAR), /* scaled coordinates, separate priors */
    ON_RUNS = BIT(PRETRAIN_PLANETS) | BIT(EVALUATION_PLANETS),
    EVALUATIONS = BIT(EVALUATION) | BIT(EVALUATION_PLANETS),
    TUNED = BIT(MAGNITUDE) | BIT(VECTOR),
    MAGNITUDES = BIT(MAGNITUDE_TRUTH) | BIT(MAGNITUDE_ORACLE) | BIT(MAGNITUDE_MODEL),
    ON_LABELS = BIT(MAGNITUDE) | BIT(MAGNITUDE_ORACLE),
    VECTORS = BIT(VECTOR_TRUTH) | BIT(VECTOR_ORACLE) | BIT(VECTOR_MODEL),
    TABLES = MAGNITUDES | VECTORS,
    LAWS = BIT(LAWS),
    /* the report shows all settings, so none is excluded from it */
    ALL = (BIT(REPORT) - 1),
    AFTER_SETS = ALL & ~SETS,
    AFTER_MODELS = EVALUATIONS | TUNED | TABLES | LAWS,
};

static const char by_data[] = "it matters through the data sets, which are inputs";
static const char not_data[] = "it is no matter of orbits";
static const char other_sets[] = "it is a matter of other data sets";
static const char unlabelled[] = "the set has no states and no labels";
static const char by_model[] = "it matters through the model, which is an input";
static const char other_stage[] = "it is a matter of another stage";
static const char kept_labels[] =
    "files hold all labels; it says which ones magnitudes are learned from";
static const char own_count[] = "each set has its own number of sequences, a fact of its record";
static const char copies[] = "which copies of checkpoints are kept changes none of them";
static const char places[] = "where moments are kept changes none of them";
static const char pauses[] = "where a training is saved changes nothing: it resumes bit for bit";

/* clang-format off */
/* The settings of a training: steps and learning rate, evaluation where there is any (the vector
 * task trains on few, fixed planets in one batch), use of the best weights, and parameters of the
 * loss. */
#define EVALUATED(...) __VA_ARGS__,
#define NEVER_EVALUATED(...)
#define TRAINING(TASK, STEPS, LR, IF_EVALUATED, BEST, HUBER_NEEDS) \
    {LONG(TASK.steps, STEPS, 0, 1e+12), "optimiser steps, 0 = skip the stage"}, \
    IF_EVALUATED({INT(TASK.batch, "64", 1, 1e+06), "sequences per forward pass"}) \
    {INT(TASK.accumulation, "1", 1, 1e+06), "forward passes per optimiser step"}, \
    {DOUBLE(TASK.lr, LR, 1e-12, 1000), "learning rate, after the warm-up"}, \
    {DOUBLE(TASK.lr_final, "0", 0, 1), "final learning rate as a fraction of lr (cosine, linear)", .needs = #TASK ".schedule=cosine|linear"}, \
    {ENUM(TASK.schedule, "constant", "constant|cosine|linear|inverse_sqrt"), "learning-rate schedule"}, \
    {LONG(TASK.warmup, "0", 0, 1e+12), "steps over which the learning rate rises linearly from 0"}, \
    {DOUBLE(TASK.weight_decay, "0.1", 0, 1000), "weight decay of matrices, times the learning rate, per step"}, \
    {DOUBLE(TASK.beta1, "0.9", 0, 0.999999), "AdamW: decay of the first moment per step"}, \
    {DOUBLE(TASK.beta2, "0.95", 0, 0.999999), "AdamW: decay of the second moment per step"}, \
    {DOUBLE(TASK.clip, "1", 0, 1e+09), "largest norm of the whole gradient, larger ones are scaled down; 0 = off"}, \
    {DOUBLE(TASK.ema, "0", 0, 1), "decay per step of the averaged weights, 0 = off"}, \
    {DOUBLE(TASK.huber, "0", 0, 1e+12), "regression: error from which the pseudo-Huber loss grows linearly, in the target's unit; 0 = squared errors", \
     .needs = HUBER_NEEDS}, \
    {DOUBLE(TASK.noise_au, "0", 0, 1e+06), "standard deviation of Gaussian noise on continuous inputs, AU; planet runs: in their scaled unit", .needs = "orbits.output=continuous"}, \
    IF_EVALUATED({LONG(TASK.eval_every, "1000", 0, 1e+12), "steps between evaluations, 0 = at the end only"}) \
    {LONG(TASK.checkpoint_every, "1000", 0, 1e+12), "steps between checkpoints, 0 = at the end only", .left_out = {{ALL, pauses}}}, \
    IF_EVALUATED({INT(TASK.eval_sequences, "256", 1, 1e+09), "held-out sequences per evaluation"}) \
    {INT(TASK.keep, "0", 0, 1000), "number of step-numbered checkpoints kept beside the last and the best one", .left_out = {{ALL, copies}}}, \
    {LONG(TASK.keep_every, "0", 0, 1e+12), "steps between step-numbered checkpoints, 0 = every checkpoint", \
     .needs = #TASK ".keep!=0", .left_out = {{ALL, copies}}}, \
    IF_EVALUATED({LONG(TASK.patience, "0", 0, 1e+12), "evaluations in a row without improvement that end the training, 0 = off; then " BEST ", not the last checkpoint"}) \
    {DOUBLE(TASK.outlier_sigma, "0", 0, 1000), "skips a step whose loss or gradient norm is more than so many standard deviations above the mean of the window, 0 = off"}, \
    {INT(TASK.outlier_window, "100", 8, 1000), "accepted steps in that window; no step is skipped before it is full", \
     .needs = #TASK ".outlier_sigma!=0"}, \
    {INT(TASK.outlier_most, "10", 1, 1000000), "most outliers in a row; one more ends the training with an error", .needs = #TASK ".outlier_sigma!=0"},

#define OPTIMIZER(TASK) \
    {ENUM(TASK.optimizer, "adamw", "adamw|muon"), "adamw for all weights; muon: orthogonalised momentum for the matrices of blocks, AdamW for the rest", \
     .needs = #TASK ".optimizer!=adamw"}, \
    {DOUBLE(TASK.muon_lr, "0.01", 1e-12, 1000), "Muon: learning rate of its matrices, under the schedule and warm-up of lr", .needs = #TASK ".optimizer=muon"}, \
    {DOUBLE(TASK.muon_momentum, "0.95", 0, 0.999999), "Muon: decay of the momentum per step", .needs = #TASK ".optimizer=muon"}, \
    {INT(TASK.muon_steps, "4", 1, 20), "Muon: steps of the Newton-Schulz iteration", .needs = #TASK ".optimizer=muon"},

#define MICRO_BATCHES(TASK) \
    {INT(TASK.micro_batches, "0", 0, 65536), "equal parts of a step's batch x accumulation sequences, whose gradients a fixed tree sums on any number of ranks; 0 = passes in turn", \
     .needs = #TASK ".micro_batches!=0"}, \
    {BOOL(TASK.zero, "false"), "each rank of a job keeps a share of the optimiser's moments (ZeRO-1): the same bits in less memory", \
     .needs = #TASK ".micro_batches!=0", .left_out = {{ALL, places}}},

const struct orr_setting orr_setting_rows[] = {
    {TEXT(about, ""), "what the preset is for", .left_out = {{ALL, "it is a text for readers"}}},
    {U64(seed, "0", 0, 1.8e+19), "seed of every random stream"},
    {NAMES(attention, "softmax,lssar", NULL), "attention variants to train; the untrained baseline has the first",
     .left_out = {{ALL, "models are inputs by name, and their attention is a fact of their record"}}},
    {ENUM(orbits.protocol, "vafa2025", "vafa2025|identifiable"), "vafa2025: a star and its planets; identifiable: two bodies whose masses the motion shows",
     .left_out = {{AFTER_SETS, by_data}, {RUNS, "planet runs have one protocol"}}},
    {ENUM(orbits.output, "tokens", "tokens|continuous"), "what a sequence holds: binned token pairs, or coordinates",
     .left_out = {{AFTER_MODELS & ~TUNED, by_data}}},
    {INT(orbits.dimensions, "2", 2, 3), "dimensions of positions (output continuous); 3: the planes of orbits have random orientations",
     .later = true, .needs = "orbits.dimensions!=2", .left_out = {{AFTER_MODELS & ~TUNED, by_data}}},
    {LONG(orbits.train, "10000000", 0, 1e+12), "sequences that pretraining reads", .left_out = {{ALL, own_count}}},
    {LONG(orbits.val, "300", 0, 1e+12), "validation sequences: for logged losses and the choice of checkpoints", .left_out = {{ALL, own_count}}},
    {LONG(orbits.test, "300", 0, 1e+12), "test sequences: for the final next-state errors, 0 = measured on the validation sequences",
     .left_out = {{ALL, own_count}}},
    {LONG(orbits.train_files, "1000000", 0, 1e+12), "training sequences written to files; if fewer than orbits.train, pretraining simulates all of them as it runs",
     .left_out = {{ALL, "training sees orbits.train sequences, from files or streamed"}}},
    {LONG(orbits.shard_sequences, "200000", 1, 1e+12), "sequences per file; larger sets are written as several files",
     .left_out = {{ALL, "it says how files are cut, not what they hold"}}},
    {LONG(orbits.two_body_train, "10000", 0, 1e+12), "two-body sequences with force labels, for fine-tuning", .left_out = {{ALL, own_count}}},
    {LONG(orbits.two_body_val, "300", 0, 1e+12), "two-body sequences for the logged loss of fine-tuning", .left_out = {{ALL, own_count}}},
    {LONG(orbits.two_body_test, "300", 0, 1e+12), "two-body sequences held out for the results", .left_out = {{ALL, own_count}}},
    {INT(orbits.positions, "1000", 5, 1e+06), "rows of a sequence: one for the time step, then one per body and step",
     .left_out = {{AFTER_MODELS & ~TUNED, by_data}, {RUNS | ON_RUNS, "planets.steps is the length of planet runs"}}},
    {INT(orbits.bins, "7000", 1, 65532), "number of bins per axis",
     .needs = "orbits.output=tokens", .left_out = {{AFTER_MODELS & ~(TUNED | BIT(EVALUATION)), by_data}, {RUNS | ON_RUNS, "planet runs are coordinates"}}},
    {DOUBLE(orbits.extent_au, "50", 1e-09, 1e+09), "bins cover [-extent, extent], AU",
     .needs = "orbits.output=tokens", .left_out = {{AFTER_SETS & ~BIT(EVALUATION), by_data}, {RUNS, "planet runs are coordinates"}}},
    {INT(orbits.planets_max, "10", 1, 10), "planets per system ~ uniform {1..planets_max}",
     .needs = "orbits.protocol=vafa2025", .left_out = {{AFTER_SETS, by_data}, {RUNS, "planet runs have one planet"}}},
    {DOUBLE(orbits.a_min_au, "0.3", 1e-06, 1e+06), "smallest semi-major axis, AU (uniform up to a_max_au)",
     .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.a_max_au, "32", 1e-06, 1e+06), "largest semi-major axis, AU", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.e_alpha, "0.867", 1e-06, 1e+06), "eccentricity ~ Beta(e_alpha, e_beta), redrawn above e_max: first parameter",
     .left_out = {{AFTER_SETS, by_data}}},
    {DOUBLE(orbits.e_beta, "3.03", 1e-06, 1e+06), "second parameter of that Beta distribution of the eccentricity", .left_out = {{AFTER_SETS, by_data}}},
    {DOUBLE(orbits.e_max, "0.999", 0, 1), "largest eccentricity, below 1", .left_out = {{AFTER_SETS, by_data}}},
    {ENUM(orbits.mass_prior, "study", "study|uniform|loguniform"), "study: fit to known exoplanets; else two independent masses in [m_min, m_max]",
     .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.m_min, "0.1", 0, 1e+06), "smallest mass, solar masses, above 0: there are no massless test particles",
     .needs = "orbits.mass_prior!=study", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.m_max, "3", 1e-12, 1e+06), "largest mass, solar masses",
     .needs = "orbits.mass_prior!=study", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.dt_yr, "0.04", 1e-09, 1e+06), "protocol identifiable: time step, years",
     .needs = "orbits.protocol=identifiable", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.samples_min, "10", 2, 1e+09), "protocol identifiable: fewest time steps per orbit; orbits with fewer are drawn again",
     .needs = "orbits.protocol=identifiable", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.samples_max, "60", 2, 1e+09), "protocol identifiable: most time steps per orbit",
     .needs = "orbits.protocol=identifiable", .left_out = {{AFTER_SETS, by_data}, {RUNS, other_sets}}},
    {DOUBLE(orbits.com_sigma_au, "1", 0, 1e+06), "standard deviation of the centre of mass per axis, AU", .left_out = {{AFTER_SETS, by_data}}},
    {DOUBLE(orbits.clockwise, "0", 0, 1), "probability of an orbit to be clockwise",
     .needs = "orbits.clockwise!=0", .left_out = {{AFTER_SETS, by_data}}},
    {INT(orbits.label_from_step, "8", 0, 1e+06), "continuous sets: first time step with a force label, from 0",
     .needs = "orbits.output=continuous", .left_out = {{STATES | PLANETS, unlabelled}, {AFTER_SETS, by_data}}},
    {DOUBLE(orbits.label_r_min, "0", 0, 1e+09), "smallest separation r of the labels that magnitudes are trained on, AU, 0 = no bound; files hold all labels",
     .left_out = {{ALL & ~ON_LABELS, kept_labels}}},
    {DOUBLE(orbits.label_r_max, "0", 0, 1e+09), "largest separation r of these labels, AU, 0 = no bound", .left_out = {{ALL & ~ON_LABELS, kept_labels}}},
    {DOUBLE(orbits.label_m_min, "0", 0, 1e+12), "smallest m1 m2 of these labels, solar masses squared, 0 = no bound",
     .left_out = {{ALL & ~ON_LABELS, kept_labels}}},
    {DOUBLE(orbits.label_m_max, "0", 0, 1e+12), "largest m1 m2 of these labels, solar masses squared, 0 = no bound", .left_out = {{ALL & ~ON_LABELS, kept_labels}}},
    {BOOL(orbits.solar_system, "true"), "whether the solar system is written, too (output tokens)",
     .needs = "orbits.output=tokens", .left_out = {{ALL, "it says whether there is such a set, not what it holds"}}},
    {ENUM(orbits.law, "newton", LAW_NAMES), "force law (docs/laws.md)",
     .left_out = {{AFTER_SETS, by_data}}},
    ORR_FORCE_LAWS(ORR_SETTINGS_OF_LAW, LAW_NUMBER, LAW_FORMULA)
    {BOOL(orbits.nbody, "false"), "all bodies attract each other and the star moves", .left_out = {{AFTER_SETS, by_data}}},
    {ENUM(orbits.encounters, "error", "error|redraw"), "planets that meet under nbody: stop with an error, or draw the system again",
     .needs = "orbits.encounters=redraw,orbits.nbody=true", .left_out = {{AFTER_SETS, by_data}}},
    {LONG(orbits.jump_step, "0", 0, 1e+09), "time step from which G is multiplied by jump_factor, 0 = never",
     .needs = "orbits.jump_factor!=1,orbits.jump_step!=0", .left_out = {{AFTER_SETS, by_data}}},
    {DOUBLE(orbits.jump_factor, "1", 1e-09, 1e+09), "factor of G from jump_step on",
     .needs = "orbits.jump_step!=0,orbits.jump_factor!=1", .left_out = {{AFTER_SETS, by_data}}},
    {BOOL(orbits.compat_velocity_sign, "false"), "published defect: radial velocity of stored states flipped",
     .left_out = {{STATES | PLANETS, unlabelled}, {AFTER_SETS, by_data}}},
    {BOOL(orbits.compat_relative_state, "false"), "published defect: stored positions relative to the sun's first position",
     .left_out = {{STATES | PLANETS, unlabelled}, {AFTER_SETS, by_data}}},
    {BOOL(orbits.compat_repeated_planets, "false"), "published defect: planets 6 to 10 of a system are planets 1 to 5 of the next",
     .needs = "orbits.protocol=vafa2025", .left_out = {{AFTER_SETS, by_data}, {RUNS, "planet runs have one planet"}}},
    {BOOL(orbits.compat_solar_dt, "false"), "published defect: two-body planets every 180 days, Mercury 0.5 times per orbit",
     .needs = "orbits.output=tokens", .left_out = {{AFTER_SETS, by_data}}},
    {BOOL(planets.enabled, "false"), "whether there are planet runs (scaled coordinates), which the force-vector task uses",
     .left_out = {{ALL, "it says whether there are such sets, not what they hold"}}},
    {LONG(planets.train, "0", 0, 1e+12), "planet-run training sequences", .left_out = {{ALL, own_count}}},
    {LONG(planets.val, "0", 0, 1e+12), "planet-run validation sequences", .left_out = {{ALL, own_count}}},
    {LONG(planets.test, "0", 0, 1e+12), "planet-run test sequences, 0 = measured on the validation sequences", .left_out = {{ALL, own_count}}},
    {INT(planets.steps, "48", 4, 1e+06), "time steps of a planet run",
     .left_out = {{ALL & ~(RUNS | BIT(PRETRAIN_PLANETS) | BIT(VECTOR)), by_data}}},
    {DOUBLE(planets.samples_min, "10", 2, 1e+09), "fewest time steps per orbit; orbits with fewer are drawn again",
     .left_out = {{AFTER_SETS | BIT(PLANETS_SOLAR), by_data}}},
    {DOUBLE(planets.samples_max, "60", 2, 1e+09), "most time steps per orbit", .left_out = {{AFTER_SETS | BIT(PLANETS_SOLAR), by_data}}},
    {DOUBLE(planets.light_fraction, "0.5", 0, 1), "fraction of the sequences that have a light planet",
     .left_out = {{AFTER_SETS | BIT(PLANETS_SOLAR), by_data}}},
    {DOUBLE(planets.light_min, "1e-7", 0, 1), "smallest m1/m2 of light planets (log-uniform up to light_max)",
     .left_out = {{AFTER_SETS | BIT(PLANETS_SOLAR), by_data}}},
    {DOUBLE(planets.light_max, "1e-2", 1e-15, 1), "largest m1/m2 of light planets", .left_out = {{AFTER_SETS | BIT(PLANETS_SOLAR), by_data}}},
    {DOUBLE(planets.samples_per_orbit, "40", 40, 1e+06), "time steps per orbit of the sequences of the real planets", .left_out = {{AFTER_SETS | PLANETS, by_data}}},
    {BOOL(planets.eccentric, "false"), "whether Pluto, Icarus, Encke and Halley (eccentricities of 0.25 to 0.97) are added to the planets",
     .left_out = {{ALL & ~(BIT(VECTOR) | VECTORS), own_count}}},
    {INT(planets.labels, "10", 1, 1e+06), "positions with a force label per planet",
     .needs = ORR_ALWAYS, .left_out = {{ALL & ~(BIT(VECTOR) | VECTORS), other_stage}}},
    {TEXT(text.train, ""), "text to train on instead of orbits: files, folders, patterns, with commas between",
     .left_out = {{ALL, "the text is an input by its content"}}},
    {TEXT(text.val, ""), "held-out text; if empty, the last part of text.train", .left_out = {{ALL, "the text is an input by its content"}}},
    {INT(text.positions, "257", 3, 1e+06), "tokens of a sequence: positions - 1 inputs, each with the next token as its target"},
    {DOUBLE(text.val_fraction, "0.1", 0, 0.9), "fraction of text.train that is held out when text.val is empty, 0 = none", .needs = "text.val="},
    {INT(text.vocab, "50257", 2, 65536), "size of the vocabulary of tokens (bytes: always 256)"},
    {ENUM(text.tokens, "auto", "auto|bytes|uint16|uint32"), "what files without a header hold: bytes, or tokens (nanoGPT's .bin: uint16); bytes: all files",
     .left_out = {{ALL, "the text is an input by its content"}}},
    {INT(model.layers, "12", 1, 1000), "number of transformer blocks"},
    {INT(model.heads, "12", 1, 1000), "number of attention heads, a divisor of width"},
    {INT(model.width, "768", 1, 1e+06), "number of channels"},
    {INT(model.ffn_mult, "4", 1, 100), "feed-forward width / width"},
    {ENUM(model.positions, "learned", "learned|rope|none"), "position encoding"},
    {DOUBLE(model.attention_p, "15", 1, 1000), "power p of the re-weighted variants"},
    {INT(model.attention_window, "0", 0, 1e+09), "number of positions that a row attends to, 0 = all earlier ones"},
    {DOUBLE(model.rope_base, "10000", 1, 1e+12), "base of the rotary position encoding", .needs = "model.positions=rope"},
    {DOUBLE(model.init_std, "0.02", 1e-6, 100), "standard deviation of the random weights of blocks; divided by sqrt(2 layers) for those that add to the residual stream"},
    {ENUM(model.gate, "none", "none|sigmoid|softplus"), "output gate of attention; with one the feed-forward width is (ffn_mult - 1/2) width"},
    {INT(model.fourier, "0", 0, 24), "continuous input: number of bands of sin/cos features, 0 = none", .needs = "orbits.output=continuous"},
    {DOUBLE(model.fourier_min_au, "0.25", 1e-09, 1e+09), "shortest wavelength of these features, AU, doubled from band to band", .needs = "model.fourier!=0"},
    {BOOL(model.tie, "true"), "text: whether the head has the embedding's weights",
     .needs = "text.train!=", .left_out = {{ALL & ~BIT(PRETRAIN), not_data}}},
    {ENUM(model.precision, "auto", "auto|fp32|bf16|tf32"), "number format of matrix products"},
    {ENUM(model.device, "cpu", "auto|cpu|cuda"), "where to compute, unless --device says; auto: on a GPU where there is one",
     .left_out = {{ALL, "a training may continue on another device; model.precision is part of records"}}},
    {ENUM(model.recompute, "none", "none|block"), "block: stores only the inputs of blocks and computes each block again in the backward pass: less memory, the same bits",
     .left_out = {{ALL, "it gives the same bits in less memory"}}},
    TRAINING(pretrain, "600000", "0.0006", EVALUATED, "best.safetensors is evaluated and fine-tuned", "orbits.output=continuous")
    OPTIMIZER(pretrain)
    MICRO_BATCHES(pretrain)
    TRAINING(pretrain_planets, "0", "0.0006", EVALUATED, "best.safetensors is evaluated and fine-tuned", NULL)
    OPTIMIZER(pretrain_planets)
    MICRO_BATCHES(pretrain_planets)
    {ENUM(finetune.magnitude_loss, "log", "raw|log|scaled"), "what the magnitude head predicts",
     .needs = "finetune.magnitude.steps!=0", .left_out = {{ALL & ~BIT(MAGNITUDE), by_model}}},
    {ENUM(finetune.vector_scale, "labelled", "labelled|largest"), "unit of a planet's force vectors: its largest labelled force; largest (published defect): per axis, held-out positions included",
     .left_out = {{ALL & ~(BIT(VECTOR) | VECTORS), other_stage}}},
    {INT(finetune.samples, "5", 1, 1000), "number of samples for symbolic regression; no two share a sequence of two_body_test",
     .left_out = {{ALL & ~MAGNITUDES, other_stage}}},
    {INT(finetune.sample_size, "1000", 2, 1e+07), "held-out positions per sample", .left_out = {{ALL & ~MAGNITUDES, other_stage}}},
    {INT(finetune.knn_magnitude, "2", 1, 64), "neighbours (k) of the magnitude oracle",
     .left_out = {{ALL & ~BIT(MAGNITUDE_ORACLE), other_stage}}},
    {INT(finetune.knn_vector, "5", 1, 64), "neighbours (k) of the vector oracle", .left_out = {{ALL & ~BIT(VECTOR_ORACLE), other_stage}}},
    TRAINING(finetune.magnitude, "10000", "0.0006", EVALUATED, "magnitude_best.safetensors predicts", NULL)
    OPTIMIZER(finetune.magnitude)
    {ENUM(finetune.magnitude.train, "all", "all|head|last_block"), "weights that fine-tuning changes: all, the new head, or last block, final norm and head"},
    TRAINING(finetune.vector, "10000", "0.0002", NEVER_EVALUATED, "", NULL)
    OPTIMIZER(finetune.vector)
    {ENUM(symreg.algorithm, "orrery", "orrery|pysr"), "search: Orrery's, or that of SymbolicRegression.jl (PySR)"},
    {NAMES(symreg.binary, "+,*", "+|-|*|/|^|min|max|hypot|atan2|mod|greater|cond|true_anomaly|eccentric_anomaly"),
     "binary operators"},
    {NAMES(symreg.unary, "sin,cos,exp,inv", "neg|inv|square|cube|sqrt|abs|exp|log|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|sign|cbrt|log10|floor|round"), "unary operators"},
    {ENUM(symreg.loss, "study", "l1|l2|study|relative|huber|logcosh|quantile|poisson|gamma|bernoulli"), "loss of a formula"},
    {DOUBLE(symreg.loss_parameter, "0", 0, 1e+12), "huber, logcosh: where the loss turns linear, in units of median |y|, 0: by the scatter of the residuals; quantile: which quantile, 0: the median",
     .needs = "symreg.loss=huber|logcosh|quantile"},
    {INT(symreg.maxsize, "20", 1, 64), "largest complexity of a formula"},
    {INT(symreg.iterations, "100", 0, 1e+09), "epochs of the island search"},
    {INT(symreg.populations, "31", 1, 10000), "number of islands"},
    {INT(symreg.population_size, "27", 2, 100000), "members per island"},
    {INT(symreg.cycles, "380", 1, 1e+09), "pairs of events (mutation or crossover) per island and epoch"},
    {INT(symreg.restarts, "3", 1, 1000), "independent searches per sample"},
    {DOUBLE(symreg.parsimony, "0", 0, 1e+09), "cost of each node of a formula"},
    {DOUBLE(symreg.enumerate, "500000", 0, 1e+09), "most small formulas that are enumerated before the islands start",
     .needs = "symreg.algorithm=orrery"},
    {INT(symreg.patience, "20", 0, 1e+09), "epochs in a row in which no formula of the front improves by 1%, after which a search ends, 0 = off",
     .needs = "symreg.algorithm=orrery"},
    {DOUBLE(symreg.seconds, "0", 0, 1e+09), "time limit of a search, seconds, 0 = none"},
    {DOUBLE(symreg.evaluations, "0", 0, 1e+18), "limit of evaluated formulas, 0 = none"},
    {DOUBLE(symreg.stop_loss, "0", 0, 1e+300), "loss at which a search ends, 0 = at an exact formula"},
    {NAMES(symreg.rules, "accuracy,score,best", "accuracy|score|best|mdl"), "selection rules to report"},
    {DOUBLE(symreg.constant_tolerance, "0.001", 1e-12, 1), "relative spread of k up to which a formula counts as k times the run's law"},
    {0},
};

/* The conditions on all settings of a group (except on the needed setting itself), and the kinds
 * that exclude them. */
const struct orr_setting_group orr_setting_groups[] = {
    {"orbits.", .needs = "text.train="},
    {"planets.", .needs = "planets.enabled=true", .left_out = {{SETS & ~RUNS, other_sets}}},
    {"text.", .needs = "text.train!=", .left_out = {{ALL & ~BIT(PRETRAIN), not_data}}},
    {"model.", .left_out = {{SETS, not_data}, {EVALUATIONS | TABLES | LAWS, by_model}}},
    {"pretrain.", .needs = "pretrain.steps!=0", .left_out = {{ALL & ~BIT(PRETRAIN), by_model}}},
    {"pretrain_planets.", .needs = "planets.enabled=true,pretrain_planets.steps!=0",
     .left_out = {{ALL & ~BIT(PRETRAIN_PLANETS), by_model}}},
    {"finetune.magnitude.", .needs = "finetune.magnitude.steps!=0",
     .left_out = {{ALL & ~BIT(MAGNITUDE), by_model}}},
    {"finetune.vector.", .needs = "finetune.vector.steps!=0",
     .left_out = {{ALL & ~BIT(VECTOR), by_model}}},
    {"symreg.", .left_out = {{ALL & ~LAWS, other_stage}}},
    {0},
};
