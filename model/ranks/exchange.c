/* exchange.c - sums the gradient over the ranks while it is still being computed.
 *
 * The backward pass fills the arena from its end to its start. A thread follows it, bucket by
 * bucket. From gpt_ranks_begin() to gpt_ranks_end() only this thread sends messages, because MPI
 * libraries make progress only while they are called. Every rank makes all exchanges in one
 * order, even after a failure: a rank whose pass fails sends what it has, and reports the
 * failure afterwards. */
#include "ranks.h"

/* a (n) += b (n). A plain loop on the host, since this thread is not in the backend's team of
 * threads. */
static int add_to(const struct k_ops *ops, real *a, const real *b, size_t n)
{
    if (!ops->host)
        return ops->add(a, a, b, n);
    for (size_t i = 0; i < n; i++)
        a[i] += b[i];
    return 0;
}

/* Adds the parts of ranks first + 1 .. first + count - 1 to parts[first], by the binary tree of
 * tree.c. */
static int sum_parts(const struct gpt_ranks *ranks, int first, int count, size_t own)
{
    if (count == 1)
        return 0;
    real *left = ranks->parts + (size_t)first * own;
    TRY(sum_parts(ranks, first, count / 2, own));
    TRY(sum_parts(ranks, first + count / 2, count - count / 2, own));
    return add_to(ranks->ops, left, left + (size_t)(count / 2) * own, own);
}

/* Sums this rank's share of one bucket x over the ranks; whole: then sends the shares to all
 * ranks. */
static int sum_bucket(const struct gpt_ranks *ranks, real *x, const struct cluster_vector *v)
{
    size_t first;
    const size_t own = cluster_share(v, cluster_rank(), &first);
    TRY(gpt_all_to_all(ranks->ops, x, ranks->parts, v));
    if (own > 0) {
        TRY(sum_parts(ranks, 0, cluster_size(), own));
        TRY(ranks->ops->copy(x + first, ranks->parts, own * sizeof *x));
    }
    return ranks->whole ? gpt_all_gather(ranks->ops, x, v) : 0;
}

/* Waits until the gradient is final from `from` on. */
static void wait_for(struct gpt_ranks *ranks, size_t from)
{
    pthread_mutex_lock(&ranks->mutex);
    while (ranks->from > from)
        pthread_cond_wait(&ranks->lowered, &ranks->mutex);
    pthread_mutex_unlock(&ranks->mutex);
}

static void *send_buckets(void *argument)
{
    struct gpt_ranks *ranks = argument;
    const size_t capacity = gpt_bucket_capacity(),
                 buckets = (ranks->count + capacity - 1) / capacity;
    for (size_t i = buckets; i-- > 0 && !ranks->rc;) {
        const size_t at = i * capacity;
        const struct cluster_vector v = gpt_bucket(ranks->count - at);
        wait_for(ranks, at);
        ranks->rc = sum_bucket(ranks, ranks->gradient + at, &v);
    }
    if (ranks->rc) /* error messages are per thread */
        snprintf(ranks->message, sizeof ranks->message, "%s", orr_error());
    return NULL;
}

void gpt_ranks_begin(struct gpt_ranks *ranks, real *gradient, bool whole)
{
    if (ranks->begun || cluster_size() < 2)
        return;
    ranks->begun = true;
    ranks->gradient = gradient;
    ranks->whole = whole;
    ranks->from = ranks->count;
    ranks->rc = 0;
    ranks->follows = ranks->overlaps && !orr_thread_start(&ranks->thread, send_buckets, ranks);
}

void gpt_ranks_ready(struct gpt_ranks *ranks, size_t from)
{
    if (!ranks->begun)
        return;
    pthread_mutex_lock(&ranks->mutex);
    ranks->from = from;
    pthread_cond_signal(&ranks->lowered);
    pthread_mutex_unlock(&ranks->mutex);
}

int gpt_ranks_end(struct gpt_ranks *ranks)
{
    if (!ranks->begun)
        return 0;
    gpt_ranks_ready(ranks, 0);
    if (ranks->follows)
        pthread_join(ranks->thread, NULL);
    else
        (void)send_buckets(ranks);
    ranks->begun = ranks->follows = false;
    return ranks->rc ? ORR_FAIL(ranks->rc, "%s", ranks->message) : 0;
}
