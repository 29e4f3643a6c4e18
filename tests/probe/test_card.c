/* test_card.c - cards of several trainings: means, intervals, and the comparison with the untrained
 * twin, training by training; what laws say of the force. */
#include "probe/exchange/card.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* A card with one line. */
static struct probe_card *card_of(const char *name, double value, double baseline, bool high)
{
    struct probe_card *card = calloc(1, sizeof *card);
    assert_non_null(card);
    snprintf(card->name, sizeof card->name, "%s", name);
    card->trainings = 1;
    card->measures.count = 1;
    card->measures.at[0] = (struct orr_measure){.text = "R^2",
                                                .high = high,
                                                .value = value,
                                                .low = NAN,
                                                .high_end = NAN,
                                                .upper_bound = 1,
                                                .baseline = baseline,
                                                .raw = NAN};
    return card;
}

/* Joins cards of these values and baselines. */
static struct probe_card *joined(int count, const double value[], const double baseline[],
                                 bool high)
{
    const struct probe_card *of[3];
    struct probe_card *all = card_of("all", 0, 0, high);
    for (int i = 0; i < count; i++)
        of[i] = card_of(i ? "b" : "a", value[i], baseline[i], high);
    probe_card_join(all, of, count);
    for (int i = 0; i < count; i++)
        free((void *)(uintptr_t)of[i]);
    return all;
}

/* A gain that holds in each training is beyond the twin, whatever differs between trainings; one
 * that changes its sign is not. */
TEST(gains_are_compared_training_by_training)
{
    const double value[] = {0.9, 0.5, 0.2}, baseline[] = {0.7, 0.31, 0.0};
    struct probe_card *all = joined(3, value, baseline, true);
    const struct orr_measure *m = &all->measures.at[0];
    assert_int_equal(all->trainings, 3);
    assert_int_equal(all->beyond[0], 1);
    assert_true(fabs(m->value - 1.6 / 3) < 1e-12 && m->low < 0.2 && m->high_end > 0.8);
    assert_true(all->value[0][1] == 0.5 && m->upper_bound == 1 && isnan(m->raw));
    free(all);
    const double either[] = {0.9, 0.5}, other[] = {0.7, 0.6};
    all = joined(2, either, other, true);
    assert_int_equal(all->beyond[0], 0);
    free(all);
}

TEST(lower_errors_are_better)
{
    const double value[] = {0.1, 0.2}, baseline[] = {0.3, 0.41};
    struct probe_card *all = joined(2, value, baseline, false);
    assert_int_equal(all->beyond[0], 1);
    free(all);
}

/* A path that met the star has no drift. */
TEST(a_training_without_a_value_leaves_none)
{
    const double value[] = {NAN, 0.5}, baseline[] = {0.7, 0.6};
    struct probe_card *all = joined(2, value, baseline, true);
    assert_true(isnan(all->measures.at[0].value) && isnan(all->measures.at[0].high_end));
    assert_int_equal(all->beyond[0], -1);
    free(all);
}

TEST(laws_alone_say_whether_the_force_is_known)
{
    char text[PROBE_CARD_TEXT];
    struct probe_card *card = card_of("a", 0, 0, true);
    struct probe_card_laws *l = &card->laws;
    probe_card_answer(card, text);
    assert_non_null(strstr(text, "not asked"));
    strcpy(l->rule, "best");
    l->of[PROBE_CARD_MODEL].samples = l->of[PROBE_CARD_TWIN].samples = 5;
    static const struct {
        int model, twin;
        const char *begins;
    } cases[] = {{0, 0, "no: "}, {5, 0, "yes: "}, {3, 2, "in part: "}, {3, 3, "not shown: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        l->of[PROBE_CARD_MODEL].selected = cases[i].model;
        l->of[PROBE_CARD_TWIN].selected = cases[i].twin;
        probe_card_answer(card, text);
        assert_memory_equal(text, cases[i].begins, strlen(cases[i].begins));
    }
    free(card);
}

TESTS(NULL, NULL)
