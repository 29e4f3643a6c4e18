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
    size_t packed; /* where the share begins in this rank's packed memory, */
    size_t second; /* and in its packed second moments; `seconds` of the share have one */
    size_t seconds;
};

/* Number of elements begin .. end - 1 that have a second moment. */
static size_t count_seconds(const struct gpt_model *model, size_t begin, size_t end)
{
    struct gpt_range range = {.end = begin};
    size_t count = 0;
    while (gpt_next_range(model, &range, end))
        count += range.matrices ? 0 : range.end - range.begin;
    return count;
}

/* Moves to the next bucket, at first the first; false after the last. */
static bool next_piece(const struct gpt_zero *zero, struct piece *piece)
{
    const size_t total = zero->model->total;
    size_t first;
    piece->at += piece->bucket.count;
    piece->packed += piece->count;
    piece->second += piece->seconds;
    if (piece->at >= total)
        return false;
    piece->bucket = gpt_bucket(total - piece->at);
    piece->count = cluster_share(&piece->bucket, cluster_rank(), &first);
    piece->begin = piece->at + first;
    piece->seconds = count_seconds(zero->model, piece->begin, piece->begin + piece->count);
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

/* Copies second moments of elements begin .. end - 1 between `packed`, where they lie one after the
 * other, and `loose` (end - begin), where the others have gaps. */
static int copy_seconds(const struct gpt_model *model, size_t begin, size_t end, real *packed,
                        real *loose, bool unpacks)
{
    struct gpt_range range = {.end = begin};
    while (gpt_next_range(model, &range, end)) {
        const size_t count = range.end - range.begin;
        real *const at = loose + (range.begin - begin);
        if (range.matrices)
            continue;
        TRY(model->ops->copy(unpacks ? at : packed, unpacks ? packed : at, count * sizeof *at));
        packed += count;
    }
    return 0;
}

/* The second moments of rank 0's model become those of the ranks' shares, or (collects) the other
 * way round; a bucket and its share have gaps on the way. */
static int move_seconds(const struct gpt_zero *zero, real *arena, bool collects)
{
    const struct gpt_model *model = zero->model;
    const struct k_ops *k = model->ops;
    const bool leads = cluster_leads();
    real *bucket = NULL, *share = NULL;
    struct piece piece = {0};
    size_t at = 0; /* in rank 0's arena */
    int rc = leads ? gpt_tensor_alloc(k, &bucket, gpt_bucket_capacity()) : 0;
    if (!rc)
        rc = gpt_tensor_alloc(k, &share, gpt_bucket_capacity());
    rc = cluster_agree(rc);
    while (!rc && next_piece(zero, &piece)) {
        const size_t end = piece.at + piece.bucket.count;
        real *const own = zero->v + piece.second, *const whole = leads ? arena + at : NULL;
        const size_t share_end = piece.begin + piece.count;
        if (collects)
            rc = copy_seconds(model, piece.begin, share_end, own, share, true);
        else if (leads)
            rc = copy_seconds(model, piece.at, end, whole, bucket, true);
        rc = cluster_agree(rc);
        if (!rc)
            rc = collects ? gpt_collect(k, share, bucket, &piece.bucket)
                          : gpt_distribute(k, bucket, share, &piece.bucket);
        if (!rc && !collects)
            rc = copy_seconds(model, piece.begin, share_end, own, share, false);
        else if (!rc && leads)
            rc = copy_seconds(model, piece.at, end, whole, bucket, false);
        at += count_seconds(model, piece.at, end);
        rc = cluster_agree(rc);
    }
    k->release(bucket);
    k->release(share);
    return rc;
}

static int distribute_seconds(struct gpt_zero *zero)
{
    struct gpt_model *model = zero->model;
    bool there = model->v != NULL;
    if (model->seconds == model->total)
        return distribute_arena(zero, &model->v, &zero->v);
    TRY(cluster_broadcast(&there, sizeof there, 0));
    if (there)
        TRY(move_seconds(zero, model->v, false));
    model->ops->release(model->v);
    model->v = NULL;
    return 0;
}

static int collect_seconds(struct gpt_zero *zero)
{
    struct gpt_model *model = zero->model;
    if (model->seconds == model->total)
        return collect_arena(zero, zero->v, &model->v);
    TRY(cluster_agree(cluster_leads() ? gpt_tensor_alloc(model->ops, &model->v, model->seconds)
                                      : 0));
    return move_seconds(zero, model->v, true);
}

int gpt_zero_collect(struct gpt_zero *zero, bool moments)
{
    TRY(collect_arena(zero, zero->average, &zero->model->average));
    if (!moments)
        return 0;
    TRY(collect_arena(zero, zero->m, &zero->model->m));
    return collect_seconds(zero);
}

static int allocate_shares(struct gpt_zero *zero)
{
    const struct k_ops *k = zero->model->ops;
    struct piece piece = {0};
    while (next_piece(zero, &piece))
        zero->own += piece.count;
    zero->own_seconds = piece.second;
    zero->squares = orr_alloc(gpt_blocks(zero->own) + 1, sizeof *zero->squares);
    zero->blocks = orr_alloc(gpt_blocks(zero->model->total), sizeof *zero->blocks);
    if (!zero->squares || !zero->blocks)
        return ORR_ENOMEM;
    /* with a tiny model a rank may have no share */
    TRY(gpt_tensor_alloc(k, &zero->m, zero->own + 1));
    return gpt_tensor_alloc(k, &zero->v, zero->own_seconds + 1);
}

int gpt_zero_create(struct gpt_zero *zero, struct gpt_model *model)
{
    *zero = (struct gpt_zero){.model = model};
    TRY(cluster_agree(allocate_shares(zero)));
    TRY(distribute_arena(zero, &model->m, &zero->m));
    TRY(distribute_seconds(zero));
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
    while (!rc && next_piece(zero, &piece))
        rc = gpt_update_elements(model, train, k, piece.begin, piece.begin + piece.count,
                                 zero->m + piece.packed, zero->v + piece.second);
    TRY(cluster_agree(rc));
    if (model->seconds < model->total) { /* every rank has whole updates, and makes equal steps */
        TRY(all_gather(zero, model->grad));
        rc = gpt_update_matrices(model, train, step);
    }
    piece = (struct piece){0};
    while (!rc && averages && next_piece(zero, &piece))
        if (piece.count > 0)
            rc = model->ops->average(zero->average + piece.packed, model->param + piece.begin,
                                     piece.count, decay);
    TRY(cluster_agree(rc));
    return all_gather(zero, model->param);
}
