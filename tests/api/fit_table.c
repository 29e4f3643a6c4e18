/* fit_table.c - a table of a file through the library, printed as the program symreg prints it: run
 * by tests/cli/test_one_engine.sh.
 *
 *     fit_table FILE TARGET [sigma:COLUMN] [weights:COLUMN] [test:FILE] [permutations:N]
 *               [features:N] [KEY=VALUE]...
 *
 * Columns of words are left out, as are those that have a role; features:N takes the first N. */
#include <math.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64 };

struct given {
    const char *target, *sigma, *weights, *test;
    size_t features;
    int permutations;
};

/* A file's columns as a table, whose arrays belong to *results; x is allocated. */
static int read_table(const char *path, const struct given *g, struct orrery_results **results,
                      const char *names[COLUMNS], struct orrery_table *table)
{
    size_t rows = 0, columns = 0;
    double *x;
    int status = orrery_results_create(ORRERY_INTERFACE, results);
    if (!status)
        status = orrery_results_open(*results, path);
    if (!status)
        status = orrery_results_size(*results, &rows, &columns);
    x = malloc((columns + 1) * rows * sizeof *x + 1);
    if (status || !x)
        return status ? status : ORRERY_ENOMEM;
    *table = (struct orrery_table){.bytes = sizeof *table,
                                   .rows = rows,
                                   .order = ORRERY_COLUMNS,
                                   .x = x,
                                   .names = names,
                                   .target = g->target};
    for (size_t c = 0; c < columns; c++) {
        struct orrery_column column = {.bytes = sizeof column};
        orrery_results_column(*results, c, &column);
        if (!strcmp(column.name, g->target))
            table->y = column.numbers;
        else if (g->sigma && !strcmp(column.name, g->sigma))
            table->sigma = column.numbers;
        else if (g->weights && !strcmp(column.name, g->weights))
            table->weights = column.numbers;
        else if (column.kind == ORRERY_NUMBERS && table->columns < COLUMNS &&
                 (!g->features || table->columns < g->features)) {
            memcpy(x + table->columns * rows, column.numbers, rows * sizeof *x);
            names[table->columns++] = column.name;
        }
    }
    return 0;
}

static void print_number(double value, int width)
{
    if (isfinite(value))
        printf("  %*.6g", width, value);
    else
        printf("  %*s", width, "-");
}

static void print_row(struct orrery_regression *r, const struct orrery_row *row, double score,
                      int test, struct orrery_formula *f, int number)
{
    static const char *const rules[] = {"accuracy", "score", "best", "mdl"};
    char text[8192];
    int first = 1;
    orrery_formula_print(f, ORRERY_TEXT, text, sizeof text, NULL);
    printf("%10d  %12.6g  %8.4g", row->complexity, row->loss, score);
    if (test) {
        print_number(row->test_loss, 12);
        print_number(row->test_r2, 10);
    }
    printf("  %s", text);
    for (int k = 0; k < 4 && number >= 0; k++) {
        int selected = -1;
        if (orrery_regression_select(r, rules[k], &selected) || selected != number)
            continue;
        printf("%s%s", first ? "   <- " : ", ", rules[k]);
        first = 0;
    }
    printf("\n");
}

static void print_answer(struct orrery_regression *r, int test, int alternatives)
{
    struct orrery_counts counts = {.bytes = sizeof counts};
    struct orrery_row row = {.bytes = sizeof row};
    struct orrery_formula *f;
    char text[1024];
    const char *more = test ? "     test loss     test R2" : "";
    orrery_regression_counts(r, &counts);
    printf("complexity          loss  %8s%s  equation\n", "score", more);
    for (int i = 0; i < counts.rows; i++) {
        orrery_regression_row(r, i, &row);
        orrery_formula_of_row(r, i, &f);
        print_row(r, &row, row.score, test, f, i);
        orrery_formula_free(f);
    }
    if (alternatives)
        printf(counts.alternatives
                   ? "alternatives, as good as what best selects but other functions:\n"
                     "complexity          loss  %8s%s  equation\n"
                   : "alternatives: no other function is as good as what best selects\n",
               "nats", more);
    for (int i = 0; i < counts.alternatives; i++) {
        orrery_regression_alternative(r, i, &row);
        orrery_formula_of_alternative(r, i, &f);
        print_row(r, &row, row.nats, test, f, -1);
        orrery_formula_free(f);
    }
    for (int i = 0; i < counts.remarks; i++) {
        orrery_regression_remark(r, i, text, sizeof text, NULL);
        printf("remark: %s\n", text);
    }
}

static int permute(struct orrery_regression *r, int searches)
{
    struct orrery_permutations p = {.bytes = sizeof p};
    const int status = orrery_regression_permutations(r, searches, 1, &p);
    if (!status)
        printf("permutations: %d of %d, p = %.3g, %.4g, %.4g\n", p.as_good, p.searches, p.p,
               p.least_loss, p.median_loss);
    return status;
}

/* The last line of the program, of the rule best. */
static void print_last(struct orrery_regression *r)
{
    char text[4096];
    int row;
    if (!orrery_regression_select(r, "best", &row) &&
        !orrery_regression_answer(r, row, text, sizeof text, NULL))
        printf("best: %s\n", text);
}

/* The part behind a word such as "sigma:"; NULL: another word. */
static const char *part(const char *argument, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(argument, word, length) ? NULL : argument + length;
}

int main(int argc, char **argv)
{
    struct given g = {.target = argc > 2 ? argv[2] : ""};
    struct orrery_regression *r = NULL;
    struct orrery_results *file = NULL, *second = NULL;
    struct orrery_table table = {0}, other = {0};
    static const char *names[COLUMNS], *others[COLUMNS];
    int alternatives = 0, status = orrery_regression_create(ORRERY_INTERFACE, &r);
    for (int i = 3; i < argc && !status; i++) {
        char *value = strchr(argv[i], '=');
        const char *text;
        if ((text = part(argv[i], "sigma:")))
            g.sigma = text;
        else if ((text = part(argv[i], "weights:")))
            g.weights = text;
        else if ((text = part(argv[i], "test:")))
            g.test = text;
        else if ((text = part(argv[i], "permutations:")))
            g.permutations = atoi(text);
        else if ((text = part(argv[i], "features:")))
            g.features = (size_t)atoi(text);
        else if (value) {
            *value = '\0';
            alternatives |= !strcmp(argv[i], "alternatives");
            status = orrery_regression_set(r, argv[i], value + 1);
        }
    }
    if (!status)
        status = read_table(argv[1], &g, &file, names, &table);
    if (!status)
        status = orrery_regression_data(r, &table);
    if (!status && g.test)
        status = read_table(g.test, &g, &second, others, &other);
    if (!status && g.test)
        status = orrery_regression_test(r, &other);
    if (!status)
        status = orrery_regression_search(r, 1, NULL, NULL);
    if (!status)
        print_answer(r, g.test != NULL, alternatives);
    if (!status && g.permutations)
        status = permute(r, g.permutations);
    if (!status)
        print_last(r);
    if (status)
        printf("error: %s\n", orrery_message(r));
    orrery_regression_free(r);
    orrery_results_free(file);
    orrery_results_free(second);
    free((void *)table.x);
    free((void *)other.x);
    return status;
}
