/* agree.c - one error of many ranks: told by one of them, and all end. */
#include "cluster.h"
#include "state.h"

#include <stdlib.h>

#include "base.h"

/* The lowest rank that failed, -1 where none did; *failed: how many did. */
static int first_failed(const int *codes, int *failed)
{
    int first = -1;
    *failed = 0;
    for (int i = cluster_size() - 1; i >= 0; i--)
        if (codes[i] && codes[i] != ORR_EINTR) {
            first = i;
            ++*failed;
        }
    return first;
}

/* This rank prints the error, where it is the one to do so; the message names it. */
static int fail_together(const int *codes, int first, int failed)
{
    char why[3072];
    cluster_told();
    snprintf(why, sizeof why, "%.3000s", orr_error());
    if (first != cluster_rank()) {
        orr_error_told();
        return ORR_FAIL(codes[first], "rank %d failed", first);
    }
    return failed < cluster_size()
               ? ORR_FAIL(codes[first], "rank %d of %d: %s", first, cluster_size(), why)
               : codes[first];
}

static int decide_code(const int *codes)
{
    int failed;
    const int first = first_failed(codes, &failed);
    if (first >= 0)
        return fail_together(codes, first, failed);
    for (int i = 0; i < cluster_size(); i++)
        if (codes[i])
            return ORR_EINTR;
    return 0;
}

int cluster_agree(int rc)
{
    if (cluster_size() < 2 || cluster_was_told())
        return rc;
    if (cluster_broken())
        return rc ? rc : ORR_EIO; /* its message is there */
    int *codes = orr_alloc((size_t)cluster_size(), sizeof *codes);
    if (!codes)
        return cluster_break(ORR_ENOMEM);
    const int lost = cluster_gather(&rc, codes, sizeof rc);
    const int agreed = lost ? lost : decide_code(codes);
    free(codes);
    return agreed;
}

int cluster_settle(int rc)
{
    static bool parsed;
    if (!parsed) {
        parsed = true;
        return cluster_agree(rc);
    }
    if (rc == ORR_EINTR && cluster_rank() > 0)
        orr_error_told(); /* rank 0 says what was saved */
    return rc;
}
