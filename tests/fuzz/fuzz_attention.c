/* fuzz_attention.c - any shape, variant and numbers for attention: finite or not, an answer or an
 * error; never more. What is not asked for is not written: arrays are of exactly their size. */
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

enum { MOST = 4096 /* numbers of an array */ };

/* Small as a rule, or whatever four bytes are. */
static int size_of(struct fuzz_bytes *from)
{
    const uint8_t kind = fuzz_byte(from);
    return kind < 250 ? kind % 9 : fuzz_int(from);
}

static void *numbers(struct fuzz_bytes *from, int type, size_t count)
{
    const size_t bytes = type == ORRERY_FLOAT32 ? sizeof(float) : sizeof(double);
    char *all = malloc(count * bytes + 1);
    FUZZ_EXPECT(all);
    for (size_t i = 0; i < count; i++) {
        const double x = fuzz_number(from);
        const float y = (float)x;
        memcpy(all + i * bytes, type == ORRERY_FLOAT32 ? (const void *)&y : &x, bytes);
    }
    return all;
}

static void pass(struct orrery_attention *a, const struct orrery_attention_shape *s,
                 struct fuzz_bytes *from)
{
    const size_t rows = (size_t)s->sequences * (size_t)s->rows,
                 n = rows * (size_t)s->heads * (size_t)s->size;
    size_t saved = 0;
    FUZZ_EXPECT(orrery_attention_saved(a, s, &saved) == 0 && saved <= 64 * MOST);
    void *qkv = numbers(from, s->type, 3 * n), *out = numbers(from, s->type, n),
         *stats = numbers(from, s->type, saved), *dout = numbers(from, s->type, n),
         *dqkv = numbers(from, s->type, 3 * n);
    double *weights = malloc((rows * (size_t)s->heads * (size_t)s->rows + 1) * sizeof *weights);
    FUZZ_EXPECT(weights);
    FUZZ_CALL(a, orrery_attention_weights(a, s, qkv, weights));
    FUZZ_CALL(a, orrery_attention_forward(a, s, qkv, out, NULL));
    const int status = orrery_attention_forward(a, s, qkv, out, stats);
    FUZZ_EXPECT(!status == !*orrery_message(a));
    if (!status)
        FUZZ_CALL(a, orrery_attention_backward(a, s, qkv, out, stats, dout, dqkv));
    free(weights);
    free(qkv);
    free(out);
    free(stats);
    free(dout);
    free(dqkv);
}

FUZZ_TARGET(attention)
{
    static struct orrery_attention *a;
    struct fuzz_bytes from = {bytes, size};
    size_t saved;
    if (!a)
        FUZZ_EXPECT(orrery_attention_create(ORRERY_INTERFACE, &a) == 0);
    const uint8_t kind = fuzz_byte(&from);
    const int variant = fuzz_byte(&from);
    char *name = variant == 255 ? fuzz_text(&from) : NULL;
    const struct orrery_attention_shape s = {
        .bytes = kind < 250 ? sizeof s : (size_t)fuzz_int(&from),
        .variant = name ? name : orrery_attention_variant(variant),
        .power = fuzz_number(&from),
        .window = size_of(&from),
        .type = kind & 1,
        .reference = kind >> 1 & 1,
        .sequences = size_of(&from),
        .rows = size_of(&from),
        .heads = size_of(&from),
        .size = size_of(&from),
        .threads = kind & 4 ? 1 : 2};
    const int status = orrery_attention_saved(a, kind == 249 ? NULL : &s, &saved);
    FUZZ_EXPECT(!status == !*orrery_message(a));
    if (!status && (double)s.sequences * s.rows * s.heads * s.size <= MOST &&
        (double)s.sequences * s.heads * s.rows * s.rows <= MOST)
        pass(a, &s, &from);
    free(name);
    return 0;
}
