/* fuzz_front.c - calls about the front of one search with any rows, notations, texts, sizes and
 * states: what they are about, or why not; never more.
 *
 * An input is a list of calls: a byte each that says which, then its arguments. */
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

enum { ROWS = 9, CAPACITY = 300 };
static double x[2 * ROWS], y[ROWS];
static bool spoiled; /* the front is that of another search, or of none */
static const struct orrery_table table = {
    .bytes = sizeof table, .rows = ROWS, .columns = 2, .x = x, .y = y};

/* A search whose front has a few rows, and its state. */
static struct orrery_regression *search(void)
{
    struct orrery_regression *r = NULL;
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = 0.5 + i;
        x[2 * i + 1] = (i * 7 % 5) / 4.0;
        y[i] = 2.385 * x[2 * i] * x[2 * i] + x[2 * i + 1];
    }
    FUZZ_EXPECT(orrery_regression_create(ORRERY_INTERFACE, &r) == 0);
    static const char *const settings[][2] = {
        {"iterations", "1"},  {"populations", "2"}, {"population_size", "5"}, {"cycles", "3"},
        {"enumerate", "200"}, {"maxsize", "9"},     {"keep-state", "1"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        FUZZ_EXPECT(orrery_regression_set(r, settings[i][0], settings[i][1]) == 0);
    FUZZ_EXPECT(orrery_regression_data(r, &table) == 0);
    FUZZ_EXPECT(orrery_regression_search(r, 1, NULL, NULL) == 0);
    return r;
}

/* Exactly `bytes` of room, so that a byte too many is seen. */
static void print(struct orrery_regression *r, struct fuzz_bytes *from)
{
    const int row = fuzz_int(from), notation = fuzz_byte(from) - 1;
    const size_t bytes = fuzz_byte(from);
    size_t needed = 0;
    char *text = bytes ? malloc(bytes) : NULL;
    const int status = orrery_regression_print(r, row, notation, text, bytes, &needed);
    FUZZ_EXPECT(!status == !*orrery_message(r));
    FUZZ_EXPECT(status || !bytes || (strlen(text) + 1 == needed && needed <= bytes));
    free(text);
}

/* The state of the search with a few bytes changed; the next search starts from it. */
static void resume(struct orrery_regression *r, struct fuzz_bytes *from)
{
    const void *state;
    size_t bytes;
    if (orrery_regression_state(r, &state, &bytes))
        return;
    uint8_t *copy = malloc(bytes + 1);
    FUZZ_EXPECT(copy);
    memcpy(copy, state, bytes);
    for (int i = 0; i < 3 && bytes; i++) {
        const size_t at = (size_t)(uint32_t)fuzz_int(from) % bytes;
        copy[at] = (uint8_t)(copy[at] ^ fuzz_byte(from));
    }
    if (fuzz_byte(from) & 1)
        bytes = (size_t)(uint32_t)fuzz_int(from) % (bytes + 1);
    FUZZ_CALL(r, orrery_regression_resume(r, bytes ? copy : NULL, bytes));
    free(copy);
    spoiled = true;
    const int status = orrery_regression_search(r, 1, NULL, NULL);
    FUZZ_EXPECT(!status == !*orrery_message(r));
}

static void evaluate(struct orrery_regression *r, struct fuzz_bytes *from)
{
    double out[ROWS];
    char *text = fuzz_text(from);
    struct orrery_formula *f;
    (void)r;
    const int status = orrery_formula_parse(ORRERY_INTERFACE, text, NULL, 2, NULL, &f);
    FUZZ_EXPECT(!status == !*orrery_message(f));
    FUZZ_CALL(f, orrery_formula_evaluate(f, &table, out));
    orrery_formula_free(f);
    free(text);
}

static void select_row(struct orrery_regression *r, struct fuzz_bytes *from)
{
    int row = -1;
    char *rule = fuzz_text(from);
    FUZZ_CALL(r, orrery_regression_select(r, rule, &row));
    free(rule);
}

static void one_call(struct orrery_regression *r, struct fuzz_bytes *from)
{
    struct orrery_row formula = {.bytes = sizeof formula};
    struct orrery_table other = table;
    double out[ROWS];
    struct orrery_counts counts = {.bytes = sizeof counts};
    switch (fuzz_byte(from) % 8) {
    case 0:
        formula.bytes = fuzz_byte(from) & 1 ? sizeof formula : (size_t)(uint32_t)fuzz_int(from);
        FUZZ_CALL(
            r, orrery_regression_row(r, fuzz_int(from), formula.bytes > 65536 ? NULL : &formula));
        return;
    case 1:
        print(r, from);
        return;
    case 2:
        resume(r, from);
        return;
    case 3:
        evaluate(r, from);
        return;
    case 4:
        select_row(r, from);
        return;
    case 5:
        other.columns = fuzz_byte(from) % 3;
        FUZZ_CALL(r, orrery_regression_predict(r, fuzz_int(from), &other, out));
        return;
    case 6:
        FUZZ_CALL(r, orrery_regression_predict(r, fuzz_int(from), &table, out));
        return;
    default:
        FUZZ_EXPECT(orrery_regression_counts(r, &counts) == 0 && counts.rows >= 0);
    }
}

FUZZ_TARGET(front)
{
    static struct orrery_regression *r;
    struct fuzz_bytes from = {bytes, size};
    if (!r || spoiled) {
        orrery_regression_free(r);
        r = search();
        spoiled = false;
    }
    for (int i = 0; i < 8 && from.left; i++)
        one_call(r, &from);
    return 0;
}
