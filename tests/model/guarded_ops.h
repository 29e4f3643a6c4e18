/* guarded_ops.h - a backend for tests, with memory of its own and results that come late.
 *
 * The arithmetic is ref's, bit for bit. Its memory cannot be read or written outside its entries:
 * where the host uses a pointer of the backend, the test dies there, and an entry that
 * is given one of the host fails. What is asked for is put in a
 * queue and done when somebody waits: until then numbers given through pointers are not a number
 * (counts -1), and tensors are old. Shapes and settings are read when an entry is called. */
#ifndef TESTS_MODEL_GUARDED_OPS_H
#define TESTS_MODEL_GUARDED_OPS_H

#include "kernels/kernels.h"

extern const struct k_ops guarded_ops;
/* The same without record_begin and its like. */
extern const struct k_ops guarded_plain_ops;

/* What was done since the counts were last zeroed. */
struct guarded_counts {
    long asked;             /* kernels that were asked for and neither recorded nor replayed */
    long waits, downloads;  /* calls */
    long recorded, replays; /* recordings made, and replayed */
    long held, recordings;  /* pieces of memory and recordings that are there now */
};
extern struct guarded_counts guarded_counts;

/* alloc fails where more than so many bytes would be held; 0 = no limit. */
extern size_t guarded_limit;

#endif
