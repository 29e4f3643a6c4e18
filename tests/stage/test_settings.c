/* test_settings.c - settings: defaults, files, assignments, refusals, saving. */
#include "base/scratch.h"
#include "stage/settings.h"

#include <math.h>

static char *const dir = scratch_dir;

/* The published study's settings, and a clean check. */
TEST(test_defaults)
{
    struct orr_settings p;
    memset(&p, 0xa5, sizeof p);
    orr_settings_defaults(&p);
    assert_int_equal(p.orbits.train, 10000000);
    assert_int_equal(p.orbits.positions, 1000);
    assert_int_equal(p.orbits.bins, 7000);
    assert_true(p.orbits.extent_au == 50 && p.orbits.a_min_au == 0.3 && p.orbits.a_max_au == 32);
    assert_true(p.orbits.e_alpha == 0.867 && p.orbits.e_beta == 3.03);
    assert_int_equal(p.orbits.planets_max, 10);
    assert_false(p.orbits.compat_velocity_sign || p.orbits.compat_relative_state);
    assert_true(p.model.layers == 12 && p.model.heads == 12 && p.model.width == 768);
    assert_true(p.model.attention_p == 15);
    assert_true(p.pretrain.lr == 6e-4 && p.pretrain.beta1 == 0.9 && p.pretrain.beta2 == 0.95);
    assert_true(p.pretrain.weight_decay == 0.1 && p.pretrain.clip == 1);
    assert_int_equal(p.pretrain.schedule, ORR_SCHEDULE_CONSTANT);
    assert_true(p.finetune.vector.lr == 2e-4 && p.finetune.magnitude.lr == 6e-4);
    assert_int_equal(p.finetune.knn_magnitude, 2);
    assert_int_equal(p.finetune.knn_vector, 5);
    assert_int_equal(p.attention.count, 2);
    assert_string_equal(p.attention.item[1], "lssar");
    assert_int_equal(p.symreg.unary.count, 4);
    assert_string_equal(p.symreg.unary.item[3], "inv");
    assert_int_equal(orr_settings_check(&p), 0);
}

TEST(test_assignments)
{
    struct orr_settings p;
    orr_settings_defaults(&p);
    assert_int_equal(orr_settings_set(&p, "pretrain.steps=1e3"), 0);
    assert_int_equal(p.pretrain.steps, 1000);
    assert_int_equal(orr_settings_set(&p, "orbits.dt_yr=0.0385"), 0);
    assert_true(p.orbits.dt_yr == 0.0385);
    assert_int_equal(orr_settings_set(&p, "attention=lssa,x,y"), 0);
    assert_int_equal(p.attention.count, 3);
    assert_string_equal(p.attention.item[2], "y");
    assert_int_equal(orr_settings_set(&p, "orbits.solar_system=false"), 0);
    assert_false(p.orbits.solar_system);
    assert_int_equal(orr_settings_set(&p, "model.positions=none"), 0);
    assert_int_equal(p.model.positions, ORR_POSITIONS_NONE);
    assert_int_equal(orr_settings_set(&p, "about=a = b, \"c\""), 0);
    assert_string_equal(p.about, "a = b, \"c\"");
    assert_int_equal(orr_settings_set(&p, "seed=18446744073709551615"), 0);
    assert_true(p.seed == UINT64_MAX);
    assert_int_equal(orr_settings_set(&p, "pretrain.weight_decay=-0"), 0);
    assert_false(signbit(p.pretrain.weight_decay)); /* two texts of one value */
}

/* Refused assignments change nothing, are usage errors, and name key, expectation and find. */
TEST(test_bad_assignments)
{
    static const struct {
        const char *assignment, *named, *said;
    } bad[] = {
        {"pretrain.stepz=3", "pretrain.stepz", "did you mean \"pretrain.steps\""},
        {"orbits.extent=3", "orbits.extent", "did you mean \"orbits.extent_au\""},
        {"Seed=3", "Seed", "did you mean \"seed\""},
        {"model.attention_p=0.5", "model.attention_p", "from 1 to 1000, found \"0.5\""},
        {"model.attention_p=nan", "model.attention_p", "found \"nan\""},
        {"orbits.bins=0", "orbits.bins", "from 1 to 65532"},
        {"orbits.bins=65533", "orbits.bins", "found \"65533\""},
        {"orbits.bins=7e3x", "orbits.bins", "found \"7e3x\""},
        {"orbits.e_max=1.5", "orbits.e_max", "found \"1.5\""},
        {"orbits.e_max=-0.1", "orbits.e_max", "found"},
        {"pretrain.steps=2.5", "pretrain.steps", "whole number"},
        {"pretrain.steps=-1", "pretrain.steps", "from 0"},
        {"pretrain.lr=", "pretrain.lr", "found \"\""},
        {"pretrain.lr=1e999", "pretrain.lr", "number"},
        {"pretrain.lr=inf", "pretrain.lr", "number"},
        {"pretrain.schedule=cosin", "pretrain.schedule", "constant|cosine"},
        {"pretrain.schedule=", "pretrain.schedule", "constant|cosine"},
        {"orbits.solar_system=yes", "orbits.solar_system", "true or false"},
        {"attention=a,,b", "attention", "list of names"},
        {"seed=1e3", "seed", "digits"},
        {"seed=-1", "seed", "digits"},
        {"seed=18446744073709551616", "seed", "up to 18446744073709551615"},
        {"pretrain.steps", "key=value", "pretrain.steps"},
        {"=3", "unknown key", "\"\""},
    };
    struct orr_settings p, before;
    orr_settings_defaults(&p);
    orr_settings_defaults(&before);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        orr_error_clear();
        assert_int_equal(orr_settings_set(&p, bad[i].assignment), ORR_EUSAGE);
        error_names("--set", bad[i].named, bad[i].said, NULL);
    }
    assert_memory_equal(&p, &before, sizeof p);
    /* nothing near: no suggestion */
    assert_int_equal(orr_settings_set(&p, "colour=3"), ORR_EUSAGE);
    assert_null(strstr(orr_error(), "did you mean"));
}

/* Settings that can not work together, each from an otherwise good preset. */
TEST(test_check)
{
    static const struct {
        const char *set[3], *named, *said;
    } bad[] = {
        {{"model.heads=7"}, "model.heads", "width = 768"},
        {{"model.positions=rope", "model.width=36"}, "model.positions", "36 / 12 = 3"},
        {{"orbits.e_max=1"}, "orbits.e_max", "below 1"},
        {{"orbits.a_min_au=40"}, "orbits.a_min_au", "40"},
        {{"orbits.m_min=4"}, "orbits.m_min", "4"},
        {{"orbits.m_min=0"}, "orbits.m_min", "massless test particles are not simulated"},
        {{"orbits.samples_min=60"}, "orbits.samples_min", "60"},
        {{"orbits.mass_prior=uniform"}, "orbits.mass_prior", "study"},
        {{"orbits.protocol=identifiable"}, "orbits.mass_prior", "loguniform"},
        {{"orbits.protocol=identifiable", "orbits.mass_prior=uniform"},
         "orbits.output",
         "continuous"},
        {{"orbits.output=continuous"}, "orbits.output", "tokens"},
        {{"orbits.two_body_test=0"}, "orbits.two_body_test", "at least 1"},
        {{"planets.enabled=true"}, "planets.enabled", "continuous"},
        {{"attention="}, "attention", "at least one"},
    };
    struct orr_settings p;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        orr_settings_defaults(&p);
        for (int k = 0; k < 3 && bad[i].set[k]; k++)
            assert_int_equal(orr_settings_set(&p, bad[i].set[k]), 0);
        assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
        error_names(bad[i].named, bad[i].said, NULL);
    }
}

static void continuous(struct orr_settings *p)
{
    orr_settings_defaults(p);
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    p->planets.enabled = true;
    p->planets.train = 1;
}

TEST(test_check_continuous)
{
    struct orr_settings p;
    continuous(&p);
    assert_int_equal(orr_settings_check(&p), 0);
    p.orbits.positions = 20; /* 9.5 time steps; the first labelled row of step 8 is 18 */
    assert_int_equal(orr_settings_check(&p), 0);
    p.orbits.positions = 18;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("orbits.label_from_step", NULL);
    continuous(&p);
    p.planets.labels = p.planets.steps;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("planets.labels", NULL);
    continuous(&p);
    p.planets.light_min = p.planets.light_max;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("planets.light_min", NULL);
    p.planets.light_min = 0;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("planets.light_min", "massless test particles are not simulated", NULL);
    continuous(&p);
    p.planets.samples_max = p.planets.samples_min;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("planets.samples_min", NULL);
    continuous(&p);
    p.planets.train = 0;
    p.pretrain_planets.steps = 1;
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("planets.train", NULL);
}

/* Every type with an awkward value survives; so do seeds above 2^53 and doubles whose 15-digit
 * text is another double. */
TEST_BETWEEN(test_save_and_load, scratch_setup, scratch_teardown)
{
    static const char *const set[] = {
        "seed=12345678901234567891",        "about=\"quoted\", back\\slash, \xc3\xa9",
        "attention=softmax,lssa-2,x",       "orbits.protocol=identifiable",
        "orbits.output=continuous",         "orbits.mass_prior=loguniform",
        "orbits.dt_yr=0.30000000000000004", "orbits.m_min=0.1234567890123456",
        "orbits.solar_system=false",        "orbits.two_body_val=999999999999",
        "pretrain.schedule=cosine",         "symreg.unary=",
    };
    struct orr_settings p, q;
    char path[4096], again[4096], *a, *b;
    orr_settings_defaults(&p);
    strcpy(p.name, "awkward");
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(orr_settings_set(&p, set[i]), 0);
    scratch_path(path, dir, "first.json");
    scratch_path(again, dir, "second.json");
    assert_int_equal(orr_settings_save(&p, path), 0);
    assert_int_equal(orr_settings_load(&q, path), 0);
    assert_memory_equal(&p, &q, sizeof p);
    assert_true(q.seed == 12345678901234567891u && q.orbits.dt_yr == 0.1 + 0.2);
    assert_int_equal(orr_settings_save(&q, again), 0);
    assert_int_equal(orr_file_read(path, &a, NULL), 0);
    assert_int_equal(orr_file_read(again, &b, NULL), 0);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

TEST_BETWEEN(test_files, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *text, *said, *also;
    } bad[] = {
        {"{\"orbits\": {\"bin\": 3}}", "unknown key \"orbits.bin\"",
         "did you mean \"orbits.bins\""},
        {"{\"model\": {\"heads\": \"4\"}}", "model.heads", "whole number"},
        {"{\"model\": {\"heads\": true}}", "model.heads", "found \"true\""},
        {"{\"model\": {\"heads\": 4.5}}", "model.heads", "4.5"},
        {"{\"model\": {\"heads\": [4]}}", "model.heads", "[4]"},
        {"{\"model\": {\"heads\": null}}", "model.heads", "null"},
        {"{\"model\": {\"positions\": \"sine\"}}", "learned|rope|none", "sine"},
        {"{\"attention\": [\"softmax\", 3]}", "attention", "list of names"},
        {"{\"attention\": [\"\", \"softmax\"]}", "attention: expected names", "found \"\""},
        {"{\"attention\": [\"softmax\", \"a,b\"]}", "attention: expected names", "found \"a,b\""},
        {"{\"symreg\": {\"unary\": [\"\"]}}", "symreg.unary: expected names", "found \"\""},
        {"{\"orbits\": 3}", "unknown key \"orbits\"", NULL},
        {"{\"seed\": 0.5}", "seed", "0.5"},
        {"{\"seed\": -3}", "seed", "-3"},
        {"{\"seed\": 18446744073709551615}", "seed", "quoted"},
        {"[1]", "expected a JSON object", NULL},
        {"{\n \"seed\": 1,\n}", ":3:", "JSON"},
    };
    struct orr_settings p;
    char path[4096];
    scratch_path(path, dir, "bad.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scratch_text(path, bad[i].text);
        orr_error_clear();
        assert_int_equal(orr_settings_load(&p, path), ORR_EUSAGE);
        error_names(path, bad[i].said, bad[i].also, NULL);
    }
    assert_int_equal(orr_settings_load(&p, "/nonexistent/x.json"), ORR_EUSAGE);
    error_names("/nonexistent/x.json", NULL);
    assert_int_equal(orr_settings_load(&p, "no_such_preset"), ORR_EUSAGE);
    error_names("no_such_preset", NULL);
}

/* A name is looked up in $ORRERY_PRESETS first, and becomes the preset's name. */
/* Lists of 64 names of 63 bytes come back from a file; one more is too many. */
TEST_BETWEEN(test_long_lists, scratch_setup, scratch_teardown)
{
    struct orr_settings p, q;
    char text[16 + (ORR_LIST + 1) * ORR_NAME] = "attention=", path[4096];
    for (int i = 0; i < ORR_LIST; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%03d%060d", i ? "," : "", i, i);
    }
    orr_settings_defaults(&p);
    assert_int_equal(orr_settings_set(&p, text), 0);
    assert_int_equal(p.attention.count, 64);
    assert_int_equal(strlen(p.attention.item[63]), 63);
    scratch_path(path, scratch_dir, "long.json");
    assert_int_equal(orr_settings_save(&p, path), 0);
    assert_int_equal(orr_settings_load(&q, path), 0);
    assert_memory_equal(&q.attention, &p.attention, sizeof p.attention);
    strcat(text, ",one_more");
    assert_int_equal(orr_settings_set(&p, text), ORR_EUSAGE);
    error_names("--set: attention", "at most 64 names", NULL);
    assert_int_equal(p.attention.count, 64);
}

TEST_BETWEEN(test_names, scratch_setup, scratch_teardown)
{
    struct orr_settings p;
    char path[4096];
    scratch_text(scratch_at(dir, "quick.json"),
                 "{\"seed\": 9007199254740992, \"model\": {\"heads\": 3}}");
    setenv("ORRERY_PRESETS", dir, 1);
    assert_int_equal(orr_settings_load(&p, "quick"), 0);
    unsetenv("ORRERY_PRESETS");
    assert_string_equal(p.name, "quick");
    assert_int_equal(p.model.heads, 3);
    assert_int_equal(p.model.layers, 12); /* the default */
    assert_true(p.seed == 1ull << 53);
    scratch_path(path, dir, "other.json");
    scratch_text(path, "{\"name\": \"kept\"}");
    assert_int_equal(orr_settings_load(&p, path), 0);
    assert_string_equal(p.name, "kept");
}

/* Every preset that is shipped loads and passes. */
TEST(test_shipped)
{
    static const char *const names[] = {"smoke", "smoke_tokens", "quick", "gpu", "vafa2025"};
    struct orr_settings p;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(orr_settings_load(&p, names[i]), 0);
        assert_int_equal(orr_settings_check(&p), 0);
        assert_string_equal(p.name, names[i]);
    }
    assert_int_equal(p.orbits.protocol, ORR_PROTOCOL_VAFA2025);
    assert_true(p.orbits.train > p.orbits.train_files); /* streams */
}

/* Settings that change nothing beside others, and those that do. */
TEST(test_unused)
{
    static const struct {
        const char *set[2], *key, *why; /* why NULL: it has an effect */
    } cases[] = {
        {{NULL}, "orbits.law_alpha", "orbits.law is newton"},
        {{"orbits.law=yukawa"}, "orbits.law_alpha", NULL},
        {{NULL}, "orbits.dt_yr", "orbits.protocol is vafa2025"},
        {{"orbits.mass_prior=loguniform"}, "orbits.m_min", NULL},
        {{NULL}, "orbits.m_min", "orbits.mass_prior is study"},
        {{NULL}, "orbits.bins", NULL},
        {{"orbits.encounters=redraw"}, "orbits.encounters", "orbits.nbody is false"},
        {{"orbits.nbody=true"}, "orbits.encounters", "orbits.encounters is error"},
        {{"orbits.nbody=true", "orbits.encounters=redraw"}, "orbits.encounters", NULL},
        {{NULL}, "orbits.clockwise", "orbits.clockwise is 0"},
        {{"orbits.clockwise=0.1"}, "orbits.clockwise", NULL},
        {{NULL}, "orbits.dimensions", "orbits.dimensions is 2"},
        {{"orbits.dimensions=3"}, "orbits.dimensions", NULL},
        {{"orbits.jump_step=3"}, "orbits.jump_step", "orbits.jump_factor is 1"},
        {{"orbits.jump_step=3", "orbits.jump_factor=2"}, "orbits.jump_step", NULL},
        {{NULL}, "planets.steps", "planets.enabled is false"},
        {{NULL}, "planets.enabled", NULL},
        {{NULL}, "planets.labels", NULL},
        {{NULL}, "text.positions", "text.train is empty"},
        {{"text.train=a"}, "text.positions", NULL},
        {{"text.train=a"}, "orbits.law", "text.train is a"},
        {{"text.train=a", "text.val=b"}, "text.val_fraction", "text.val is b"},
        {{NULL}, "model.rope_base", "model.positions is learned"},
        {{NULL}, "pretrain.outlier_window", "pretrain.outlier_sigma is 0"},
        {{"finetune.vector.outlier_sigma=6"}, "finetune.vector.outlier_window", NULL},
        {{"pretrain.steps=0"}, "pretrain.lr", "pretrain.steps is 0"},
        {{"pretrain.steps=0"}, "pretrain.steps", NULL},
        {{NULL}, "finetune.magnitude.lr_final", "finetune.magnitude.schedule is constant"},
        {{"finetune.magnitude.schedule=linear"}, "finetune.magnitude.lr_final", NULL},
        {{NULL}, "pretrain.micro_batches", "pretrain.micro_batches is 0"},
        {{"pretrain.micro_batches=8"}, "pretrain.micro_batches", NULL},
        {{NULL}, "symreg.loss_parameter", "symreg.loss is study"},
        {{"symreg.loss=quantile"}, "symreg.loss_parameter", NULL},
        {{NULL}, "pretrain.lr", NULL},
        {{NULL}, "seed", NULL},
    };
    struct orr_settings p;
    char why[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        orr_settings_defaults(&p);
        for (int k = 0; k < 2 && cases[i].set[k]; k++)
            assert_int_equal(orr_settings_set(&p, cases[i].set[k]), 0);
        if (orr_settings_unused(&p, cases[i].key, why) != (cases[i].why != NULL))
            fail_msg("%s: expected %s", cases[i].key, cases[i].why ? cases[i].why : "an effect");
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
    }
    /* settings that nothing reads are none */
    assert_int_equal(orr_settings_set(&p, "finetune.vector.batch=4"), ORR_EUSAGE);
    error_names("finetune.vector.batch", NULL);
    assert_int_equal(orr_settings_set(&p, "finetune.vector.patience=4"), ORR_EUSAGE);
    assert_int_equal(orr_settings_set(&p, "finetune.vector.eval_every=4"), ORR_EUSAGE);
}

/* A patience needs evaluations. */
TEST(test_patience_needs_evaluations)
{
    struct orr_settings p;
    orr_settings_defaults(&p);
    assert_int_equal(orr_settings_set(&p, "pretrain.patience=2"), 0);
    assert_int_equal(orr_settings_set(&p, "pretrain.eval_every=0"), 0);
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("pretrain.eval_every", "pretrain.patience = 2", NULL);
}

/* Settings of pretrain_planets but its steps are those of pretrain until they are given, in any
 * order; what is saved says no more than what was given. */
TEST_BETWEEN(test_followers, scratch_setup, scratch_teardown)
{
    struct orr_settings p, q;
    char path[4096];
    orr_settings_defaults(&p);
    assert_int_equal(orr_settings_set(&p, "pretrain.micro_batches=4"), 0);
    assert_int_equal(p.pretrain_planets.micro_batches, 4);
    assert_int_equal(orr_settings_set(&p, "pretrain.steps=7"), 0);
    assert_int_equal(p.pretrain_planets.steps, 0); /* the stage is skipped */
    assert_int_equal(orr_settings_set(&p, "pretrain_planets.lr=0.25"), 0);
    assert_int_equal(orr_settings_set(&p, "pretrain.lr=0.5"), 0);
    assert_true(p.pretrain_planets.lr == 0.25 && p.pretrain.lr == 0.5);
    assert_true(p.finetune.magnitude.lr == 6e-4);
    assert_int_equal(orr_settings_set(&p, "pretrain.lr=oops"), ORR_EUSAGE);
    scratch_path(path, dir, "follows.json");
    assert_int_equal(orr_settings_save(&p, path), 0);
    assert_int_equal(orr_settings_load(&q, path), 0);
    strcpy(q.name, p.name);
    assert_memory_equal(&p, &q, sizeof p);
    assert_int_equal(orr_settings_set(&q, "pretrain.zero=true"), 0);
    assert_int_equal(orr_settings_set(&q, "pretrain.lr=0.125"), 0);
    assert_true(q.pretrain_planets.zero && q.pretrain_planets.lr == 0.25);
    /* a file may name the follower first, and with the value it would have anyway */
    const char *text = "{\"pretrain_planets\": {\"clip\": 1, \"batch\": 8}, \"pretrain\": "
                       "{\"clip\": 2, \"beta1\": 0.5}}";
    scratch_text(path, text);
    assert_int_equal(orr_settings_load(&q, path), 0);
    assert_true(q.pretrain_planets.clip == 1 && q.pretrain.clip == 2);
    assert_true(q.pretrain_planets.beta1 == 0.5 && q.pretrain.batch == 64);
}

/* A law reads its own settings alone. */
TEST(test_laws)
{
    static const struct {
        const char *law, *set;
    } read[] = {{"power", "law_exponent=-1.5"},      {"yukawa", "law_alpha=2"},
                {"yukawa", "law_lambda_au=3"},       {"mond", "law_a0=4"},
                {"plummer", "law_softening_au=0.5"}, {"lambda", "law_constant=0.25"},
                {"expression", "expression=m1*m2"}};
    static const char *const laws[] = {"newton",         "power", "yukawa", "mond",      "plummer",
                                       "post_newtonian", "hooke", "lambda", "expression"};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
            struct orr_settings p;
            char law[64], set[64], key[64];
            orr_settings_defaults(&p);
            snprintf(law, sizeof law, "orbits.law=%s", laws[k]);
            snprintf(set, sizeof set, "orbits.%s", read[i].set);
            snprintf(key, sizeof key, "%.*s", (int)strcspn(set, "="), set);
            assert_int_equal(orr_settings_set(&p, law), 0);
            assert_int_equal(orr_settings_check_laws(&p, "file"), 0);
            assert_int_equal(orr_settings_set(&p, set), 0);
            const bool reads = !strcmp(read[i].law, laws[k]);
            assert_int_equal(orr_settings_check_law(&p, "--set", key), reads ? 0 : ORR_EUSAGE);
            assert_int_equal(orr_settings_check_laws(&p, "file"), reads ? 0 : ORR_EUSAGE);
            if (!reads)
                error_names("file: ", key, laws[k], read[i].law, NULL);
            assert_int_equal(orr_settings_drop_laws(&p), 0);
            assert_int_equal(orr_settings_check_laws(&p, "file"), 0);
        }
}

/* A step is cut into equal parts. */
TEST(test_micro_batches)
{
    struct orr_settings p;
    continuous(&p);
    p.pretrain.batch = 6;
    p.pretrain.accumulation = 4;
    assert_int_equal(orr_settings_set(&p, "pretrain.micro_batches=8"), 0);
    assert_int_equal(orr_settings_check(&p), 0);
    assert_int_equal(orr_settings_set(&p, "pretrain.micro_batches=9"), 0);
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    error_names("pretrain.micro_batches", "6 x 4 = 24 sequences", "found 9", NULL);
    p.pretrain.micro_batches = 48; /* more than there are */
    assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
    assert_int_equal(orr_settings_set(&p, "finetune.vector.micro_batches=2"), ORR_EUSAGE);
    assert_int_equal(orr_settings_set(&p, "pretrain.micro_batches=-1"), ORR_EUSAGE);
}

/* Patience needs sequences that are held out for it. */
TEST(test_patience)
{
    static const struct {
        const char *set[2], *named, *said;
    } bad[] = {
        {{"pretrain.patience=3", "orbits.val=0"}, "pretrain.patience", "orbits.val = 0"},
        {{"pretrain_planets.patience=3", "planets.val=0"},
         "pretrain_planets.patience",
         "planets.val = 0"},
        {{"finetune.magnitude.patience=3", "orbits.two_body_val=0"},
         "finetune.magnitude.patience",
         "orbits.two_body_val = 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct orr_settings p;
        continuous(&p);
        p.planets.val = 1;
        assert_int_equal(orr_settings_set(&p, bad[i].set[0]), 0);
        assert_int_equal(orr_settings_check(&p), 0); /* fine as long as there are some */
        assert_int_equal(orr_settings_set(&p, bad[i].set[1]), 0);
        assert_int_equal(orr_settings_check(&p), ORR_EUSAGE);
        error_names(bad[i].named, bad[i].said, "found 3", NULL);
    }
}

TESTS(NULL, NULL)
