/* test_recall.c - results of costly steps are recalled for the same key alone, and a search that
 * recalls them is the search without-> */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"
#include "evolve/search.h"
#include "seed/recall.h"

TEST(results_come_back_for_their_key_alone)
{
    struct sr_recall *recall = sr_recall_create();
    struct sr_recall_key key = {0}, other = {0}, none = {0};
    const double a[] = {2.385, 0.77, 5.2}, result[] = {1.5, -3.25};
    double found[3] = {0};
    assert_non_null(recall);
    assert_true(sr_recall_is_open(recall) && !sr_recall_is_open(NULL));
    sr_recall_key_add(&key, a, 2 * sizeof *a);
    sr_recall_key_add(&other, a, sizeof *a);
    assert_int_equal(sr_recall_find(recall, &key, found, sizeof found), 0);
    sr_recall_keep(recall, &key, result, sizeof result);
    assert_int_equal(sr_recall_find(recall, &key, found, sizeof found), sizeof result);
    assert_true(found[0] == result[0] && found[1] == result[1]);
    assert_int_equal(sr_recall_find(recall, &other, found, sizeof found), 0);
    assert_int_equal(sr_recall_find(recall, &none, found, sizeof found), 0);
    assert_int_equal(sr_recall_find(recall, &key, found, sizeof *found), 0); /* no room */
    other = (struct sr_recall_key){0}; /* the same key once more */
    sr_recall_key_add(&other, a, 2 * sizeof *a);
    assert_int_equal(sr_recall_find(recall, &other, found, sizeof found), sizeof result);
    sr_recall_key_add(&other, &a[2], sizeof *a);
    sr_recall_close(recall);
    sr_recall_keep(recall, &other, result, sizeof result);
    assert_int_equal(sr_recall_find(recall, &other, found, sizeof found), 0);
    assert_true(sr_recall_is_open(recall)); /* there is something to recall */
    sr_recall_free(recall);
    sr_recall_free(NULL);
}

/* A search of few formulas, or of more, that keeps or recalls. */
static struct sr_fit *search(const struct table *t, double evaluations, struct sr_recall *recall)
{
    struct sr_settings s = seed_settings();
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    assert_non_null(fit);
    fit->data = t->data;
    s.iterations = 1;
    s.max_evaluations = evaluations;
    s.recall = recall;
    assert_int_equal(sr_search(&s, fit, 1, 1, NULL), 0);
    return fit;
}

/* Two tables that differ in one value of y: the short search of the one leaves nothing to the
 * other, and what it leaves to its own changes nothing. */
TEST(a_search_that_recalls_is_the_search_without)
{
    for (int other = 0; other < 2; other++) {
        struct sr_recall *recall = sr_recall_create();
        struct table t;
        gsl_rng *rng = random_stream(67);
        table_uniform(&t, 300, rng, "r * exp(-0.5 * m1) + 0.3 * m2 / (r + 1.7)");
        sr_fit_free(search(&t, 3000, recall));
        sr_recall_close(recall);
        t.y[17] += other ? 0.2385 : 0;
        struct sr_fit *without = search(&t, 6000, NULL), *with = search(&t, 6000, recall);
        assert_int_equal(with->front.count, without->front.count);
        for (int i = 0; i < with->front.count; i++) {
            assert_true(with->front.loss[i] == without->front.loss[i]);
            assert_true(sr_expr_hash(&with->front.expr[i]) ==
                        sr_expr_hash(&without->front.expr[i]));
        }
        assert_true(with->evaluations == without->evaluations);
        sr_fit_free(with);
        sr_fit_free(without);
        sr_recall_free(recall);
        gsl_rng_free(rng);
        table_free(&t);
    }
}

TESTS(NULL, NULL)
