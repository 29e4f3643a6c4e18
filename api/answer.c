/* answer.c - the answer of a search: its rows, alternatives, remarks, and the constants of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regress.h"

static const struct sr_front *front_of(const struct orrery_regression *r)
{
    return &r->solution.fit->front;
}

static int check_number(const char *what, int number, int count)
{
    if (number >= 0 && number < count)
        return 0;
    return count ? ORR_FAIL(ORR_EINVAL, "%s: expected 0 to %d, found %d", what, count - 1, number)
                 : ORR_FAIL(ORR_EINVAL, "%s: expected none, as there are none, found %d", what,
                            number);
}

int api_check_row(const struct orrery_regression *r, int row)
{
    return r->has_front
               ? check_number("row", row, front_of(r)->count)
               : ORR_FAIL(ORR_EMISSING, "there is no front yet; orrery_regression_search()");
}

int api_find_row(const struct orrery_regression *r, bool beside, int number,
                 const struct sr_front **front)
{
    *front = !r->has_front ? NULL : beside ? r->solution.fit->alternatives : front_of(r);
    return beside ? check_number("alternative", number, *front ? (*front)->count : 0)
                  : api_check_row(r, number);
}

/* Writes remark `number` of those that apply; *count: how many apply. */
static bool find_remark(const struct orrery_regression *r, int number, char *text, size_t bytes,
                        int *count)
{
    *count = 0;
    for (int k = 0; k < SR_TABLE_REMARKS && r->has_front; k++)
        if (sr_table_remark(&r->solution.answer, (enum sr_table_remark)k, text, bytes) &&
            (*count)++ == number)
            return true;
    return false;
}

static int count_all(const struct orrery_regression *r, struct orrery_counts *counts)
{
    char text[512];
    TRY(api_filled("counts", sizeof *counts, counts));
    *counts = (struct orrery_counts){.bytes = sizeof *counts};
    if (!r->has_front)
        return 0;
    counts->rows = front_of(r)->count;
    counts->alternatives = r->solution.fit->alternatives ? r->solution.fit->alternatives->count : 0;
    counts->categories = r->table.category ? (size_t)r->table.category->count : 0;
    (void)find_remark(r, -1, text, sizeof text, &counts->remarks);
    return 0;
}

int orrery_regression_counts(struct orrery_regression *r, struct orrery_counts *counts)
{
    API_RETURN(r, count_all(r, counts));
}

static int write_remark(const struct orrery_regression *r, int number, char *text, size_t bytes,
                        size_t *needed)
{
    char whole[512];
    int count;
    return number >= 0 && find_remark(r, number, whole, sizeof whole, &count)
               ? api_write_text(whole, text, bytes, needed)
               : ORR_FAIL(ORR_EINVAL, "remark: expected a number below their count, found %d",
                          number);
}

int orrery_regression_remark(struct orrery_regression *r, int number, char *text, size_t bytes,
                             size_t *needed)
{
    API_RETURN(r, write_remark(r, number, text, bytes, needed));
}

static int write_answer(const struct orrery_regression *r, int row, char *text, size_t bytes,
                        size_t *needed)
{
    char line[SR_SENTENCE];
    TRY(api_check_row(r, row));
    TRY(sr_answer_line(&r->solution.answer, row, line, sizeof line));
    return api_write_text(line, text, bytes, needed);
}

int orrery_regression_answer(struct orrery_regression *r, int row, char *text, size_t bytes,
                             size_t *needed)
{
    API_RETURN(r, write_answer(r, row, text, bytes, needed));
}

static int describe_row(const struct orrery_regression *r, bool beside, int number,
                        struct orrery_row *row)
{
    const struct sr_test *test = beside ? &r->solution.test_beside : &r->solution.test;
    const struct sr_category *c = beside ? NULL : r->table.category;
    const struct sr_front *front;
    TRY(api_find_row(r, beside, number, &front));
    TRY(api_filled("row", sizeof *row, row));
    *row = (struct orrery_row){.bytes = sizeof *row,
                               .complexity = front->complexity[number],
                               .constants = sr_expr_constants(&front->expr[number], NULL),
                               .category_constants = c ? c->row[number].parameters : 0,
                               .loss = front->loss[number],
                               .score = beside ? (double)NAN : front->score[number],
                               .description_length = front->mdl[number],
                               .nats = beside ? front->score[number] : (double)NAN,
                               .test_loss = r->has_test ? test->loss[number] : (double)NAN,
                               .test_r2 = r->has_test ? test->r2[number] : (double)NAN};
    return 0;
}

int orrery_regression_row(struct orrery_regression *r, int number, struct orrery_row *row)
{
    API_RETURN(r, describe_row(r, false, number, row));
}

int orrery_regression_alternative(struct orrery_regression *r, int number, struct orrery_row *row)
{
    API_RETURN(r, describe_row(r, true, number, row));
}

static int choose_row(const struct orrery_regression *r, const char *rule, int *row)
{
    enum sr_rule found;
    if (!rule || !row)
        return ORR_FAIL(ORR_EINVAL, "select: expected a rule and a pointer, found NULL");
    TRY(sr_rule_find("select", rule, &found));
    TRY(api_check_row(r, 0));
    *row = sr_front_select(front_of(r), found);
    return *row >= 0 ? 0 : ORR_FAIL(ORR_EMISSING, "select: %s chooses no row of this front", rule);
}

int orrery_regression_select(struct orrery_regression *r, const char *rule, int *row)
{
    API_RETURN(r, choose_row(r, rule, row));
}

static int write_definitions(const struct orrery_regression *r, char *text, size_t bytes,
                             size_t *needed)
{
    if (!r->has_front)
        return ORR_FAIL(ORR_EMISSING, "definitions: there is no front yet");
    return api_write_text(r->setup.define ? r->setup.define : "", text, bytes, needed);
}

int orrery_regression_definitions(struct orrery_regression *r, char *text, size_t bytes,
                                  size_t *needed)
{
    API_RETURN(r, write_definitions(r, text, bytes, needed));
}

static int test_permutations(struct orrery_regression *r, int searches, int threads,
                             struct orrery_permutations *result)
{
    const struct sr_permutations *found = &r->solution.permutations;
    int team;
    TRY(api_filled("result", sizeof *result, result));
    TRY(api_threads(threads, &team));
    TRY(api_check_row(r, 0));
    if (searches < 1 || searches > 9999)
        return ORR_FAIL(ORR_EINVAL, "searches: expected 1 to 9999, found %d", searches);
    if (r->table.category)
        return ORR_FAIL(ORR_EINVAL, "permutations: not of a table with a category");
    const struct sr_problem problem = api_problem(r, team);
    r->setup.permutations = searches;
    r->solution.stopped = false;
    TRY(sr_solve_permutations(&problem, &r->solution));
    *result = (struct orrery_permutations){.bytes = sizeof *result,
                                           .searches = found->searches,
                                           .as_good = found->as_good,
                                           .complexity = found->complexity,
                                           .p = found->p,
                                           .least_loss = found->searches ? found->least : NAN,
                                           .median_loss = found->searches ? found->median : NAN};
    return r->solution.stopped
               ? ORR_FAIL(ORR_EINTR, "stopped after %d of %d searches", found->searches, searches)
               : 0;
}

int orrery_regression_permutations(struct orrery_regression *r, int searches, int threads,
                                   struct orrery_permutations *result)
{
    API_RETURN(r, test_permutations(r, searches, threads, result));
}

/* ------------------------------------------------------------------------------- constants */

/* The constants of a row and their standard errors, which only least-squares losses have. */
static int copy_constants(const struct orrery_regression *r, int row, double *value, double *error)
{
    TRY(api_check_row(r, row));
    const struct sr_expr *expr = &front_of(r)->expr[row];
    const int count = sr_expr_constants(expr, value);
    for (int c = 0; error && c < count; c++)
        error[c] = NAN;
    return error && r->setup.settings.loss == ORR_SR_L2
               ? sr_answer_errors(&r->solution.answer, row, error)
               : 0;
}

int orrery_regression_constants(struct orrery_regression *r, int row, double *value, double *error)
{
    API_RETURN(r, copy_constants(r, row, value, error));
}

static int copy_category(const struct orrery_regression *r, int row, int number, size_t *categories,
                         double *constant, double *error)
{
    TRY(api_check_row(r, row));
    const struct sr_category *c = r->table.category;
    if (number < 0 || !c || number >= c->row[row].parameters)
        return ORR_FAIL(ORR_EMISSING,
                        "category: row %d has %d constants of each category, found "
                        "number %d",
                        row, c ? c->row[row].parameters : 0, number);
    const size_t count = (size_t)c->count, bytes = count * sizeof(double);
    const bool known = r->setup.settings.loss == ORR_SR_L2;
    if (categories)
        *categories = count;
    if (constant)
        memcpy(constant, c->row[row].value + (size_t)number * count, bytes);
    if (error)
        memcpy(error, c->row[row].error + (size_t)number * count, bytes);
    for (size_t k = 0; error && !known && k < count; k++)
        error[k] = NAN;
    return 0;
}

int orrery_regression_category(struct orrery_regression *r, int row, int number, size_t *categories,
                               double *constant, double *error)
{
    API_RETURN(r, copy_category(r, row, number, categories, constant, error));
}

static int copy_intervals(const struct orrery_regression *r, int row, double *low, double *high)
{
    TRY(api_check_row(r, row));
    if (!low || !high)
        return ORR_FAIL(ORR_EINVAL, "intervals: expected two pointers, found NULL");
    const struct sr_expr *expr = &front_of(r)->expr[row];
    const int count = sr_expr_constants(expr, NULL);
    for (int c = 0; c < count; c++)
        low[c] = high[c] = NAN;
    return r->setup.settings.loss == ORR_SR_L2 && !r->table.category && !front_of(r)->unfitted[row]
               ? sr_constants_profile(expr, &r->table.data, r->table.variance, SR_LEVEL, low, high)
               : 0;
}

int orrery_regression_intervals(struct orrery_regression *r, int row, double *low, double *high)
{
    API_RETURN(r, copy_intervals(r, row, low, high));
}

static int copy_covariance(const struct orrery_regression *r, int row, double *triangle,
                           double *residual_variance, double *freedom)
{
    struct sr_uncertainty u = {.scatter = NAN, .spare = NAN};
    TRY(api_check_row(r, row));
    if (!triangle || !residual_variance || !freedom)
        return ORR_FAIL(ORR_EINVAL, "covariance: expected three pointers, found NULL");
    const struct sr_expr *expr = &front_of(r)->expr[row];
    const bool squares = r->setup.settings.loss == ORR_SR_L2 && !r->table.category;
    const bool known = squares && !front_of(r)->unfitted[row];
    const int count = sr_expr_constants(expr, NULL);
    if (squares)
        TRY(sr_constants_uncertainty(expr, &r->table.data, r->table.variance, &u));
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++)
            *triangle++ = known ? u.covariance[a][b] : (double)NAN;
    *residual_variance = u.scatter;
    *freedom = u.spare;
    return 0;
}

int orrery_regression_covariance(struct orrery_regression *r, int row, double *triangle,
                                 double *residual_variance, double *freedom)
{
    API_RETURN(r, copy_covariance(r, row, triangle, residual_variance, freedom));
}

double orrery_interval_factor(double level, double freedom)
{
    return level > 0 && level < 1 && freedom > 0 ? sr_interval_factor(level, freedom) : (double)NAN;
}
