/* runners_up.c - the formulas of each complexity with the smallest losses, for --alternatives. */
#include "select.h"

#include <math.h>
#include <stdlib.h>

/* Losses that differ by a smaller share are those of one function, written in two ways. */
static const double same_loss = 1e-6;

static size_t bytes_of(int each, int most)
{
    return sizeof(struct sr_near) + (size_t)each * (size_t)most * sizeof(struct sr_near_entry);
}

struct sr_near *sr_near_create(int each, int most)
{
    struct sr_near *near = orr_alloc(1, bytes_of(each, most));
    if (near) {
        near->each = each;
        near->most = most;
    }
    return near;
}

size_t sr_near_bytes(const struct sr_near *near)
{
    return bytes_of(near->each, near->most);
}

void sr_near_clear(struct sr_near *near)
{
    for (int c = 0; c <= SR_NODES && near; c++)
        near->count[c] = 0;
}

bool sr_near_wants(const struct sr_near *near, int complexity, double loss)
{
    if (!near || complexity > near->most || !isfinite(loss))
        return false;
    const int count = near->count[complexity];
    return count < near->each || loss < sr_near_list(near, complexity)[count - 1].loss;
}

void sr_near_offer(struct sr_near *near, const struct sr_language *language,
                   const struct sr_expr *expr, double loss)
{
    const int complexity = sr_expr_complexity(language, expr);
    if (!sr_near_wants(near, complexity, loss))
        return;
    struct sr_near_entry *entry = sr_near_list(near, complexity);
    int *const count = &near->count[complexity], shape = -1, at = 0;
    for (int i = 0; i < *count && shape < 0; i++)
        if (sr_expr_same_shape(&entry[i].expr, expr))
            shape = i;
    if (shape >= 0 && entry[shape].loss <= loss)
        return;
    if (shape >= 0) { /* the same formula with other constants */
        --*count;
        for (int i = shape; i < *count; i++)
            entry[i] = entry[i + 1];
    }
    for (; at < *count && entry[at].loss <= loss; at++)
        ;
    const bool twin_before = at > 0 && loss <= entry[at - 1].loss * (1 + same_loss);
    const bool twin_after = at < *count && entry[at].loss <= loss * (1 + same_loss);
    if (twin_before || twin_after)
        return;
    *count += *count < near->each;
    for (int i = *count - 1; i > at; i--)
        entry[i] = entry[i - 1];
    entry[at] = (struct sr_near_entry){.loss = loss, .expr = *expr};
}

void sr_near_merge(struct sr_near *near, const struct sr_language *language,
                   const struct sr_near *from)
{
    for (int c = 1; c <= from->most; c++)
        for (int i = 0; i < from->count[c]; i++)
            sr_near_offer(near, language, &sr_near_list(from, c)[i].expr,
                          sr_near_list(from, c)[i].loss);
}
