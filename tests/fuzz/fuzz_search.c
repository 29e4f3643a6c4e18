/* fuzz_search.c - a checkpoint of a search with any changes, its checksum made right: the search
 * goes on from it, or says why not; never more.
 *
 * An input is a list of changes to a true checkpoint: where (4 bytes), how many bytes n (1 byte,
 * up to 32), and these bytes; what follows the last whole change is left out. Places are counted
 * without the text behind the header, those with the highest bit set with it. */
#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "fuzz.h"
#include "symreg/symreg.h"

enum { ROWS = 5, FEATURES = 2, MOST = 32, HEADER = 56, TEXT_AT = 24 };
static const double x[FEATURES * ROWS] = {1, 2, 3, 4, 5, 0.5, 2.5, -1, 7, 1};
static const double y[ROWS] = {1.5, 4.25, 8.5, 9, 27};
static char path[4096];
static uint8_t *base;
static size_t base_bytes;

/* Without resume it ends after the first epochs. */
static int search(bool resume, struct sr_fit *fit)
{
    const struct sr_settings s = {.binary = {SR_ADD, SR_MUL},
                                  .unary = {SR_SIN},
                                  .binary_count = 2,
                                  .unary_count = 1,
                                  .loss = ORR_SR_L1,
                                  .maxsize = 7,
                                  .iterations = resume ? 3 : 1,
                                  .populations = 2,
                                  .population_size = 5,
                                  .cycles = 3,
                                  .restarts = 1,
                                  .alternatives = 1,
                                  .seed = 7,
                                  .checkpoint = path,
                                  .resume = resume};
    free(fit->near);
    *fit = (struct sr_fit){
        .data = {.rows = ROWS, .features = FEATURES, .x = x, .y = y, .language = NULL}};
    return sr_search(&s, fit, 1, 1, NULL);
}

/* The checkpoint after the first epochs. */
static void prepare(struct sr_fit *fit)
{
    char *text;
    if (base)
        return;
    fuzz_file(path, "checkpoint.bin", "", 0);
    FUZZ_EXPECT(search(false, fit) == 0);
    FUZZ_EXPECT(orr_file_read(path, &text, &base_bytes) == 0);
    base = (uint8_t *)text;
    FUZZ_EXPECT(search(true, fit) == 0);
}

FUZZ_TARGET(search)
{
    static struct sr_fit fit;
    prepare(&fit);
    uint8_t *changed = malloc(base_bytes);
    FUZZ_EXPECT(changed);
    memcpy(changed, base, base_bytes);
    uint64_t text;
    memcpy(&text, base + TEXT_AT, sizeof text);
    for (size_t at = 0; at + 5 <= size;) {
        uint32_t where;
        memcpy(&where, bytes + at, sizeof where);
        const size_t n = bytes[at + 4] % (MOST + 1);
        at += 5;
        if (n > size - at)
            break;
        if (where >> 31)
            where &= 0x7fffffff;
        else if (where >= HEADER)
            where += (uint32_t)text;
        where %= (uint32_t)(base_bytes - sizeof(uint64_t) - MOST);
        memcpy(changed + where, bytes + at, n);
        at += n;
    }
    const uint64_t sum = XXH64(changed, base_bytes - sizeof sum, 0);
    memcpy(changed + base_bytes - sizeof sum, &sum, sizeof sum);
    fuzz_file(path, "checkpoint.bin", changed, base_bytes);
    free(changed);
    const int rc = search(true, &fit);
    FUZZ_EXPECT(!rc || *orr_error());
    for (int i = 0; !rc && i < fit.front.count; i++) {
        struct sr_expr expr = fit.front.expr[i];
        FUZZ_EXPECT(sr_expr_measure(NULL, &expr) && expr.count <= 7);
    }
    return 0;
}
