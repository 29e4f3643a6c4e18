/* memory.c - tensors in memory of the backend, and copies of them on the host. */
#include "activations.h"

#include <stdlib.h>
#include <string.h>

int gpt_tensor_alloc(const struct k_ops *ops, real **tensor, size_t count)
{
    void *memory = NULL;
    const int rc = ops->alloc(&memory, count * sizeof(real));
    *tensor = rc ? NULL : memory;
    return rc;
}

int gpt_settle(const struct k_ops *ops, int rc)
{
    const int late = ops->wait();
    return rc ? rc : late;
}

static int reserve_copy(struct gpt_host_copy *copy, size_t count)
{
    if (count <= copy->capacity)
        return 0;
    gpt_host_copy_free(copy);
    copy->data = orr_alloc(count, sizeof(real));
    if (!copy->data)
        return ORR_ENOMEM;
    copy->capacity = count;
    return 0;
}

int gpt_copy_to_host(const struct k_ops *ops, struct gpt_host_copy *copy, const real *tensor,
                     size_t count, const real **seen)
{
    *seen = tensor;
    if (ops->host || !tensor)
        return 0;
    TRY(reserve_copy(copy, count));
    *seen = copy->data;
    return ops->download(copy->data, tensor, count * sizeof(real));
}

/* Widens bf16 to reals in place. A bf16 is the upper half of a float. The `count` bf16 numbers
 * lie at the end of the memory of `count` reals, so that each is read before it is overwritten. */
static void widen_bf16(real *to, size_t count)
{
    const unsigned char *from = (const unsigned char *)to + count * (sizeof *to - sizeof(uint16_t));
    for (size_t i = 0; i < count; i++) {
        uint16_t upper;
        float x;
        memcpy(&upper, from + i * sizeof upper, sizeof upper);
        const uint32_t bits = (uint32_t)upper << 16;
        memcpy(&x, &bits, sizeof x);
        to[i] = (real)x;
    }
}

int gpt_copy_to_host_as(const struct k_ops *ops, struct gpt_host_copy *copy, const real *tensor,
                        bool bf16, size_t count, const real **seen)
{
    if (!bf16 || !tensor)
        return gpt_copy_to_host(ops, copy, tensor, count, seen);
    const size_t bytes = count * sizeof(uint16_t);
    TRY(reserve_copy(copy, count));
    TRY(ops->download((unsigned char *)copy->data + count * sizeof(real) - bytes, tensor, bytes));
    widen_bf16(copy->data, count);
    *seen = copy->data;
    return 0;
}

void gpt_host_copy_free(struct gpt_host_copy *copy)
{
    free(copy->data);
    *copy = (struct gpt_host_copy){NULL, 0};
}
