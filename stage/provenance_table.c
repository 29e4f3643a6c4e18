/* provenance_table.c - which settings matter to which kind of artefact.
 *
 * Every setting is part of every record unless a line below takes it out, for the kinds named and
 * for the reason given. A new setting is thus part of all records until somebody has thought about
 * it: what is made once too often costs minutes, what is not made again is a wrong result under a
 * right name. tests/stage/test_provenance.c declares for every setting what it affects. */
#include "provenance.h"

#include <string.h>

#define BIT(kind) (1u << ORR_KIND_##kind)
enum {
    STATES = BIT(STATES),
    PLANETS = BIT(PLANETS),
    SETS = BIT(STATES) | BIT(TWO_BODY) | BIT(SOLAR) | BIT(PLANETS) | BIT(PLANETS_SOLAR),
    RUNS = BIT(PLANETS) | BIT(PLANETS_SOLAR), /* in scaled coordinates, priors of their own */
    ON_RUNS = BIT(PRETRAIN_PLANETS) | BIT(EVALUATION_PLANETS),
    EVALUATIONS = BIT(EVALUATION) | BIT(EVALUATION_PLANETS),
    TUNED = BIT(MAGNITUDE) | BIT(VECTOR),
    MAGNITUDES = BIT(MAGNITUDE_TRUTH) | BIT(MAGNITUDE_ORACLE) | BIT(MAGNITUDE_MODEL),
    ON_LABELS = BIT(MAGNITUDE) | BIT(MAGNITUDE_ORACLE),
    VECTORS = BIT(VECTOR_TRUTH) | BIT(VECTOR_ORACLE) | BIT(VECTOR_MODEL),
    TABLES = MAGNITUDES | VECTORS,
    LAWS = BIT(LAWS),
    /* the report shows all settings, so none is ever taken out of it */
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
static const char pauses[] = "where a training is saved changes nothing: it goes on bit for bit";

/* key: a setting, or with a dot at its end all settings of a group */
static const struct {
    const char *key;
    unsigned kinds;
    const char *reason;
} left_out[] = {
    {"about", ALL, "it is a text for readers"},
    {"attention", ALL, "models are inputs by name, and their attention is a fact of their record"},

    /* orbits: what shapes models is part of their records, too, for data sets made elsewhere */
    {"orbits.train", ALL, own_count},
    {"orbits.val", ALL, own_count},
    {"orbits.test", ALL, own_count},
    {"orbits.two_body_train", ALL, own_count},
    {"orbits.two_body_val", ALL, own_count},
    {"orbits.two_body_test", ALL, own_count},
    {"orbits.train_files", ALL, "training sees orbits.train sequences, from files or streamed"},
    {"orbits.shard_sequences", ALL, "it says how files are cut, not what they hold"},
    {"orbits.solar_system", ALL, "it says whether there is such a set, not what it holds"},
    {"orbits.output", AFTER_MODELS & ~TUNED, by_data},
    {"orbits.positions", AFTER_MODELS & ~TUNED, by_data},
    {"orbits.positions", RUNS | ON_RUNS, "planets.steps is the length of planet runs"},
    {"orbits.bins", AFTER_MODELS & ~(TUNED | BIT(EVALUATION)), by_data},
    {"orbits.bins", RUNS | ON_RUNS, "planet runs are coordinates"},
    {"orbits.extent_au", AFTER_SETS & ~BIT(EVALUATION), by_data},
    {"orbits.extent_au", RUNS, "planet runs are coordinates"},
    {"orbits.label_from_step", STATES | PLANETS, unlabelled},
    {"orbits.compat_velocity_sign", STATES | PLANETS, unlabelled},
    {"orbits.compat_relative_state", STATES | PLANETS, unlabelled},
    {"orbits.protocol", AFTER_SETS, by_data},
    {"orbits.planets_max", AFTER_SETS, by_data},
    {"orbits.a_min_au", AFTER_SETS, by_data},
    {"orbits.a_max_au", AFTER_SETS, by_data},
    {"orbits.e_alpha", AFTER_SETS, by_data},
    {"orbits.e_beta", AFTER_SETS, by_data},
    {"orbits.e_max", AFTER_SETS, by_data},
    {"orbits.mass_prior", AFTER_SETS, by_data},
    {"orbits.m_min", AFTER_SETS, by_data},
    {"orbits.m_max", AFTER_SETS, by_data},
    {"orbits.dt_yr", AFTER_SETS, by_data},
    {"orbits.samples_min", AFTER_SETS, by_data},
    {"orbits.samples_max", AFTER_SETS, by_data},
    {"orbits.com_sigma_au", AFTER_SETS, by_data},
    {"orbits.clockwise", AFTER_SETS, by_data},
    {"orbits.label_from_step", AFTER_SETS, by_data},
    {"orbits.label_r_min", ALL & ~ON_LABELS, kept_labels},
    {"orbits.label_r_max", ALL & ~ON_LABELS, kept_labels},
    {"orbits.label_m_min", ALL & ~ON_LABELS, kept_labels},
    {"orbits.label_m_max", ALL & ~ON_LABELS, kept_labels},
    {"orbits.law", AFTER_SETS, by_data},
    {"orbits.law_exponent", AFTER_SETS, by_data},
    {"orbits.law_alpha", AFTER_SETS, by_data},
    {"orbits.law_lambda_au", AFTER_SETS, by_data},
    {"orbits.law_a0", AFTER_SETS, by_data},
    {"orbits.law_softening_au", AFTER_SETS, by_data},
    {"orbits.law_constant", AFTER_SETS, by_data},
    {"orbits.expression", AFTER_SETS, by_data},
    {"orbits.nbody", AFTER_SETS, by_data},
    {"orbits.encounters", AFTER_SETS, by_data},
    {"orbits.jump_step", AFTER_SETS, by_data},
    {"orbits.jump_factor", AFTER_SETS, by_data},
    {"orbits.compat_velocity_sign", AFTER_SETS, by_data},
    {"orbits.compat_relative_state", AFTER_SETS, by_data},
    {"orbits.compat_repeated_planets", AFTER_SETS, by_data},
    {"orbits.compat_solar_dt", AFTER_SETS, by_data},
    /* planet runs draw axes, masses and time steps from ranges of their own (sim/prior.c) */
    {"orbits.protocol", RUNS, "planet runs have one protocol"},
    {"orbits.planets_max", RUNS, "planet runs have one planet"},
    {"orbits.compat_repeated_planets", RUNS, "planet runs have one planet"},
    {"orbits.a_min_au", RUNS, other_sets},
    {"orbits.a_max_au", RUNS, other_sets},
    {"orbits.mass_prior", RUNS, other_sets},
    {"orbits.m_min", RUNS, other_sets},
    {"orbits.m_max", RUNS, other_sets},
    {"orbits.dt_yr", RUNS, other_sets},
    {"orbits.samples_min", RUNS, other_sets},
    {"orbits.samples_max", RUNS, other_sets},

    {"planets.", SETS & ~RUNS, other_sets},
    {"planets.enabled", ALL, "it says whether there are such sets, not what they hold"},
    {"planets.eccentric", ALL & ~(BIT(VECTOR) | VECTORS), own_count},
    {"planets.train", ALL, own_count},
    {"planets.val", ALL, own_count},
    {"planets.test", ALL, own_count},
    {"planets.steps", ALL & ~(RUNS | BIT(PRETRAIN_PLANETS) | BIT(VECTOR)), by_data},
    {"planets.samples_min", AFTER_SETS | BIT(PLANETS_SOLAR), by_data},
    {"planets.samples_max", AFTER_SETS | BIT(PLANETS_SOLAR), by_data},
    {"planets.light_fraction", AFTER_SETS | BIT(PLANETS_SOLAR), by_data},
    {"planets.light_min", AFTER_SETS | BIT(PLANETS_SOLAR), by_data},
    {"planets.light_max", AFTER_SETS | BIT(PLANETS_SOLAR), by_data},
    {"planets.samples_per_orbit", AFTER_SETS | PLANETS, by_data},
    {"planets.labels", ALL & ~(BIT(VECTOR) | VECTORS), other_stage},

    {"text.", ALL & ~BIT(PRETRAIN), not_data},
    {"text.train", ALL, "the text is an input by its content"},
    {"text.val", ALL, "the text is an input by its content"},
    {"text.tokens", ALL, "the text is an input by its content"},

    {"model.", SETS, not_data},
    {"model.", EVALUATIONS | TABLES | LAWS, by_model},
    {"model.device", ALL, "a training may go on elsewhere; model.precision is part of records"},
    {"model.recompute", ALL, "it gives the same bits in less memory"},
    {"model.tie", ALL & ~BIT(PRETRAIN), not_data},

    {"pretrain.", ALL & ~BIT(PRETRAIN), by_model},
    {"pretrain.keep", ALL, copies},
    {"pretrain.keep_every", ALL, copies},
    {"pretrain.checkpoint_every", ALL, pauses},
    {"pretrain.zero", ALL, places},
    {"pretrain_planets.", ALL & ~BIT(PRETRAIN_PLANETS), by_model},
    {"pretrain_planets.keep", ALL, copies},
    {"pretrain_planets.keep_every", ALL, copies},
    {"pretrain_planets.checkpoint_every", ALL, pauses},
    {"pretrain_planets.zero", ALL, places},

    {"finetune.magnitude.", ALL & ~BIT(MAGNITUDE), by_model},
    {"finetune.magnitude.keep", ALL, copies},
    {"finetune.magnitude.keep_every", ALL, copies},
    {"finetune.magnitude.checkpoint_every", ALL, pauses},
    {"finetune.magnitude_loss", ALL & ~BIT(MAGNITUDE), by_model},
    {"finetune.vector.", ALL & ~BIT(VECTOR), by_model},
    {"finetune.vector.keep", ALL, copies},
    {"finetune.vector.keep_every", ALL, copies},
    {"finetune.vector.checkpoint_every", ALL, pauses},
    {"finetune.vector_scale", ALL & ~(BIT(VECTOR) | VECTORS), other_stage},
    {"finetune.samples", ALL & ~MAGNITUDES, other_stage},
    {"finetune.sample_size", ALL & ~MAGNITUDES, other_stage},
    {"finetune.knn_magnitude", ALL & ~BIT(MAGNITUDE_ORACLE), other_stage},
    {"finetune.knn_vector", ALL & ~BIT(VECTOR_ORACLE), other_stage},

    {"symreg.", ALL & ~LAWS, other_stage},
};

/* key is the setting, or begins with the group's name. */
static bool matches(const char *line, const char *key)
{
    const size_t length = strlen(line);
    return line[length - 1] == '.' ? !strncmp(line, key, length) : !strcmp(line, key);
}

const char *orr_kind_leaves_out(enum orr_kind kind, const char *key)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if ((left_out[i].kinds & 1u << kind) && matches(left_out[i].key, key))
            return left_out[i].reason;
    return NULL;
}

bool orr_made_from(const char *key)
{
    for (int kind = 0; kind <= ORR_KIND_LAWS; kind++)
        if (!orr_kind_leaves_out((enum orr_kind)kind, key))
            return true;
    return false;
}
