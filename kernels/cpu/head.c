/* head.c - token heads in training: logits, cross entropy and all gradients in one pass.
 *
 * A worker takes a piece of rows. It computes the logits of all channels in its own scratch
 * memory, replaces them by their gradients, and multiplies these by the weights into dinp. Only
 * the gradients of the logits of one chunk of rows are kept (in bf16 where matmuls are), for dw,
 * which is updated before the next chunk: memory is chunk x channels V for any N. Chunks and
 * pieces do not depend on the number of threads. */
#include <string.h>

#include "base/base.h"
#include "linear.h"

enum {
    ROWS = 64,    /* rows of a piece */
    CHUNK = 1024, /* rows of a chunk, whose dlogits are kept */
};

struct head {
    const struct k_token_head *of;
    double inverse; /* 1 / sum of the weights; 0 where all are 0 */
    bool bf16;
    struct k_cpu_pack *up, *down, *inp_pack;
    struct k_cpu_plan logits, dinp_plan;
    struct k_cpu_weights weights;
    size_t work_bytes, logits_bytes;
    /* in shared scratch */
    char *w_up, *w_down, *inp_packed, *dlogits;
    double *loss; /* of each piece of the chunk */
};

/* Returns the loss of logits (rows, channels V) from row `at` on, and replaces them by their
 * gradients. */
static double rows_loss(const struct head *h, float *logits, size_t at, int rows)
{
    const struct k_token_head *of = h->of;
    const size_t V = (size_t)of->V, channels = (size_t)of->channels;
    double sum = 0;
    for (size_t n = at; n < at + (size_t)rows; n++) {
        const double w = of->weight ? (double)of->weight[n] : 1;
        for (size_t c = 0; c < channels; c++, logits += V) {
            if (w == 0) {
                memset(logits, 0, V * sizeof *logits);
                continue;
            }
            const float scale = (float)(w * h->inverse / (double)of->channels);
            sum += k_cpu_cross_entropy_row(logits, logits, of->target[n * channels + c], w, scale,
                                           of->V);
        }
    }
    return sum;
}

/* Rows from `at` on, in the chunk that starts at `start`. */
static int head_piece(const struct head *h, size_t start, int index, size_t at, int rows)
{
    const size_t C = (size_t)h->of->C, OC = (size_t)h->of->V * (size_t)h->of->channels,
                 n = (size_t)rows;
    char *work = k_cpu_scratch_local();
    float *logits = (float *)(void *)(work + h->work_bytes);
    uint16_t *rounded = (uint16_t *)(void *)(work + h->work_bytes + h->logits_bytes);
    const void *inp = h->of->inp + at * C, *dlogits = logits;
    if (h->bf16) {
        k_cpu_bf16_round(rounded, h->of->inp + at * C, n * C);
        inp = rounded;
    }
    int failed =
        k_cpu_matmul_run(k_cpu_plan_matmul(&h->logits, rows), logits, inp, h->w_up, NULL, work);
    h->loss[index] = rows_loss(h, logits, at, rows);
    if (h->bf16) { /* the memory of inp is free */
        k_cpu_bf16_round(rounded, logits, n * OC);
        dlogits = rounded;
    }
    k_cpu_weights_take(&h->weights, h->dlogits, dlogits, at - start, n);
    return failed | k_cpu_matmul_run(k_cpu_plan_matmul(&h->dinp_plan, rows), h->of->dinp + at * C,
                                     dlogits, h->w_down, NULL, work);
}

static int head_plan(struct head *h, int rows)
{
    const int OC = h->of->V * h->of->channels;
    const struct k_cpu_matmul_shape up = {
        .N = OC, .K = h->of->C, .b_packed = true, .bf16 = h->bf16};
    const struct k_cpu_matmul_shape down = {
        .N = h->of->C, .K = OC, .b_packed = true, .bf16 = h->bf16};
    TRY(k_cpu_pack_find(h->of->C, OC, h->bf16, &h->up));
    TRY(k_cpu_pack_find(OC, h->of->C, h->bf16, &h->down));
    TRY(k_cpu_pack_find(rows, h->of->C, h->bf16, &h->inp_pack));
    TRY(k_cpu_plan_make(&h->logits, rows, ROWS, &up));
    TRY(k_cpu_plan_make(&h->dinp_plan, rows, ROWS, &down));
    TRY(k_cpu_weights_make(&h->weights, rows, h->of->C, OC, h->bf16));
    size_t work = h->logits.scratch_bytes;
    work = h->dinp_plan.scratch_bytes > work ? h->dinp_plan.scratch_bytes : work;
    work = h->weights.scratch_bytes > work ? h->weights.scratch_bytes : work;
    h->work_bytes = k_cpu_lines(work);
    return 0;
}

/* Plans and scratch memory for chunks of `rows` rows. */
static int head_prepare(struct head *h, int rows)
{
    TRY(head_plan(h, rows));
    const size_t C = (size_t)h->of->C, OC = (size_t)h->of->V * (size_t)h->of->channels,
                 n = (size_t)rows;
    const size_t item = h->bf16 ? sizeof(uint16_t) : sizeof(float);
    const size_t piece = n < ROWS ? n : ROWS;
    h->logits_bytes = k_cpu_lines(sizeof(float) * piece * OC);
    const size_t rounded = h->bf16 ? sizeof(uint16_t) * piece * (C > OC ? C : OC) : 0;
    const size_t up = k_cpu_lines(k_cpu_pack_bytes(h->up));
    const size_t down = k_cpu_lines(k_cpu_pack_bytes(h->down));
    const size_t inp = k_cpu_lines(k_cpu_pack_bytes(h->inp_pack));
    const size_t kept = k_cpu_lines(item * n * OC);
    const size_t loss = sizeof(double) * (size_t)k_cpu_piece_count(rows, ROWS);
    TRY(k_cpu_scratch_reserve(up + down + inp + kept + loss,
                              h->work_bytes + h->logits_bytes + rounded));
    h->w_up = k_cpu_scratch_shared();
    h->w_down = h->w_up + up;
    h->inp_packed = h->w_down + down;
    h->dlogits = h->inp_packed + inp;
    h->loss = (double *)(void *)(h->dlogits + kept);
    TRY(k_cpu_pack_run(h->up, h->w_up, h->of->w, true));
    return k_cpu_pack_run(h->down, h->w_down, h->of->w, false);
}

/* Adds the weighted losses of a chunk to *sum. */
static int head_chunk(const struct head *h, double *sum, int start, int rows)
{
    const int pieces = k_cpu_piece_count(rows, ROWS);
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int i = 0; i < pieces; i++) {
        int n;
        const int at = start + k_cpu_piece_at(rows, ROWS, i, &n);
        failed |= head_piece(h, (size_t)start, i, (size_t)at, n);
    }
    if (failed)
        return ORR_FAIL(ORR_EDEVICE, "oneDNN failed in a head of %d rows, %d -> %d x %d", h->of->N,
                        h->of->C, h->of->channels, h->of->V);
    for (int i = 0; i < pieces; i++)
        *sum += h->loss[i];
    const float *inp = h->of->inp + (size_t)start * (size_t)h->of->C;
    TRY(k_cpu_pack_run(h->inp_pack, h->inp_packed, inp, false));
    return k_cpu_weights_run(&h->weights, h->of->dw, h->dlogits, h->inp_packed);
}

static int cpu_head_cross_entropy(double *loss, const struct k_token_head *of)
{
    const int N = of->N;
    TRY(k_cpu_check_targets(of->target, of->channels, of->channels, of->weight, N, of->V));
    const double total = k_cpu_weight_sum(of->weight, N);
    double sum = 0;
    struct head h = {.of = of,
                     .inverse = total > 0 ? 1 / total : 0,
                     .bf16 = k_cpu_rounds(of->C, of->V * of->channels)};
    const int chunks = (N + CHUNK - 1) / CHUNK;
    int planned = 0;
    for (int i = 0; i < chunks; i++) { /* chunks differ by at most one row */
        const int start = (int)((long)i * N / chunks);
        const int rows = (int)((long)(i + 1) * N / chunks) - start;
        if (rows != planned)
            TRY(head_prepare(&h, rows));
        planned = rows;
        TRY(head_chunk(&h, &sum, start, rows));
    }
    *loss = sum * h.inverse / of->channels;
    return 0;
}

void k_cpu_install_head(struct k_ops *ops)
{
    ops->head_cross_entropy = cpu_head_cross_entropy;
}
