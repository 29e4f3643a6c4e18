/* memory.c - tensors in memory of the backend, and what the host sees of them. */
#include "model.h"

#include <stdlib.h>

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

int gpt_view_reserve(struct gpt_view *view, size_t count)
{
    if (count <= view->room)
        return 0;
    gpt_view_free(view);
    view->copy = orr_alloc(count, sizeof(real));
    if (!view->copy)
        return ORR_ENOMEM;
    view->room = count;
    return 0;
}

int gpt_see(const struct k_ops *ops, struct gpt_view *view, const real *tensor, size_t count,
            const real **seen)
{
    *seen = tensor;
    if (ops->host || !tensor)
        return 0;
    TRY(gpt_view_reserve(view, count));
    *seen = view->copy;
    return ops->download(view->copy, tensor, count * sizeof(real));
}

void gpt_view_free(struct gpt_view *view)
{
    free(view->copy);
    *view = (struct gpt_view){NULL, 0};
}
