/* staged.h - one call of an entry of the CUDA backend with arrays of the host (staged_ops.c):
 *
 *     struct stage s = stage_begin();
 *     const int x = stage_in(&s, host_x, n), y = stage_out(&s, host_y, n);
 *     while (stage_next(&s))
 *         s.code = s.ops->entry(stage_at(&s, y), stage_at(&s, x), n);
 *     return stage_end(&s);
 */
#ifndef STAGED_H
#define STAGED_H

#include "kernels/kernels.h"

enum { STAGE_ARRAYS = 12 };
/* Arrays that overlap on the host (in place) overlap on the backend. */
struct stage {
    const struct k_ops *ops;
    int count;
    struct stage_array {
        char *host;
        size_t bytes;
        bool written;
        int whole; /* the region that has it */
    } array[STAGE_ARRAYS];
    int regions;
    struct stage_region {
        char *host, *device, *first, *again; /* first: bits of the first round */
        size_t bytes;
        bool written;
    } region[STAGE_ARRAYS];
    int round, other, code;      /* other: order of the second round, under the emulation */
    double number, first_number; /* for what comes through a pointer */
    long rows, first_rows;
};

/* The backend under test, NULL when there is none. */
const struct k_ops *stage_backend(void);
struct stage stage_begin(void);
/* Arrays that the entry reads, or also writes; NULL is one that is not given. */
int stage_in(struct stage *s, const real *x, size_t n);
int stage_out(struct stage *s, const real *x, size_t n);
int stage_tokens(struct stage *s, const uint16_t *x, size_t n);
/* True: make the call now and put its status in code. */
bool stage_next(struct stage *s);
/* An array's place on the backend. */
void *stage_at(const struct stage *s, int i);
/* Copies back what was written and releases everything; the status of it all. */
int stage_end(struct stage *s);

#endif
