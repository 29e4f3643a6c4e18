/* test_provenance.c - what every setting affects, declared here once more and held against the
 * chain of records; differences that are told; sidecars; what was made elsewhere. */
#include "provenance.h"
#include "base/scratch.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "settings_table.h"

/* The artefacts of a run with planet runs, one attention and the untrained floor. */
enum artefact {
    TRAIN,
    VAL,
    TEST,
    TWO_TRAIN,
    TWO_VAL,
    TWO_TEST,
    RUNS_TRAIN,
    RUNS_VAL,
    RUNS_TEST,
    EIGHT,
    PRETRAIN,
    PRETRAIN_RUNS,
    MEASURED,
    MEASURED_RUNS,
    MAGNITUDE,
    MAGNITUDE_FLOOR,
    VECTOR,
    VECTOR_FLOOR,
    TRUE_MAGNITUDES,
    ORACLE_MAGNITUDES,
    MODEL_MAGNITUDES,
    FLOOR_MAGNITUDES,
    TRUE_VECTORS,
    ORACLE_VECTORS,
    MODEL_VECTORS,
    FLOOR_VECTORS,
    LAWS,
    REPORT,
    ARTEFACTS
};
#define B(x) (1u << (x))
enum {
    NEXT = B(TRAIN) | B(VAL) | B(TEST),
    TWO = B(TWO_TRAIN) | B(TWO_VAL) | B(TWO_TEST),
    RUNS = B(RUNS_TRAIN) | B(RUNS_VAL) | B(RUNS_TEST),
    DATA = NEXT | TWO | RUNS | B(EIGHT),
    TRAININGS = B(PRETRAIN) | B(PRETRAIN_RUNS) | B(MAGNITUDE) | B(MAGNITUDE_FLOOR) | B(VECTOR) |
                B(VECTOR_FLOOR),
    MAGNITUDES =
        B(TRUE_MAGNITUDES) | B(ORACLE_MAGNITUDES) | B(MODEL_MAGNITUDES) | B(FLOOR_MAGNITUDES),
    VECTORS = B(TRUE_VECTORS) | B(ORACLE_VECTORS) | B(MODEL_VECTORS) | B(FLOOR_VECTORS),
    FLOORS = B(MAGNITUDE) | B(MAGNITUDE_FLOOR),
    BOTH_VECTOR = B(VECTOR) | B(VECTOR_FLOOR),
};

/* What is made from what; inputs stand before what is made from them. */
static const unsigned made_from[ARTEFACTS] = {
    [PRETRAIN] = B(TRAIN) | B(VAL),
    [PRETRAIN_RUNS] = B(RUNS_TRAIN) | B(RUNS_VAL),
    [MEASURED] = B(PRETRAIN) | B(TEST),
    [MEASURED_RUNS] = B(PRETRAIN_RUNS) | B(RUNS_TEST) | B(EIGHT),
    [MAGNITUDE] = B(PRETRAIN) | B(TWO_TRAIN) | B(TWO_VAL),
    [MAGNITUDE_FLOOR] = B(TWO_TRAIN) | B(TWO_VAL),
    [VECTOR] = B(PRETRAIN_RUNS) | B(EIGHT),
    [VECTOR_FLOOR] = B(EIGHT),
    [TRUE_MAGNITUDES] = B(TWO_TEST),
    [ORACLE_MAGNITUDES] = B(TWO_TEST) | B(TWO_TRAIN),
    [MODEL_MAGNITUDES] = B(TWO_TEST) | B(MAGNITUDE),
    [FLOOR_MAGNITUDES] = B(TWO_TEST) | B(MAGNITUDE_FLOOR),
    [TRUE_VECTORS] = B(EIGHT),
    [ORACLE_VECTORS] = B(EIGHT),
    [MODEL_VECTORS] = B(EIGHT) | B(VECTOR),
    [FLOOR_VECTORS] = B(EIGHT) | B(VECTOR_FLOOR),
    [LAWS] = MAGNITUDES,
    [REPORT] = B(LAWS) | VECTORS | B(MEASURED_RUNS),
};

/* Another value of every setting, and what it affects by itself; what follows from that is added.
 * The report shows every setting. */
static const struct {
    const char *key, *value;
    unsigned affects;
} effects[] = {
    {"about", "another text", 0},
    {"seed", "5",
     DATA | TRAININGS | B(MEASURED) | B(MEASURED_RUNS) | MAGNITUDES | VECTORS | B(LAWS)},
    {"attention", "softmax,lssa", 0},
    {"orbits.protocol", "vafa2025", NEXT | TWO},
    {"orbits.output", "tokens", DATA | TRAININGS},
    {"orbits.train", "11", B(TRAIN)},
    {"orbits.val", "11", B(VAL)},
    {"orbits.test", "11", B(TEST)},
    {"orbits.train_files", "3", 0},
    {"orbits.shard_sequences", "7", 0},
    {"orbits.two_body_train", "11", B(TWO_TRAIN)},
    {"orbits.two_body_val", "11", B(TWO_VAL)},
    {"orbits.two_body_test", "11", B(TWO_TEST)},
    {"orbits.positions", "47", NEXT | TWO | B(PRETRAIN) | FLOORS | BOTH_VECTOR},
    {"orbits.bins", "70", NEXT | TWO | B(PRETRAIN) | B(MEASURED) | FLOORS | BOTH_VECTOR},
    {"orbits.extent_au", "49", NEXT | TWO | B(MEASURED)},
    {"orbits.planets_max", "3", NEXT | TWO},
    {"orbits.a_min_au", "0.31", NEXT | TWO},
    {"orbits.a_max_au", "31", NEXT | TWO},
    {"orbits.e_alpha", "0.9", DATA},
    {"orbits.e_beta", "3.1", DATA},
    {"orbits.e_max", "0.8", DATA},
    {"orbits.mass_prior", "uniform", NEXT | TWO},
    {"orbits.m_min", "0.2", NEXT | TWO},
    {"orbits.m_max", "2.5", NEXT | TWO},
    {"orbits.dt_yr", "0.05", NEXT | TWO},
    {"orbits.samples_min", "11", NEXT | TWO},
    {"orbits.samples_max", "61", NEXT | TWO},
    {"orbits.com_sigma_au", "0.5", DATA},
    {"orbits.clockwise", "0.5", DATA},
    {"orbits.label_from_step", "6", TWO | B(EIGHT)},
    {"orbits.label_r_min", "0.5", FLOORS | B(ORACLE_MAGNITUDES)},
    {"orbits.label_r_max", "2", FLOORS | B(ORACLE_MAGNITUDES)},
    {"orbits.label_m_min", "0.2", FLOORS | B(ORACLE_MAGNITUDES)},
    {"orbits.label_m_max", "3", FLOORS | B(ORACLE_MAGNITUDES)},
    {"orbits.solar_system", "false", 0},
    {"orbits.law", "yukawa", DATA},
    {"orbits.law_exponent", "-1", DATA},
    {"orbits.law_alpha", "0.2", DATA},
    {"orbits.law_lambda_au", "3", DATA},
    {"orbits.law_a0", "1", DATA},
    {"orbits.law_softening_au", "0.2", DATA},
    {"orbits.law_constant", "0.1", DATA},
    {"orbits.expression", "m1*m2/r", DATA},
    {"orbits.nbody", "true", DATA},
    {"orbits.encounters", "redraw", DATA},
    {"orbits.jump_step", "4", DATA},
    {"orbits.jump_factor", "2", DATA},
    {"orbits.compat_velocity_sign", "true", TWO | B(EIGHT)},
    {"orbits.compat_relative_state", "true", TWO | B(EIGHT)},
    {"orbits.compat_repeated_planets", "true", NEXT | TWO},
    {"orbits.compat_solar_dt", "true", DATA},
    {"planets.enabled", "true", 0},
    {"planets.eccentric", "true", B(EIGHT) | BOTH_VECTOR | VECTORS},
    {"planets.train", "11", B(RUNS_TRAIN)},
    {"planets.val", "11", B(RUNS_VAL)},
    {"planets.test", "11", B(RUNS_TEST)},
    {"planets.steps", "29", RUNS | B(EIGHT) | B(PRETRAIN_RUNS) | BOTH_VECTOR},
    {"planets.samples_min", "11", RUNS},
    {"planets.samples_max", "61", RUNS},
    {"planets.light_fraction", "0.4", RUNS},
    {"planets.light_min", "1e-6", RUNS},
    {"planets.light_max", "1e-3", RUNS},
    {"planets.samples_per_orbit", "41", B(EIGHT)},
    {"planets.labels", "9", BOTH_VECTOR | VECTORS},
    {"text.train", "a", B(ARTEFACTS) - 1}, /* settings of orbits have no effect beside it */
    {"text.val", "b", B(PRETRAIN)},        /* text.val_fraction has no effect beside it */
    {"text.positions", "99", B(PRETRAIN)},
    {"text.val_fraction", "0.2", B(PRETRAIN)},
    {"text.vocab", "99", B(PRETRAIN)},
    {"text.tokens", "uint16", 0}, /* the tokens that it makes of a file are an input */
    {"model.layers", "3", TRAININGS},
    {"model.heads", "3", TRAININGS},
    {"model.width", "24", TRAININGS},
    {"model.ffn_mult", "3", TRAININGS},
    {"model.positions", "rope", TRAININGS},
    {"model.attention_p", "3", TRAININGS},
    {"model.attention_window", "5", TRAININGS},
    {"model.rope_base", "100", TRAININGS},
    {"model.init_std", "0.06", TRAININGS},
    {"model.gate", "softplus", TRAININGS},
    {"model.fourier", "2", TRAININGS},
    {"model.fourier_min_au", "0.5", TRAININGS},
    {"model.tie", "false", B(PRETRAIN)},
    {"model.precision", "fp32", TRAININGS},
    {"model.device", "cuda", 0},
    {"model.recompute", "block", 0},
    {"finetune.magnitude_loss", "raw", FLOORS},
    {"finetune.magnitude.train", "head", FLOORS},
    {"finetune.samples", "3", MAGNITUDES},
    {"finetune.sample_size", "30", MAGNITUDES},
    {"finetune.knn_magnitude", "3", B(ORACLE_MAGNITUDES)},
    {"finetune.knn_vector", "3", B(ORACLE_VECTORS)},
    {"finetune.vector_scale", "largest", BOTH_VECTOR | VECTORS},
    {"symreg.algorithm", "pysr", B(LAWS)},
    {"symreg.binary", "+,-", B(LAWS)},
    {"symreg.unary", "sin", B(LAWS)},
    {"symreg.loss", "l1", B(LAWS)},
    {"symreg.loss_parameter", "0.4", B(LAWS)},
    {"symreg.maxsize", "19", B(LAWS)},
    {"symreg.iterations", "7", B(LAWS)},
    {"symreg.populations", "7", B(LAWS)},
    {"symreg.population_size", "17", B(LAWS)},
    {"symreg.cycles", "7", B(LAWS)},
    {"symreg.restarts", "2", B(LAWS)},
    {"symreg.parsimony", "0.1", B(LAWS)},
    {"symreg.enumerate", "7", B(LAWS)},
    {"symreg.patience", "7", B(LAWS)},
    {"symreg.seconds", "7", B(LAWS)},
    {"symreg.evaluations", "7", B(LAWS)},
    {"symreg.stop_loss", "0.1", B(LAWS)},
    {"symreg.rules", "mdl", B(LAWS)},
    {"symreg.constant_tolerance", "0.1", B(LAWS)},
};
/* The settings of a training, for each of the four. */
static const struct {
    const char *name, *value;
    bool affects;
} training[] = {
    {"steps", "77", true},         {"batch", "3", true},
    {"accumulation", "2", true},   {"lr", "0.002", true},
    {"lr_final", "0.3", true},     {"schedule", "linear", true},
    {"warmup", "3", true},         {"weight_decay", "0.2", true},
    {"beta1", "0.8", true},        {"beta2", "0.9", true},
    {"clip", "2", true},           {"ema", "0.9", true},
    {"huber", "0.1", true},        {"noise_au", "0.1", true},
    {"eval_every", "7", true},     {"checkpoint_every", "7", false},
    {"eval_sequences", "7", true}, {"keep", "2", false},
    {"keep_every", "2", false},    {"patience", "2", true},
    {"outlier_sigma", "6", true},  {"outlier_window", "50", true},
    {"outlier_most", "3", true},   {"micro_batches", "4", true},
    {"zero", "true", false},
};
static const struct {
    const char *group;
    unsigned affects;
} trainings[] = {
    {"pretrain.", B(PRETRAIN)},
    {"pretrain_planets.", B(PRETRAIN_RUNS)},
    {"finetune.magnitude.", FLOORS},
    {"finetune.vector.", BOTH_VECTOR},
};

/* Settings that have an effect only beside another one: without it they are in no record but that
 * of the report. A training's own name stands for those of all four. */
static const struct {
    const char *key, *beside;
} companions[] = {
    {"orbits.bins", "orbits.output=tokens"},
    {"orbits.extent_au", "orbits.output=tokens"},
    {"orbits.planets_max", "orbits.protocol=vafa2025"},
    {"orbits.solar_system", "orbits.output=tokens"},
    {"orbits.law_exponent", "orbits.law=power"},
    {"orbits.law_alpha", "orbits.law=yukawa"},
    {"orbits.law_lambda_au", "orbits.law=yukawa"},
    {"orbits.law_a0", "orbits.law=mond"},
    {"orbits.law_softening_au", "orbits.law=plummer"},
    {"orbits.law_constant", "orbits.law=lambda"},
    {"orbits.expression", "orbits.law=expression"},
    {"orbits.encounters", "orbits.nbody=true"},
    {"orbits.jump_step", "orbits.jump_factor=2"},
    {"orbits.jump_factor", "orbits.jump_step=4"},
    {"orbits.compat_repeated_planets", "orbits.protocol=vafa2025"},
    {"orbits.compat_solar_dt", "orbits.output=tokens"},
    {"text.val", "text.train=a"},
    {"text.positions", "text.train=a"},
    {"text.val_fraction", "text.train=a"},
    {"text.vocab", "text.train=a"},
    {"text.tokens", "text.train=a"},
    {"model.rope_base", "model.positions=rope"},
    {"model.fourier_min_au", "model.fourier=2"},
    {"model.tie", "text.train=a"},
    {"symreg.loss_parameter", "symreg.loss=huber"},
    {"lr_final", "schedule=cosine"},
    {"outlier_window", "outlier_sigma=6"},
    {"outlier_most", "outlier_sigma=6"},
    {"keep_every", "keep=2"},
    {"zero", "micro_batches=4"},
};

/* "" where the setting has an effect by itself. */
static void find_companion(const char *key, char beside[128])
{
    const char *name = strrchr(key, '.') ? strrchr(key, '.') + 1 : key;
    beside[0] = '\0';
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
        if (!strcmp(companions[i].key, key))
            snprintf(beside, 128, "%s", companions[i].beside);
        else if (!strcmp(companions[i].key, name))
            snprintf(beside, 128, "%.*s%s", (int)(name - key), key, companions[i].beside);
    }
}

/* Value and effect of a setting; false: not declared. */
static bool find_effect(const char *key, const char **value, unsigned *affects)
{
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (!strcmp(effects[i].key, key)) {
            *value = effects[i].value;
            *affects = effects[i].affects;
            return true;
        }
    for (size_t g = 0; g < sizeof trainings / sizeof *trainings; g++) {
        const size_t length = strlen(trainings[g].group);
        if (strncmp(key, trainings[g].group, length) != 0)
            continue;
        for (size_t i = 0; i < sizeof training / sizeof *training; i++)
            if (!strcmp(training[i].name, key + length)) {
                *value = training[i].value;
                *affects = training[i].affects ? trainings[g].affects : 0;
                /* planet runs follow, but for their number of steps */
                if (g == 0 && training[i].affects && strcmp(training[i].name, "steps") != 0)
                    *affects |= trainings[1].affects;
                return true;
            }
    }
    return false;
}

static void run_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    strcpy(p->name, "run");
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    p->planets.enabled = true;
    p->planets.train = p->planets.val = p->planets.test = 10;
    p->pretrain_planets.steps = 10;
    p->model.precision = ORR_PRECISION_BF16;
}

/* Digests of all artefacts; those of the first attention of `names`. */
static void digests(const struct orr_settings *p, char digest[ARTEFACTS][ORR_DIGEST])
{
    static const char *const sets[] = {
        "train",         "val",           "test",        "two_body_train", "two_body_val",
        "two_body_test", "planets_train", "planets_val", "planets_test",   "planets_solar"};
    struct orr_lineage c;
    struct orr_sources sources;
    assert_int_equal(orr_lineage_open(&c, p, NULL), 0);
    orr_sources_list(p, "softmax", &sources);
    int rc = 0;
    for (int i = 0; i < 10; i++)
        rc |= orr_lineage_set(&c, sets[i], digest[i]);
    for (int runs = 0; runs < 2; runs++) {
        rc |= orr_lineage_pretrain(&c, "softmax", runs, digest[PRETRAIN + runs]);
        rc |= orr_lineage_evaluation(&c, "softmax", runs, digest[MEASURED + runs]);
        rc |= orr_lineage_model(&c, "softmax", runs, digest[runs ? VECTOR : MAGNITUDE]);
        rc |=
            orr_lineage_model(&c, "untrained", runs, digest[runs ? VECTOR_FLOOR : MAGNITUDE_FLOOR]);
        char(*table)[ORR_DIGEST] = digest + (runs ? TRUE_VECTORS : TRUE_MAGNITUDES);
        rc |= orr_lineage_table(&c, "truth", runs, table[0]);
        rc |= orr_lineage_table(&c, "oracle", runs, table[1]);
        rc |= orr_lineage_table(&c, "softmax", runs, table[2]);
        rc |= orr_lineage_table(&c, "untrained", runs, table[3]);
    }
    rc |= orr_lineage_laws(&c, &sources, digest[LAWS]);
    rc |= orr_lineage_report(&c, &sources, digest[LAWS], "", digest[REPORT]);
    assert_int_equal(rc, 0);
    orr_lineage_close(&c);
}

static unsigned with_all_that_follows(unsigned affected)
{
    for (int a = 0; a < ARTEFACTS; a++)
        if (affected & made_from[a])
            affected |= B(a);
    return affected | B(REPORT);
}

/* Artefacts that a value changes, in a run with the setting `beside`, "" = none. */
static unsigned changed_by(const struct orr_setting *f, const char *value, const char *beside)
{
    static char before[ARTEFACTS][ORR_DIGEST], after[ARTEFACTS][ORR_DIGEST];
    char assignment[256], was[ORR_SETTING], is[ORR_SETTING];
    struct orr_settings p;
    unsigned changed = 0;
    run_preset(&p);
    if (*beside && orr_settings_set(&p, beside))
        fail_msg("%s", orr_error());
    digests(&p, before);
    orr_setting_text(&p, f, was);
    snprintf(assignment, sizeof assignment, "%s=%s", f->key, value);
    if (orr_settings_set(&p, assignment))
        fail_msg("%s", orr_error());
    orr_setting_text(&p, f, is);
    if (!strcmp(was, is) && strcmp(f->key, "planets.enabled") != 0)
        fail_msg("%s: %s is the value that it has", f->key, value);
    digests(&p, after);
    for (int a = 0; a < ARTEFACTS; a++)
        changed |= strcmp(before[a], after[a]) ? B(a) : 0;
    return changed;
}

/* Every setting of the table of settings: exactly what is declared for it is made again. One that
 * has no effect, as a note tells, is in no record but the report's. */
TEST(test_every_setting)
{
    int settings = 0;
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++, settings++) {
        const char *value = "";
        char beside[128], why[256];
        unsigned affects = 0;
        struct orr_settings p;
        if (!find_effect(f->key, &value, &affects))
            fail_msg("%s: declare in effects[] what this setting affects", f->key);
        find_companion(f->key, beside);
        run_preset(&p);
        const bool unused = orr_settings_unused(&p, f->key, why);
        const bool off = unused && !strncmp(why, f->key, strlen(f->key)); /* by its own value */
        if (!off && unused != (*beside != '\0'))
            fail_msg("%s: declared beside \"%s\", but it is %s", f->key, beside,
                     *beside ? "used" : why);
        if (*beside && changed_by(f, value, "") != B(REPORT))
            fail_msg("%s=%s: changed %x without %s", f->key, value, changed_by(f, value, ""),
                     beside);
        const unsigned changed = changed_by(f, value, beside);
        const unsigned expected =
            strcmp(f->key, "planets.enabled") ? with_all_that_follows(affects) : 0;
        if (!strcmp(beside, "text.train=a") && changed == (expected & ~B(LAWS)))
            continue; /* of a text there are no tables, and no laws */
        if (changed != expected)
            fail_msg("%s=%s: changed %x, declared %x", f->key, value, changed, expected);
    }
    assert_true(settings > 150);
}

/* Models from files, a text, the untrained floor of another list. */
TEST(test_inputs)
{
    static char before[ARTEFACTS][ORR_DIGEST], after[ARTEFACTS][ORR_DIGEST];
    struct orr_settings p;
    struct orr_lineage c;
    char fresh[ORR_DIGEST], started[ORR_DIGEST], tuned[ORR_DIGEST];
    run_preset(&p);
    digests(&p, before);
    strcpy(p.attention.item[0], "lssa"); /* the floor's attention is the first of the list */
    strcpy(p.attention.item[1], "softmax");
    digests(&p, after);
    assert_string_equal(before[MAGNITUDE], after[MAGNITUDE]);
    assert_string_not_equal(before[MAGNITUDE_FLOOR], after[MAGNITUDE_FLOOR]);
    run_preset(&p);
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_pretrain(&c, "lssar", false, fresh), 0);
    assert_int_equal(
        orr_records_add(&c.records, orr_record_external("checkpoint", 77, "a"), c.start[1]), 0);
    assert_int_equal(orr_lineage_pretrain(&c, "lssar", false, started), 0);
    assert_string_not_equal(fresh, started);
    assert_int_equal(orr_lineage_pretrain(&c, "softmax", false, started), 0);
    assert_string_equal(before[PRETRAIN], started); /* the other one is as it was */
    strcpy(c.from[0], c.start[1]);
    assert_int_equal(orr_lineage_model(&c, "softmax", false, tuned), 0);
    assert_string_not_equal(before[MAGNITUDE], tuned);
    assert_int_equal(orr_lineage_model(&c, "softmax", true, tuned), 0);
    assert_string_equal(before[VECTOR], tuned); /* planet runs have models of their own */
    orr_lineage_close(&c);

    assert_int_equal(orr_settings_set(&p, "text.train=a"), 0);
    for (uint64_t content = 3; content < 5; content++) {
        assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
        assert_int_equal(orr_lineage_take_text(&c, content), 0);
        assert_int_equal(orr_lineage_pretrain(&c, "softmax", false, content == 3 ? fresh : started),
                         0);
        char names[256];
        orr_records_external(&c.records, started, names, sizeof names);
        assert_true(content == 3 || strstr(names, "text a (") != NULL);
        orr_lineage_close(&c);
    }
    assert_string_not_equal(fresh, started);
}

/* A stage that is left out has no artefacts, and the stages after it do without. */
TEST(test_left_out)
{
    struct orr_settings p;
    char one[ORR_DIGEST], other[ORR_DIGEST];
    struct orr_lineage c;
    run_preset(&p);
    p.pretrain.steps = 0;
    p.finetune.vector.steps = 0;
    assert_false(orr_has_pretrain(&p, false));
    assert_true(orr_has_pretrain(&p, true));
    assert_true(orr_has_table(&p, "softmax", false) && !orr_has_table(&p, "softmax", true));
    assert_true(orr_has_table(&p, "truth", true) && orr_has_table(&p, "oracle", true));
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_model(&c, "softmax", false, one), 0);
    assert_int_equal(orr_lineage_model(&c, "untrained", false, other), 0);
    assert_string_equal(one, other); /* both begin with random weights */
    orr_lineage_close(&c);
    p.orbits.two_body_train = 0;
    assert_false(orr_has_table(&p, "truth", false));
}

/* ------------------------------------------------------------------------------- messages */

static void told(const struct orr_settings *was, const struct orr_settings *is, const char *source,
                 const char *expected)
{
    struct orr_lineage before, now;
    char old[ORR_DIGEST], digest[ORR_DIGEST], why[ORR_WHY];
    assert_int_equal(orr_lineage_open(&before, was, NULL), 0);
    assert_int_equal(orr_lineage_open(&now, is, NULL), 0);
    assert_int_equal(orr_lineage_table(&before, source, false, old), 0);
    assert_int_equal(orr_lineage_table(&now, source, false, digest), 0);
    char *text = orr_records_made_text(&before.records, old);
    cJSON *made = cJSON_Parse(text);
    assert_int_equal(orr_made_same(&now.records, digest, made, why), expected == NULL);
    assert_string_equal(why, expected ? expected : "");
    cJSON_Delete(made);
    free(text);
    orr_lineage_close(&before);
    orr_lineage_close(&now);
}

TEST(test_messages)
{
    struct orr_settings was, is;
    run_preset(&was);
    is = was;
    told(&was, &is, "lssar", NULL);
    is.pretrain.steps = 40;
    told(&was, &is, "lssar", "model: model: pretrain.steps is 600000, expected 40");
    told(&was, &is, "truth", NULL);
    is = was;
    is.finetune.sample_size = 7;
    told(&was, &is, "truth", "finetune.sample_size is 1000, expected 7");
    is = was;
    is.orbits.law = ORR_LAW_HOOKE;
    told(&was, &is, "oracle", "two_body_test: orbits.law is newton, expected hooke");
    is = was;
    is.orbits.two_body_test = 4;
    told(&was, &is, "oracle", "two_body_test: sequences is 300, expected 4");
    is = was;
    is.pretrain.steps = 0;
    told(&was, &is, "lssar", "model: model: it was made with it");
    told(&is, &was, "lssar", "model: model: it was made without");
    is = was;
    is.seed = 1;
    is.finetune.samples = 2;
    is.finetune.sample_size = 7;
    told(&was, &is, "truth", "seed is 0, expected 1; finetune.samples is 5, expected 2; 1 more");
}

/* Records of other versions, broken ones, none. */
TEST(test_foreign_records)
{
    struct orr_settings p;
    struct orr_lineage c;
    char digest[ORR_DIGEST], taken[ORR_DIGEST], why[ORR_WHY];
    run_preset(&p);
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_table(&c, "truth", false, digest), 0);
    assert_false(orr_made_same(&c.records, digest, NULL, why));
    assert_string_equal(why, "it does not say what it was made from");
    cJSON *made = orr_records_made(&c.records, digest);
    assert_int_equal(orr_records_import(&c.records, made, "f.json", taken), 0);
    assert_string_equal(taken, digest);
    cJSON *record = cJSON_GetObjectItem(cJSON_GetObjectItem(made, "records"), digest);
    cJSON *settings = cJSON_GetObjectItem(record, "settings");
    cJSON_SetValuestring(cJSON_GetObjectItem(settings, "seed"), "9");
    assert_int_equal(orr_records_import(&c.records, made, "f.json", taken), ORR_EFORMAT);
    error_names("f.json", "record", NULL);
    cJSON_SetValuestring(cJSON_GetObjectItem(made, "digest"), "0123456789abcdef");
    assert_int_equal(orr_records_import(&c.records, made, "f.json", taken), ORR_EFORMAT);
    assert_false(orr_made_same(&c.records, digest, made, why));
    assert_string_equal(why, "it does not say what it was made from");
    cJSON_AddItemToObject(cJSON_GetObjectItem(made, "records"), "0123456789abcdef",
                          cJSON_Duplicate(record, true));
    record = cJSON_GetObjectItem(cJSON_GetObjectItem(made, "records"), "0123456789abcdef");
    cJSON_SetNumberValue(cJSON_GetObjectItem(record, "revision"), 99);
    assert_false(orr_made_same(&c.records, digest, made, why));
    assert_string_equal(why, "made by another version of the program (revision 99, expected 2)");
    cJSON_Delete(made);
    orr_lineage_close(&c);
}

/* ---------------------------------------------------------------------------------- files */

static void write_with_record(const char *path, const char *text, const struct orr_records *records,
                              const char digest[ORR_DIGEST])
{
    struct orr_file file;
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_write(&file, text, strlen(text)), 0);
    assert_int_equal(orr_sidecar_commit(&file, records, digest), 0);
    orr_file_close(&file);
}

TEST_BETWEEN(test_sidecar, scratch_setup, scratch_teardown)
{
    struct orr_settings p;
    struct orr_lineage c;
    char path[4096], sidecar[4096], digest[ORR_DIGEST], why[ORR_WHY];
    cJSON *made;
    run_preset(&p);
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_table(&c, "softmax", false, digest), 0);
    scratch_path(path, scratch_dir, "forces.csv");
    scratch_path(sidecar, scratch_dir, "forces.made.json");
    assert_int_equal(orr_sidecar_read(path, &made, why), 0);
    assert_null(made);
    assert_string_equal(why, "not there");
    scratch_text(path, "F\n1\n");
    assert_false(orr_sidecar_exists(path));
    assert_int_equal(orr_sidecar_read(path, &made, why), 0);
    assert_null(made);
    assert_string_equal(why, "nothing beside it says what it was made from");
    write_with_record(path, "F\n1\n", &c.records, digest);
    assert_true(orr_sidecar_exists(path) && orr_exists(sidecar));
    assert_int_equal(orr_sidecar_read(path, &made, why), 0);
    assert_true(orr_made_same(&c.records, digest, made, why));
    cJSON_Delete(made);
    scratch_text(path, "F\n2\n"); /* as long as before */
    assert_int_equal(orr_sidecar_read(path, &made, why), 0);
    assert_null(made);
    assert_string_equal(why, "it has been changed since it was made");
    scratch_text(sidecar, "{");
    assert_int_equal(orr_sidecar_read(path, &made, why), 0);
    assert_null(made);
    assert_string_equal(orr_error(), "");
    assert_int_equal(orr_sidecar_remove(path), 0);
    assert_false(orr_exists(path) || orr_exists(sidecar));
    assert_int_equal(orr_sidecar_remove(path), 0);
    orr_lineage_close(&c);
}

/* Whatever digits numbers were written with, a reader of the file finds the sum that it says. */
TEST_BETWEEN(test_sums, scratch_setup, scratch_teardown)
{
    char path[4096], why[ORR_WHY] = "";
    cJSON *json = cJSON_CreateObject(), *read = NULL;
    orr_json_add_u64(json, "seed", 1000000000000000);
    orr_json_add_exact(json, "sixteen digits", 0.1234567890123456);
    orr_json_add_exact(json, "none", (double)NAN);
    cJSON_AddNumberToObject(json, "value", 1.0 / 3);
    assert_true(orr_sum_add(json));
    scratch_path(path, scratch_dir, "sum.json");
    assert_int_equal(orr_json_write(path, json), 0);
    assert_int_equal(orr_json_read(path, &read), 0);
    if (!orr_sum_same(read, why))
        fail_msg("%s", why);
    cJSON_SetNumberValue(cJSON_GetObjectItem(read, "value"), 1.0 / 3 + 1e-16);
    assert_false(orr_sum_same(read, why));
    cJSON_Delete(read);
    cJSON_Delete(json);
}

/* Data sets of a folder that was named: by its manifest, by content without one, of the settings
 * where there is nothing. */
TEST_BETWEEN(test_named_sets, scratch_setup, scratch_teardown)
{
    struct orr_settings p, other;
    struct orr_lineage c;
    char own[ORR_DIGEST], found[ORR_DIGEST], again[ORR_DIGEST], path[4096];
    cJSON *made;
    run_preset(&p);
    other = p;
    other.orbits.law = ORR_LAW_HOOKE;
    assert_int_equal(orr_set_made(&p, "val", own, NULL), 0);
    assert_int_equal(orr_lineage_open(&c, &p, scratch_dir), 0);
    assert_int_equal(orr_lineage_set(&c, "val", found), 0);
    assert_string_equal(found, own);
    scratch_path(path, scratch_dir, "obs_val-00000-of-00002.npy");
    scratch_text(path, "one");
    scratch_path(path, scratch_dir, "num_bodies_val.npy");
    scratch_text(path, "two");
    assert_int_equal(orr_lineage_set(&c, "val", found), 0);
    assert_string_not_equal(found, own);
    scratch_path(path, scratch_dir, "obs_two_body_val.npy"); /* of another set */
    scratch_text(path, "three");
    assert_int_equal(orr_lineage_set(&c, "val", again), 0);
    assert_string_equal(found, again);
    scratch_path(path, scratch_dir, "num_bodies_val.npy");
    scratch_text(path, "tow");
    assert_int_equal(orr_lineage_set(&c, "val", again), 0);
    assert_string_not_equal(found, again);
    assert_int_equal(orr_set_made(&other, "val", again, &made), 0);
    cJSON *json = cJSON_CreateObject(), *sets = cJSON_AddObjectToObject(json, "sets");
    cJSON_AddItemToObject(cJSON_AddObjectToObject(sets, "val"), "made", made);
    scratch_path(path, scratch_dir, "manifest.json");
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
    assert_int_equal(orr_lineage_set(&c, "val", found), 0);
    assert_string_equal(found, again);
    /* training sequences that are streamed are those of the settings, whatever the folder has */
    assert_int_equal(orr_set_made(&other, "train", again, &made), 0);
    assert_int_equal(orr_json_read(path, &json), 0);
    sets = cJSON_GetObjectItem(json, "sets");
    cJSON_AddItemToObject(cJSON_AddObjectToObject(sets, "train"), "made", made);
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
    p.orbits.train_files = p.orbits.train;
    assert_int_equal(orr_lineage_set(&c, "train", found), 0);
    assert_string_equal(found, again);
    p.orbits.train_files = p.orbits.train - 1;
    assert_int_equal(orr_set_made(&p, "train", own, NULL), 0);
    assert_int_equal(orr_lineage_set(&c, "train", found), 0);
    assert_string_equal(found, own);
    orr_lineage_close(&c);
}

/* Tables without any record are known by content; one with a record asks for all. */
TEST_BETWEEN(test_tables_made_elsewhere, scratch_setup, scratch_teardown)
{
    struct orr_settings p;
    struct orr_lineage c;
    struct orr_sources sources;
    char path[2][4096], before[ORR_DIGEST], after[ORR_DIGEST], text[1024];
    run_preset(&p);
    orr_sources_list(&p, "softmax", &sources);
    assert_int_equal(sources.count, 4);
    for (int i = 0; i < 2; i++) {
        char folder[4096];
        assert_int_equal(orr_path(folder, "%s/%s/finetune", scratch_dir, i ? "softmax" : "truth"),
                         0);
        assert_int_equal(orr_mkdir(folder), 0);
        assert_int_equal(orr_path(path[i], "%s/forces_magnitude.csv", folder), 0);
        scratch_text(path[i], "F\n1\n");
    }
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_find_external_tables(&c, scratch_dir, "softmax", true), 0);
    assert_string_equal(c.external_tables[true], ""); /* no vectors at all */
    assert_int_equal(orr_lineage_find_external_tables(&c, scratch_dir, "softmax", false), 0);
    assert_string_equal(c.external_tables[false], scratch_dir);
    assert_int_equal(orr_lineage_laws(&c, &sources, before), 0);
    orr_records_external(&c.records, before, text, sizeof text);
    assert_non_null(strstr(text, "table made elsewhere"));
    scratch_text(path[1], "F\n2\n");
    assert_int_equal(orr_lineage_laws(&c, &sources, after), 0);
    assert_string_not_equal(before, after);
    orr_lineage_close(&c);
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_table(&c, "truth", false, before), 0);
    write_with_record(path[0], "F\n1\n", &c.records, before);
    assert_int_equal(orr_lineage_find_external_tables(&c, scratch_dir, "softmax", false), 0);
    assert_string_equal(c.external_tables[false], "");
    orr_lineage_close(&c);
}

/* Every line of the table takes something out of something, with a reason. */
TEST(test_reasons)
{
    int out = 0, in = 0;
    for (int kind = 0; kind < ORR_KINDS; kind++)
        for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
            const char *reason = orr_kind_leaves_out((enum orr_kind)kind, f->key);
            assert_true(!reason || strlen(reason) > 10);
            out += reason != NULL;
            in += !reason;
            if (kind == ORR_KIND_REPORT)
                assert_null(reason);
        }
    assert_true(out > 500 && in > 500);
    /* a setting that nobody has thought about is part of everything */
    for (int kind = 0; kind < ORR_KINDS; kind++) {
        assert_null(orr_kind_leaves_out((enum orr_kind)kind, "orbits.some_new_setting"));
        assert_null(orr_kind_leaves_out((enum orr_kind)kind, "newgroup.setting"));
    }
}

TESTS(NULL, NULL)
