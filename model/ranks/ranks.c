/* ranks.c - one training by the ranks of a job: the assignment of micro-batches to ranks, and
 * sums over ranks.
 *
 * Rank r has a contiguous share of a step's micro-batches and sums their gradients by the tree
 * of tree.c. Each element of the gradient is then summed over the ranks by one rank, by a binary
 * tree over the ranks, and sent to all. MPI's reductions are not used, because the library
 * chooses their order. */
#include "ranks.h"
#include "model/optimizer.h"

#include <stdlib.h>
#include <string.h>

void gpt_ranks_share(int parts, int *first, int *count)
{
    const int size = cluster_size(), rank = cluster_rank();
    const int each = parts / size, more = parts % size;
    *first = rank * each + (rank < more ? rank : more);
    *count = each + (rank < more);
}

/* ------------------------------------------------------------------------------------ sums */

int gpt_ranks_create(struct gpt_ranks *ranks, const struct k_ops *ops, size_t count)
{
    const size_t size = (size_t)cluster_size();
    memset(ranks, 0, sizeof *ranks);
    ranks->ops = ops;
    ranks->count = count;
    if (size < 2)
        return 0;
    TRY(gpt_tensor_alloc(ops, &ranks->parts, gpt_bucket_capacity()));
    ranks->sums = orr_alloc(size, sizeof *ranks->sums);
    ranks->loss = orr_alloc(size, sizeof *ranks->loss);
    ranks->weight = orr_alloc(size, sizeof *ranks->weight);
    if (!ranks->sums || !ranks->loss || !ranks->weight)
        return ORR_ENOMEM;
    const char *overlap = getenv("ORRERY_OVERLAP");
    ranks->overlaps = ops->host && (!overlap || strcmp(overlap, "0") != 0);
    ranks->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    ranks->lowered = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    return 0;
}

void gpt_ranks_free(struct gpt_ranks *ranks)
{
    if (ranks->parts)
        ranks->ops->release(ranks->parts);
    free(ranks->sums);
    free(ranks->loss);
    free(ranks->weight);
    memset(ranks, 0, sizeof *ranks);
}

size_t gpt_bucket_capacity(void)
{
    enum { MOST = 64 };
    const size_t size = (size_t)cluster_size();
    return (size < MOST ? MOST / size * size : size) * GPT_BLOCK;
}

struct cluster_vector gpt_bucket(size_t left)
{
    const size_t capacity = gpt_bucket_capacity(), count = left < capacity ? left : capacity;
    const size_t size = (size_t)cluster_size(), blocks = gpt_blocks(count);
    return (struct cluster_vector){
        .count = count, .share = (blocks + size - 1) / size * GPT_BLOCK, .bytes = sizeof(real)};
}

int gpt_ranks_sum(const struct gpt_ranks *ranks, struct gpt_sum *sum)
{
    const int size = cluster_size();
    if (size < 2)
        return 0;
    TRY(cluster_gather(sum, ranks->sums, sizeof *sum));
    for (int i = 0; i < size; i++) {
        ranks->loss[i] = ranks->sums[i].loss;
        ranks->weight[i] = ranks->sums[i].weight;
    }
    sum->loss = gpt_tree_of(ranks->loss, (size_t)size);
    sum->weight = gpt_tree_of(ranks->weight, (size_t)size);
    return 0;
}

int gpt_ranks_stop(bool *stop)
{
    char mine = *stop, *all = orr_alloc((size_t)cluster_size(), 1);
    if (!all)
        return cluster_break(ORR_ENOMEM);
    const int rc = cluster_gather(&mine, all, 1);
    for (int i = 0; i < cluster_size() && !rc; i++)
        *stop |= all[i] != 0;
    free(all);
    return rc;
}

/* ------------------------------------------------------------------------------- one model */

/* Copies one arena of rank 0, which may have none, to all ranks. */
static int share_arena(struct gpt_model *model, real **arena, size_t count)
{
    bool there = *arena != NULL;
    TRY(cluster_broadcast(&there, sizeof there, 0));
    if (!there)
        return 0;
    TRY(cluster_agree(*arena ? 0 : gpt_tensor_alloc(model->ops, arena, count)));
    return gpt_broadcast(model->ops, *arena, count);
}

int gpt_ranks_share_model(struct gpt_model *model, const struct k_ops *ops, bool weights_only,
                          long *step)
{
    struct gpt_config config = model->config;
    if (cluster_size() < 2)
        return 0;
    TRY(cluster_broadcast(&config, sizeof config, 0));
    TRY(cluster_broadcast(step, sizeof *step, 0));
    TRY(cluster_agree(!cluster_leads() ? gpt_create(model, &config, ops, 0) : 0));
    TRY(share_arena(model, &model->param, model->total));
    if (weights_only)
        return 0;
    enum orr_optimizer optimizer = model->optimizer;
    TRY(cluster_broadcast(&optimizer, sizeof optimizer, 0));
    TRY(cluster_agree(gpt_choose_optimizer(model, optimizer)));
    TRY(share_arena(model, &model->average, model->total));
    TRY(share_arena(model, &model->m, model->total));
    return share_arena(model, &model->v, model->seconds);
}

int gpt_ranks_share_text(char **text)
{
    size_t bytes = cluster_leads() ? strlen(*text) + 1 : 0;
    TRY(cluster_broadcast(&bytes, sizeof bytes, 0));
    if (!cluster_leads())
        *text = orr_alloc(bytes, 1);
    TRY(cluster_agree(*text ? 0 : ORR_ENOMEM));
    return cluster_broadcast(*text, bytes, 0);
}
