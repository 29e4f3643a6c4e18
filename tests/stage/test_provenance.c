/* test_provenance.c - what every setting affects, declared here once more and held against the
 * chain of records; differences that are told; sidecars; what was made elsewhere. */
#include "provenance.h"
#include "base/scratch.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "settings_table.h"

/* The artefacts of a run with planet runs, one attention and the untrained baseline. */
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
    MAGNITUDE_BASELINE,
    VECTOR,
    VECTOR_BASELINE,
    TRUE_MAGNITUDES,
    ORACLE_MAGNITUDES,
    MODEL_MAGNITUDES,
    BASELINE_MAGNITUDES,
    TRUE_VECTORS,
    ORACLE_VECTORS,
    MODEL_VECTORS,
    BASELINE_VECTORS,
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
    TRAININGS = B(PRETRAIN) | B(PRETRAIN_RUNS) | B(MAGNITUDE) | B(MAGNITUDE_BASELINE) | B(VECTOR) |
                B(VECTOR_BASELINE),
    MAGNITUDES =
        B(TRUE_MAGNITUDES) | B(ORACLE_MAGNITUDES) | B(MODEL_MAGNITUDES) | B(BASELINE_MAGNITUDES),
    VECTORS = B(TRUE_VECTORS) | B(ORACLE_VECTORS) | B(MODEL_VECTORS) | B(BASELINE_VECTORS),
    BASELINES = B(MAGNITUDE) | B(MAGNITUDE_BASELINE),
    BOTH_VECTOR = B(VECTOR) | B(VECTOR_BASELINE),
};

/* What is made from what; inputs stand before what is made from them. */
static const unsigned made_from[ARTEFACTS] = {
    [PRETRAIN] = B(TRAIN) | B(VAL),
    [PRETRAIN_RUNS] = B(RUNS_TRAIN) | B(RUNS_VAL),
    [MEASURED] = B(PRETRAIN) | B(TEST),
    [MEASURED_RUNS] = B(PRETRAIN_RUNS) | B(RUNS_TEST) | B(EIGHT),
    [MAGNITUDE] = B(PRETRAIN) | B(TWO_TRAIN) | B(TWO_VAL),
    [MAGNITUDE_BASELINE] = B(TWO_TRAIN) | B(TWO_VAL),
    [VECTOR] = B(PRETRAIN_RUNS) | B(EIGHT),
    [VECTOR_BASELINE] = B(EIGHT),
    [TRUE_MAGNITUDES] = B(TWO_TEST),
    [ORACLE_MAGNITUDES] = B(TWO_TEST) | B(TWO_TRAIN),
    [MODEL_MAGNITUDES] = B(TWO_TEST) | B(MAGNITUDE),
    [BASELINE_MAGNITUDES] = B(TWO_TEST) | B(MAGNITUDE_BASELINE),
    [TRUE_VECTORS] = B(EIGHT),
    [ORACLE_VECTORS] = B(EIGHT),
    [MODEL_VECTORS] = B(EIGHT) | B(VECTOR),
    [BASELINE_VECTORS] = B(EIGHT) | B(VECTOR_BASELINE),
    [LAWS] = MAGNITUDES,
    [REPORT] = B(LAWS) | VECTORS | B(MEASURED_RUNS),
};

/* Another value of every setting, and what it affects by itself; what follows from that is added.
 * The report shows every setting. Settings of orbits have no effect beside text.train, nor
 * text.val_fraction beside text.val; the tokens that text.tokens makes of a file are an input. */
static const struct {
    unsigned affects;
    const char *settings;
} effects[] = {
    {0, "about=another attention=softmax,lssa orbits.train_files=3 orbits.shard_sequences=7 "
        "orbits.solar_system=false planets.enabled=true text.tokens=uint16 model.device=cuda "
        "model.recompute=block"},
    {DATA | TRAININGS | B(MEASURED) | B(MEASURED_RUNS) | MAGNITUDES | VECTORS | B(LAWS), "seed=5"},
    {NEXT | TWO,
     "orbits.protocol=vafa2025 orbits.planets_max=3 orbits.a_min_au=0.31 orbits.a_max_au=31 "
     "orbits.mass_prior=uniform orbits.m_min=0.2 orbits.m_max=2.5 orbits.dt_yr=0.05 "
     "orbits.samples_min=11 orbits.samples_max=61 orbits.compat_repeated_planets=true"},
    {DATA | TRAININGS, "orbits.output=tokens"},
    {DATA | TRAININGS, "orbits.dimensions=3"},
    {B(TRAIN), "orbits.train=11"},
    {B(VAL), "orbits.val=11"},
    {B(TEST), "orbits.test=11"},
    {B(TWO_TRAIN), "orbits.two_body_train=11"},
    {B(TWO_VAL), "orbits.two_body_val=11"},
    {B(TWO_TEST), "orbits.two_body_test=11"},
    {NEXT | TWO | B(PRETRAIN) | BASELINES | BOTH_VECTOR, "orbits.positions=47"},
    {NEXT | TWO | B(PRETRAIN) | B(MEASURED) | BASELINES | BOTH_VECTOR, "orbits.bins=70"},
    {NEXT | TWO | B(MEASURED), "orbits.extent_au=49"},
    {DATA,
     "orbits.e_alpha=0.9 orbits.e_beta=3.1 orbits.e_max=0.8 orbits.com_sigma_au=0.5 "
     "orbits.clockwise=0.5 orbits.law=yukawa "
     "orbits.expression=m1*m2/r orbits.nbody=true orbits.encounters=redraw orbits.jump_step=4 "
     "orbits.jump_factor=2 orbits.compat_solar_dt=true"},
    {TWO | B(EIGHT),
     "orbits.label_from_step=6 orbits.compat_velocity_sign=true orbits.compat_relative_state=true"},
    {BASELINES | B(ORACLE_MAGNITUDES),
     "orbits.label_r_min=0.5 orbits.label_r_max=2 orbits.label_m_min=0.2 orbits.label_m_max=3"},
    {B(EIGHT) | BOTH_VECTOR | VECTORS, "planets.eccentric=true"},
    {B(RUNS_TRAIN), "planets.train=11"},
    {B(RUNS_VAL), "planets.val=11"},
    {B(RUNS_TEST), "planets.test=11"},
    {RUNS | B(EIGHT) | B(PRETRAIN_RUNS) | BOTH_VECTOR, "planets.steps=29"},
    {RUNS, "planets.samples_min=11 planets.samples_max=61 planets.light_fraction=0.4 "
           "planets.light_min=1e-6 planets.light_max=1e-3"},
    {B(EIGHT), "planets.samples_per_orbit=41"},
    {BOTH_VECTOR | VECTORS, "planets.labels=9 finetune.vector_scale=largest"},
    {B(ARTEFACTS) - 1, "text.train=a"},
    {B(PRETRAIN),
     "text.val=b text.positions=99 text.val_fraction=0.2 text.vocab=99 model.tie=false"},
    {TRAININGS,
     "model.layers=3 model.heads=3 model.width=24 model.ffn_mult=3 model.positions=rope "
     "model.attention_p=3 model.attention_window=5 model.rope_base=100 model.init_std=0.06 "
     "model.gate=softplus model.fourier=2 model.fourier_min_au=0.5 "
     "model.precision=fp32"},
    {BASELINES, "finetune.magnitude_loss=raw finetune.magnitude.train=head"},
    {MAGNITUDES, "finetune.samples=3 finetune.sample_size=30"},
    {B(ORACLE_MAGNITUDES), "finetune.knn_magnitude=3"},
    {B(ORACLE_VECTORS), "finetune.knn_vector=3"},
    {B(LAWS),
     "symreg.algorithm=pysr symreg.binary=+,- symreg.unary=sin symreg.loss=l1 "
     "symreg.loss_parameter=0.4 symreg.maxsize=19 symreg.iterations=7 symreg.populations=7 "
     "symreg.population_size=17 symreg.cycles=7 symreg.restarts=2 symreg.parsimony=0.1 "
     "symreg.enumerate=7 symreg.patience=7 symreg.seconds=7 symreg.evaluations=7 "
     "symreg.stop_loss=0.1 symreg.rules=mdl symreg.constant_tolerance=0.1"},
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
    {"zero", "true", false},       {"optimizer", "muon", true},
    {"muon_lr", "0.02", true},     {"muon_momentum", "0.9", true},
    {"muon_steps", "6", true},
};
static const struct {
    const char *group;
    unsigned affects;
} trainings[] = {
    {"pretrain.", B(PRETRAIN)},
    {"pretrain_planets.", B(PRETRAIN_RUNS)},
    {"finetune.magnitude.", BASELINES},
    {"finetune.vector.", BOTH_VECTOR},
};

/* Settings that have an effect only beside another one: without it they are in no record but that
 * of the report. A training's own name stands for those of all four. */
static const struct {
    const char *beside, *settings;
} companions[] = {
    {"orbits.output=tokens",
     "orbits.bins orbits.extent_au orbits.solar_system orbits.compat_solar_dt"},
    {"orbits.protocol=vafa2025", "orbits.planets_max orbits.compat_repeated_planets"},
    {"orbits.nbody=true", "orbits.encounters"},
    {"orbits.jump_factor=2", "orbits.jump_step"},
    {"orbits.jump_step=4", "orbits.jump_factor"},
    {"text.train=a", "text.val text.positions text.val_fraction text.vocab text.tokens model.tie"},
    {"model.positions=rope", "model.rope_base"},
    {"model.fourier=2", "model.fourier_min_au"},
    {"symreg.loss=huber", "symreg.loss_parameter"},
    {"schedule=cosine", "lr_final"},
    {"outlier_sigma=6", "outlier_window outlier_most"},
    {"keep=2", "keep_every"},
    {"micro_batches=4", "zero"},
    {"optimizer=muon", "muon_lr muon_momentum muon_steps"},
};

/* Where a list of settings names one: the blank or "=" behind the name, or NULL. */
static const char *find_setting(const char *settings, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = settings; *at; at += strspn(at, " ")) {
        if (!strncmp(at, key, length) && (at[length] == '\0' || strchr(" =", at[length])))
            return at + length;
        at += strcspn(at, " ");
    }
    return NULL;
}

/* The law of force that a setting belongs to, or NULL: such settings affect all data. */
static const struct orr_force_law *law_of(const char *key)
{
    for (int law = 0; law < ORR_LAWS; law++)
        if (find_setting(orr_force_laws[law].settings + strspn(orr_force_laws[law].settings, " "),
                         key))
            return &orr_force_laws[law];
    return NULL;
}

/* "" where the setting has an effect by itself. */
static void find_companion(const char *key, char beside[128])
{
    const struct orr_force_law *law = law_of(key);
    const char *name = strrchr(key, '.') ? strrchr(key, '.') + 1 : key;
    snprintf(beside, 128, "%s%s", law ? "orbits.law=" : "", law ? law->name : "");
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
        if (find_setting(companions[i].settings, key))
            snprintf(beside, 128, "%s", companions[i].beside);
        else if (find_setting(companions[i].settings, name))
            snprintf(beside, 128, "%.*s%s", (int)(name - key), key, companions[i].beside);
    }
}

/* Value and effect of a setting; false: not declared. */
static bool find_effect(const char *key, char value[64], unsigned *affects)
{
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        const char *found = find_setting(effects[i].settings, key);
        if (found) {
            snprintf(value, 64, "%.*s", (int)strcspn(found + 1, " "), found + 1);
            *affects = effects[i].affects;
            return true;
        }
    }
    for (size_t g = 0; g < sizeof trainings / sizeof *trainings; g++) {
        const size_t length = strlen(trainings[g].group);
        if (strncmp(key, trainings[g].group, length) != 0)
            continue;
        for (size_t i = 0; i < sizeof training / sizeof *training; i++)
            if (!strcmp(training[i].name, key + length)) {
                snprintf(value, 64, "%s", training[i].value);
                *affects = training[i].affects ? trainings[g].affects : 0;
                /* planet runs follow, but for their number of steps */
                if (g == 0 && training[i].affects && strcmp(training[i].name, "steps") != 0)
                    *affects |= trainings[1].affects;
                return true;
            }
    }
    *affects = DATA;
    snprintf(value, 64, "0.2"); /* the default of no law */
    return law_of(key) != NULL;
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
        rc |= orr_lineage_model(&c, "untrained", runs,
                                digest[runs ? VECTOR_BASELINE : MAGNITUDE_BASELINE]);
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
        char value[64] = "", beside[128], why[256];
        unsigned affects = 0;
        struct orr_settings p;
        if (!find_effect(f->key, value, &affects))
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

/* Models from files, a text, the untrained baseline of another list. */
TEST(test_inputs)
{
    static char before[ARTEFACTS][ORR_DIGEST], after[ARTEFACTS][ORR_DIGEST];
    struct orr_settings p;
    struct orr_lineage c;
    char fresh[ORR_DIGEST], started[ORR_DIGEST], tuned[ORR_DIGEST];
    run_preset(&p);
    digests(&p, before);
    strcpy(p.attention.item[0], "lssa"); /* the baseline's attention is the first of the list */
    strcpy(p.attention.item[1], "softmax");
    digests(&p, after);
    assert_string_equal(before[MAGNITUDE], after[MAGNITUDE]);
    assert_string_not_equal(before[MAGNITUDE_BASELINE], after[MAGNITUDE_BASELINE]);
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
    char path[4096];
    cJSON *json = cJSON_CreateObject(), *read = NULL;
    orr_json_add_u64(json, "seed", 1000000000000000);
    orr_json_add_exact(json, "sixteen digits", 0.1234567890123456);
    orr_json_add_exact(json, "none", (double)NAN);
    cJSON_AddNumberToObject(json, "value", 1.0 / 3);
    scratch_path(path, scratch_dir, "sum.json");
    assert_int_equal(orr_json_write(path, json), 0);
    assert_int_equal(orr_json_read(path, &read), 0);
    assert_true(orr_json_sum_same(read));
    cJSON_SetNumberValue(cJSON_GetObjectItem(read, "value"), 1.0 / 3 + 1e-16);
    assert_false(orr_json_sum_same(read));
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
    scratch_text(scratch_at(scratch_dir, "obs_val-00000-of-00002.npy"), "one");
    scratch_text(scratch_at(scratch_dir, "num_bodies_val.npy"), "two");
    assert_int_equal(orr_lineage_set(&c, "val", found), 0);
    assert_string_not_equal(found, own);
    scratch_path(path, scratch_dir, "obs_two_body_val.npy"); /* of another set */
    scratch_text(path, "three");
    assert_int_equal(orr_lineage_set(&c, "val", again), 0);
    assert_string_equal(found, again);
    scratch_text(scratch_at(scratch_dir, "num_bodies_val.npy"), "tow");
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

/* The program that makes what first depends on a setting, by its group. */
TEST(test_stages_of_settings)
{
    static const char *const stages[][2] = {
        {"seed", "orbits"},           {"orbits.law", "orbits"},
        {"orbits.train", "orbits"},   {"planets.enabled", "orbits"},
        {"attention", "pretrain"},    {"text.train", "pretrain"},
        {"model.device", "pretrain"}, {"pretrain_planets.zero", "pretrain"},
        {"pretrain.lr", "pretrain"},  {"finetune.vector.steps", "finetune"},
        {"symreg.rules", "symreg"},
    };
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        assert_string_equal(orr_setting_stage(stages[i][0]), stages[i][1]);
}

/* Laws that are of positions, too, are made from their data set, by settings or by its bytes. */
TEST_BETWEEN(test_laws_of_positions, scratch_setup, scratch_teardown)
{
    struct orr_settings p;
    struct orr_lineage c;
    struct orr_sources sources;
    char before[ORR_DIGEST], after[ORR_DIGEST], set[ORR_DIGEST], path[4096];
    run_preset(&p);
    orr_sources_list(&p, "softmax", &sources);
    assert_int_equal(orr_lineage_open(&c, &p, NULL), 0);
    assert_int_equal(orr_lineage_laws(&c, &sources, before), 0);
    snprintf(sources.name[sources.count++], ORR_NAME, ORR_POSITIONS);
    assert_int_equal(orr_lineage_laws(&c, &sources, after), 0);
    assert_string_not_equal(before, after);
    assert_int_equal(orr_lineage_set(&c, "two_body_test", set), 0);
    cJSON *made = orr_records_made(&c.records, after),
          *without = orr_records_made(&c.records, before);
    const cJSON *inputs = cJSON_GetObjectItem(orr_made_record(made, after), "inputs");
    assert_string_equal(cJSON_GetObjectItem(inputs, "positions")->valuestring, set);
    assert_non_null(orr_made_record(made, set));
    assert_true(orr_made_from_positions(made));
    assert_false(orr_made_from_positions(without) || orr_made_from_positions(NULL));
    cJSON_Delete(made);
    cJSON_Delete(without);
    orr_lineage_close(&c);
    scratch_path(path, scratch_dir, "coords_two_body_test.npy"); /* made elsewhere */
    for (int bytes = 0; bytes < 2; bytes++) {
        scratch_text(path, bytes ? "other" : "bytes");
        assert_int_equal(orr_lineage_open(&c, &p, scratch_dir), 0);
        assert_int_equal(orr_lineage_laws(&c, &sources, bytes ? after : before), 0);
        orr_lineage_close(&c);
    }
    assert_string_not_equal(before, after);
}

TESTS(NULL, NULL)
