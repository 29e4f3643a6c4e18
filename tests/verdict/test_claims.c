/* test_claims.c - the ledger of claims: figures from files of every kind, what they say of claims,
 * and docs/claims.md as it is made from the results that are stored. */
#include "base/scratch.h"

#include <math.h>

#include "claims.h"

static void write_text(const char *name, const char *text)
{
    char path[4096];
    scratch_path(path, scratch_dir, name);
    scratch_text(path, text);
}

static struct verdict_fact fact_of(struct verdict_claim claim)
{
    struct verdict_fact fact;
    if (verdict_fact(scratch_dir, &claim, &fact))
        fail_msg("%s", orr_error());
    return fact;
}

static void fact_is(struct verdict_fact fact, double mean, double half, double ceiling,
                    double floor, int n)
{
    assert_true(fact.there);
    const double found[4] = {fact.mean, fact.half, fact.ceiling, fact.floor},
                 expected[4] = {mean, half, ceiling, floor};
    for (int i = 0; i < 4; i++)
        if (!(fabs(found[i] - expected[i]) < 1e-8) && !(isnan(found[i]) && isnan(expected[i])))
            fail_msg("%d: %g, expected %g", i, found[i], expected[i]);
    assert_int_equal(fact.n, n);
}

static void figures_come_from_files_of_every_kind(void **state)
{
    (void)state;
    write_text(
        "v.json",
        "{\"format\": \"orrery-verdict-1\", \"figures\": [{\"id\": \"x\", \"attention\": \"a\", "
        "\"value\": {\"mean\": 7}, \"ceiling\": {\"mean\": 9}, \"floor\": {\"mean\": 1}},"
        "{\"id\": \"x\", \"attention\": \"b\", \"value\": {\"mean\": 2, \"half_width\": 0.5, "
        "\"values\": [1, null, 3]}, \"ceiling\": {\"mean\": 9}, \"floor\": {\"mean\": 1}}],"
        "\"differences\": [{\"id\": \"x\", \"attention\": \"b\", \"minus\": \"a\", \"nearer\": "
        "{\"mean\": -5, "
        "\"half_width\": 4, \"values\": [1, 2, 3]}}]}");
    fact_is(fact_of((struct verdict_claim){
                .file = "v.json", .source = VERDICT_OF_FIGURE, .a = "x", .b = "b", .c = "value"}),
            2, 0.5, 9, 1, 2);
    fact_is(fact_of((struct verdict_claim){
                .file = "v.json", .source = VERDICT_OF_PAIR, .a = "x", .b = "b", .c = "nearer"}),
            -5, 4, 2, 0, 3); /* nearer than 7 to 9: by 2 at most; random weights 1 and 1 */
    write_text(
        "r.json",
        "{\"format\": \"orrery-runs-1\", \"settings\": [{\"label\": \"law=newton\"}, {\"label\": "
        "\"law=mond\"}], \"rows\": ["
        "{\"settings\": 0, \"source\": \"b\", \"exponents\": {\"r\": {\"mean\": 1}}},"
        "{\"settings\": 1, \"source\": \"truth\", \"exponents\": {\"r\": {\"mean\": 4}}},"
        "{\"settings\": 1, \"source\": \"untrained (b)\", \"exponents\": {\"r\": {\"mean\": 5}}},"
        "{\"settings\": 1, \"source\": \"b\", \"exponents\": {\"r\": {\"mean\": 2, "
        "\"half_width\": 3, \"values\": [1, 2, 3]}}}],"
        "\"differences\": [{\"source\": \"b\", \"minus\": \"untrained (b)\", \"loss\": "
        "{\"mean\": 1}}, {\"source\": \"b\", \"minus\": \"a\", \"loss\": {\"mean\": 6, "
        "\"half_width\": 1, \"values\": [6, 6]}}]}");
    fact_is(fact_of((struct verdict_claim){.file = "r.json",
                                           .source = VERDICT_OF_RUNS_ROW,
                                           .a = "b",
                                           .b = "",
                                           .c = "exponents.r",
                                           .d = "law=mond"}),
            2, 3, 4, 5, 3);
    static const char *const vague[] = {"law=mon", "aw=mond", "", "law=newtons"};
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++) /* none, or two of them */
        assert_false(fact_of((struct verdict_claim){.file = "r.json",
                                                    .source = VERDICT_OF_RUNS_ROW,
                                                    .a = "b",
                                                    .b = "",
                                                    .c = "exponents.r",
                                                    .d = vague[i]})
                         .there);
    fact_is(
        fact_of((struct verdict_claim){
            .file = "r.json", .source = VERDICT_OF_RUNS, .a = "b", .b = "a", .c = "loss", .d = ""}),
        6, 1, NAN, NAN, 2);
    write_text("s.json", "{\"format\": \"orrery-probe-seeds-1\", \"rows\": [{\"source\": \"b\", "
                         "\"quantity\": \"q\", \"measure\": \"m\", "
                         "\"context\": 1, \"value\": 1}, {\"source\": \"b\", \"quantity\": \"q\", "
                         "\"measure\": \"m\", \"context\": 2, \"seeds\": 3, \"value\": 4, "
                         "\"half_width\": 5, \"above_floor\": 6, \"above_floor_half_width\": 7, "
                         "\"above_floor_seeds\": 2, \"ceiling\": 8, \"floor\": 9}]}");
    struct verdict_claim seeds = {.file = "s.json",
                                  .source = VERDICT_OF_SEEDS,
                                  .a = "b",
                                  .b = "q",
                                  .c = "m",
                                  .d = "value",
                                  .context = 2};
    fact_is(fact_of(seeds), 4, 5, 8, 9, 3);
    seeds.d = "above_floor";
    fact_is(fact_of(seeds), 6, 7, -1, 0, 2);
    /* differences of levels 2 and 1 of f at h = x: 2, 3; at h = y: 4, 8; a third seed lacks a
     * cell */
    write_text("g.json",
               "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 3, \"factors\": ["
               "{\"name\": \"h\", \"levels\": [\"x\", \"y\"]}, {\"name\": \"f\", \"levels\": "
               "[\"1\", \"2\"]}], \"rows\": [{\"quantity\": \"q\", "
               "\"measure\": \"m\", \"context\": 5, \"cells\": ["
               "{\"levels\": [\"x\", \"1\"], \"values\": [10, 20, 5], \"floors\": [1, 2, 0], "
               "\"ceiling\": 101},"
               "{\"levels\": [\"x\", \"2\"], \"values\": [12, 23, null], \"floors\": [4, 4, 9], "
               "\"ceiling\": 54},"
               "{\"levels\": [\"y\", \"1\"], \"values\": [30, 40, 5], \"floors\": [0, 1, 0], "
               "\"ceiling\": 101},"
               "{\"levels\": [\"y\", \"2\"], \"values\": [34, 48, 6], \"floors\": [3, 1, 0], "
               "\"ceiling\": 101}]}]}");
    const struct verdict_claim effect = {.file = "g.json",
                                         .source = VERDICT_OF_GRID,
                                         .a = "q",
                                         .b = "m",
                                         .c = "f",
                                         .d = "2",
                                         .from = "1",
                                         .context = -1};
    struct verdict_claim grid = effect;
    /* seed by seed 3 and 5.5 */
    fact_is(fact_of(grid), 4.25, 12.706204736432095 * 1.25, -23.5, 2, 2);
    grid.source = VERDICT_OF_GRID_LEARNED; /* less 3 and 1 of random weights */
    fact_is(fact_of(grid), 2.25, 12.706204736432095 * 2.25, NAN, 0, 2);
    const double share[2] = {((8. / 50 - 9. / 100) + (31. / 98 - 30. / 101)) / 2,
                             ((19. / 50 - 18. / 99) + (47. / 100 - 39. / 100)) / 2};
    assert_true(fabs(fact_of(grid).room - (share[0] + share[1]) / 2) < 1e-9);
    assert_true(fabs(fact_of(grid).room_half - 12.706204736432095 * fabs(share[1] - share[0]) / 2) <
                1e-9);
    grid.source = VERDICT_OF_GRID;
    grid.context = 6;
    assert_false(fact_of(grid).there);
    grid.context = 5;
    grid.from = "0"; /* at h = y there is none */
    assert_false(fact_of(grid).there);
    /* 2 minus 1 at y, 4 and 8, less the same at x, 2 and 3; of random weights 3, 0 and 3, 2 */
    grid.c = "h x f";
    grid.d = "y x 2";
    grid.from = "x x 1";
    fact_is(fact_of(grid), 3.5, 12.706204736432095 * 1.5, 47, -1, 2);
    grid.source = VERDICT_OF_GRID_LEARNED;
    fact_is(fact_of(grid), 4.5, 12.706204736432095 * 2.5, NAN, 0, 2);
    grid.d = "y x 0"; /* a level is not there */
    assert_false(fact_of(grid).there);
    grid.c = "h x g"; /* nor is the factor */
    assert_false(fact_of(grid).there);
    /* a cell that is not there: a mean over the others would be of another question */
    write_text(
        "g.json",
        "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 2, \"factors\": ["
        "{\"name\": \"h\", \"levels\": [\"x\", \"y\"]}, {\"name\": \"f\", \"levels\": "
        "[\"1\", \"2\"]}], \"rows\": [{\"quantity\": \"q\", \"measure\": \"m\", \"context\": 5, "
        "\"cells\": [{\"levels\": [\"x\", \"1\"], \"values\": [10, 20]},"
        "{\"levels\": [\"x\", \"2\"], \"values\": [12, 23]},"
        "{\"levels\": [\"y\", \"1\"], \"values\": [30, 40]}]}]}");
    grid = effect;
    assert_false(fact_of(grid).there);
    /* beyond random weights 1, 2 and 4 at 3, 4 and 6 decades; 3 of all; a third seed lacks one */
    write_text("l.json",
               "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 3, \"factors\": ["
               "{\"name\": \"n\", \"levels\": [\"1000000\", \"1000\", \"10000\"]}], \"rows\": ["
               "{\"quantity\": \"q\", \"measure\": \"m\", \"context\": 5, \"cells\": ["
               "{\"levels\": [\"1000000\"], \"values\": [10, 5, 1], \"floors\": [6, 2, 1]},"
               "{\"levels\": [\"1000\"], \"values\": [4, 5, null], \"floors\": [3, 2, 1]},"
               "{\"levels\": [\"10000\"], \"values\": [6, 5, 1], \"floors\": [4, 2, 1]}]}]}");
    struct verdict_claim slope = {.file = "l.json",
                                  .source = VERDICT_OF_SLOPE,
                                  .a = "q",
                                  .b = "m",
                                  .c = "n",
                                  .d = "",
                                  .from = "",
                                  .context = 5};
    fact_is(fact_of(slope), 0.5, 12.706204736432095 * 0.5, NAN, 0.5, 2);
    slope.c = "h";
    assert_false(fact_of(slope).there);
    write_text("b.json", "{\"rows\": [{\"name\": \"x\", \"value\": 6}, "
                         "{\"name\": \"y\", \"value\": 4}]}");
    fact_is(fact_of((struct verdict_claim){
                .file = "b.json", .source = VERDICT_OF_BENCH, .a = "x", .b = "y"}),
            1.5, NAN, NAN, NAN, 0);
    assert_false(fact_of((struct verdict_claim){.file = "none.json"}).there);
    write_text("bad.json", "{\"rows\": [");
    struct verdict_fact fact;
    assert_int_equal(verdict_fact(scratch_dir, &(struct verdict_claim){.file = "bad.json"}, &fact),
                     ORR_EFORMAT);
    const struct verdict_claim other = {.file = "s.json", .source = VERDICT_OF_GRID};
    assert_int_equal(verdict_fact(scratch_dir, &other, &fact), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "s.json: \"format\": expected \"orrery-probe-grid-1\""));
}

static void intervals_decide(void **state)
{
    (void)state;
    static const struct {
        enum verdict_rule rule;
        double size, mean, half;
        int n;
        enum verdict_ruling ruling;
    } cases[] = {
        {VERDICT_ABOVE, 0, 0.3, 0.2, 3, VERDICT_REPRODUCED},
        {VERDICT_ABOVE, 0, 0.3, 0.2, 2, VERDICT_OPEN}, /* nothing rests on two seeds */
        {VERDICT_ABOVE, 0, 0.3, 0.4, 3, VERDICT_OPEN},
        {VERDICT_ABOVE, 0, -0.3, 0.2, 3, VERDICT_REFUTED},
        {VERDICT_ABOVE, 0.5, 0.1, 0.2, 3, VERDICT_REFUTED}, /* smaller than claimed */
        {VERDICT_ABOVE, 0.5, 0.1, 0.5, 3, VERDICT_OPEN},
        {VERDICT_ABOVE, 0.5, 0, 0, 3, VERDICT_REFUTED}, /* the same in every seed */
        {VERDICT_BELOW, 0, -0.3, 0.2, 3, VERDICT_REPRODUCED},
        {VERDICT_BELOW, 0, 0.3, 0.2, 3, VERDICT_REFUTED},
        {VERDICT_BELOW, -0.5, -0.1, 0.2, 3, VERDICT_REFUTED},
        {VERDICT_EQUAL, 27, 26, 2, 5, VERDICT_REPRODUCED},
        {VERDICT_EQUAL, 27, 22, 2, 5, VERDICT_REFUTED},
        {VERDICT_EQUAL, 27, 22, 20, 5, VERDICT_OPEN},
        {VERDICT_SMALL, 0.1, 0.02, 0.05, 3, VERDICT_REPRODUCED},
        {VERDICT_SMALL, 0.1, -0.2, 0.05, 3, VERDICT_REFUTED},
        {VERDICT_SMALL, 0.1, 0.08, 0.05, 3, VERDICT_OPEN},
        {VERDICT_EQUAL, 2, 2, NAN, 0, VERDICT_SHOWN},       /* a benchmark */
        {VERDICT_ABOVE, 0.5, 0.3, 0.1, 3, VERDICT_REFUTED}, /* beyond chance, but too small */
        {VERDICT_ABOVE, 0.5, 0.4, 0.2, 3, VERDICT_OPEN},    /* perhaps too small */
        {VERDICT_ABOVE, 0.5, 0.6, 0.2, 3, VERDICT_REPRODUCED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct verdict_claim claim = {.rule = cases[i].rule, .size = cases[i].size};
        const struct verdict_fact fact = {.read = true,
                                          .there = true,
                                          .mean = cases[i].mean,
                                          .half = cases[i].half,
                                          .n = cases[i].n,
                                          .most = NAN};
        char why[256];
        if (verdict_rule_on(&claim, &fact, why) != cases[i].ruling)
            fail_msg("case %zu: %s", i, why);
    }
    char why[256];
    /* what models learned, in two units: both have to say the same, and both are told */
    const struct verdict_claim above = {.rule = VERDICT_ABOVE},
                               much = {.rule = VERDICT_ABOVE, .size = 0.1},
                               nothing = {.rule = VERDICT_SMALL, .size = 0.1};
    struct verdict_fact fact = {.there = true,
                                .mean = 0.3,
                                .half = 0.2,
                                .n = 3,
                                .learned = true,
                                .most = NAN,
                                .room = 0.2,
                                .room_half = 0.1};
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_REPRODUCED);
    fact.room_half = 0.3;
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "0.2 +- 0.3"));
    fact.half = 0.4; /* the other way about: the room alone says yes */
    fact.room_half = 0.1;
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "within chance or too little in R^2"));
    assert_non_null(strstr(why, "as claimed: 0.2 +- 0.1"));
    fact.half = 0.2;
    fact.room = fact.room_half = NAN; /* nor is half an answer one */
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "no ceiling"));
    /* a gain that no model could have made is not shown to be nothing, nor too little */
    fact = (struct verdict_fact){
        .there = true, .mean = 0.02, .half = 0.01, .n = 3, .difference = true, .most = 0.05};
    assert_int_equal(verdict_rule_on(&nothing, &fact, why), VERDICT_OPEN);
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "by more than 0.05, and 0.1 is asked"));
    fact.mean = -0.02; /* what is worse beyond chance is */
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_REFUTED);
    fact.mean = 0.02;
    fact.most = 0.5;
    assert_int_equal(verdict_rule_on(&nothing, &fact, why), VERDICT_REPRODUCED);
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_REFUTED);
    /* random weights of both shapes differ as well, by as much: nothing was reproduced */
    fact = (struct verdict_fact){.there = true,
                                 .mean = 0.0705,
                                 .half = 0.013,
                                 .n = 3,
                                 .difference = true,
                                 .most = NAN,
                                 .floor = 0.0798};
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "as claimed, but random weights differ by as much: 0.0798");
    fact.floor = 0.03; /* by less; the other way about */
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_REPRODUCED);
    fact.floor = -0.0798;
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_REPRODUCED);
    fact.mean = -0.0705; /* below 0 alike */
    assert_int_equal(verdict_rule_on(&(struct verdict_claim){.rule = VERDICT_BELOW}, &fact, why),
                     VERDICT_OPEN);
    assert_int_equal(verdict_rule_on(&(struct verdict_claim){.rule = VERDICT_ABOVE},
                                     &(struct verdict_fact){.there = false}, why),
                     VERDICT_OPEN);
    assert_string_equal(why, "not measured yet");
}

/* A figure of another ground, or of other settings than the claim's, rules on nothing; nor does one
 * that is not over seeds. Random weights explain nothing of text. */
static void grounds_are_those_of_the_claim(void **state)
{
    (void)state;
    char why[256];
    struct verdict_claim claim = {.rule = VERDICT_BELOW, .ground = VERDICT_TEXT};
    struct verdict_fact fact = {
        .there = true, .mean = -1, .half = 0.1, .n = 3, .most = NAN, .difference = true};
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
    assert_string_equal(why, "the claim is of text");
    claim.measured = VERDICT_TEXT;
    fact.floor = -2;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_REPRODUCED);
    claim.ground = VERDICT_ORBITS;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
    assert_string_equal(why, "the claim is of orbits");
    claim.measured = VERDICT_ORBITS;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    claim.ground = VERDICT_NO_PAPER;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
    assert_string_equal(why, "a question of our own");
    /* an open claim says how many seeds would decide it, where seeds are what it lacks */
    claim = (struct verdict_claim){.rule = VERDICT_ABOVE};
    fact = (struct verdict_fact){
        .there = true, .mean = 0.139, .half = 0.376, .n = 5, .most = NAN, .floor = -1};
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "within chance; 40 seeds would decide a difference like this");
    fact.mean = 0.01;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "within chance; more than 1,000 seeds for a difference so small");
    claim.size = 0.3; /* and then it is soon known that it is not so large */
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "within chance; 11 seeds would decide a difference like this");
    fact.most = 0.2;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_null(strstr(why, "seeds"));
    claim = (struct verdict_claim){.rule = VERDICT_EQUAL, .size = 2};
    fact.n = 0;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
}

/* Steps to equal loss. Seed 0: b ends with 2 at step 100; a passes 2 halfway from 40 to 60. Seed 1:
 * a ends at step 100 with 3, which b has at step 25. Seed 2 lacks b. */
static void steps_to_equal_loss(void **state)
{
    (void)state;
    write_text("c.csv", "setting,seed,step,val_loss\n"
                        "a,0,20,4\na,0,40,3\na,0,60,1\na,0,100,0.5\n"
                        "b,0,50,3\nb,0,100,2\n"
                        "a,1,50,4\na,1,100,3\nb,1,20,3.5\nb,1,30,2.5\nb,1,100,2\n"
                        "a,2,100,1\n");
    const struct verdict_claim claim = {
        .file = "c.csv", .source = VERDICT_OF_CURVES, .a = "a", .b = "b"};
    const double first = log(0.5), second = log(4);
    const double half = 12.706204736432095 * fabs(first - second) / 2;
    const struct verdict_fact fact = fact_of(claim);
    assert_true(fabs(fact.mean - (first + second) / 2) < 1e-12);
    assert_true(fabs(fact.half - half) < 1e-8);
    assert_int_equal(fact.n, 2);
    write_text("c.csv", "setting,seed,step\na,0,1\n");
    struct verdict_fact none;
    assert_int_equal(verdict_fact(scratch_dir, &claim, &none), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "expected columns setting, seed, step and val_loss"));
}

/* Means over the seeds that there are; a file or a cell that is not there is "-". */
static void table1_is_read_from_its_files(void **state)
{
    (void)state;
    char path[4096], *made;
    size_t bytes;
    struct orr_file file;
    write_text("table1.json",
               "{\"format\": \"orrery-probe-grid-1\", \"rows\": [{\"quantity\": \"next token\", "
               "\"measure\": \"nats\", \"context\": 512, \"cells\": [{\"levels\": [\"lssar\"], "
               "\"values\": [1, 2, null, 3], \"floors\": [5, 5, null, 5]}]},"
               "{\"quantity\": \"next token, beyond\", \"measure\": \"nats\", \"context\": 256, "
               "\"cells\": [{\"levels\": [\"lssar\"], \"values\": [7], \"floors\": [7]}]},"
               "{\"quantity\": \"next token\", \"measure\": \"nats\", \"context\": 128, \"cells\": "
               "[{\"levels\": [\"lssar\"], \"values\": [1.25], \"floors\": [5]},"
               "{\"levels\": [\"lssa\"], \"values\": [9], \"floors\": [5]}]}]}");
    scratch_path(path, scratch_dir, "table.md");
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(verdict_table1(scratch_dir, &file), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_int_equal(orr_file_read(path, &made, &bytes), 0);
    static const char *const expected[] = {
        "| LSSAR, p = 15 | 3.191 | 3.193 | 3.229 | 3.317 | 1.250 | - | 2.000 +- 2.5 | - | - | 1 "
        "|\n",
        "| LSSA | 3.191 | 4.130 | 5.296 | 5.940 | 9.000 | - | - | - | - | 1 |\n",
        "| LSSAR, p = 3 | 3.178 | 4.238 | 5.406 | 6.301 | - | - | - | - | - | 0 |\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(made, expected[i]))
            fail_msg("no %s in:\n%s", expected[i], made);
    free(made);
}

/* docs/claims.md is what the stored results say, and every claim has its line. */
static void the_ledger_is_that_of_the_stored_results(void **state)
{
    (void)state;
    char path[4096], *made, *kept;
    size_t bytes[2];
    scratch_path(path, scratch_dir, "claims.md");
    if (verdict_ledger("bench/results/verdict", path))
        fail_msg("%s", orr_error());
    assert_int_equal(orr_file_read(path, &made, &bytes[0]), 0);
    assert_int_equal(orr_file_read("docs/claims.md", &kept, &bytes[1]), 0);
    if (bytes[0] != bytes[1] || memcmp(made, kept, bytes[0]) != 0)
        fail_msg("docs/claims.md: not what the results make; make claims writes it");
    int claims = 0, lines = 0;
    for (const struct verdict_claim *claim = verdict_claims; claim->claim; claim++, claims++) {
        char begin
            [256]; /* a line for each, and one only: what is learned of it has none of its own */
        snprintf(begin, sizeof begin, "\n| %s ", claim->claim);
        const char *line = strstr(made, begin);
        if (!line || strstr(line + 1, begin))
            fail_msg("%s: expected one line", claim->claim);
        assert_null(strstr(claim->claim, "by what is learned"));
    }
    char *rest = strstr(made, "\n## Table 1 of [L]");
    assert_non_null(rest);
    assert_non_null(strstr(rest, "\n| LSSAR, p = 15 | 3.191 | 3.193 | 3.229 | 3.317 |"));
    *rest = '\0';
    for (const char *at = strstr(made, "\n| "); at; at = strstr(at + 1, "\n| "))
        lines++;
    assert_int_equal(lines, claims + 2); /* and the heads of the two tables */
    assert_true(claims >= 20);
    free(made);
    free(kept);
    assert_int_equal(verdict_ledger("nowhere", path), ORR_EMISSING);
    assert_int_equal(verdict_ledger("Makefile", path), ORR_EMISSING); /* no folder */
    assert_int_equal(verdict_ledger("docs", path), ORR_EMISSING);     /* without results */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures_come_from_files_of_every_kind, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(intervals_decide, scratch_setup, scratch_teardown),
        cmocka_unit_test(grounds_are_those_of_the_claim),
        cmocka_unit_test_setup_teardown(steps_to_equal_loss, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(table1_is_read_from_its_files, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_ledger_is_that_of_the_stored_results, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests_name("verdict/claims", tests, NULL, NULL);
}
