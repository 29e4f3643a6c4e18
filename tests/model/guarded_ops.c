/* guarded_ops.c - see guarded_ops.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "guarded_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

struct guarded_counts guarded_counts;
size_t guarded_limit;

/* ---- memory */

static struct piece {
    void *at;
    size_t bytes;
} * pieces;
static size_t held_bytes;

static int protect(int how)
{
    for (long i = 0; i < guarded_counts.held; i++)
        if (mprotect(pieces[i].at, pieces[i].bytes, how))
            return ORR_FAIL(ORR_EDEVICE, "guarded: mprotect failed");
    return 0;
}

/* ---- calls: kept, and done later */

enum { MOST_DECAYS = 32, MOST_MATRICES = 32 };
struct call {
    int (*run)(const struct call *c);
    void *p[11];
    int i[3];
    double d[2];
    size_t n;
    struct k_attention_shape shape;
    struct k_attention variant; /* what shape.variant points at is the caller's */
    struct k_adamw adamw;
    struct k_decay decays[MOST_DECAYS]; /* what adamw.decays points at is the caller's */
    union {                             /* arguments that come in a struct */
        struct k_linear layer;
        struct k_layernorm norm;
        struct k_embedding embedding;
        struct k_gating gate;
        struct k_rope rotation;
        struct k_cross_entropy entropy;
        struct k_token_head head;
        struct k_regression regression;
        struct k_muon muon;
    };
    size_t at[MOST_MATRICES]; /* what muon.at points at is the caller's */
    double *number;           /* results, poisoned until the call is done */
    long *count;
    void *own; /* freed with the call */
};

struct list {
    struct call *call;
    size_t count, room;
};

static struct list queue;
static struct k_recording {
    struct list list;
} * recording;

static int append(struct list *list, const struct call *call)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        struct call *more = realloc(list->call, room * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "guarded: out of memory");
        list->call = more;
        list->room = room;
    }
    list->call[list->count++] = *call;
    return 0;
}

static void poison(const struct call *call)
{
    if (call->number)
        *call->number = NAN;
    if (call->count)
        *call->count = -1;
}

static bool is_ours(const void *p)
{
    bool ours = !p;
    for (long i = 0; i < guarded_counts.held && !ours; i++) {
        const unsigned char *at = pieces[i].at, *where = p;
        ours = where >= at && where < at + pieces[i].bytes;
    }
    return ours;
}

static int ask(const struct call *call)
{
    bool ours = true;
    for (size_t k = 0; k < sizeof call->p / sizeof *call->p; k++)
        ours = ours && is_ours(call->p[k]);
    if (!ours)
        return ORR_FAIL(ORR_EDEVICE, "guarded: an entry was given memory of the host");
    if (recording)
        return append(&recording->list, call);
    guarded_counts.asked++;
    poison(call);
    return append(&queue, call);
}

static int not_while_recording(const char *what)
{
    return recording ? ORR_FAIL(ORR_EDEVICE, "guarded: %s while recording", what) : 0;
}

/* Does all that was asked for; the first error counts. */
static int flush(void)
{
    int rc = queue.count ? protect(PROT_READ | PROT_WRITE) : 0;
    for (size_t k = 0; k < queue.count; k++) {
        struct call *call = &queue.call[k];
        call->shape.variant = &call->variant;
        if (!rc)
            rc = call->run(call);
        free(call->own);
    }
    const size_t done = queue.count;
    queue.count = 0;
    const int back = done ? protect(PROT_NONE) : 0;
    return rc ? rc : back;
}

static int guarded_alloc(void **memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (bytes + page) / page * page;
    *memory = NULL;
    int rc = not_while_recording("alloc");
    if (!rc)
        rc = flush();
    if (!rc && guarded_limit && held_bytes + bytes > guarded_limit)
        rc = ORR_FAIL(ORR_ENOMEM, "guarded: out of memory: %zu bytes", bytes);
    if (rc)
        return rc;
    struct piece *more = realloc(pieces, (size_t)(guarded_counts.held + 1) * sizeof *more);
    void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more)
        pieces = more;
    if (!more || at == MAP_FAILED)
        return ORR_FAIL(ORR_ENOMEM, "guarded: out of memory: %zu bytes", bytes);
    pieces[guarded_counts.held++] = (struct piece){at, size};
    held_bytes += size;
    *memory = at;
    return 0;
}

static void guarded_release(void *memory)
{
    if (!memory)
        return;
    if (flush())
        abort(); /* an error that nobody would see */
    for (long i = 0; i < guarded_counts.held; i++)
        if (pieces[i].at == memory) {
            munmap(memory, pieces[i].bytes);
            held_bytes -= pieces[i].bytes;
            pieces[i] = pieces[--guarded_counts.held];
            if (!guarded_counts.held) {
                free(pieces);
                free(queue.call);
                pieces = NULL;
                queue = (struct list){0};
            }
            return;
        }
    abort(); /* not memory of this backend, or released before */
}

static int run_zero(const struct call *c)
{
    memset(c->p[0], 0, c->n);
    return 0;
}

static int guarded_zero(void *memory, size_t bytes)
{
    return ask(&(struct call){.run = run_zero, .p = {memory}, .n = bytes});
}

static int run_copy(const struct call *c)
{
    memcpy(c->p[0], c->p[1], c->n);
    return 0;
}

static int guarded_copy(void *to, const void *from, size_t bytes)
{
    return ask(&(struct call){.run = run_copy, .p = {to, (void *)(uintptr_t)from}, .n = bytes});
}

static int guarded_upload(void *to, const void *from, size_t bytes)
{
    if (not_while_recording("upload"))
        return ORR_EDEVICE;
    void *own = malloc(bytes ? bytes : 1);
    if (!own)
        return ORR_FAIL(ORR_ENOMEM, "guarded: out of memory");
    memcpy(own, from, bytes);
    return append(&queue, &(struct call){.run = run_copy, .p = {to, own}, .n = bytes, .own = own});
}

static int guarded_download(void *to, const void *from, size_t bytes)
{
    int rc = not_while_recording("download");
    guarded_counts.downloads++;
    if (!rc)
        rc = flush();
    if (!rc)
        rc = protect(PROT_READ);
    if (!rc)
        memcpy(to, from, bytes);
    const int back = protect(PROT_NONE);
    return rc ? rc : back;
}

static int guarded_wait(void)
{
    guarded_counts.waits++;
    const int rc = not_while_recording("wait");
    return rc ? rc : flush();
}

/* ---- recording */

static int guarded_record_begin(void)
{
    if (not_while_recording("record_begin"))
        return ORR_EDEVICE;
    recording = calloc(1, sizeof *recording);
    guarded_counts.recordings += recording != NULL;
    return recording ? 0 : ORR_FAIL(ORR_ENOMEM, "guarded: out of memory");
}

static int guarded_record_end(struct k_recording **made)
{
    *made = recording;
    recording = NULL;
    guarded_counts.recorded++;
    return *made ? 0 : ORR_FAIL(ORR_EDEVICE, "guarded: nothing was recorded");
}

static int guarded_replay(const struct k_recording *r)
{
    int rc = not_while_recording("replay");
    guarded_counts.replays++;
    for (size_t k = 0; k < r->list.count && !rc; k++) {
        poison(&r->list.call[k]);
        rc = append(&queue, &r->list.call[k]);
    }
    return rc;
}

static void guarded_record_free(struct k_recording *r)
{
    if (r)
        free(r->list.call);
    guarded_counts.recordings -= r != NULL;
    free(r);
}

/* ---- kernels: P(k), I(k) are arguments as they were given, unless a struct holds them */

#define P(k)    ((real *)c->p[k])
#define I(k)    (c->i[k])
#define IN(ptr) ((void *)(uintptr_t)(ptr)) /* an input, kept like the outputs */

static int run_linear_forward(const struct call *c)
{
    return k_ref.linear_forward(&c->layer);
}

static int run_linear_backward(const struct call *c)
{
    return k_ref.linear_backward(&c->layer);
}

/* Every array of the layer is an argument, so that memory of the host is seen. */
static int ask_linear(int (*run)(const struct call *c), const struct k_linear *l)
{
    return ask(&(struct call){.run = run,
                              .p = {IN(l->inp), IN(l->w), l->out, IN(l->b), IN(l->residual), l->pre,
                                    IN(l->dout), l->dinp, l->dw, l->db, IN(l->inp_pre)},
                              .layer = *l});
}

static int guarded_linear_forward(const struct k_linear *layer)
{
    return ask_linear(run_linear_forward, layer);
}

static int guarded_linear_backward(const struct k_linear *layer)
{
    return ask_linear(run_linear_backward, layer);
}

static int run_gelu_backward(const struct call *c)
{
    return k_ref.gelu_backward(P(0), P(1), P(2), c->n);
}

static int guarded_gelu_backward(real *dpre, const real *dout, const real *pre, size_t n)
{
    return ask(&(struct call){.run = run_gelu_backward, .p = {dpre, IN(dout), IN(pre)}, .n = n});
}

static int run_add(const struct call *c)
{
    return k_ref.add(P(0), P(1), P(2), c->n);
}

static int guarded_add(real *out, const real *a, const real *b, size_t n)
{
    return ask(&(struct call){.run = run_add, .p = {out, IN(a), IN(b)}, .n = n});
}

static int run_scale(const struct call *c)
{
    return k_ref.scale(P(0), c->d[0], c->n);
}

static int guarded_scale(real *x, double factor, size_t n)
{
    return ask(&(struct call){.run = run_scale, .p = {x}, .d = {factor}, .n = n});
}

/* run_<entry> and ask_<entry>, of an entry that takes a struct kept as `member`; ask's other
 * arguments are all arrays of the struct, so that memory of the host is seen. */
#define STRUCT_ENTRY(entry, type, member, ...)                                                     \
    static int run_##entry(const struct call *c)                                                   \
    {                                                                                              \
        return k_ref.entry(&c->member);                                                            \
    }                                                                                              \
    static int guarded_##entry(const struct type *a)                                               \
    {                                                                                              \
        return ask(&(struct call){.run = run_##entry, .p = {__VA_ARGS__}, .member = *a});          \
    }
STRUCT_ENTRY(layernorm_forward, k_layernorm, norm, a->out, a->mean, a->rstd, IN(a->x), IN(a->gamma),
             IN(a->beta))
STRUCT_ENTRY(layernorm_backward, k_layernorm, norm, a->dx, a->dgamma, a->dbeta, IN(a->dout),
             IN(a->x), a->mean, a->rstd, IN(a->gamma))
STRUCT_ENTRY(embed_forward, k_embedding, embedding, a->out, IN(a->table), IN(a->token))
STRUCT_ENTRY(embed_backward, k_embedding, embedding, a->dtable, IN(a->dout), IN(a->token))
STRUCT_ENTRY(gate_forward, k_gating, gate, a->out, IN(a->y), IN(a->pre))
STRUCT_ENTRY(gate_backward, k_gating, gate, a->dy, a->dpre, IN(a->dout), IN(a->y), IN(a->pre))

/* The same of a loss. */
#define LOSS_ENTRY(entry, type, member, ...)                                                       \
    static int run_##entry(const struct call *c)                                                   \
    {                                                                                              \
        return k_ref.entry(c->number, &c->member);                                                 \
    }                                                                                              \
    static int guarded_##entry(double *loss, const struct type *a)                                 \
    {                                                                                              \
        return ask(                                                                                \
            &(struct call){.run = run_##entry, .number = loss, .p = {__VA_ARGS__}, .member = *a}); \
    }
LOSS_ENTRY(cross_entropy, k_cross_entropy, entropy, a->dlogits, IN(a->logits), IN(a->weight),
           IN(a->target))
LOSS_ENTRY(head_cross_entropy, k_token_head, head, a->dinp, a->dw, IN(a->inp), IN(a->w),
           IN(a->weight), IN(a->target))
LOSS_ENTRY(regression, k_regression, regression, a->dpred, IN(a->pred), IN(a->target),
           IN(a->weight))

static int run_position_forward(const struct call *c)
{
    return k_ref.position_forward(P(0), P(1), I(0), I(1), I(2));
}

static int guarded_position_forward(real *x, const real *table, int N, int T, int C)
{
    return ask(&(struct call){.run = run_position_forward, .p = {x, IN(table)}, .i = {N, T, C}});
}

static int run_position_backward(const struct call *c)
{
    return k_ref.position_backward(P(0), P(1), I(0), I(1), I(2));
}

static int guarded_position_backward(real *dtable, const real *dx, int N, int T, int C)
{
    return ask(&(struct call){.run = run_position_backward, .p = {dtable, IN(dx)}, .i = {N, T, C}});
}

#define ATTENTION(name)                                                                            \
    static int run_##name##_forward(const struct call *c)                                          \
    {                                                                                              \
        return k_ref.name##_forward(P(0), P(1), P(2), &c->shape);                                  \
    }                                                                                              \
    static int guarded_##name##_forward(real *out, real *row_stats, const real *qkv,               \
                                        const struct k_attention_shape *shape)                     \
    {                                                                                              \
        return ask(&(struct call){.run = run_##name##_forward,                                     \
                                  .p = {out, row_stats, IN(qkv)},                                  \
                                  .shape = *shape,                                                 \
                                  .variant = *shape->variant});                                    \
    }                                                                                              \
    static int run_##name##_backward(const struct call *c)                                         \
    {                                                                                              \
        return k_ref.name##_backward(P(0), P(1), P(2), P(3), P(4), &c->shape);                     \
    }                                                                                              \
    static int guarded_##name##_backward(real *dqkv, const real *dout, const real *out,            \
                                         const real *row_stats, const real *qkv,                   \
                                         const struct k_attention_shape *shape)                    \
    {                                                                                              \
        return ask(&(struct call){.run = run_##name##_backward,                                    \
                                  .p = {dqkv, IN(dout), IN(out), IN(row_stats), IN(qkv)},          \
                                  .shape = *shape,                                                 \
                                  .variant = *shape->variant});                                    \
    }
ATTENTION(attention)
ATTENTION(attention_generic)

static int run_attention_degenerate(const struct call *c)
{
    return k_ref.attention_degenerate(c->count, P(0), &c->shape);
}

static int guarded_attention_degenerate(long *rows, const real *row_stats,
                                        const struct k_attention_shape *shape)
{
    return ask(&(struct call){.run = run_attention_degenerate,
                              .p = {IN(row_stats)},
                              .shape = *shape,
                              .variant = *shape->variant,
                              .count = rows});
}

static int run_rope(const struct call *c)
{
    return k_ref.rope(P(0), &c->rotation);
}

static int guarded_rope(real *qkv, const struct k_rope *rotation)
{
    return ask(&(struct call){.run = run_rope, .p = {qkv}, .rotation = *rotation});
}

static int run_sum_squares(const struct call *c)
{
    return k_ref.sum_squares(c->number, P(0), c->n);
}

static int guarded_sum_squares(double *sum, const real *x, size_t n)
{
    return ask(&(struct call){.run = run_sum_squares, .number = sum, .p = {IN(x)}, .n = n});
}

static int run_adamw(const struct call *c)
{
    struct k_adamw k = c->adamw;
    k.decays = k.decays ? c->decays : NULL;
    return k_ref.adamw(P(0), P(1), P(2), P(3), c->n, &k);
}

static int guarded_adamw(real *param, const real *grad, real *m, real *v, size_t n,
                         const struct k_adamw *k)
{
    struct call call = {.run = run_adamw, .p = {param, IN(grad), m, v}, .n = n, .adamw = *k};
    if (k->decays && k->count > MOST_DECAYS)
        return ORR_FAIL(ORR_EINVAL, "guarded: %d ranges of weight decay", k->count);
    if (k->decays)
        memcpy(call.decays, k->decays, (size_t)k->count * sizeof *k->decays);
    return ask(&call);
}

static int run_muon(const struct call *c)
{
    struct k_muon k = c->muon;
    k.at = c->at;
    return k_ref.muon(P(0), P(1), &k);
}

static int guarded_muon(real *param, real *update, const struct k_muon *k)
{
    struct call call = {.run = run_muon, .p = {param, update}, .muon = *k};
    if (k->count > MOST_MATRICES)
        return ORR_FAIL(ORR_EINVAL, "guarded: %d matrices", k->count);
    memcpy(call.at, k->at, (size_t)k->count * sizeof *k->at);
    return ask(&call);
}

static int run_average(const struct call *c)
{
    return k_ref.average(P(0), P(1), c->n, c->d[0]);
}

static int guarded_average(real *average, const real *x, size_t n, double decay)
{
    return ask(&(struct call){.run = run_average, .p = {average, IN(x)}, .d = {decay}, .n = n});
}

static int guarded_open(int threads, enum k_precision precision)
{
    return k_ref.open(threads, precision);
}

static void guarded_close(void)
{
    k_ref.close();
}

static int guarded_peak(double *gflops)
{
    *gflops = 0;
    return 0;
}

/* clang-format off */
#define ENTRIES                                                                                    \
    .name = "guarded", .open = guarded_open, .close = guarded_close, .peak = guarded_peak,         \
    .host = false, .alloc = guarded_alloc, .release = guarded_release, .zero = guarded_zero,       \
    .copy = guarded_copy, .upload = guarded_upload, .download = guarded_download,                  \
    .wait = guarded_wait,                                                                          \
    .linear_forward = guarded_linear_forward,                                                      \
    .linear_backward = guarded_linear_backward,                                                    \
    .gelu_backward = guarded_gelu_backward, .add = guarded_add, .scale = guarded_scale,            \
    .layernorm_forward = guarded_layernorm_forward,                                                \
    .layernorm_backward = guarded_layernorm_backward,                                              \
    .position_forward = guarded_position_forward,                                                  \
    .position_backward = guarded_position_backward,                                                \
    .embed_forward = guarded_embed_forward, .embed_backward = guarded_embed_backward,              \
    .attention_forward = guarded_attention_forward,                                                \
    .attention_backward = guarded_attention_backward,                                              \
    .attention_generic_forward = guarded_attention_generic_forward,                                \
    .attention_generic_backward = guarded_attention_generic_backward,                              \
    .attention_degenerate = guarded_attention_degenerate,                                                  \
    .gate_forward = guarded_gate_forward, .gate_backward = guarded_gate_backward,                  \
    .rope = guarded_rope, .cross_entropy = guarded_cross_entropy,                                  \
    .head_cross_entropy = guarded_head_cross_entropy, .regression = guarded_regression,                          \
    .sum_squares = guarded_sum_squares, .adamw = guarded_adamw, .muon = guarded_muon,               \
    .average = guarded_average
/* clang-format on */

const struct k_ops guarded_plain_ops = {ENTRIES};
const struct k_ops guarded_ops = {ENTRIES, .record_begin = guarded_record_begin,
                                  .record_end = guarded_record_end, .replay = guarded_replay,
                                  .record_free = guarded_record_free};
