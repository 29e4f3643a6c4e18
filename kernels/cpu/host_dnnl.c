/* host_dnnl.c - matrix multiplication through oneDNN, by its C API of versions 2 and 3.
 *
 * A multiplication is planned once per shape for ONE thread and run by many threads at once,
 * each on its own rows. A worker's rows then stay in its cache through rounding, multiplication
 * and later steps, and the order of sums cannot depend on the number of threads. oneDNN runs
 * serially inside a parallel region. The caller supplies its scratch memory, so that concurrent
 * runs are safe. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cpu.h"
#include "dnnl.h"

enum { ARGUMENTS = 5, TABLE_START = 64, PACK_ROWS = 128 };

/* Descriptors are handles that must be destroyed since version 3; before, they are values. */
#define DESC dnnl_memory_desc_t
#if DNNL_VERSION_MAJOR >= 3
#define DESC_REF        const_dnnl_memory_desc_t
#define DESC_OF(desc)   (desc)
#define desc_by_strides dnnl_memory_desc_create_with_strides
#define desc_by_tag     dnnl_memory_desc_create_with_tag
#else
#define DESC_REF        const dnnl_memory_desc_t *
#define DESC_OF(desc)   (&(desc))
#define desc_by_strides dnnl_memory_desc_init_by_strides
#define desc_by_tag     dnnl_memory_desc_init_by_tag
#endif

/* Runs the next step and stores its status, unless a step before it failed. */
#define STEP(status, step) ((status) = (status) == dnnl_success ? (step) : (status))

/* The handles that one thread passes to a run; their addresses are set before each run. */
struct handles {
    dnnl_stream_t stream;
    dnnl_memory_t a, b, c, bias, scratch;
};

/* The layout that multiplications need for a right operand (K, N), and the conversion to it. */
struct k_cpu_pack {
    struct k_cpu_pack *next;
    int K, N;
    bool bf16;
    DESC layout;
    size_t bytes;
    dnnl_stream_t stream;
    dnnl_memory_t to;
    struct {
        dnnl_primitive_t reorder;
        dnnl_memory_t from;
    } by[2]; /* from (K, N), from (N, K) */
};

struct k_cpu_matmul {
    struct k_cpu_matmul_shape shape;
    const struct k_cpu_pack *pack; /* layout of b where b is packed, else NULL */
    dnnl_primitive_t primitive;
    size_t scratch_bytes;
    int threads;
    struct handles *handles; /* (threads) */
};

/* The cache of multiplications: a hash table with open addressing. size is a power of two; at
 * most half of the slots are used. */
static struct {
    dnnl_engine_t engine;
    struct k_cpu_matmul **slots;
    size_t size, count;
    struct k_cpu_pack *packs;
} cache;

/* ---- descriptors */

/* Element (row, col) lies at row ld + col, or at row + col ld when transposed. */
static dnnl_status_t desc_init(DESC *desc, int rows, int cols, bool transposed, int ld,
                               dnnl_data_type_t type)
{
    const dnnl_dims_t dims = {rows, cols};
    const dnnl_dims_t strides = {transposed ? 1 : ld, transposed ? ld : 1};
    return desc_by_strides(desc, 2, dims, type, strides);
}

/* A descriptor whose layout oneDNN chooses. */
static dnnl_status_t desc_init_any(DESC *desc, int rows, int cols, dnnl_data_type_t type)
{
    const dnnl_dims_t dims = {rows, cols};
    return desc_by_tag(desc, 2, dims, type, dnnl_format_tag_any);
}

static dnnl_status_t desc_copy(DESC *to, DESC_REF from)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_memory_desc_clone(to, from);
#else
    *to = *from;
    return dnnl_success;
#endif
}

static void desc_clear(DESC *desc)
{
#if DNNL_VERSION_MAJOR >= 3
    if (*desc)
        dnnl_memory_desc_destroy(*desc);
#else
    (void)desc;
#endif
}

/* bias may be NULL. */
static dnnl_status_t matmul_desc_create(dnnl_primitive_desc_t *pd, const DESC *a, const DESC *b,
                                        const DESC *bias, const DESC *c, dnnl_primitive_attr_t attr)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_matmul_primitive_desc_create(pd, cache.engine, *a, *b, bias ? *bias : NULL, *c,
                                             attr);
#else
    dnnl_matmul_desc_t desc;
    dnnl_status_t status = dnnl_matmul_desc_init(&desc, a, b, bias, c);
    return STEP(status, dnnl_primitive_desc_create(pd, &desc, attr, cache.engine, NULL));
#endif
}

static dnnl_status_t append_sum(dnnl_post_ops_t ops)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_post_ops_append_sum(ops, 1.0f, 0, dnnl_data_type_undef);
#else
    return dnnl_post_ops_append_sum(ops, 1.0f);
#endif
}

/* ---- creating a primitive */

static dnnl_status_t attributes_create(dnnl_primitive_attr_t *attr, bool accumulate)
{
    dnnl_status_t status = dnnl_primitive_attr_create(attr);
    STEP(status, dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user));
    if (status != dnnl_success || !accumulate)
        return status;
    dnnl_post_ops_t ops = NULL;
    status = dnnl_post_ops_create(&ops);
    STEP(status, append_sum(ops));
    STEP(status, dnnl_primitive_attr_set_post_ops(*attr, ops));
    if (ops)
        dnnl_post_ops_destroy(ops);
    return status;
}

static void matmul_free(struct k_cpu_matmul *m)
{
    if (!m)
        return;
    for (int t = 0; m->handles && t < m->threads; t++) {
        const struct handles *h = &m->handles[t];
        dnnl_memory_t all[ARGUMENTS] = {h->a, h->b, h->c, h->bias, h->scratch};
        for (int i = 0; i < ARGUMENTS; i++)
            if (all[i])
                dnnl_memory_destroy(all[i]);
        if (h->stream)
            dnnl_stream_destroy(h->stream);
    }
    if (m->primitive)
        dnnl_primitive_destroy(m->primitive);
    free(m->handles);
    free(m);
}

/* Creates one set of handles per thread; a, b, c and bias are desc[0..3]. */
static dnnl_status_t handles_create(struct k_cpu_matmul *m, const DESC desc[4], DESC_REF scratch)
{
    dnnl_status_t status = dnnl_success;
    for (int t = 0; t < m->threads && status == dnnl_success; t++) {
        struct handles *h = &m->handles[t];
        status = dnnl_stream_create(&h->stream, cache.engine, dnnl_stream_default_flags);
        dnnl_memory_t *to[3] = {&h->a, &h->b, &h->c};
        for (int i = 0; i < 3 && status == dnnl_success; i++)
            status = dnnl_memory_create(to[i], DESC_OF(desc[i]), cache.engine, NULL);
        if (m->shape.bias)
            STEP(status, dnnl_memory_create(&h->bias, DESC_OF(desc[3]), cache.engine, NULL));
        if (m->scratch_bytes > 0)
            STEP(status, dnnl_memory_create(&h->scratch, scratch, cache.engine, NULL));
    }
    return status;
}

static dnnl_status_t primitive_create(struct k_cpu_matmul *m)
{
    const struct k_cpu_matmul_shape *s = &m->shape;
    const dnnl_data_type_t type = s->bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    DESC desc[4] = {0};
    const int lda = s->a_transposed ? s->M : s->K;
    dnnl_status_t status = desc_init(&desc[0], s->M, s->K, s->a_transposed, lda, type);
    if (s->b_packed)
        STEP(status, desc_copy(&desc[1], DESC_OF(m->pack->layout)));
    else
        STEP(status,
             desc_init(&desc[1], s->K, s->N, s->b_transposed, s->b_transposed ? s->K : s->N, type));
    STEP(status, desc_init(&desc[2], s->M, s->N, false, s->N, dnnl_f32));
    if (s->bias)
        STEP(status, desc_init(&desc[3], 1, s->N, false, s->N, dnnl_f32));
    STEP(status, attributes_create(&attr, s->accumulate));
    STEP(status,
         matmul_desc_create(&pd, &desc[0], &desc[1], s->bias ? &desc[3] : NULL, &desc[2], attr));
    STEP(status, dnnl_primitive_create(&m->primitive, pd));
    if (status == dnnl_success) {
        DESC_REF scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
        m->scratch_bytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
        status = handles_create(m, desc, scratch);
    }
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    for (int i = 0; i < 4; i++)
        desc_clear(&desc[i]);
    return status;
}

static int engine_create(void)
{
    if (!cache.engine && dnnl_engine_create(&cache.engine, dnnl_cpu, 0) != dnnl_success)
        return ORR_FAIL(ORR_EDEVICE, "oneDNN has no CPU engine");
    return 0;
}

/* ---- packing */

static void pack_free(struct k_cpu_pack *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->by[i].reorder)
            dnnl_primitive_destroy(p->by[i].reorder);
        if (p->by[i].from)
            dnnl_memory_destroy(p->by[i].from);
    }
    if (p->to)
        dnnl_memory_destroy(p->to);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    desc_clear(&p->layout);
    free(p);
}

/* Queries the layout for full pieces of rows; multiplications of other pieces are then created
 * for this layout. */
static dnnl_status_t pack_layout(struct k_cpu_pack *p)
{
    const dnnl_data_type_t type = p->bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    DESC desc[3] = {0};
    dnnl_status_t status = desc_init(&desc[0], PACK_ROWS, p->K, false, p->K, type);
    STEP(status, desc_init_any(&desc[1], p->K, p->N, type));
    STEP(status, desc_init(&desc[2], PACK_ROWS, p->N, false, p->N, dnnl_f32));
    STEP(status, attributes_create(&attr, false));
    STEP(status, matmul_desc_create(&pd, &desc[0], &desc[1], NULL, &desc[2], attr));
    STEP(status, desc_copy(&p->layout, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0)));
    if (status == dnnl_success)
        p->bytes = dnnl_memory_desc_get_size(DESC_OF(p->layout));
    STEP(status, dnnl_memory_create(&p->to, DESC_OF(p->layout), cache.engine, NULL));
    STEP(status, dnnl_stream_create(&p->stream, cache.engine, dnnl_stream_default_flags));
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    for (int i = 0; i < 3; i++)
        desc_clear(&desc[i]);
    return status;
}

static dnnl_status_t pack_reorder(struct k_cpu_pack *p, bool transposed)
{
    dnnl_primitive_desc_t pd = NULL;
    DESC from = {0};
    dnnl_status_t status =
        desc_init(&from, p->K, p->N, transposed, transposed ? p->K : p->N, dnnl_f32);
    STEP(status, dnnl_reorder_primitive_desc_create(&pd, DESC_OF(from), cache.engine,
                                                    DESC_OF(p->layout), cache.engine, NULL));
    STEP(status, dnnl_primitive_create(&p->by[transposed].reorder, pd));
    STEP(status, dnnl_memory_create(&p->by[transposed].from, DESC_OF(from), cache.engine, NULL));
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    desc_clear(&from);
    return status;
}

int k_cpu_pack_find(int K, int N, bool bf16, struct k_cpu_pack **pack)
{
    struct k_cpu_pack *p = cache.packs;
    while (p && (p->K != K || p->N != N || p->bf16 != bf16))
        p = p->next;
    *pack = p;
    int rc = p ? 0 : engine_create();
    if (p || rc != 0)
        return rc;
    p = orr_alloc(1, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    p->K = K;
    p->N = N;
    p->bf16 = bf16;
    omp_set_num_threads(1); /* the layout for matmuls that run in one thread */
    dnnl_status_t status = pack_layout(p);
    omp_set_num_threads(k_cpu_threads());
    for (int transposed = 0; transposed < 2 && status == dnnl_success; transposed++)
        status = pack_reorder(p, transposed);
    if (status != dnnl_success) {
        pack_free(p);
        return ORR_FAIL(ORR_EDEVICE, "oneDNN cannot pack a (%d, %d) matrix%s: status %d", K, N,
                        bf16 ? " of bf16" : "", (int)status);
    }
    p->next = cache.packs;
    *pack = cache.packs = p;
    return 0;
}

size_t k_cpu_pack_bytes(const struct k_cpu_pack *pack)
{
    return pack->bytes;
}

int k_cpu_pack_run(struct k_cpu_pack *pack, void *to, const float *from, bool transposed)
{
    dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, pack->by[transposed].from}, {DNNL_ARG_TO, pack->to}};
    dnnl_status_t status = dnnl_memory_set_data_handle(args[0].memory, (void *)(uintptr_t)from);
    STEP(status, dnnl_memory_set_data_handle(pack->to, to));
    STEP(status, dnnl_primitive_execute(pack->by[transposed].reorder, pack->stream, 2, args));
    STEP(status, dnnl_stream_wait(pack->stream));
    return status == dnnl_success
               ? 0
               : ORR_FAIL(ORR_EDEVICE, "oneDNN failed to pack a (%d, %d) matrix", pack->K, pack->N);
}

/* ---- creating a multiplication */

static int matmul_create(const struct k_cpu_matmul_shape *shape, struct k_cpu_matmul **matmul)
{
    TRY(engine_create());
    struct k_cpu_pack *pack = NULL;
    if (shape->b_packed)
        TRY(k_cpu_pack_find(shape->K, shape->N, shape->bf16, &pack));
    struct k_cpu_matmul *m = orr_alloc(1, sizeof *m);
    if (!m)
        return ORR_ENOMEM;
    m->shape = *shape;
    m->pack = pack;
    m->threads = k_cpu_threads();
    m->handles = orr_alloc((size_t)m->threads, sizeof *m->handles);
    if (!m->handles) {
        matmul_free(m);
        return ORR_ENOMEM;
    }
    omp_set_num_threads(1); /* oneDNN plans for the current number of threads */
    const dnnl_status_t status = primitive_create(m);
    omp_set_num_threads(k_cpu_threads());
    if (status != dnnl_success) {
        matmul_free(m);
        return ORR_FAIL(ORR_EDEVICE, "oneDNN refuses the matmul (%d, %d) x (%d, %d)%s: status %d",
                        shape->M, shape->K, shape->K, shape->N, shape->bf16 ? " in bf16" : "",
                        (int)status);
    }
    *matmul = m;
    return 0;
}

/* ---- the cache */

static bool same_shape(const struct k_cpu_matmul_shape *a, const struct k_cpu_matmul_shape *b)
{
    return a->M == b->M && a->N == b->N && a->K == b->K && a->a_transposed == b->a_transposed &&
           a->b_transposed == b->b_transposed && a->bf16 == b->bf16 && a->bias == b->bias &&
           a->accumulate == b->accumulate && a->b_packed == b->b_packed;
}

/* The slot of the shape, or the empty slot where it would be inserted. */
static size_t slot_of(const struct k_cpu_matmul_shape *s)
{
    const unsigned flags = (s->a_transposed ? 1U : 0U) | (s->b_transposed ? 2U : 0U) |
                           (s->bf16 ? 4U : 0U) | (s->bias ? 8U : 0U) | (s->accumulate ? 16U : 0U) |
                           (s->b_packed ? 32U : 0U);
    uint64_t h = (uint64_t)s->M;
    h = (h * 0x9e3779b97f4a7c15U) ^ (uint64_t)s->N;
    h = (h * 0x9e3779b97f4a7c15U) ^ (uint64_t)s->K;
    h = (h * 0x9e3779b97f4a7c15U) ^ flags;
    h *= 0x9e3779b97f4a7c15U;
    size_t i = (size_t)(h >> 32) & (cache.size - 1);
    while (cache.slots[i] && !same_shape(&cache.slots[i]->shape, s))
        i = (i + 1) & (cache.size - 1);
    return i;
}

static int cache_grow(void)
{
    const size_t old_size = cache.size;
    struct k_cpu_matmul **old = cache.slots;
    struct k_cpu_matmul **slots = orr_alloc(old ? 2 * old_size : TABLE_START, sizeof(*slots));
    if (!slots)
        return ORR_ENOMEM;
    cache.slots = slots;
    cache.size = old ? 2 * old_size : TABLE_START;
    for (size_t i = 0; i < old_size; i++)
        if (old[i])
            slots[slot_of(&old[i]->shape)] = old[i];
    free(old);
    return 0;
}

int k_cpu_matmul_find(const struct k_cpu_matmul_shape *shape, struct k_cpu_matmul **matmul)
{
    if (2 * (cache.count + 1) > cache.size)
        TRY(cache_grow());
    const size_t i = slot_of(shape);
    if (!cache.slots[i]) {
        TRY(matmul_create(shape, &cache.slots[i]));
        cache.count++;
    }
    *matmul = cache.slots[i];
    return 0;
}

size_t k_cpu_matmul_scratch(const struct k_cpu_matmul *matmul)
{
    return matmul->scratch_bytes;
}

int k_cpu_matmul_run(struct k_cpu_matmul *matmul, float *c, const void *a, const void *b,
                     const float *bias, void *scratch)
{
    const struct handles *h = &matmul->handles[omp_get_thread_num()];
    dnnl_exec_arg_t args[ARGUMENTS] = {
        {DNNL_ARG_SRC, h->a}, {DNNL_ARG_WEIGHTS, h->b}, {DNNL_ARG_DST, h->c}};
    int n = 3;
    /* oneDNN takes inputs by pointers to non-const and does not write to them */
    dnnl_status_t status = dnnl_memory_set_data_handle(h->a, (void *)(uintptr_t)a);
    STEP(status, dnnl_memory_set_data_handle(h->b, (void *)(uintptr_t)b));
    STEP(status, dnnl_memory_set_data_handle(h->c, c));
    if (status == dnnl_success && h->bias) {
        status = dnnl_memory_set_data_handle(h->bias, (void *)(uintptr_t)bias);
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, h->bias};
    }
    if (status == dnnl_success && h->scratch) {
        status = dnnl_memory_set_data_handle(h->scratch, scratch);
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, h->scratch};
    }
    STEP(status, dnnl_primitive_execute(matmul->primitive, h->stream, n, args));
    STEP(status, dnnl_stream_wait(h->stream));
    return status == dnnl_success ? 0 : ORR_EDEVICE;
}

bool k_cpu_usable(void)
{
#ifdef ORR_LIBRARY
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, k_dnnl_open);
    return k_dnnl_opened;
#else
    return true;
#endif
}

void k_cpu_matmul_limit(void)
{
    static const dnnl_cpu_isa_t most[ORR_ISA_COUNT] = {dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx2,
                                                       dnnl_cpu_isa_avx512_core,
                                                       dnnl_cpu_isa_avx512_core_bf16};
    if (orr_isa_is_forced())
        (void)dnnl_set_max_cpu_isa(most[orr_isa()]); /* fails after the first product */
}

bool k_cpu_matmul_has_bf16(void)
{
    /* an instruction set is a bit mask that contains the bits of those it extends */
    const unsigned need = (unsigned)dnnl_cpu_isa_avx512_core_bf16;
    return ((unsigned)dnnl_get_effective_cpu_isa() & need) == need;
}

void k_cpu_matmul_free_all(void)
{
    for (size_t i = 0; i < cache.size; i++)
        matmul_free(cache.slots[i]);
    free(cache.slots);
    while (cache.packs) {
        struct k_cpu_pack *next = cache.packs->next;
        pack_free(cache.packs);
        cache.packs = next;
    }
    if (cache.engine)
        dnnl_engine_destroy(cache.engine);
    cache.engine = NULL;
    cache.slots = NULL;
    cache.size = cache.count = 0;
}
