/* staged.c - see staged.h. */
#include "staged.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Of the emulation, where that is linked. */
extern void cuda_host_set_order(int order) __attribute__((weak));
enum { ROUNDS = 2, ORDERS = 3 };

const struct k_ops *stage_backend(void)
{
    static const struct k_ops *found;
    if (!found && k_find("cuda", &found))
        found = NULL;
    return found;
}

struct stage stage_begin(void)
{
    static int calls;
    return (struct stage){.ops = stage_backend(), .round = -1, .other = 1 + calls++ % (ORDERS - 1)};
}

static int add(struct stage *s, const void *host, size_t bytes, bool written)
{
    s->array[s->count] = (struct stage_array){.bytes = bytes, .written = written};
    memcpy(&s->array[s->count].host, &host, sizeof host); /* without its const */
    return s->count++;
}

int stage_in(struct stage *s, const real *x, size_t n)
{
    return add(s, x, n * sizeof *x, false);
}

int stage_out(struct stage *s, const real *x, size_t n)
{
    return add(s, x, n * sizeof *x, true);
}

int stage_tokens(struct stage *s, const uint16_t *x, size_t n)
{
    return add(s, x, n * sizeof *x, false);
}

void *stage_at(const struct stage *s, int i)
{
    const struct stage_array *a = &s->array[i];
    return a->host ? s->region[a->whole].device + (a->host - s->region[a->whole].host) : NULL;
}

/* Arrays that touch become one region. */
static void find_regions(struct stage *s)
{
    for (int i = 0; i < s->count; i++)
        s->array[i].whole = -1;
    for (int i = 0; i < s->count; i++) {
        if (s->array[i].whole >= 0 || !s->array[i].host || !s->array[i].bytes)
            continue;
        char *from = s->array[i].host, *end = from + s->array[i].bytes;
        bool written = s->array[i].written, more = true;
        s->array[i].whole = s->regions;
        while (more) {
            more = false;
            for (int k = 0; k < s->count; k++) {
                struct stage_array *a = &s->array[k];
                if (a->whole >= 0 || !a->host || a->host >= end || a->host + a->bytes <= from)
                    continue;
                a->whole = s->regions;
                from = a->host < from ? a->host : from;
                end = a->host + a->bytes > end ? a->host + a->bytes : end;
                written |= a->written;
                more = true;
            }
        }
        s->region[s->regions++] =
            (struct stage_region){.host = from, .bytes = (size_t)(end - from), .written = written};
    }
    for (int i = 0; i < s->count; i++) /* empty */
        if (s->array[i].whole < 0)
            s->array[i].host = NULL;
}

static int upload(struct stage *s)
{
    int rc = 0;
    if (cuda_host_set_order)
        cuda_host_set_order(s->round ? s->other : 0);
    s->number = -1;
    s->rows = -1;
    for (int i = 0; !rc && i < s->regions; i++)
        rc = s->ops->upload(s->region[i].device, s->region[i].host, s->region[i].bytes);
    return rc;
}

static int begin(struct stage *s)
{
    int rc = s->ops ? 0 : ORR_EDEVICE;
    find_regions(s);
    for (int i = 0; !rc && i < s->regions; i++) {
        struct stage_region *r = &s->region[i];
        void *device = NULL;
        rc = s->ops->alloc(&device, r->bytes);
        r->device = device;
        if (!rc && r->written) {
            r->first = orr_alloc(r->bytes, 1);
            r->again = orr_alloc(r->bytes, 1);
            rc = r->first && r->again ? 0 : ORR_ENOMEM;
        }
    }
    return rc;
}

/* What a round gave: kept the first time, compared later. */
static int take(struct stage *s)
{
    int rc = s->ops->wait();
    for (int i = 0; !rc && i < s->regions; i++) {
        const struct stage_region *r = &s->region[i];
        if (!r->written)
            continue;
        rc = s->ops->download(s->round ? r->again : r->first, r->device, r->bytes);
        if (!rc && s->round && memcmp(r->first, r->again, r->bytes))
            rc = ORR_FAIL(ORR_EDEVICE, "results depend on the order of threads or blocks");
    }
    if (!s->round) {
        s->first_number = s->number;
        s->first_rows = s->rows;
    } else if (!rc && (memcmp(&s->number, &s->first_number, sizeof s->number) ||
                       s->rows != s->first_rows)) {
        rc = ORR_FAIL(ORR_EDEVICE, "a sum depends on the order of threads or blocks");
    }
    return rc;
}

bool stage_next(struct stage *s)
{
    if (s->round < 0)
        s->code = begin(s);
    else if (!s->code)
        s->code = take(s);
    if (s->code || ++s->round >= ROUNDS)
        return false;
    s->code = upload(s);
    return !s->code;
}

int stage_end(struct stage *s)
{
    for (int i = 0; i < s->regions; i++) {
        struct stage_region *r = &s->region[i];
        if (!s->code && r->written)
            memcpy(r->host, r->first, r->bytes);
        if (r->device)
            s->ops->release(r->device);
        free(r->first);
        free(r->again);
    }
    if (cuda_host_set_order)
        cuda_host_set_order(0);
    return s->code;
}
