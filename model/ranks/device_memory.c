/* device_memory.c - exchanges between ranks of vectors in memory of the backend.
 *
 * Vectors in the host's memory are sent by MPI. Where the backend has its own memory, its own
 * library sends them (kernels/collectives.h). Data at the start and for checkpoints go through
 * the host instead, one bucket at a time. */
#include "ranks.h"

#include "kernels/collectives.h"

#include <stdlib.h>

/* first (size + 1) = where each rank's share of the vector begins. */
static size_t *firsts_of(const struct cluster_vector *v)
{
    const int size = cluster_size();
    size_t *first = orr_alloc((size_t)size + 1, sizeof *first);
    for (int r = 0; first && r < size; r++)
        (void)cluster_share(v, r, &first[r]);
    if (first)
        first[size] = v->count;
    return first;
}

int gpt_all_to_all(const struct k_ops *ops, const real *x, real *parts,
                   const struct cluster_vector *v)
{
    if (ops->host)
        return cluster_all_to_all(x, parts, v);
    size_t *first = firsts_of(v);
    const int rc = first ? ops->collectives->all_to_all(x, parts, first) : ORR_ENOMEM;
    free(first);
    return rc ? cluster_end(rc) : 0; /* other ranks may wait for memory of this device */
}

int gpt_all_gather(const struct k_ops *ops, real *x, const struct cluster_vector *v)
{
    if (ops->host)
        return cluster_all_gather(x, v);
    size_t *first = firsts_of(v);
    const int rc = first ? ops->collectives->all_gather(x, first) : ORR_ENOMEM;
    free(first);
    return rc ? cluster_end(rc) : 0;
}

/* Buffers on the host for this rank's share of a vector and, at rank 0, for the whole vector. */
struct stage {
    real *own, *all;
    size_t own_bytes, bytes;
};

static int stage_create(struct stage *stage, const struct cluster_vector *v)
{
    size_t first;
    const size_t own = cluster_share(v, cluster_rank(), &first);
    const bool leads = cluster_leads();
    *stage = (struct stage){.own_bytes = own * sizeof(real),
                            .bytes = leads ? v->count * sizeof(real) : 0};
    stage->own = orr_alloc(own + 1, sizeof(real));
    stage->all = leads ? orr_alloc(v->count, sizeof(real)) : NULL;
    return stage->own && (stage->all || !leads) ? 0 : ORR_ENOMEM;
}

static void stage_free(struct stage *stage)
{
    free(stage->own);
    free(stage->all);
}

int gpt_collect(const struct k_ops *ops, const real *own, real *x, const struct cluster_vector *v)
{
    struct stage stage;
    if (ops->host)
        return cluster_collect(own, x, v);
    int rc = cluster_agree(stage_create(&stage, v));
    if (!rc)
        rc = cluster_agree(ops->download(stage.own, own, stage.own_bytes));
    if (!rc)
        rc = cluster_collect(stage.own, stage.all, v);
    if (!rc && stage.all)
        rc = ops->upload(x, stage.all, stage.bytes);
    stage_free(&stage);
    return cluster_agree(rc);
}

int gpt_distribute(const struct k_ops *ops, const real *x, real *own,
                   const struct cluster_vector *v)
{
    struct stage stage;
    if (ops->host)
        return cluster_distribute(x, own, v);
    int rc = cluster_agree(stage_create(&stage, v));
    if (!rc)
        rc = cluster_agree(stage.all ? ops->download(stage.all, x, stage.bytes) : 0);
    if (!rc)
        rc = cluster_distribute(stage.all, stage.own, v);
    if (!rc)
        rc = ops->upload(own, stage.own, stage.own_bytes);
    stage_free(&stage);
    return cluster_agree(rc);
}

int gpt_broadcast(const struct k_ops *ops, real *x, size_t count)
{
    const bool leads = cluster_leads();
    if (ops->host)
        return cluster_broadcast(x, count * sizeof *x, 0);
    const size_t capacity = gpt_bucket_capacity();
    real *stage = orr_alloc(capacity, sizeof *stage);
    int rc = cluster_agree(stage ? 0 : ORR_ENOMEM);
    for (size_t at = 0; at < count && !rc; at += capacity) {
        const size_t bytes = (count - at < capacity ? count - at : capacity) * sizeof *x;
        rc = cluster_agree(leads ? ops->download(stage, x + at, bytes) : 0);
        if (!rc)
            rc = cluster_broadcast(stage, bytes, 0);
        if (!rc)
            rc = cluster_agree(leads ? 0 : ops->upload(x + at, stage, bytes));
    }
    free(stage);
    return rc;
}
