/* test_claims.c - the ledger of claims: figures from files of every kind, what they say of claims,
 * and study/docs/claims.md as it is made from the results that are stored. */
#include "base/scratch.h"

#include <math.h>

#include "study/claims.h"

static void write_text(const char *name, const char *text)
{
    scratch_text(scratch_at(scratch_dir, name), text);
}

static struct verdict_fact fact_of(struct verdict_claim claim)
{
    struct verdict_fact fact;
    if (verdict_fact(scratch_dir, &claim, &fact))
        fail_msg("%s", orr_error());
    return fact;
}

static struct verdict_claim claim_of(const char *file, const char *quantity, const char *of,
                                     const char *from)
{
    return (struct verdict_claim){.file = file,
                                  .quantity = quantity,
                                  .measure = "",
                                  .setting = "",
                                  .of = of,
                                  .from = from,
                                  .context = -1};
}

static void fact_is(struct verdict_fact fact, double mean, double half, double upper_bound,
                    double baseline, int n)
{
    assert_true(fact.there);
    const double found[4] = {fact.mean, fact.half, fact.upper_bound, fact.baseline},
                 expected[4] = {mean, half, upper_bound, baseline};
    for (int i = 0; i < 4; i++)
        if (!(fabs(found[i] - expected[i]) < 1e-8) && !(isnan(found[i]) && isnan(expected[i])))
            fail_msg("%d: %g, expected %g", i, found[i], expected[i]);
    assert_int_equal(fact.n, n);
}

/* Half of the 95% interval of two numbers, by half of their distance. */
#define OF_TWO 12.706204736432095

TEST_BETWEEN(figures_of_a_verdict, scratch_setup, scratch_teardown)
{
    write_text(
        "v.json",
        "{\"format\": \"orrery-verdict-1\", \"figures\": [{\"id\": \"x\", \"attention\": "
        "\"a\", \"value\": {\"values\": [6, 9, 6]}, \"upper_bound\": {\"values\": [9, 9, 9]}, "
        "\"baseline\": {\"values\": [1, 1, 1]}},"
        "{\"id\": \"x\", \"attention\": \"b\", \"value\": {\"values\": [1, null, 3]}, "
        "\"upper_bound\": {\"values\": [9, 9, 9]}, \"baseline\": {\"values\": [2, 2, 2]}},"
        "{\"id\": \"y\", \"attention\": \"b\", \"value\": {\"values\": [1, 1, 1]}}]}");
    struct verdict_claim claim = claim_of("v.json", "x", "attention=b", "");
    fact_is(fact_of(claim), 2, OF_TWO, 9, 2, 2);
    assert_false(fact_of(claim).difference);
    claim.from = "attention=a"; /* -5 and -3 */
    fact_is(fact_of(claim), -4, OF_TWO, 0, 1, 2);
    assert_true(fact_of(claim).difference);
    assert_true(fact_of(claim).most == 9); /* what the truth has in the place of b */
    claim.rule = VERDICT_BELOW;
    assert_true(isnan(fact_of(claim).most));
    claim.rule = VERDICT_ABOVE;
    claim.statistic = VERDICT_NEARER; /* than 7 to 9: by 2 at most; random weights 2 and 1 */
    fact_is(fact_of(claim), -4, OF_TWO, 2, 1, 2);
    assert_true(fact_of(claim).most == 2);
    claim.from = "attention=untrained (b)"; /* 8 and 6 instead of 7: by 7 at most */
    fact_is(fact_of(claim), 0, OF_TWO, 7, 0, 2);
    claim.from = "attention=c";
    assert_false(fact_of(claim).there);
}

TEST_BETWEEN(figures_of_runs, scratch_setup, scratch_teardown)
{
    write_text(
        "r.json",
        "{\"format\": \"orrery-runs-1\", \"settings\": [{\"label\": \"law=newton\"}, {\"label\": "
        "\"law=mond\"}], \"rows\": ["
        "{\"settings\": 0, \"source\": \"b\", \"seeds\": [0], \"exponents\": {\"r\": {\"values\": "
        "[1]}}},"
        "{\"settings\": 0, \"source\": \"truth\", \"seeds\": [0, 1, 2], \"exponents\": {\"r\": "
        "{\"values\": [7, 7, 7]}}},"
        "{\"settings\": 1, \"source\": \"truth\", \"seeds\": [2, 1, 0], \"exponents\": {\"r\": "
        "{\"values\": [4, 4, 4]}}},"
        "{\"settings\": 1, \"source\": \"untrained (b)\", \"seeds\": [0, 1, 2], \"exponents\": "
        "{\"r\": {\"values\": [5, 5, 5]}}},"
        "{\"settings\": 1, \"source\": \"a\", \"seeds\": [0, 2], \"loss\": {\"values\": [1, 2]}},"
        "{\"settings\": 1, \"source\": \"b\", \"seeds\": [0, 1, 2], \"exponents\": {\"r\": "
        "{\"values\": [1, 2, 3]}}, \"loss\": {\"values\": [7, 8, 9]}}]}");
    struct verdict_claim claim = claim_of("r.json", "exponents.r", "attention=b", "");
    claim.setting = "law=mond";
    fact_is(fact_of(claim), 2, 4.302652729749464 / sqrt(3), 4, 5, 3);
    static const char *const vague[] = {"law=mon", "aw=mond", "", "law=newtons"};
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++) { /* none, or two of them */
        claim.setting = vague[i];
        assert_false(fact_of(claim).there);
    }
    /* seed by seed 6 and 7; a has no seed 1 */
    claim = claim_of("r.json", "loss", "attention=b", "attention=a");
    fact_is(fact_of(claim), 6.5, OF_TWO / 2, NAN, NAN, 2);
}

TEST_BETWEEN(figures_of_seeds, scratch_setup, scratch_teardown)
{
    write_text("s.json",
               "{\"format\": \"orrery-probe-seeds-1\", \"rows\": [{\"source\": \"b\", "
               "\"quantity\": \"q\", \"measure\": \"m\", "
               "\"context\": 1, \"value\": 1}, {\"source\": \"b\", \"quantity\": \"q\", "
               "\"measure\": \"m\", \"context\": 2, \"seeds\": 3, \"value\": 4, "
               "\"half_width\": 5, \"above_baseline\": 6, \"above_baseline_half_width\": 7, "
               "\"above_baseline_seeds\": 2, \"upper_bound\": 8, \"baseline\": 9}]}");
    struct verdict_claim claim = claim_of("s.json", "q", "attention=b", "");
    claim.measure = "m";
    fact_is(fact_of(claim), 1, NAN, NAN, NAN, 1); /* no number of seeds is recorded: one */
    claim.context = 2;
    fact_is(fact_of(claim), 4, 5, 8, 9, 3);
    assert_false(fact_of(claim).difference);
    claim.of = "above_baseline=b";
    fact_is(fact_of(claim), 6, 7, -1, 0, 2);
    assert_true(fact_of(claim).difference);
    claim.measure = "k";
    assert_false(fact_of(claim).there);
}

/* Differences of levels 2 and 1 of f at h = x: 2, 3; at h = y: 4, 8; a third seed lacks a cell. */
TEST_BETWEEN(figures_of_a_grid, scratch_setup, scratch_teardown)
{
    write_text("g.json",
               "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 3, \"factors\": ["
               "{\"name\": \"h\", \"levels\": [\"x\", \"y\"]}, {\"name\": \"f\", \"levels\": "
               "[\"1\", \"2\"]}], \"rows\": [{\"quantity\": \"q\", "
               "\"measure\": \"m\", \"context\": 5, \"cells\": ["
               "{\"levels\": [\"x\", \"1\"], \"values\": [10, 20, 5], \"baselines\": [1, 2, 0], "
               "\"upper_bound\": 101},"
               "{\"levels\": [\"x\", \"2\"], \"values\": [12, 23, null], \"baselines\": [4, 4, 9], "
               "\"upper_bound\": 54},"
               "{\"levels\": [\"y\", \"1\"], \"values\": [30, 40, 5], \"baselines\": [0, 1, 0], "
               "\"upper_bound\": 101},"
               "{\"levels\": [\"y\", \"2\"], \"values\": [34, 48, 6], \"baselines\": [3, 1, 0], "
               "\"upper_bound\": 101}]}]}");
    const struct verdict_claim effect = claim_of("g.json", "q", "f=2", "f=1");
    struct verdict_claim grid = effect;
    /* seed by seed 3 and 5.5 */
    fact_is(fact_of(grid), 4.25, OF_TWO * 1.25, -23.5, 2, 2);
    grid.statistic = VERDICT_LEARNED; /* less 3 and 1 of random weights */
    fact_is(fact_of(grid), 2.25, OF_TWO * 2.25, NAN, 0, 2);
    const double share[2] = {((8. / 50 - 9. / 100) + (31. / 98 - 30. / 101)) / 2,
                             ((19. / 50 - 18. / 99) + (47. / 100 - 39. / 100)) / 2};
    assert_true(fabs(fact_of(grid).share - (share[0] + share[1]) / 2) < 1e-9);
    assert_true(fabs(fact_of(grid).share_half - OF_TWO * fabs(share[1] - share[0]) / 2) < 1e-9);
    /* of f = 2: 50 and 50, 98 and 100; of f = 1: 100, 99 and 101, 101, 100 and 101 */
    assert_true(fabs(fact_of(grid).headroom - (74.5 + 301. / 3) / 2) < 1e-9);
    grid = effect;
    grid.context = 6;
    assert_false(fact_of(grid).there);
    grid.context = 5;
    grid.from = "f=0"; /* at h = y there is none */
    assert_false(fact_of(grid).there);
    /* 2 minus 1 at y, 4 and 8, less the same at x, 2 and 3; of random weights 3, 0 and 3, 2 */
    grid.of = "h=y x f=2";
    grid.from = "h=x x f=1";
    fact_is(fact_of(grid), 3.5, OF_TWO * 1.5, 47, -1, 2);
    grid.statistic = VERDICT_LEARNED;
    fact_is(fact_of(grid), 4.5, OF_TWO * 2.5, NAN, 0, 2);
    grid.of = "h=y x f=0"; /* a level is not there */
    assert_false(fact_of(grid).there);
    grid.of = "h=y x g=2"; /* nor is the factor */
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
    assert_true(fact_of(grid).read);
    /* beyond random weights 1, 2 and 4 at 3, 4 and 6 decades; 3 of all; a third seed lacks one */
    write_text("l.json",
               "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 3, \"factors\": ["
               "{\"name\": \"n\", \"levels\": [\"1000000\", \"1000\", \"10000\"]}], \"rows\": ["
               "{\"quantity\": \"q\", \"measure\": \"m\", \"context\": 5, \"cells\": ["
               "{\"levels\": [\"1000000\"], \"values\": [10, 5, 1], \"baselines\": [6, 2, 1]},"
               "{\"levels\": [\"1000\"], \"values\": [4, 5, null], \"baselines\": [3, 2, 1]},"
               "{\"levels\": [\"10000\"], \"values\": [6, 5, 1], \"baselines\": [4, 2, 1]}]}]}");
    struct verdict_claim slope = claim_of("l.json", "q", "n", "");
    slope.statistic = VERDICT_SLOPE;
    fact_is(fact_of(slope), 0.5, OF_TWO * 0.5, NAN, 0.5, 2);
    slope.of = "h";
    assert_false(fact_of(slope).there);
}

TEST_BETWEEN(figures_of_other_files, scratch_setup, scratch_teardown)
{
    struct verdict_fact fact;
    write_text("b.json", "{\"rows\": [{\"name\": \"x\", \"value\": 6}, "
                         "{\"name\": \"y\", \"value\": 4}]}");
    struct verdict_claim claim = claim_of("b.json", "value", "name=x", "name=y");
    claim.statistic = VERDICT_RATIO;
    fact_is(fact_of(claim), 1.5, NAN, NAN, NAN, 0);
    claim.file = "none.json";
    assert_false(fact_of(claim).there);
    assert_false(fact_of(claim).read);
    write_text("bad.json", "{\"rows\": [");
    claim.file = "bad.json";
    assert_int_equal(verdict_fact(scratch_dir, &claim, &fact), ORR_EFORMAT);
    write_text("other.json", "{\"format\": \"orrery-probe-1\", \"rows\": []}");
    claim.file = "other.json";
    assert_int_equal(verdict_fact(scratch_dir, &claim, &fact), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "other.json: \"format\": expected that of a verdict, runs, "
                                        "seeds or a grid, found \"orrery-probe-1\""));
}

/* Every column and every kind of cell; what is wrong is named. */
TEST_BETWEEN(claims_are_rows_of_a_file, scratch_setup, scratch_teardown)
{
    static const char head[] = "claim,where,ground,measured,published,ours,command,file,quantity,"
                               "measure,context,setting,of,from,statistic,rule,size,remark\n";
    static const struct {
        const char *row, *why;
    } wrong[] = {
        {"c,w,orbit,text,p,o,m,f,q,e,7,s,a=1,a=2,slope,small,.5,r\n",
         "c.csv:2: column \"ground\": expected orbits|text|other settings|own question, found "
         "\"orbit\""},
        {"c,w,orbits,text,p,o,m,f,q,e,7,s,a=1,a=2,values,small,.5,r\n", "found \"values\""},
        {"c,w,orbits,text,p,o,m,f,q,e,7,s,a=1,a=2,slope,,.5,r\n", "\"rule\": expected"},
        {"c,w,orbits,text,p,o,m,f,q,e,7,s,a=1,a=2,slope,small,half,r\n",
         "c.csv:2: column \"size\": expected a number, found \"half\""},
        {"c,w,orbits,text,p,o,m,f,q,e,1e99,s,a=1,a=2,slope,small,1,r\n", "\"context\""},
    };
    char path[4096], text[1024];
    struct verdict_claims claims;
    scratch_path(path, scratch_dir, "c.csv");
    snprintf(text, sizeof text, "%s%s", head,
             "c,w,own question,text,p,\"o, o\",m,f,q,e,7,s,a=1,a=2,slope,small,-.5,r\n"
             "c,w,other settings,orbits,p,o,m,f,q,,,,a=1,,value,above,0,\n");
    write_text("c.csv", text);
    assert_int_equal(verdict_claims_read(path, &claims), 0);
    assert_int_equal(claims.count, 2);
    const struct verdict_claim *c = claims.claim;
    const char *const found[] = {c->claim,   c->where, c->published, c->ours,
                                 c->command, c->file,  c->quantity,  c->measure,
                                 c->setting, c->of,    c->from,      c->remark},
                      *const expected[] = {"c", "w", "p", "o, o", "m",   "f",
                                           "q", "e", "s", "a=1",  "a=2", "r"};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        assert_string_equal(found[i], expected[i]);
    assert_int_equal(c->ground, VERDICT_NO_PAPER);
    assert_int_equal(c->measured, VERDICT_TEXT);
    assert_int_equal(c->context, 7);
    assert_int_equal(c->statistic, VERDICT_SLOPE);
    assert_int_equal(c->rule, VERDICT_SMALL);
    assert_true(c->size == -0.5);
    assert_int_equal(c[1].ground, VERDICT_OTHER_SETTINGS);
    assert_int_equal(c[1].measured, VERDICT_ORBITS);
    assert_int_equal(c[1].context, -1);
    assert_int_equal(c[1].statistic, VERDICT_VALUE);
    assert_int_equal(c[1].rule, VERDICT_ABOVE);
    verdict_claims_free(&claims);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%s%s", head, wrong[i].row);
        write_text("c.csv", text);
        assert_int_equal(verdict_claims_read(path, &claims), ORR_EFORMAT);
        if (!strstr(orr_error(), wrong[i].why))
            fail_msg("%s: expected %s", orr_error(), wrong[i].why);
        verdict_claims_free(&claims);
    }
    write_text("c.csv", "claim\nc\n");
    assert_int_equal(verdict_claims_read(path, &claims), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "c.csv: expected a column \"where\", found none"));
    verdict_claims_free(&claims);
}

TEST_BETWEEN(intervals_decide, scratch_setup, scratch_teardown)
{
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
        {VERDICT_ABOVE, 0.5, 0.3, 0.1, 3, VERDICT_REFUTED}, /* significant, but too small */
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
                                .share = 0.2,
                                .share_half = 0.1};
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_REPRODUCED);
    fact.share_half = 0.3;
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "0.2 +- 0.3"));
    fact.half = 0.4; /* the other way about: the room alone says yes */
    fact.share_half = 0.1;
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "not decided in R^2"));
    assert_non_null(strstr(why, "as claimed: 0.2 +- 0.1"));
    fact.half = 0.1; /* a size is of R^2: 0.1 of a headroom of 0.5 is a share of 0.2 */
    fact.headroom = 0.5;
    fact.share = 0.25;
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_REPRODUCED);
    fact.share = 0.15;
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_OPEN);
    fact.half = 0.2;
    fact.share = fact.share_half = NAN; /* nor is half an answer one */
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "no upper bound"));
    /* a gain that no model could have made is not shown to be nothing, nor too little */
    fact = (struct verdict_fact){
        .there = true, .mean = 0.02, .half = 0.01, .n = 3, .difference = true, .most = 0.05};
    assert_int_equal(verdict_rule_on(&nothing, &fact, why), VERDICT_OPEN);
    assert_int_equal(verdict_rule_on(&much, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "no model could show more than 0.05, and 0.1 is asked"));
    fact.mean = -0.02; /* what is significantly worse is */
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
                                 .baseline = 0.0798};
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "as claimed, but random weights differ by as much: 0.0798");
    fact.baseline = 0.03; /* by less; the other way about */
    assert_int_equal(verdict_rule_on(&above, &fact, why), VERDICT_REPRODUCED);
    fact.baseline = -0.0798;
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
TEST(grounds_are_those_of_the_claim)
{
    char why[256];
    struct verdict_claim claim = {.rule = VERDICT_BELOW, .ground = VERDICT_TEXT};
    struct verdict_fact fact = {
        .there = true, .mean = -1, .half = 0.1, .n = 3, .most = NAN, .difference = true};
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
    assert_string_equal(why, "the claim is of text");
    claim.measured = VERDICT_TEXT;
    fact.baseline = -2;
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
        .there = true, .mean = 0.139, .half = 0.376, .n = 5, .most = NAN, .baseline = -1};
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "not significant; 40 seeds would decide a difference like this");
    fact.mean = 0.01;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "not significant; more than 1,000 seeds for a difference so small");
    claim.size = 0.3; /* and then it is soon known that it is not so large */
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "not significant; 11 seeds would decide a difference like this");
    fact.most = 0.2;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_null(strstr(why, "seeds"));
    fact.most = NAN; /* significant already: it is the size that has to be told apart */
    fact.mean = 0.2;
    fact.half = 0.15;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "significant, but perhaps too small; 14 seeds would decide a "
                             "difference like this");
    fact.learned = true; /* of two scales, the one that is not decided */
    fact.mean = 0;
    fact.share = 0.2 / 0.5;
    fact.share_half = 0.15 / 0.5;
    fact.headroom = 0.5;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_non_null(strstr(why, "shares of the headroom"));
    assert_non_null(strstr(why, "; 14 seeds would decide"));
    fact.learned = false; /* seeds can exclude a number, not confirm it */
    fact.mean = 1.9;
    fact.half = 1.5;
    claim = (struct verdict_claim){.rule = VERDICT_EQUAL, .size = 2};
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "the interval is too wide to tell");
    fact.mean = 2.1;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_OPEN);
    assert_string_equal(why, "the interval is too wide to tell");
    fact.n = 0;
    assert_int_equal(verdict_rule_on(&claim, &fact, why), VERDICT_SHOWN);
}

/* Steps to equal loss. Seed 0: b ends with 2 at step 100; a passes 2 halfway from 40 to 60. Seed 1:
 * a ends at step 100 with 3, which b has at step 25. Seed 2 lacks b. Seed 3: equal losses that were
 * lower before the end are reached by both at the same step. */
TEST_BETWEEN(steps_to_equal_loss, scratch_setup, scratch_teardown)
{
    write_text("c.csv", "setting,seed,step,val_loss\n"
                        "a,0,20,4\na,0,40,3\na,0,60,1\na,0,100,0.5\n"
                        "b,0,50,3\nb,0,100,2\n"
                        "a,1,50,4\na,1,100,3\nb,1,20,3.5\nb,1,30,2.5\nb,1,100,2\n"
                        "a,2,100,1\na,3,50,1\na,3,100,2\nb,3,50,1\nb,3,100,2\n");
    struct verdict_claim claim = claim_of("c.csv", "val_loss", "setting=a", "setting=b");
    claim.statistic = VERDICT_STEPS;
    const double first = log(0.5), second = log(4);
    const double mean = (first + second) / 3;
    const double square = pow(first - mean, 2) + pow(second - mean, 2) + mean * mean;
    const struct verdict_fact fact = fact_of(claim);
    assert_true(fabs(fact.mean - mean) < 1e-12);
    assert_true(fabs(fact.half - 4.302652729749464 * sqrt(square / 2 / 3)) < 1e-8);
    assert_int_equal(fact.n, 3);
    write_text("c.csv", "setting,seed,step\na,0,1\n");
    struct verdict_fact none;
    assert_int_equal(verdict_fact(scratch_dir, &claim, &none), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "expected columns setting, seed, step and val_loss"));
}

/* What a loss rises by from the trained length, with scaling, which changes nothing at that length;
 * seed by seed, though seed 2 lacks a loss. */
TEST_BETWEEN(rises_are_from_the_trained_length, scratch_setup, scratch_teardown)
{
    write_text("r.json",
               "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 3, \"factors\": [{\"name\": "
               "\"attention\", \"levels\": [\"lssar\"]}], \"rows\": ["
               "{\"quantity\": \"next token\", \"context\": 512, \"cells\": [{\"levels\": "
               "[\"lssar\"], \"values\": [9, 9, 9], \"baselines\": [9, 9, 9]}]},"
               "{\"quantity\": \"next token\", \"context\": 128, \"cells\": [{\"levels\": "
               "[\"lssar\"], \"values\": [1, 2, 4], \"baselines\": [5, 5, 5]}]},"
               "{\"quantity\": \"next token, NTK\", \"context\": 512, \"cells\": [{\"levels\": "
               "[\"lssar\"], \"values\": [2, 4, null], \"baselines\": [5.5, 5.5, 5.5]}]}]}");
    struct verdict_claim claim = claim_of("r.json", "next token, NTK", "attention=lssar", "");
    claim.statistic = VERDICT_RISE;
    claim.context = 512;
    const struct verdict_fact fact = fact_of(claim);
    assert_true(fabs(fact.mean - 1.5) < 1e-12 && fabs(fact.baseline - 0.5) < 1e-12);
    assert_true(fabs(fact.half - 12.706204736432095 / 2) < 1e-8);
    assert_true(fact.n == 2 && fact.difference);
    claim.quantity = "next token";
    assert_true(fabs(fact_of(claim).mean - 20 / 3.) < 1e-12);
}

/* Means over the seeds that there are; a file or a cell that is not there is "-". */
TEST_BETWEEN(table1_is_read_from_its_files, scratch_setup, scratch_teardown)
{
    char path[4096], *made;
    size_t bytes;
    struct orr_file file;
    write_text(
        "table1.json",
        "{\"format\": \"orrery-probe-grid-1\", \"seeds\": 4, \"factors\": [{\"name\": "
        "\"attention\", \"levels\": [\"lssa\", \"lssar\"]}], \"rows\": ["
        "{\"quantity\": \"next token, NTK\", "
        "\"measure\": \"nats\", \"context\": 512, \"cells\": [{\"levels\": [\"lssar\"], "
        "\"values\": [1, 2, null, 3], \"baselines\": [5, 5, null, 5]}, {\"levels\": "
        "[\"lssa\"], \"values\": []}]},"
        "{\"quantity\": \"next token, beyond\", \"measure\": \"nats\", \"context\": 256, "
        "\"cells\": [{\"levels\": [\"lssar\"], \"values\": [7], \"baselines\": [7]}, {\"levels\": "
        "[\"lssa\"], \"values\": []}]},"
        "{\"quantity\": \"next token\", \"measure\": \"nats\", \"context\": 128, \"cells\": "
        "[{\"levels\": [\"lssar\"], \"values\": [1.25], \"baselines\": [5]},"
        "{\"levels\": [\"lssa\"], \"values\": [9], \"baselines\": [5]}]}]}");
    scratch_path(path, scratch_dir, "table.md");
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(verdict_table1(scratch_dir, &file), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    assert_int_equal(orr_file_read(path, &made, &bytes), 0);
    static const char *const expected[] = {
        "LSSAR, p = 15 | 3.191 | 3.193 | 3.229 | 3.317 | 1.250 | - | 2.000 +- 2.5 | - | - | 1 |\n",
        "| LSSA | 3.191 | 4.130 | 5.296 | 5.940 | 9.000 | - | - | - | - | 1 |\n",
        "| LSSAR, p = 3 | 3.178 | 4.238 | 5.406 | 6.301 | - | - | - | - | - | 0 |\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(made, expected[i]))
            fail_msg("no %s in:\n%s", expected[i], made);
    free(made);
}

/* study/docs/claims.md is what the stored results say, and every claim has its line. */
TEST_BETWEEN(the_ledger_is_that_of_the_stored_results, scratch_setup, scratch_teardown)
{
    char path[4096], *made, *kept;
    size_t bytes[2];
    scratch_path(path, scratch_dir, "claims.md");
    struct verdict_ledger ledger;
    if (verdict_ledger_read("study/results", NULL, &ledger) || verdict_ledger_there(&ledger) ||
        verdict_ledger_write(&ledger, path))
        fail_msg("%s", orr_error());
    assert_int_equal(orr_file_read(path, &made, &bytes[0]), 0);
    assert_int_equal(orr_file_read("study/docs/claims.md", &kept, &bytes[1]), 0);
    if (bytes[0] != bytes[1] || memcmp(made, kept, bytes[0]) != 0)
        fail_msg("study/docs/claims.md: not what the results make; make claims writes it");
    const int claims = ledger.claims.count;
    int lines = 0;
    for (int i = 0; i < claims; i++) {
        const struct verdict_claim *claim = &ledger.claims.claim[i];
        char begin[256]; /* a line for each, and one only: what is learned has none of its own */
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
    verdict_ledger_free(&ledger);
    static const char *const none[] = {"nowhere", "Makefile", "docs"}; /* no folder; no results */
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(verdict_ledger_read(none[i], NULL, &ledger), 0);
        assert_int_equal(verdict_ledger_there(&ledger), ORR_EMISSING);
        verdict_ledger_free(&ledger);
    }
}

TESTS(NULL, NULL)
