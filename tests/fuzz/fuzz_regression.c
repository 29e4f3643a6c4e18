/* fuzz_regression.c - any settings and any table for a regression: it takes them, or says why not;
 * never more.
 *
 * An input: pairs of texts, key and value, up to an empty key; then the numbers and arrays of the
 * table. */
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

enum { MOST = 512 /* numbers of an array */, NAMES = 64, LIMIT = 1024 /* columns */ };

static void set(struct orrery_regression *r, struct fuzz_bytes *from)
{
    for (int i = 0; i < 32 && from->left; i++) {
        char *key = fuzz_text(from), *value = *key ? fuzz_text(from) : NULL;
        const bool more = *key != '\0';
        if (more)
            FUZZ_CALL(r, orrery_regression_set(r, key, strcmp(value, "NULL") ? value : NULL));
        free(key);
        free(value);
        if (!more)
            return;
    }
}

/* An array of exactly so many numbers; NULL: what is claimed is more than there may be. */
static void *array(struct fuzz_bytes *from, int type, size_t count)
{
    const size_t bytes = type == ORRERY_FLOAT32 ? sizeof(float) : sizeof(double);
    void *numbers = count <= MOST ? malloc(count * bytes + !count) : NULL;
    for (size_t i = 0; numbers && i < count; i++) {
        const double x = fuzz_number(from);
        const float y = (float)x;
        memcpy((char *)numbers + i * bytes, type == ORRERY_FLOAT32 ? (const void *)&y : &x, bytes);
    }
    return numbers;
}

/* Sizes beyond every limit are claimed of arrays that are not there: they are not to be read. */
static void give_table(struct orrery_regression *r, struct fuzz_bytes *from)
{
    static const size_t sizes[] = {sizeof(struct orrery_table), 0, 8, 1000, SIZE_MAX};
    static const size_t counts[] = {0, 65536, SIZE_MAX, SIZE_MAX / 8, (size_t)1 << 62};
    char *name[NAMES] = {0}, *target = NULL;
    const uint8_t kind = fuzz_byte(from), given = fuzz_byte(from);
    const uint8_t rows = fuzz_byte(from), columns = fuzz_byte(from);
    struct orrery_table t = {.bytes = sizes[kind < 250 ? 0 : kind % 5],
                             .rows = rows < 200 ? rows : counts[rows % 5],
                             .columns = columns < 200 ? columns % NAMES : counts[columns % 5],
                             .type = kind & 1 ? ORRERY_FLOAT32 : ORRERY_FLOAT64,
                             .order = kind & 2 ? ORRERY_COLUMNS : ORRERY_ROWS};
    const bool fits = t.columns <= LIMIT && t.rows <= MOST && t.rows * t.columns <= MOST;
    t.x = given & 1 || !fits ? NULL : array(from, t.type, t.rows * t.columns);
    t.y = given & 2 || t.rows > MOST ? NULL : array(from, t.type, t.rows);
    void *const weights = given & 4 && t.rows <= MOST ? array(from, t.type, t.rows) : NULL;
    t.weights = given & 64 ? NULL : weights;
    t.sigma = given & 64 ? weights : NULL;
    for (size_t c = 0; given & 8 && c < t.columns && c < NAMES; c++)
        name[c] = given & 16 && c == 1 ? NULL : fuzz_text(from);
    t.names = given & 8 && t.columns <= NAMES ? (const char *const *)name : NULL;
    t.target = given & 32 ? target = fuzz_text(from) : NULL;
    if (kind == 249)
        t.type = 2 + fuzz_byte(from), t.order = 0; /* of no kind; arrays are of float32 */
    FUZZ_CALL(r, orrery_regression_data(r, kind == 248 ? NULL : &t));
    FUZZ_CALL(r, orrery_regression_test(r, given & 128 ? &t : NULL));
    if (fits && t.rows > 0) {
        char *formula = fuzz_text(from);
        double *y = malloc(t.rows * sizeof *y);
        FUZZ_EXPECT(y);
        struct orrery_formula *f;
        const int status =
            orrery_formula_parse(ORRERY_INTERFACE, formula, t.names, t.columns, NULL, &f);
        FUZZ_EXPECT(!status == !*orrery_message(f));
        FUZZ_CALL(f, orrery_formula_evaluate(f, &t, y));
        orrery_formula_free(f);
        free(y);
        free(formula);
    }
    for (size_t c = 0; c < NAMES; c++)
        free(name[c]);
    free(target);
    free((void *)(uintptr_t)t.x);
    free((void *)(uintptr_t)t.y);
    free(weights);
}

FUZZ_TARGET(regression)
{
    struct fuzz_bytes from = {bytes, size};
    struct orrery_regression *r = NULL;
    FUZZ_EXPECT(orrery_regression_create(ORRERY_INTERFACE, &r) == 0);
    set(r, &from);
    give_table(r, &from);
    orrery_regression_free(r);
    return 0;
}
