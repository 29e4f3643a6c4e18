/* test_labels.c - label curves and extrapolation: what is saved, by curves in closed form; which
 * labels are drawn and which are never looked at; the whole probes on a tiny model, resumed, of
 * files and of sequences that are made. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "on_ref.h"
#include "stage/provenance.h"
#include "base/scratch.h"
#include "probe/cells_fixture.h"
#include "probe/forces_fixture.h"

#include <cjson/cJSON.h>
#include <gsl/gsl_errno.h>

#include "probe/labels/extrapolate.h"

static struct probe_arena arena;

/* ---------------------------------------------------------------------------------- curves */

TEST(test_monotone)
{
    double y[] = {0.1, 0.5, 0.3, 0.2, 0.9, 0.8, 0.95};
    const double expected[] = {0.1, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.85, 0.85, 0.95};
    probe_monotone(7, y);
    for (int i = 0; i < 7; i++)
        assert_true(fabs(y[i] - expected[i]) < 1e-15);
    double falling[] = {4, 3, 2, 1};
    probe_monotone(4, falling);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(falling[i] - 2.5) < 1e-15);
}

/* R^2 = a + b ln n: labels to a level are exp((level - a) / b), and the saving of a curve that is
 * higher by d is exp(d / b). */
TEST(test_saving)
{
    const int n[] = {30, 100, 300, 1000, 3000};
    const double a = 0.1, b = 0.1143, d = 0.0931;
    double low[5], high[5], value;
    for (int k = 0; k < 5; k++) {
        low[k] = a + b * log(n[k]);
        high[k] = low[k] + d;
    }
    for (double level = 0.65; level < 0.95; level += 0.0713) {
        const struct probe_range needed = probe_labels_needed(5, n, low, level);
        assert_true(needed.low == needed.high);
        assert_true(fabs(needed.low / exp((level - a) / b) - 1) < 1e-12);
        const struct probe_range saved =
            probe_ratio(needed, probe_labels_needed(5, n, high, level));
        assert_string_equal(probe_range_mark(saved, &value), "");
        assert_true(fabs(value / exp(d / b) - 1) < 1e-12);
    }
}

/* A level that one curve never reaches, or reaches at once, bounds the saving from one side. */
TEST(test_censoring)
{
    const int n[] = {30, 300, 3000};
    const double never[] = {0.1, 0.2, 0.3}, some[] = {0.2, 0.6, 1.0}, at_once[] = {0.9, 0.9, 0.95};
    const double needed = 30 * sqrt(10) * 10; /* of `some`, to 0.8 */
    static const struct {
        int untrained, pretrained; /* never, some, at once */
        const char *mark;
        double bound; /* times the sizes below */
    } cases[] = {{0, 1, " >=", 3000}, {1, 2, " >=", 30},  {1, 0, " <=", 3000}, {2, 1, " <=", 30},
                 {0, 2, " >=", 100},  {2, 0, " <=", 100}, {0, 0, " ?", 0},     {2, 2, " ?", 0}};
    const double *const curve[] = {never, some, at_once};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value, expected = cases[i].bound;
        const char *mark = probe_range_mark(
            probe_ratio(probe_labels_needed(3, n, curve[cases[i].untrained], 0.8),
                        probe_labels_needed(3, n, curve[cases[i].pretrained], 0.8)),
            &value);
        if (cases[i].untrained == 1)
            expected = needed / cases[i].bound;
        else if (cases[i].pretrained == 1)
            expected = cases[i].bound / needed;
        else if (!strcmp(cases[i].mark, " <="))
            expected = 1 / cases[i].bound;
        assert_string_equal(mark, cases[i].mark);
        assert_true(expected == 0 ? isnan(value) : fabs(value / expected - 1) < 1e-12);
    }
}

TEST(test_sizes)
{
    static const char *const bad[] = {"", "4", "30,", "30,,40", "30,30", "40,30", "x", "30x"};
    static const int standard[] = {30, 100, 300};
    int n[PROBE_SIZES], count;
    assert_int_equal(probe_sizes_read("7,30,31", standard, 3, 31, n, &count), 0);
    assert_true(count == 3 && n[0] == 7 && n[1] == 30 && n[2] == 31);
    assert_int_equal(probe_sizes_read(NULL, standard, 3, 299, n, &count), 0);
    assert_true(count == 2 && n[1] == 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(probe_sizes_read(bad[i], standard, 3, 99, n, &count), ORR_EUSAGE);
        error_names("--sizes", bad[i], NULL);
    }
    assert_int_equal(probe_sizes_read("7,100", standard, 3, 99, n, &count), ORR_EUSAGE);
    error_names("99", "100", "two_body_train", NULL);
    assert_int_equal(probe_sizes_read(NULL, standard, 3, 29, n, &count), ORR_EINVAL);
}

/* ----------------------------------------------------------------------------------- draws */

/* Draws are a function of the seed, share nothing while there are enough, and their inner split is
 * made of them alone. */
TEST(test_draws)
{
    enum { N = 23, SIZE = 7, D = 3 };
    size_t sequence[N], order[2][N], drawn[D][SIZE];
    struct ft_labels labels = {.sequence = sequence, .count = N}, trained, held;
    int times[N] = {0}, moved = 0;
    for (size_t i = 0; i < N; i++)
        sequence[i] = 100 + 3 * i;
    for (int k = 0; k < 2; k++)
        assert_int_equal(probe_labels_order(&labels, 5, order[k]), 0);
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    assert_int_equal(probe_labels_order(&labels, 6, order[1]), 0);
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
    for (int d = 0; d < D; d++) {
        struct ft_labels subset = {.sequence = drawn[d]};
        probe_labels_draw(&labels, order[0], d, SIZE, &subset);
        assert_int_equal(subset.count, SIZE);
        for (int i = 0; i < SIZE; i++) {
            assert_true(drawn[d][i] >= 100 && (drawn[d][i] - 100) % 3 == 0);
            assert_int_equal(times[(drawn[d][i] - 100) / 3]++, 0);
            moved += drawn[d][i] != sequence[d * SIZE + i];
        }
        probe_labels_split(&subset, &trained, &held);
        assert_true(trained.count == 6 && held.count == 1);
        assert_ptr_equal(trained.sequence, drawn[d]);
        assert_ptr_equal(held.sequence, drawn[d] + 6);
    }
    assert_true(moved > 10);
    size_t all[N];
    struct ft_labels subset = {.sequence = all};
    probe_labels_draw(&labels, order[0], 2, N, &subset); /* all of them, each once */
    memset(times, 0, sizeof times);
    for (int i = 0; i < N; i++)
        assert_int_equal(times[(all[i] - 100) / 3]++, 0);
}

/* ----------------------------------------------------------------------------- whole probes */

static void open_fixture(struct forces_fixture *f)
{
    forces_open(f, "lssar");
    f->options.sizes = "5,11";
}

static void measure(struct forces_fixture *f, int (*probe)(const struct probe_options *),
                    const char *folder)
{
    scratch_path(f->out, f->tiny.dir, folder);
    if (probe(&f->options))
        fail_msg("%s", orr_error());
}

static void assert_same(const struct forces_fixture *f, const char *a, const char *b,
                        const char *name)
{
    char *left = forces_content(f, a, name), *right = forces_content(f, b, name);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static float garbage(float value, size_t index, const void *context)
{
    (void)context;
    return isfinite(value) ? (float)exp(6 * tiny_uniform(5, index) - 3) : value;
}

/* Rates of all cells, and the sum of their R^2. */
static double rates(const struct forces_fixture *f, const char *name, char text[2048])
{
    struct probe_cells cells;
    double sum = 0;
    size_t used = 0;
    cells_open(&cells, scratch_at(f->tiny.dir, name), "labels", true);
    for (int i = 0; i < cells.count; i++) {
        used += (size_t)snprintf(text + used, 2048 - used, "%g ", cells.cell[i].value[0]);
        sum += cells.cell[i].value[1];
    }
    assert_int_equal(cells.count, 12);
    probe_cells_free(&cells);
    return sum;
}

/* Whether the kept cells of the folder "made" hold this text. */
static bool keeps(const struct forces_fixture *f, const char *text)
{
    char *all = forces_content(f, "made", "labels_cells.jsonl");
    const bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

/* Files and sequences that are made give the same figures; held-out labels choose no rate; an
 * interrupted probe goes on to the same figures; another budget is measured anew. */
TEST(test_curves)
{
    struct forces_fixture f;
    char before[2048], after[2048], path[4096];
    open_fixture(&f);
    measure(&f, probe_labels, "files");
    f.options.run = "";
    measure(&f, probe_labels, "made");
    f.options.run = f.run;
    assert_same(&f, "files", "made", "labels.csv");
    const double sum = rates(&f, "files", before);
    tiny_change(&f.tiny, "force_magnitude", "two_body_test", garbage, NULL);
    measure(&f, probe_labels, "garbage");
    assert_true(fabs(rates(&f, "garbage", after) - sum) > 0.1);
    assert_string_equal(before, after);
    f.options.run = "";

    scratch_path(path, f.tiny.dir, "made/labels.json"); /* as if it had been stopped near the end */
    assert_int_equal(remove(path), 0);
    cells_keep(scratch_at(f.tiny.dir, "made"), "labels", 7, 0, 3,
               12345); /* seconds: kept, not measured again */
    f.options.resume = true;
    measure(&f, probe_labels, "made");
    assert_same(&f, "files", "made", "labels.csv");
    assert_true(keeps(&f, "12345"));
    f.options.draws = 3; /* more draws go on, too */
    measure(&f, probe_labels, "made");
    assert_true(keeps(&f, "12345"));
    f.options.steps = 13;
    measure(&f, probe_labels, "made");
    assert_false(keeps(&f, "12345"));
    assert_true(orr_exists(scratch_at(f.tiny.dir, "made/labels.png")));
    forces_close(&f);
}

/* How far the matrices of the first block move in one step of a rate. */
static double step_of(struct forces_fixture *f, double lr)
{
    struct probe probe;
    struct probe_label_sets forces = {0};
    struct probe_learners learners;
    struct gpt_model before, after;
    struct ft_transform transform;
    double sum = 0;
    assert_int_equal(probe_open(&probe, &f->options, false, 1), 0);
    assert_int_equal(probe_label_sets_open(&arena, &forces, &f->options), 0);
    probe_learners_init(&learners, &arena, &probe, &f->options);
    learners.train.warmup = 0;
    assert_int_equal(probe_copy(&probe, &f->options, false, &before), 0);
    assert_int_equal(
        probe_learner_train(&learners, PROBE_PRETRAINED, &forces.labels, lr, 1, &after, &transform),
        0);
    for (int i = 0; i < after.parameters; i++)
        for (size_t j = 0; j < after.table[i].count && after.table[i].matrices > 0; j++)
            sum += fabs((double)gpt_param(&after, i)[j] - (double)gpt_param(&before, i)[j]);
    gpt_free(&before);
    gpt_free(&after);
    probe_label_sets_close(&forces);
    probe_close(&probe);
    return sum;
}

/* Rates that are tried are those of all weights, also of an optimiser with two. */
TEST(test_rates_of_optimizers)
{
    struct forces_fixture f;
    open_fixture(&f);
    struct orr_train_settings *train = &f.tiny.settings.finetune.magnitude;
    train->weight_decay = 0;
    for (int i = 0; i < ORR_OPTIMIZERS; i++) {
        train->optimizer = (enum orr_optimizer)i;
        const double step = step_of(&f, train->lr);
        assert_true(step > 0 && fabs(step_of(&f, 3 * train->lr) / step - 3) < 1e-2);
    }
    forces_close(&f);
}

/* Labels outside the bounds that the settings give the probe are not learned from. */
TEST(test_extrapolate)
{
    struct forces_fixture f;
    struct orr_table results = {0};
    cJSON *json;
    open_fixture(&f);
    f.options.sizes = NULL;
    measure(&f, probe_extrapolate, "out");
    f.options.resume = true;
    measure(&f, probe_extrapolate, "out");
    assert_int_equal(orr_rows_read(scratch_at(f.tiny.dir, "out/extrapolate.json"), &results, &json),
                     0);
    assert_int_equal(results.count, 14);
    for (size_t i = 0; i < results.count; i++) {
        const struct orr_row *row = &results.row[i];
        const double law = strstr(row->quantity, "exponent of r") ? -2 : 1;
        assert_true(isfinite(row->value) && row->n > 5);
        assert_true(fabs(row->upper_bound - law) < 1e-4); /* also of R^2: 1 */
        assert_true(row->low <= row->value + 0.5 && row->high >= row->low);
    }
    orr_table_free(&results);
    cJSON_Delete(json);
    struct orr_csv csv;
    assert_int_equal(orr_csv_read(scratch_at(f.tiny.dir, "out/extrapolate_r_neighbours.csv"),
                                  ORR_CSV_NUMBERS, &csv),
                     0);
    assert_int_equal(orr_csv_column(&csv, "F"), 8);
    for (size_t i = 0; i < csv.rows; i++) {
        const double *v = csv.values + 9 * i;
        assert_true(fabs(v[7] / (SIM_G * v[4] * v[5] / (v[3] * v[3])) - 1) < 1e-5);
        assert_true(v[2] >= 5 && v[8] > 0 && fabs(v[6] - 0.04) < 1e-6);
    }
    orr_csv_free(&csv);
    forces_close(&f);
}

/* The value and the baseline of the row of a quantity in DIR/NAME.json; false where there is none.
 */
static bool find_row(const struct forces_fixture *f, const char *name, const char *quantity,
                     double *value, double *baseline)
{
    struct orr_table rows = {0};
    cJSON *json;
    char path[4096];
    scratch_path(path, f->tiny.dir, name);
    assert_int_equal(orr_rows_read(path, &rows, &json), 0);
    bool found = false;
    for (size_t i = 0; i < rows.count && !found; i++) {
        found = !strcmp(rows.row[i].quantity, quantity);
        *value = rows.row[i].value;
        *baseline = rows.row[i].baseline;
    }
    orr_table_free(&rows);
    cJSON_Delete(json);
    return found;
}

/* Without the untrained model all else is what it was, its numbers are missing and its tables are
 * not left behind. */
TEST(test_no_untrained)
{
    struct forces_fixture f;
    double with, without, baseline;
    open_fixture(&f);
    measure(&f, probe_labels, "out");
    assert_true(find_row(&f, "out/labels.json", "log force", &with, &baseline));
    assert_true(isfinite(baseline));
    f.options.no_untrained = true;
    f.options.resume = true;
    measure(&f, probe_labels, "out");
    assert_true(find_row(&f, "out/labels.json", "log force", &without, &baseline));
    assert_true(with == without && isnan(baseline));
    assert_false(find_row(&f, "out/labels.json", "log force, untrained", &without, &baseline));
    assert_false(find_row(&f, "out/labels.json", "label saving at R^2 0.8", &without, &baseline));
    assert_true(orr_exists(scratch_at(f.tiny.dir, "out/labels.png")));

    f.options.sizes = NULL;
    f.options.no_untrained = f.options.resume = false;
    measure(&f, probe_extrapolate, "out");
    assert_true(find_row(&f, "out/extrapolate.json", "log force, r outside", &with, &baseline));
    assert_true(isfinite(baseline));
    f.options.no_untrained = f.options.resume = true;
    measure(&f, probe_extrapolate, "out");
    assert_true(find_row(&f, "out/extrapolate.json", "log force, r outside", &without, &baseline));
    assert_true(with == without && isnan(baseline));
    assert_false(orr_exists(scratch_at(f.tiny.dir, "out/extrapolate_r_untrained.csv")));
    forces_close(&f);
}

/* A folder in the place of the last tables: the probe fails after it wrote the first ones. */
static void fail_between_tables(struct forces_fixture *f)
{
    char path[4096];
    scratch_path(path, f->tiny.dir, "out/extrapolate_m_pretrained.csv");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_not_equal(probe_extrapolate(&f->options), 0);
    assert_int_equal(rmdir(path), 0);
    struct orr_file file = {0};
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
}

/* Results are kept while all of their tables are there, and not beside tables of other settings. */
TEST(test_extrapolate_resumed)
{
    struct forces_fixture f;
    open_fixture(&f);
    f.options.sizes = NULL;
    measure(&f, probe_extrapolate, "out");
    char *made = forces_content(&f, "out", "extrapolate_r_pretrained.csv");
    f.options.resume = true;
    assert_int_equal(unlink(scratch_at(f.tiny.dir, "out/extrapolate_r_pretrained.csv")), 0);
    measure(&f, probe_extrapolate, "out");
    char *again = forces_content(&f, "out", "extrapolate_r_pretrained.csv");
    assert_string_equal(made, again);
    free(again);
    const int steps = f.options.steps;
    f.options.steps = steps + 3;
    fail_between_tables(&f);
    again = forces_content(&f, "out", "extrapolate_r_pretrained.csv");
    assert_string_not_equal(made, again);
    free(again);
    f.options.steps = steps;
    measure(&f, probe_extrapolate, "out");
    again = forces_content(&f, "out", "extrapolate_r_pretrained.csv");
    assert_string_equal(made, again);
    free(again);
    free(made);
    forces_close(&f);
}

/* The masks: labels lie inside, rows outside are outside; exponents and the power law by closed
 * forms. */
TEST(test_parts)
{
    struct forces_fixture f;
    struct probe_label_sets forces;
    struct probe_held_out held_out;
    const struct ft_bounds none = {0};
    open_fixture(&f);
    assert_int_equal(probe_label_sets_open(&arena, &forces, &f.options), 0);
    assert_int_equal(
        probe_held_out_draw(&arena, &held_out, &forces.test, &none, NULL, forces.test.n, 8, 1), 0);
    double *log_f = malloc(held_out.rows * sizeof *log_f), exponent[3];
    double *residual = malloc(held_out.sequences * sizeof *residual);
    assert_true(log_f && residual);
    for (int k = 0; k < 2; k++) {
        struct probe_experiment e;
        assert_int_equal(probe_experiment_open(&arena, &e, k, &forces, &held_out), 0);
        const size_t all = ft_labels_points(&forces.labels, NULL, NULL);
        const size_t n = ft_labels_points(&e.labels, NULL, NULL);
        assert_true(fabs((double)n / (double)all - 0.5) < 0.1);
        const double low = k ? e.bounds.m_min : e.bounds.r_min;
        const double high = k ? e.bounds.m_max : e.bounds.r_max;
        float *states = malloc(n * 6 * sizeof *states);
        assert_non_null(states);
        ft_labels_points(&e.labels, states, NULL);
        for (size_t i = 0; i < n; i++) {
            const float *s = states + 6 * i;
            const double x = k ? (double)s[4] * (double)s[5] : hypot((double)s[0], (double)s[1]);
            assert_true(x >= low * (1 - 1e-12) && x <= high * (1 + 1e-12));
        }
        for (size_t i = 0; i < held_out.rows; i++) {
            const float *s = held_out.set->full_state + 6 * held_out.at[i];
            const double r = hypot((double)s[0], (double)s[1]);
            const double x = k ? (double)s[4] * (double)s[5] : r;
            assert_int_equal(e.outside[i], x < low * (1 - 1e-12) || x > high * (1 + 1e-12));
            assert_int_equal(e.inside[i], !e.outside[i]);
            log_f[i] = 0.3 - 1.7 * log(r) + 0.6 * log((double)s[4]) + 2.385 * log((double)s[5]);
        }
        probe_exponents(&held_out, e.outside, log_f, NULL, exponent);
        assert_true(fabs(exponent[0] + 1.7) < 1e-9 && fabs(exponent[1] - 0.6) < 1e-9 &&
                    fabs(exponent[2] - 2.385) < 1e-9);
        for (size_t i = 0; i < held_out.rows; i++) /* what is not kept does not count */
            log_f[i] = e.outside[i] ? held_out.y[i] + 0.25 : 1e3;
        probe_residuals(&held_out, e.outside, log_f, residual);
        double sum = 0, count = 0;
        for (size_t s = 0; s < held_out.sequences; s++)
            sum += residual[s];
        for (size_t i = 0; i < held_out.rows; i++)
            count += e.outside[i];
        assert_true(fabs(sum - 0.0625 * count) < 1e-9 * count);
        assert_true(probe_held_out_r2(&held_out, e.outside, residual, NULL) < 1);
        free(states);
        ft_labels_free(&e.labels);
    }
    assert_int_equal(probe_power_law(&arena, &forces.labels, &held_out, log_f), 0);
    probe_exponents(&held_out, NULL, log_f, NULL, exponent);
    assert_true(fabs(exponent[1]) < 1e-6 && fabs(exponent[2]) < 1e-6); /* it knows only r */
    double mean = 0;
    for (size_t i = 0; i < held_out.rows; i++)
        mean += held_out.y[i] / (double)held_out.rows;
    for (size_t i = 0; i < held_out.rows; i++)
        log_f[i] = mean;
    probe_residuals(&held_out, NULL, log_f, residual);
    assert_true(fabs(probe_held_out_r2(&held_out, NULL, residual, NULL)) < 1e-12);
    free(log_f);
    free(residual);
    probe_rewind(&arena, 0);
    probe_label_sets_close(&forces);
    forces_close(&f);
}

/* ------------------------------------------------------------------------------- intervals */

/* Resamples in which a figure is no number are left out, wherever they stand. */
TEST(test_interval)
{
    double x[201], low, high;
    for (int i = 0; i < 201; i++) /* 81 numbers, -40 to 40, in no order */
        x[i] = i % 5 < 2 ? (double)(i / 5 * 2 + i % 5) * 31 : (double)NAN;
    int count = 0;
    for (int i = 0; i < 201; i++)
        if (!isnan(x[i]))
            x[i] = fmod(x[i], 81) - 40, count++;
    assert_int_equal(count, 81);
    probe_interval(x, 201, &low, &high);
    assert_true(low == -38 && high == 38);
    double none[] = {NAN, NAN};
    probe_interval(none, 2, &low, &high);
    assert_true(isnan(low) && isnan(high));
    double ends[] = {INFINITY, 2.385, -INFINITY};
    probe_interval(ends, 3, &low, &high);
    assert_true(low == -INFINITY && high == INFINITY);
}

/* ---------------------------------------------------------------------------------- refused */

static void refused(struct forces_fixture *f, int code, const char *word)
{
    scratch_path(f->out, f->tiny.dir, "refused");
    assert_int_equal(probe_labels(&f->options), code);
    error_names(word, NULL);
    assert_int_equal(probe_extrapolate(&f->options), code);
    error_names(word, NULL);
    assert_false(orr_exists(scratch_at(f->tiny.dir, "refused"))); /* before anything is written */
}

TEST(test_refused)
{
    struct forces_fixture f;
    struct probe probe = {.stage = "pretrain"};
    open_fixture(&f);
    f.options.sizes = "5,24";
    refused(&f, ORR_EUSAGE, "two_body_train");
    f.options.sizes = NULL;
    f.options.change.power = 3;
    refused(&f, ORR_EUSAGE, "--p");
    f.options.change.power = 0;
    f.tiny.settings.orbits.two_body_train = 0;
    refused(&f, ORR_EINVAL, "two_body_train = 0");
    f.tiny.settings.orbits.two_body_train = 23;
    f.tiny.settings.orbits.positions = 35;
    refused(&f, ORR_EINVAL, "positions");
    f.tiny.settings.orbits.positions = 33;
    probe.trained.context = 32;
    probe.trained.input = GPT_INPUT_TOKENS;
    assert_int_equal(probe_label_sets_check(&probe, &f.options), ORR_EINVAL);
    error_names("tokens", NULL);
    probe.trained.input = GPT_INPUT_TEXT;
    assert_int_equal(probe_label_sets_check(&probe, &f.options), ORR_EINVAL);
    error_names("text", NULL);
    probe.trained.input = GPT_INPUT_CONTINUOUS;
    assert_int_equal(probe_label_sets_check(&probe, &f.options), 0);
    strcpy(probe.stage, "magnitude");
    assert_int_equal(probe_label_sets_check(&probe, &f.options), ORR_EINVAL);
    error_names("stage magnitude", NULL);
    forces_close(&f);
}

TESTS_ON_REF(NULL, NULL)
