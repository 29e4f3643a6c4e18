/* fuzz_modelcalls.c - any bytes as a checkpoint, and any sequences and changes for the model that
 * it is: an answer, or an error; never more.
 *
 * An input: 16 bytes of arguments, then the checkpoint, whose checksum is made right. */
#include <string.h>

#include "api/orrery.h"
#include "fuzz.h"

enum { MOST = 4096 /* numbers of an array */, ARGUMENTS = 16 };

static void attend(struct orrery_model *m, struct fuzz_bytes *from)
{
    const struct orrery_attend a = {.bytes = sizeof a,
                                    .attention = orrery_attention_variant(fuzz_byte(from)),
                                    .reweight = fuzz_byte(from) % 4,
                                    .power = fuzz_byte(from) / 4.0,
                                    .set_window = fuzz_byte(from) % 3,
                                    .window = fuzz_byte(from) - 1,
                                    .context = fuzz_byte(from) % 64,
                                    .ntk = fuzz_byte(from) % 3};
    FUZZ_CALL(m, orrery_model_attend(m, &a));
}

static void call_all(struct orrery_model *m, const struct orrery_shape *shape,
                     const struct orrery_sequences *s, int layer, size_t prefix)
{
    const size_t rows = s->sequences * s->rows;
    const size_t most = rows * ((size_t)shape->outputs + (size_t)shape->heads * s->rows + 2);
    double *out = malloc((most + 1) * sizeof *out);
    FUZZ_EXPECT(out);
    FUZZ_CALL(m, orrery_model_outputs(m, s, (float *)out));
    FUZZ_CALL(m, orrery_model_next(m, s, 2, out));
    FUZZ_CALL(m, orrery_model_forces(m, s, out));
    FUZZ_CALL(m, orrery_model_attention(m, s, layer, out));
    FUZZ_CALL(m, orrery_model_rollout(m, s, prefix, 2, (float *)out));
    free(out);
}

static void use(struct orrery_model *m, struct fuzz_bytes *from)
{
    static const char *const keys[] = {"attention", "made", "force", ""};
    static uint16_t tokens[2 * MOST];
    static float coordinates[2 * MOST];
    struct orrery_shape shape = {.bytes = sizeof shape};
    char text[64];
    size_t needed;
    FUZZ_EXPECT(orrery_model_describe(m, &shape) == 0);
    FUZZ_CALL(m, orrery_model_metadata(m, keys[fuzz_byte(from) % 4], text, 64, &needed));
    for (int i = 0; i < 2 * MOST; i++) {
        tokens[i] = (uint16_t)(shape.vocabulary > 0 ? i * 7 % shape.vocabulary : i);
        coordinates[i] = (float)(i * 13 % 64 - 32) / 16;
    }
    const int layer = fuzz_byte(from) - 1;
    const size_t prefix = fuzz_byte(from);
    const struct orrery_sequences s = {.bytes = sizeof s,
                                       .sequences = fuzz_byte(from) % 3,
                                       .rows = fuzz_byte(from) % 32,
                                       .tokens = shape.input == ORRERY_COORDINATES ? NULL : tokens,
                                       .coordinates =
                                           shape.input == ORRERY_COORDINATES ? coordinates : NULL};
    if (shape.outputs <= MOST && shape.heads <= MOST)
        call_all(m, &shape, &s, layer, prefix);
}

FUZZ_TARGET(modelcalls)
{
    char path[4096];
    struct orrery_model *m = NULL;
    struct fuzz_bytes from = {bytes, size < ARGUMENTS ? size : ARGUMENTS};
    uint8_t *summed = fuzz_with_sum(bytes + from.left, size - from.left);
    fuzz_file(path, "a.safetensors", summed, size - from.left);
    free(summed);
    FUZZ_EXPECT(orrery_model_create(ORRERY_INTERFACE, &m) == 0);
    const int status = orrery_model_open(m, path, 1, 1);
    FUZZ_EXPECT(!status == !*orrery_message(m));
    if (!status) {
        struct fuzz_bytes again = from;
        use(m, &from);
        attend(m, &again);
        use(m, &again);
    }
    orrery_model_free(m);
    return 0;
}
