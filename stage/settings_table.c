/* settings_table.c - every setting: key, type, place, default, range or choices, help.
 * Defaults are the published study's where it has one (spec of the study, section 1). */
#include "settings_table.h"

#define AT(member) offsetof(struct orr_preset, member)

/* clang-format off */
/* The settings of a training, as a task has them: its steps and learning rate, those of evaluations
 * where it has any (the planets that the vector task trains on are few, fixed and fed together), and
 * what becomes of its best weights. */
#define EVALUATED(...) __VA_ARGS__,
#define NEVER_EVALUATED(...)
#define TRAINING(TASK, STEPS, LR, IF_EVALUATED, BEST) \
    {#TASK ".steps", ORR_FIELD_LONG, AT(TASK.steps), STEPS, 0, 1e+12, NULL, "optimiser steps, 0 = skip the stage"}, \
    IF_EVALUATED({#TASK ".batch", ORR_FIELD_INT, AT(TASK.batch), "64", 1, 1e+06, NULL, "sequences per pass"}) \
    {#TASK ".accumulation", ORR_FIELD_INT, AT(TASK.accumulation), "1", 1, 1e+06, NULL, "passes per step"}, \
    {#TASK ".lr", ORR_FIELD_DOUBLE, AT(TASK.lr), LR, 1e-12, 1000, NULL, "learning rate"}, \
    {#TASK ".lr_final", ORR_FIELD_DOUBLE, AT(TASK.lr_final), "0", 0, 1, NULL, "share of lr at the end of a cosine or line"}, \
    {#TASK ".schedule", ORR_FIELD_ENUM, AT(TASK.schedule), "constant", 0, 0, "constant|cosine|linear|inverse_sqrt", "learning-rate schedule"}, \
    {#TASK ".warmup", ORR_FIELD_LONG, AT(TASK.warmup), "0", 0, 1e+12, NULL, "steps of linear warm-up"}, \
    {#TASK ".weight_decay", ORR_FIELD_DOUBLE, AT(TASK.weight_decay), "0.1", 0, 1000, NULL, "AdamW decay of matrices"}, \
    {#TASK ".beta1", ORR_FIELD_DOUBLE, AT(TASK.beta1), "0.9", 0, 0.999999, NULL, "AdamW"}, \
    {#TASK ".beta2", ORR_FIELD_DOUBLE, AT(TASK.beta2), "0.95", 0, 0.999999, NULL, "AdamW"}, \
    {#TASK ".clip", ORR_FIELD_DOUBLE, AT(TASK.clip), "1", 0, 1e+09, NULL, "global gradient norm, 0 = off"}, \
    {#TASK ".ema", ORR_FIELD_DOUBLE, AT(TASK.ema), "0", 0, 1, NULL, "decay of the averaged weights, 0 = off"}, \
    {#TASK ".huber", ORR_FIELD_DOUBLE, AT(TASK.huber), "0", 0, 1e+12, NULL, "regression: distance from which errors count by size, not by square (pseudo-Huber loss), in the target's unit; 0 = squared errors"}, \
    {#TASK ".noise_au", ORR_FIELD_DOUBLE, AT(TASK.noise_au), "0", 0, 1e+06, NULL, "Gaussian noise on continuous inputs"}, \
    IF_EVALUATED({#TASK ".eval_every", ORR_FIELD_LONG, AT(TASK.eval_every), "1000", 0, 1e+12, NULL, "steps between evaluations, 0 = at the end"}) \
    {#TASK ".checkpoint_every", ORR_FIELD_LONG, AT(TASK.checkpoint_every), "1000", 0, 1e+12, NULL, "steps between checkpoints, 0 = at the end"}, \
    IF_EVALUATED({#TASK ".eval_sequences", ORR_FIELD_INT, AT(TASK.eval_sequences), "256", 1, 1e+09, NULL, "held-out sequences per evaluation"}) \
    {#TASK ".keep", ORR_FIELD_INT, AT(TASK.keep), "0", 0, 1000, NULL, "step-numbered checkpoints kept beside the last and the best one"}, \
    {#TASK ".keep_every", ORR_FIELD_LONG, AT(TASK.keep_every), "0", 0, 1e+12, NULL, "steps between step-numbered checkpoints, 0 = every checkpoint"}, \
    IF_EVALUATED({#TASK ".patience", ORR_FIELD_LONG, AT(TASK.patience), "0", 0, 1e+12, NULL, "ends after so many evaluations without a better one, 0 = never; then " BEST ", not the last"}) \
    {#TASK ".outlier_sigma", ORR_FIELD_DOUBLE, AT(TASK.outlier_sigma), "0", 0, 1000, NULL, "skips steps whose loss or gradient norm is so many standard deviations above the mean of the window, 0 = off"}, \
    {#TASK ".outlier_window", ORR_FIELD_INT, AT(TASK.outlier_window), "100", 8, 1000, NULL, "accepted steps that mean and deviation are of; none is skipped before so many"}, \
    {#TASK ".outlier_most", ORR_FIELD_INT, AT(TASK.outlier_most), "10", 1, 1000000, NULL, "more outliers in a row end the training with an error"},

#define MICRO_BATCHES(TASK) \
    {#TASK ".micro_batches", ORR_FIELD_INT, AT(TASK.micro_batches), "0", 0, 65536, NULL, "equal parts of a step's batch x accumulation sequences, summed by a fixed tree on any number of ranks, 0 = passes in turn"}, \
    {#TASK ".zero", ORR_FIELD_BOOL, AT(TASK.zero), "false", 0, 0, NULL, "ranks of a job keep a share of the optimiser's moments each (ZeRO-1): the same bits in less memory"},

const struct orr_field orr_fields[] = {
    {"about", ORR_FIELD_TEXT, AT(about), "", 0, 0, NULL, "what the preset is for"},
    {"seed", ORR_FIELD_U64, AT(seed), "0", 0, 1.8e+19, NULL, "seed of every random stream"},
    {"attention", ORR_FIELD_NAMES, AT(attention), "softmax,lssar", 0, 0, NULL, "variants to train; the first is the untrained floor's"},
    {"orbits.protocol", ORR_FIELD_ENUM, AT(orbits.protocol), "vafa2025", 0, 0, "vafa2025|identifiable", "how systems are drawn"},
    {"orbits.output", ORR_FIELD_ENUM, AT(orbits.output), "tokens", 0, 0, "tokens|continuous", "binned token pairs, or coordinates"},
    {"orbits.train", ORR_FIELD_LONG, AT(orbits.train), "10000000", 0, 1e+12, NULL, "training sequences"},
    {"orbits.val", ORR_FIELD_LONG, AT(orbits.val), "300", 0, 1e+12, NULL, "validation sequences: losses logged, checkpoints selected"},
    {"orbits.test", ORR_FIELD_LONG, AT(orbits.test), "300", 0, 1e+12, NULL, "test sequences: final next-state errors, 0 = judged by the validation ones"},
    {"orbits.train_files", ORR_FIELD_LONG, AT(orbits.train_files), "1000000", 0, 1e+12, NULL, "training sequences written to files; fewer than train: pretraining streams all of them"},
    {"orbits.shard_sequences", ORR_FIELD_LONG, AT(orbits.shard_sequences), "200000", 1, 1e+12, NULL, "larger sets are written as several files of so many sequences"},
    {"orbits.two_body_train", ORR_FIELD_LONG, AT(orbits.two_body_train), "10000", 0, 1e+12, NULL, "two-body sequences with force labels, trained on"},
    {"orbits.two_body_val", ORR_FIELD_LONG, AT(orbits.two_body_val), "300", 0, 1e+12, NULL, "two-body sequences, loss logged"},
    {"orbits.two_body_test", ORR_FIELD_LONG, AT(orbits.two_body_test), "300", 0, 1e+12, NULL, "two-body sequences, held out"},
    {"orbits.positions", ORR_FIELD_INT, AT(orbits.positions), "1000", 5, 1e+06, NULL, "rows of a sequence, the time-step row included"},
    {"orbits.bins", ORR_FIELD_INT, AT(orbits.bins), "7000", 1, 65532, NULL, "bins per axis"},
    {"orbits.extent_au", ORR_FIELD_DOUBLE, AT(orbits.extent_au), "50", 1e-09, 1e+09, NULL, "bins cover [-extent, extent], AU"},
    {"orbits.planets_max", ORR_FIELD_INT, AT(orbits.planets_max), "10", 1, 10, NULL, "planets per system ~ uniform {1..planets_max}"},
    {"orbits.a_min_au", ORR_FIELD_DOUBLE, AT(orbits.a_min_au), "0.3", 1e-06, 1e+06, NULL, "semi-major axis ~ U(a_min, a_max), AU"},
    {"orbits.a_max_au", ORR_FIELD_DOUBLE, AT(orbits.a_max_au), "32", 1e-06, 1e+06, NULL, ""},
    {"orbits.e_alpha", ORR_FIELD_DOUBLE, AT(orbits.e_alpha), "0.867", 1e-06, 1e+06, NULL, "eccentricity ~ Beta(alpha, beta), redrawn above e_max"},
    {"orbits.e_beta", ORR_FIELD_DOUBLE, AT(orbits.e_beta), "3.03", 1e-06, 1e+06, NULL, ""},
    {"orbits.e_max", ORR_FIELD_DOUBLE, AT(orbits.e_max), "0.999", 0, 1, NULL, "largest eccentricity, below 1"},
    {"orbits.mass_prior", ORR_FIELD_ENUM, AT(orbits.mass_prior), "study", 0, 0, "study|uniform|loguniform", "study: exoplanet fit; else two independent masses in [m_min, m_max], drawn once"},
    {"orbits.m_min", ORR_FIELD_DOUBLE, AT(orbits.m_min), "0.1", 0, 1e+06, NULL, "smallest mass, solar masses, above 0: there are no massless test particles"},
    {"orbits.m_max", ORR_FIELD_DOUBLE, AT(orbits.m_max), "3", 1e-12, 1e+06, NULL, "largest mass, solar masses"},
    {"orbits.dt_yr", ORR_FIELD_DOUBLE, AT(orbits.dt_yr), "0.04", 1e-09, 1e+06, NULL, "identifiable: fixed time step, years"},
    {"orbits.samples_min", ORR_FIELD_DOUBLE, AT(orbits.samples_min), "10", 2, 1e+09, NULL, "identifiable: samples per orbit; axis and e are redrawn outside"},
    {"orbits.samples_max", ORR_FIELD_DOUBLE, AT(orbits.samples_max), "60", 2, 1e+09, NULL, ""},
    {"orbits.com_sigma_au", ORR_FIELD_DOUBLE, AT(orbits.com_sigma_au), "1", 0, 1e+06, NULL, "centre of mass ~ N(0, sigma^2) per axis, AU"},
    {"orbits.clockwise", ORR_FIELD_DOUBLE, AT(orbits.clockwise), "0", 0, 1, NULL, "share of orbits that go clockwise, drawn for each"},
    {"orbits.label_from_step", ORR_FIELD_INT, AT(orbits.label_from_step), "8", 0, 1e+06, NULL, "continuous sets: first labelled time step"},
    {"orbits.label_r_min", ORR_FIELD_DOUBLE, AT(orbits.label_r_min), "0", 0, 1e+09, NULL, "magnitudes are trained on labels with r from here, AU, 0 = no bound; files hold all labels"},
    {"orbits.label_r_max", ORR_FIELD_DOUBLE, AT(orbits.label_r_max), "0", 0, 1e+09, NULL, "... up to here, 0 = no bound"},
    {"orbits.label_m_min", ORR_FIELD_DOUBLE, AT(orbits.label_m_min), "0", 0, 1e+12, NULL, "magnitudes are trained on labels with m1 m2 from here, solar masses squared, 0 = no bound"},
    {"orbits.label_m_max", ORR_FIELD_DOUBLE, AT(orbits.label_m_max), "0", 0, 1e+12, NULL, "... up to here, 0 = no bound"},
    {"orbits.solar_system", ORR_FIELD_BOOL, AT(orbits.solar_system), "true", 0, 0, NULL, "also write the solar system (tokens)"},
    {"orbits.law", ORR_FIELD_ENUM, AT(orbits.law), "newton", 0, 0, "newton|power|yukawa|mond|plummer|post_newtonian|hooke|lambda|expression", "force law, docs/laws.md"},
    {"orbits.law_exponent", ORR_FIELD_DOUBLE, AT(orbits.law_exponent), "-2", -1000, 10, NULL, "power: F ~ r^n, n > -3"},
    {"orbits.law_alpha", ORR_FIELD_DOUBLE, AT(orbits.law_alpha), "0.1", -1, 1e+06, NULL, "yukawa: strength beside Newton's"},
    {"orbits.law_lambda_au", ORR_FIELD_DOUBLE, AT(orbits.law_lambda_au), "10", 1e-06, 1e+09, NULL, "yukawa: range, AU"},
    {"orbits.law_a0", ORR_FIELD_DOUBLE, AT(orbits.law_a0), "7.99e-07", 0, 1e+09, NULL, "mond: acceleration scale, AU/yr^2"},
    {"orbits.law_softening_au", ORR_FIELD_DOUBLE, AT(orbits.law_softening_au), "0.1", 0, 1e+06, NULL, "plummer: softening length, AU"},
    {"orbits.law_constant", ORR_FIELD_DOUBLE, AT(orbits.law_constant), "0", -1e+09, 1e+09, NULL, "lambda: outward relative acceleration per distance, 1/yr^2"},
    {"orbits.expression", ORR_FIELD_TEXT, AT(orbits.expression), "39.4784176043574*m1*m2/r^2", 0, 0, NULL, "expression: attraction F of r, m1, m2 and G = 4 pi^2 (AU, years, solar masses)"},
    {"orbits.nbody", ORR_FIELD_BOOL, AT(orbits.nbody), "false", 0, 0, NULL, "all bodies attract each other and the star moves"},
    {"orbits.encounters", ORR_FIELD_ENUM, AT(orbits.encounters), "error", 0, 0, "error|redraw", "planets that meet under nbody: stop, or draw the system again"},
    {"orbits.jump_step", ORR_FIELD_LONG, AT(orbits.jump_step), "0", 0, 1e+09, NULL, "time step from which G is multiplied by jump_factor, 0 = never"},
    {"orbits.jump_factor", ORR_FIELD_DOUBLE, AT(orbits.jump_factor), "1", 1e-09, 1e+09, NULL, ""},
    {"orbits.compat_velocity_sign", ORR_FIELD_BOOL, AT(orbits.compat_velocity_sign), "false", 0, 0, NULL, "published defect: radial velocity of stored states flipped"},
    {"orbits.compat_relative_state", ORR_FIELD_BOOL, AT(orbits.compat_relative_state), "false", 0, 0, NULL, "published defect: stored positions relative to the sun's first place"},
    {"orbits.compat_repeated_planets", ORR_FIELD_BOOL, AT(orbits.compat_repeated_planets), "false", 0, 0, NULL, "published defect: planets 6 to 10 of a system are planets 1 to 5 of the next"},
    {"orbits.compat_solar_dt", ORR_FIELD_BOOL, AT(orbits.compat_solar_dt), "false", 0, 0, NULL, "published defect: two-body planets every 180 days, Mercury 0.5 times per orbit"},
    {"planets.enabled", ORR_FIELD_BOOL, AT(planets.enabled), "false", 0, 0, NULL, "planet runs (scaled coordinates) serve the force-vector task"},
    {"planets.train", ORR_FIELD_LONG, AT(planets.train), "0", 0, 1e+12, NULL, "planet-run training sequences"},
    {"planets.val", ORR_FIELD_LONG, AT(planets.val), "0", 0, 1e+12, NULL, "planet-run validation sequences"},
    {"planets.test", ORR_FIELD_LONG, AT(planets.test), "0", 0, 1e+12, NULL, "planet-run test sequences, 0 = judged by the validation ones"},
    {"planets.steps", ORR_FIELD_INT, AT(planets.steps), "48", 4, 1e+06, NULL, "time steps of a planet run"},
    {"planets.samples_min", ORR_FIELD_DOUBLE, AT(planets.samples_min), "10", 2, 1e+09, NULL, "samples per orbit, redrawn outside"},
    {"planets.samples_max", ORR_FIELD_DOUBLE, AT(planets.samples_max), "60", 2, 1e+09, NULL, ""},
    {"planets.light_fraction", ORR_FIELD_DOUBLE, AT(planets.light_fraction), "0.5", 0, 1, NULL, "share of sequences with a light planet"},
    {"planets.light_min", ORR_FIELD_DOUBLE, AT(planets.light_min), "1e-7", 0, 1, NULL, "m1/m2 of light planets, log-uniform from"},
    {"planets.light_max", ORR_FIELD_DOUBLE, AT(planets.light_max), "1e-2", 1e-15, 1, NULL, "to"},
    {"planets.samples_per_orbit", ORR_FIELD_DOUBLE, AT(planets.samples_per_orbit), "40", 40, 1e+06, NULL, "of the planets' own sequences"},
    {"planets.eccentric", ORR_FIELD_BOOL, AT(planets.eccentric), "false", 0, 0, NULL, "beside the planets Pluto, Icarus, Encke and Halley: eccentricities of 0.25 to 0.97"},
    {"planets.labels", ORR_FIELD_INT, AT(planets.labels), "10", 1, 1e+06, NULL, "labelled positions per planet"},
    {"text.train", ORR_FIELD_TEXT, AT(text.train), "", 0, 0, NULL, "train on text instead of orbits: files, folders, patterns (a,b,c)"},
    {"text.val", ORR_FIELD_TEXT, AT(text.val), "", 0, 0, NULL, "held-out text; empty: the last part of text.train"},
    {"text.positions", ORR_FIELD_INT, AT(text.positions), "257", 3, 1e+06, NULL, "tokens of a sequence: positions - 1 inputs, each with the next token as its target"},
    {"text.val_fraction", ORR_FIELD_DOUBLE, AT(text.val_fraction), "0.1", 0, 0.9, NULL, "part of text.train held out when text.val is empty, 0 = none"},
    {"text.vocab", ORR_FIELD_INT, AT(text.vocab), "50257", 2, 65536, NULL, "vocabulary of tokens (bytes: 256)"},
    {"text.tokens", ORR_FIELD_ENUM, AT(text.tokens), "auto", 0, 0, "auto|bytes|uint16|uint32", "files without a header: bytes, or tokens (nanoGPT's .bin: uint16); bytes: all files are"},
    {"model.layers", ORR_FIELD_INT, AT(model.layers), "12", 1, 1000, NULL, "transformer blocks"},
    {"model.heads", ORR_FIELD_INT, AT(model.heads), "12", 1, 1000, NULL, "attention heads, a divisor of width"},
    {"model.width", ORR_FIELD_INT, AT(model.width), "768", 1, 1e+06, NULL, "channels"},
    {"model.ffn_mult", ORR_FIELD_INT, AT(model.ffn_mult), "4", 1, 100, NULL, "feed-forward width / width"},
    {"model.positions", ORR_FIELD_ENUM, AT(model.positions), "learned", 0, 0, "learned|rope|none", "position encoding"},
    {"model.attention_p", ORR_FIELD_DOUBLE, AT(model.attention_p), "15", 1, 1000, NULL, "sharpening power of re-weighted variants"},
    {"model.attention_window", ORR_FIELD_INT, AT(model.attention_window), "0", 0, 1e+09, NULL, "positions a row attends, 0 = all earlier"},
    {"model.rope_base", ORR_FIELD_DOUBLE, AT(model.rope_base), "10000", 1, 1e+12, NULL, "RoPE base"},
    {"model.init_std", ORR_FIELD_DOUBLE, AT(model.init_std), "0.02", 1e-6, 100, NULL, "standard deviation of the random weights of blocks; those that add to the residual stream have it over sqrt(2 layers)"},
    {"model.gate", ORR_FIELD_ENUM, AT(model.gate), "none", 0, 0, "none|sigmoid|softplus", "output gate of attention; with one the feed-forward width is (ffn_mult - 1/2) width"},
    {"model.fourier", ORR_FIELD_INT, AT(model.fourier), "0", 0, 24, NULL, "continuous input: bands of sin/cos features"},
    {"model.fourier_min_au", ORR_FIELD_DOUBLE, AT(model.fourier_min_au), "0.25", 1e-09, 1e+09, NULL, "shortest wavelength, doubling per band"},
    {"model.tie", ORR_FIELD_BOOL, AT(model.tie), "true", 0, 0, NULL, "text: the head has the embedding's weights"},
    {"model.precision", ORR_FIELD_ENUM, AT(model.precision), "auto", 0, 0, "auto|fp32|bf16|tf32", "of matrix products"},
    {"model.device", ORR_FIELD_ENUM, AT(model.device), "cpu", 0, 0, "auto|cpu|cuda", "where to compute, unless --device says; auto: on a GPU where there is one"},
    {"model.recompute", ORR_FIELD_ENUM, AT(model.recompute), "none", 0, 0, "none|block", "block: keeps only the inputs of blocks and redoes a block in its backward pass: less memory, the same bits"},
    TRAINING(pretrain, "600000", "0.0006", EVALUATED, "best.safetensors is judged and fine-tuned")
    MICRO_BATCHES(pretrain)
    TRAINING(pretrain_planets, "0", "0.0006", EVALUATED, "best.safetensors is judged and fine-tuned")
    MICRO_BATCHES(pretrain_planets)
    {"finetune.magnitude_loss", ORR_FIELD_ENUM, AT(finetune.magnitude_loss), "log", 0, 0, "raw|log|scaled", "what the magnitude head predicts"},
    {"finetune.vector_scale", ORR_FIELD_ENUM, AT(finetune.vector_scale), "labelled", 0, 0, "labelled|largest", "unit of a planet's force: its largest labelled one; largest (published defect): per axis, of held-out positions too"},
    {"finetune.samples", ORR_FIELD_INT, AT(finetune.samples), "5", 1, 1000, NULL, "regression samples; the sequences of two_body_test are shared out among them"},
    {"finetune.sample_size", ORR_FIELD_INT, AT(finetune.sample_size), "1000", 2, 1e+07, NULL, "held-out positions per sample"},
    {"finetune.knn_magnitude", ORR_FIELD_INT, AT(finetune.knn_magnitude), "2", 1, 64, NULL, "neighbours of the magnitude oracle"},
    {"finetune.knn_vector", ORR_FIELD_INT, AT(finetune.knn_vector), "5", 1, 64, NULL, "neighbours of the vector oracle"},
    TRAINING(finetune.magnitude, "10000", "0.0006", EVALUATED, "magnitude_best.safetensors predicts")
    {"finetune.magnitude.train", ORR_FIELD_ENUM, AT(finetune.magnitude.train), "all", 0, 0, "all|head|last_block", "weights that change: all, the new head alone, or last block, final norm and head"},
    TRAINING(finetune.vector, "10000", "0.0002", NEVER_EVALUATED, "")
    {"symreg.algorithm", ORR_FIELD_ENUM, AT(symreg.algorithm), "orrery", 0, 0, "orrery|pysr", "pysr: the algorithm of SymbolicRegression.jl"},
    {"symreg.binary", ORR_FIELD_NAMES, AT(symreg.binary), "+,*", 0, 0, NULL, "binary operators"},
    {"symreg.unary", ORR_FIELD_NAMES, AT(symreg.unary), "sin,cos,exp,inv", 0, 0, NULL, "unary operators"},
    {"symreg.loss", ORR_FIELD_ENUM, AT(symreg.loss), "study", 0, 0, "l1|l2|study|relative|huber|logcosh|quantile", "loss of a formula"},
    {"symreg.loss_parameter", ORR_FIELD_DOUBLE, AT(symreg.loss_parameter), "0.5", 1e-12, 1e+12, NULL, "huber, logcosh: bend in units of median |y|; quantile: which"},
    {"symreg.maxsize", ORR_FIELD_INT, AT(symreg.maxsize), "20", 1, 64, NULL, "largest complexity"},
    {"symreg.iterations", ORR_FIELD_INT, AT(symreg.iterations), "100", 0, 1e+09, NULL, "epochs of the island search"},
    {"symreg.populations", ORR_FIELD_INT, AT(symreg.populations), "31", 1, 10000, NULL, "islands"},
    {"symreg.population_size", ORR_FIELD_INT, AT(symreg.population_size), "27", 2, 100000, NULL, "members per island"},
    {"symreg.cycles", ORR_FIELD_INT, AT(symreg.cycles), "380", 1, 1e+09, NULL, "event pairs per island and epoch"},
    {"symreg.restarts", ORR_FIELD_INT, AT(symreg.restarts), "3", 1, 1000, NULL, "independent searches per sample"},
    {"symreg.parsimony", ORR_FIELD_DOUBLE, AT(symreg.parsimony), "0", 0, 1e+09, NULL, "cost per node"},
    {"symreg.enumerate", ORR_FIELD_DOUBLE, AT(symreg.enumerate), "500000", 0, 1e+09, NULL, "small formulas enumerated before the islands start, at most"},
    {"symreg.patience", ORR_FIELD_INT, AT(symreg.patience), "20", 0, 1e+09, NULL, "epochs without a fall of any row by 1% that end a search, 0 = none do"},
    {"symreg.seconds", ORR_FIELD_DOUBLE, AT(symreg.seconds), "0", 0, 1e+09, NULL, "the search ends after so long, 0 = no limit"},
    {"symreg.evaluations", ORR_FIELD_DOUBLE, AT(symreg.evaluations), "0", 0, 1e+18, NULL, "... after so many formulas, 0 = no limit"},
    {"symreg.stop_loss", ORR_FIELD_DOUBLE, AT(symreg.stop_loss), "0", 0, 1e+300, NULL, "... at this loss, 0 = at an exact formula"},
    {"symreg.rules", ORR_FIELD_NAMES, AT(symreg.rules), "accuracy,score,best", 0, 0, NULL, "selection rules to report: accuracy, score, best, mdl"},
    {"symreg.constant_tolerance", ORR_FIELD_DOUBLE, AT(symreg.constant_tolerance), "0.001", 1e-12, 1, NULL, "how constant k must be for a formula to be k times the run's law"},
    {NULL, ORR_FIELD_INT, 0, NULL, 0, 0, NULL, NULL},
};
