/* test_adaptation.c - readouts of the frozen and of the fine-tuned model: rows and sequences in
 * step, by a target that the embedding holds exactly; agreement in closed form; the whole probe. */
#include <math.h>
#include <unistd.h>

#include "on_ref.h"
#include "stage/provenance.h"
#include "base/scratch.h"
#include "probe/forces_fixture.h"

#include <cjson/cJSON.h>
#include <gsl/gsl_errno.h>

#include "probe/labels/adaptation.h"

static struct probe_arena arena;

/* -------------------------------------------------------------------------------- readouts */

/* y of every row := a combination of the coordinates on that very row, which layer 0, a linear map
 * of them, holds; of no other row, nor of another sequence. */
static void plant(struct probe_held_out *j)
{
    for (size_t i = 0; i < j->rows; i++) {
        const float *xy = j->set->coords + 2 * j->at[i];
        j->y[i] = 0.4 - 1.3 * (double)xy[0] + 0.7 * (double)xy[1];
    }
}

TEST(test_rows_in_step)
{
    struct forces_fixture f;
    struct probe probe;
    struct probe_label_sets forces;
    struct probe_held_out fit, held_out;
    struct probe_read read, told;
    const struct ft_bounds none = {0};
    const size_t some[] = {3, 0, 7, 5, 1, 6};
    forces_open(&f, "softmax");
    assert_int_equal(probe_open(&probe, &f.options, false, 1), 0);
    assert_int_equal(probe_label_sets_open(&arena, &forces, &f.options), 0);
    assert_int_equal(probe_held_out_draw(&arena, &fit, &forces.train, &none, NULL, 23, 5, 1), 0);
    assert_int_equal(probe_held_out_draw(&arena, &held_out, &forces.test, &none, some, 6, 3, 1), 0);
    plant(&fit);
    plant(&held_out);
    assert_int_equal(probe_read_create(&arena, &read, held_out.rows), 0);
    assert_int_equal(probe_read_create(&arena, &told, held_out.rows), 0);
    assert_int_equal(probe_read_model(&arena, &probe.model, &fit, &held_out, &read, NULL), 0);
    assert_int_equal(read.layer[PROBE_LOG_F], 0);
    const struct probe_agreement planted =
        probe_agree(&held_out, NULL, PROBE_LOG_F, read.of[PROBE_LOG_F], NULL);
    assert_true(planted.rho > 0.9998 && planted.r2 > 0.999); /* 8 numbers hold 11 features */
    assert_true(
        probe_agree(&held_out, NULL, PROBE_INVERSE_SQUARE, read.of[PROBE_INVERSE_SQUARE], NULL)
            .rho < 0.99);
    assert_int_equal(probe_read_places(&arena, &fit, &held_out, &read), 0);
    assert_int_equal(read.layer[PROBE_LOG_F], -1);
    assert_true(probe_agree(&held_out, NULL, PROBE_LOG_F, read.of[PROBE_LOG_F], NULL).r2 >
                1 - 1e-9);
    assert_int_equal(probe_read_model(&arena, &probe.model, &fit, &held_out, &read, &told), 0);
    for (int q = 0; q < PROBE_READ; q++)
        assert_true(probe_agree(&held_out, NULL, q, told.of[q], NULL).r2 > 0.9999);
    probe_rewind(&arena, 0);
    probe_label_sets_close(&forces);
    probe_close(&probe);
    forces_close(&f);
}

/* Of an affine image: correlation 1 whatever it is, R^2 by its errors; rows and sequences that do
 * not count change nothing. */
TEST(test_agreement)
{
    enum { N = 8 };
    const double y[N] = {1, 2, 4, 8, 1, 3, 3, 5};
    double found[N];
    const bool keep[N] = {true, true, true, true, false, false, false, false};
    size_t of[N] = {0, 0, 1, 1, 2, 2, 3, 3}, at[N] = {0};
    const float state_of[6] = {3, 4, 0, 0, 1, 1};
    double copy[N];
    memcpy(copy, y, sizeof y);
    const struct sim_dataset set = {.positions = 1, .dimensions = 2, .full_state = state_of};
    const struct probe_held_out j = {
        .set = &set, .sequences = 4, .rows = N, .of = of, .at = at, .y = copy};
    for (int i = 0; i < N; i++)
        found[i] = i < 4 ? 2 * y[i] - 1 : 100 * i;
    struct probe_agreement is = probe_agree(&j, keep, PROBE_LOG_F, found, NULL);
    /* errors 0, 1, 3, 7; squares about the mean of 1, 2, 4, 8: 28.75 */
    assert_true(fabs(is.rho - 1) < 1e-14 && fabs(is.r2 - (1 - 59 / 28.75)) < 1e-14);
    const double weight[4] = {1, 1, 0, 0};
    is = probe_agree(&j, NULL, PROBE_LOG_F, found, weight);
    assert_true(fabs(is.rho - 1) < 1e-14 && fabs(is.r2 - (1 - 59 / 28.75)) < 1e-14);
    for (int i = 0; i < N; i++)
        found[i] = -y[i];
    assert_true(fabs(probe_agree(&j, NULL, PROBE_LOG_F, found, NULL).rho + 1) < 1e-14);
    is = probe_agree(&j, NULL, PROBE_INVERSE_SQUARE, found, NULL); /* r is the same in all rows */
    assert_true(isnan(is.rho) && isnan(is.r2));
}

/* ------------------------------------------------------------------------------- the probe */

static const struct orr_row *row_of(const struct orr_table *results, const char *quantity,
                                    const char *measure)
{
    for (size_t i = 0; i < results->count; i++)
        if (!strcmp(results->row[i].quantity, quantity) &&
            !strcmp(results->row[i].measure, measure))
            return &results->row[i];
    fail_msg("no row %s, %s", quantity, measure);
    return NULL;
}

TEST(test_probe)
{
    static const char *const tables[] = {"frozen", "adapted", "output"};
    struct forces_fixture f;
    char path[4096], name[4200];
    struct orr_table results = {0};
    cJSON *json;
    forces_open(&f, "softmax");
    if (probe_adaptation(&f.options))
        fail_msg("%s", orr_error());
    assert_int_equal(orr_path(path, "%s/adaptation.json", f.out), 0);
    assert_int_equal(orr_rows_read(path, &results, &json), 0);
    assert_int_equal(results.count, 29);
    for (size_t i = 0; i < results.count; i++) {
        const struct orr_row *row = &results.row[i];
        const bool less = strstr(row->quantity, " less ") != NULL;
        assert_true(isfinite(row->value) && isfinite(row->baseline) && row->n > 5);
        assert_true(row->value != row->baseline);
        assert_true(less == isnan(row->raw));
        assert_true(fabs(row->upper_bound - (less                             ? 0
                                             : !strcmp(row->measure, "slope") ? -2
                                                                              : 1)) < 1e-3);
    }
    row_of(&results, "exponent of r, output, r outside", "slope");
    /* a difference is one of its parts, of draws as of their mean */
    const double whole = row_of(&results, "log force, output less frozen, r outside", "rho")->value;
    const double part = row_of(&results, "log force, output, r outside", "rho")->value -
                        row_of(&results, "log force, frozen, r outside", "rho")->value;
    assert_true(fabs(whole - part) < 1e-12 && fabs(whole) > 1e-6);
    orr_table_free(&results);
    cJSON_Delete(json);
    for (int k = 0; k < 6; k++) {
        struct orr_csv csv;
        snprintf(name, sizeof name, "%s/adaptation_%s%s.csv", f.out, tables[k / 2],
                 k % 2 ? "_untrained" : "");
        assert_int_equal(orr_csv_read(name, ORR_CSV_NUMBERS, &csv), 0);
        assert_true(csv.rows > 10);
        orr_csv_free(&csv);
    }
    char *made = forces_content(&f, "out", "adaptation_adapted.csv");
    f.options.resume = true;
    assert_int_equal(orr_path(path, "%s/adaptation_adapted.csv", f.out), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(probe_adaptation(&f.options), 0); /* not whole: made again, the same */
    char *again = forces_content(&f, "out", "adaptation_adapted.csv");
    assert_string_equal(made, again);
    free(made);
    free(again);
    forces_close(&f);
}

TEST(test_refused)
{
    struct forces_fixture f;
    forces_open(&f, "softmax");
    f.options.sizes = "5,7";
    assert_int_equal(probe_adaptation(&f.options), ORR_EUSAGE);
    error_names("--sizes", "one number", "5,7", NULL);
    f.options.sizes = "24";
    assert_int_equal(probe_adaptation(&f.options), ORR_EUSAGE);
    error_names("24", NULL);
    f.options.sizes = NULL;
    f.options.change.power = 3;
    assert_int_equal(probe_adaptation(&f.options), ORR_EUSAGE);
    error_names("--p", NULL);
    assert_false(orr_exists(f.out)); /* before anything is written */
    forces_close(&f);
}

TESTS_ON_REF(NULL, NULL)
