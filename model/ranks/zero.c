/* zero.c - ZeRO-1: every rank keeps the moments and the average of its share of the weights.
 *
 * Each bucket of the arena is divided among the ranks in whole blocks (ranks.c). A rank's shares
 * are packed in bucket order. Operations work on single elements or blocks, so that results have
 * the bits of a single rank. */
#include "zero.h"
#include "model/nonfinite.h"
#include "model/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One bucket of the arena, and this rank's share of it. */
struct piece {
    struct cluster_vector bucket;
    /* at: start of the bucket; begin, count: the share; in reals of the arena */
    size_t at, begin, count;
    size_t packed; /* where the share begins in this rank's packed memory */
};

/* Moves to the next bucket, at first the first; false after the last. */
static bool next_piece(const struct gpt_zero *zero, struct piece *piece)
{
    const size_t total = zero->model->total;
    size_t first;
    piece->at += piece->bucket.count;
    piece->packed += piece->count;
    if (piece->at >= total)
        return false;
    piece->bucket = gpt_bucket(total - piece->at);
    piece->count = cluster_share(&piece->bucket, cluster_rank(), &first);
    piece->begin = piece->at + first;
    return true;
}

/* ------------------------------------------------------------------ from and to rank 0 */

/* Distributes rank 0's arena, if it has one, over the ranks and releases it on rank 0. */
static int distribute_arena(const struct gpt_zero *zero, real **arena, real **own)
{
    const struct k_ops *k = zero->model->ops;
    struct piece piece = {0};
    bool there = *arena != NULL;
    TRY(cluster_broadcast(&there, sizeof there, 0));
    if (!there)
        return 0;
    TRY(cluster_agree(*own ? 0 : gpt_tensor_alloc(k, own, zero->own + 1)));
    while (next_piece(zero, &piece))
        TRY(gpt_distribute(k, *arena ? *arena + piece.at : NULL, *own + piece.packed,
                           &piece.bucket));
    k->release(*arena);
    *arena = NULL;
    return 0;
}

static int collect_arena(const struct gpt_zero *zero, const real *own, real **arena)
{
    struct piece piece = {0};
    if (!own)
        return 0;
    const bool leads = cluster_leads();
    TRY(cluster_agree(leads ? gpt_tensor_alloc(zero->model->ops, arena, zero->model->total) : 0));
    while (next_piece(zero, &piece))
        TRY(gpt_collect(zero->model->ops, own + piece.packed, leads ? *arena + piece.at : NULL,
                        &piece.bucket));
    return 0;
}

int gpt_zero_collect(struct gpt_zero *zero, bool moments)
{
    TRY(collect_arena(zero, zero->average, &zero->model->average));
    if (!moments)
        return 0;
    TRY(collect_arena(zero, zero->m, &zero->model->m));
    return collect_arena(zero, zero->v, &zero->model->v);
}

static int allocate_shares(struct gpt_zero *zero)
{
    const struct k_ops *k = zero->model->ops;
    struct piece piece = {0};
    while (next_piece(zero, &piece))
        zero->own += piece.count;
    zero->squares = orr_alloc(gpt_blocks(zero->own) + 1, sizeof *zero->squares);
    zero->blocks = orr_alloc(gpt_blocks(zero->model->total), sizeof *zero->blocks);
    if (!zero->squares || !zero->blocks)
        return ORR_ENOMEM;
    /* with a tiny model a rank may have no share */
    TRY(gpt_tensor_alloc(k, &zero->m, zero->own + 1));
    return gpt_tensor_alloc(k, &zero->v, zero->own + 1);
}

int gpt_zero_create(struct gpt_zero *zero, struct gpt_model *model)
{
    *zero = (struct gpt_zero){.model = model};
    TRY(cluster_agree(allocate_shares(zero)));
    TRY(distribute_arena(zero, &model->m, &zero->m));
    TRY(distribute_arena(zero, &model->v, &zero->v));
    return distribute_arena(zero, &model->average, &zero->average);
}

void gpt_zero_free(struct gpt_zero *zero)
{
    if (!zero->model)
        return;
    const struct k_ops *k = zero->model->ops;
    k->release(zero->m);
    k->release(zero->v);
    k->release(zero->average);
    free(zero->squares);
    free(zero->blocks);
    memset(zero, 0, sizeof *zero);
}

/* ------------------------------------------------------------------------------- one step */

/* Collects the sums of squares of all blocks on all ranks, in the order of the arena. */
static int gather_squares(struct gpt_zero *zero)
{
    struct piece piece = {0};
    while (next_piece(zero, &piece)) {
        double *blocks = zero->blocks + piece.at / GPT_BLOCK;
        const struct cluster_vector v = {.count = gpt_blocks(piece.bucket.count),
                                         .share = piece.bucket.share / GPT_BLOCK,
                                         .bytes = sizeof *blocks};
        TRY(gpt_block_squares(zero->model->ops, zero->model->grad + piece.begin, piece.count,
                              GPT_BLOCK, zero->squares));
        memcpy(zero->blocks + piece.begin / GPT_BLOCK, zero->squares,
               gpt_blocks(piece.count) * sizeof *blocks);
        TRY(cluster_all_gather(blocks, &v));
    }
    return 0;
}

static int all_gather(const struct gpt_zero *zero, real *arena)
{
    struct piece piece = {0};
    while (next_piece(zero, &piece))
        TRY(gpt_all_gather(zero->model->ops, arena + piece.at, &piece.bucket));
    return 0;
}

int gpt_zero_norm(struct gpt_zero *zero, long step, double divisor, double *norm)
{
    struct gpt_model *model = zero->model;
    TRY(cluster_break(gather_squares(zero)));
    *norm = sqrt(gpt_tree_of(zero->blocks, gpt_blocks(model->total))) / divisor;
    if (isfinite(*norm))
        return 0;
    TRY(all_gather(zero, model->grad)); /* needed to name the parameter */
    return gpt_diverged_gradient(model, step + 1);
}

int gpt_zero_apply(struct gpt_zero *zero, const struct orr_train_settings *train, long step,
                   double norm, double divisor)
{
    struct gpt_model *model = zero->model;
    const struct k_adamw k = gpt_adamw_of(train, step, norm, divisor);
    const bool first = !zero->average, averages = train->ema > 0;
    const double decay = gpt_average_decay(train->ema, first, step);
    struct piece piece = {0};
    int rc = averages && first ? gpt_tensor_alloc(model->ops, &zero->average, zero->own + 1) : 0;
    while (!rc && next_piece(zero, &piece)) {
        rc = gpt_adamw(model, train, k, piece.begin, piece.begin + piece.count,
                       zero->m + piece.packed, zero->v + piece.packed);
        if (!rc && averages && piece.count > 0)
            rc = model->ops->average(zero->average + piece.packed, model->param + piece.begin,
                                     piece.count, decay);
    }
    TRY(cluster_agree(rc));
    return all_gather(zero, model->param);
}
