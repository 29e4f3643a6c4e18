/* golden_attention.c - checks a folder of golden attention vectors on the backends of this build.
 *
 *   golden_attention DIR [--backend ref|cpu]
 *
 * DIR holds MANIFEST.json (lists `attention`, `rope`, `gate`) and the tensors, in
 * <variant>.safetensors as <case>.<tensor>, in shared.safetensors where that lacks them (inputs
 * that variants have in common), or each in a file <variant>/<case>/<tensor>.npy:
 * float64 (heads, L, d), for q, k, v, do, o, dq, dk, dv; bare rotations x, y, dy, dx; output gates
 * (T, C) y, x, dout, out, dy, dx and (C, C) wg, dwg. In place of a result that is compared,
 * `<case>.<tensor>_rows` may stand, a sum for each of its rows (weight() below): every element
 * counts with at least its own error, and the file is as many times smaller as a row is long.
 * max_abs is what the entry says of the tensor then. Tolerance: float builds
 * tol_f32 * max(1, max_abs) (1e-4 where it is null or absent), double builds
 * 1e-10 * max(1, max_abs). A case of a variant that is not in the table is skipped, with its
 * name. Every attention case runs on the backend's own path and on its generic path.
 *
 * A variant is a line of the table and any of the suffixes _p<power>, _window, _rope, _ntk<scale>;
 * power, window and rotation are those of the case's `params` (a power may be in the name alone).
 *
 * Rotations pair (m, m + d/2). A case of the interleaved layout is the same computation with the
 * columns of q and k permuted, so it is checked through that permutation.
 *
 * Prints what failed or was skipped and the counts; exits 1 on a failure, 2 on bad arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "op_calls.h"
#include "base/base.h"
#include "kernels/kernels.h"

struct tally {
    int passed, failed, skipped;
};

struct a_case {
    const char *root, *variant, *name;
    const struct orr_safetensors *file, *shared; /* of the variant, of all; NULL: files .npy */
    const cJSON *entry;
    struct k_attention_shape shape;
    bool rope, interleaved;
    double rope_base, tolerance;
    int rope_offset;
    bool is_gate; /* T rows of C = shape.D */
    enum k_gate gate;
};

static double number_or(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static const char *text_or(const cJSON *object, const char *key, const char *otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789.") == strlen(text);
}

/* The table's line of a manifest's variant: "lssar_p2.5_window" is "lssar"; *p is set where the
 * name has a power. */
static const struct k_attention *find_variant(const char *variant, double *p)
{
    char name[64];
    snprintf(name, sizeof name, "%s", variant);
    for (;;) {
        const struct k_attention *found = k_attention_find(name);
        char *last = strrchr(name, '_');
        if (found || !last)
            return found;
        if (last[1] == 'p' && is_number(last + 2))
            *p = atof(last + 2);
        else if (strcmp(last, "_rope") && strcmp(last, "_window") &&
                 !(!strncmp(last, "_ntk", 4) && (!last[4] || is_number(last + 4))))
            return NULL;
        *last = 0;
    }
}

/* Column c of the file in the half layout. */
static int column(const struct a_case *c, int at)
{
    return c->interleaved ? at / 2 + (at % 2) * (c->shape.D / 2) : at;
}

static size_t place(const struct a_case *c, int t, int slots, int slot, int h, int d)
{
    return (((size_t)t * (size_t)slots + (size_t)slot) * (size_t)c->shape.H + (size_t)h) *
               (size_t)c->shape.D +
           (size_t)d;
}

/* The weight of element i of a tensor in the sum of its row: 1 to 2 in size, as if drawn, of either
 * sign. The error of one element changes the sum by no less; those of several could cancel, which
 * errors that do not know the weights do as often as the tolerance is a fraction of them.
 * SplitMix64 (Steele, Lea, Flood 2014) of i; python/tests/test_attention.py has the same. */
static double weight(size_t i)
{
    uint64_t x = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return (x & 1 ? -1 : 1) * (1 + (double)(x >> 12) * 0x1p-52);
}

static int copy_of(const void *data, int dims, const size_t *shape, double **values)
{
    size_t count = 1;
    for (int i = 0; i < dims; i++)
        count *= shape[i];
    *values = orr_alloc(count, sizeof **values);
    if (*values)
        memcpy(*values, data, count * sizeof **values);
    return *values ? 0 : ORR_ENOMEM;
}

/* A tensor of the case; free() it. */
static int read_shaped(const struct a_case *c, const char *tensor, int dims, size_t *shape,
                       double **values)
{
    char path[4096], name[256];
    struct orr_npy npy;
    snprintf(name, sizeof name, "%s.%s", c->name, tensor);
    const struct orr_tensor *found = c->file ? orr_safetensors_find(c->file, name) : NULL;
    if (!found && c->file && c->shared)
        found = orr_safetensors_find(c->shared, name);
    bool fits = found && found->dtype == ORR_F64 && found->ndim == dims;
    for (int i = 0; i < dims && fits; i++)
        fits = found->shape[i] == shape[i];
    if (found)
        return fits ? copy_of(found->data, dims, shape, values)
                    : ORR_FAIL(ORR_EFORMAT,
                               "%s/%s.safetensors: \"%s\": expected float64 and the shape that the "
                               "manifest says",
                               c->root, c->variant, name);
    TRY(orr_path(path, "%s/%s/%s/%s.npy", c->root, c->variant, c->name, tensor));
    TRY(orr_npy_expect(path, &npy, ORR_F64, dims, shape));
    const int rc = copy_of(npy.data, dims, shape, values);
    orr_npy_close(&npy);
    return rc;
}

/* (heads, L, d) */
#define SHAPE(c) ((size_t[]){(size_t)(c)->shape.H, (size_t)(c)->shape.T, (size_t)(c)->shape.D})

/* Puts a tensor into slot `slot` of a buffer (T, slots, H, D). */
static int load(const struct a_case *c, const char *tensor, real *to, int slots, int slot,
                bool permute)
{
    double *values = NULL;
    TRY(read_shaped(c, tensor, 3, SHAPE(c), &values));
    const int T = c->shape.T, D = c->shape.D;
    for (int h = 0; h < c->shape.H; h++)
        for (int t = 0; t < T; t++)
            for (int d = 0; d < D; d++)
                to[place(c, t, slots, slot, h, permute ? column(c, d) : d)] =
                    (real)values[((size_t)h * (size_t)T + (size_t)t) * (size_t)D + (size_t)d];
    free(values);
    return 0;
}

/* A tensor that is compared element after element, and how far it is from what was expected. */
struct comparison {
    double *want; /* its elements, or the sums of its rows */
    size_t width; /* elements of a sum, 0: elements are compared */
    size_t seen;
    double sum, worst, largest;
    bool finite;
};

/* What is expected of a tensor; finish() frees it. */
static int expect(const struct a_case *c, const char *tensor, int dims, size_t *shape,
                  struct comparison *d)
{
    char rows[64], name[256];
    snprintf(rows, sizeof rows, "%s_rows", tensor);
    snprintf(name, sizeof name, "%s.%s", c->name, rows);
    *d = (struct comparison){.finite = true};
    if (!c->file || !orr_safetensors_find(c->file, name))
        return read_shaped(c, tensor, dims, shape, &d->want);
    d->width = shape[dims - 1];
    d->largest = number_or(cJSON_GetObjectItemCaseSensitive(c->entry, "max_abs"), tensor, -1);
    if (d->largest < 0)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s/MANIFEST.json: %s/%s: max_abs: expected the largest element of %s, of "
                        "which the file has sums of rows",
                        c->root, c->variant, c->name, tensor);
    return read_shaped(c, rows, dims - 1, shape, &d->want);
}

/* The next element, in the order of the file. */
static void see(struct comparison *d, double have)
{
    const size_t i = d->seen++;
    d->sum += d->width ? weight(i) * have : have;
    if (d->width && d->seen % d->width)
        return;
    const double want = d->want[d->width ? i / d->width : i];
    d->finite = d->finite && isfinite(d->sum);
    d->worst = fmax(d->worst, fabs(d->sum - want));
    if (!d->width)
        d->largest = fmax(d->largest, fabs(want));
    d->sum = 0;
}

/* *wrong counts tensors out of tolerance. */
static void finish(const struct a_case *c, const char *backend, const char *path,
                   const char *tensor, struct comparison *d, int *wrong)
{
    const double limit = c->tolerance * fmax(1, d->largest);
    free(d->want);
    if (d->finite && d->worst <= limit)
        return;
    printf("FAILED %s/%s %s %s: %s off by %.3g, expected <= %.3g%s\n", c->variant, c->name, backend,
           path, tensor, d->worst, limit, d->finite ? "" : " (not finite)");
    ++*wrong;
}

/* Compares a slot with a tensor. */
static int compare(const struct a_case *c, const char *backend, const char *path,
                   const char *tensor, const real *got, int slots, int slot, bool permute,
                   int *wrong)
{
    struct comparison d;
    TRY(expect(c, tensor, 3, SHAPE(c), &d));
    for (int h = 0; h < c->shape.H; h++)
        for (int t = 0; t < c->shape.T; t++)
            for (int e = 0; e < c->shape.D; e++)
                see(&d, (double)got[place(c, t, slots, slot, h, permute ? column(c, e) : e)]);
    finish(c, backend, path, tensor, &d, wrong);
    return 0;
}

struct buffers {
    real *qkv, *dqkv, *out, *dout, *row_stats;
};

static int rotate(const struct a_case *c, const struct k_ops *ops, real *qkv, bool inverse)
{
    if (!c->rope)
        return 0;
    return call_rope(ops, qkv, 1, c->shape.T, c->shape.H, c->shape.D, c->rope_base, c->rope_offset,
                     inverse);
}

static int run_path(const struct a_case *c, const struct k_ops *ops, bool generic,
                    struct buffers *m, int *wrong)
{
    static const char *const inputs[3] = {"q", "k", "v"};
    static const char *const gradients[3] = {"dq", "dk", "dv"};
    const struct k_attention_shape *shape = &c->shape;
    const char *path = generic ? "generic" : "own";
    int rc = load(c, "do", m->dout, 1, 0, false);
    for (int i = 0; !rc && i < 3; i++)
        rc = load(c, inputs[i], m->qkv, 3, i, i < 2);
    if (!rc)
        rc = rotate(c, ops, m->qkv, false);
    if (!rc)
        rc = (generic ? ops->attention_generic_forward
                      : ops->attention_forward)(m->out, m->row_stats, m->qkv, shape);
    if (!rc)
        rc = (generic ? ops->attention_generic_backward : ops->attention_backward)(
            m->dqkv, m->dout, m->out, m->row_stats, m->qkv, shape);
    if (!rc)
        rc = rotate(c, ops, m->dqkv, true);
    if (!rc)
        rc = compare(c, ops->name, path, "o", m->out, 1, 0, false, wrong);
    for (int i = 0; !rc && i < 3; i++)
        rc = compare(c, ops->name, path, gradients[i], m->dqkv, 3, i, i < 2, wrong);
    return rc;
}

/* A bare rotation: y = rope(x), dx = its inverse on dy. x takes the place of q, dy of k. */
static int run_rotation(const struct a_case *c, const struct k_ops *ops, struct buffers *m,
                        int *wrong)
{
    int rc = load(c, "x", m->qkv, 3, 0, true);
    if (!rc)
        rc = load(c, "dy", m->dqkv, 3, 1, true);
    if (!rc)
        rc = rotate(c, ops, m->qkv, false);
    if (!rc)
        rc = rotate(c, ops, m->dqkv, true);
    if (!rc)
        rc = compare(c, ops->name, "rope", "y", m->qkv, 3, 0, true, wrong);
    if (!rc)
        rc = compare(c, ops->name, "rope", "dx", m->dqkv, 3, 1, true, wrong);
    return rc;
}

/* ---- output gates: out = y act(x wg^T); dx is the gradient through the gate alone */

enum { Y, X, WG, DOUT, OUT, DY, DX, DWG, PRE, DPRE, GATE_TENSORS };
static const char *const gate_names[] = {"y", "x", "wg", "dout", "out", "dy", "dx", "dwg"};

static int gate_pass(const struct a_case *c, const struct k_ops *ops, real *const t[])
{
    const int T = c->shape.T, C = c->shape.D;
    const size_t n = (size_t)T * (size_t)C;
    int rc = call_linear_forward(ops, t[PRE], t[X], t[WG], NULL, T, C, C);
    if (!rc)
        rc = call_gate_forward(ops, t[OUT], t[Y], t[PRE], c->gate, n);
    if (!rc)
        rc = call_gate_backward(ops, t[DY], t[DPRE], t[DOUT], t[Y], t[PRE], c->gate, n);
    if (!rc)
        rc = call_linear_backward(ops, t[DX], t[DWG], NULL, t[DPRE], t[X], t[WG], T, C, C);
    return rc;
}

static int run_gate(const struct a_case *c, const struct k_ops *ops, int *wrong)
{
    const size_t T = (size_t)c->shape.T, C = (size_t)c->shape.D;
    real *t[GATE_TENSORS] = {NULL};
    int rc = 0;
    for (int i = 0; !rc && i < GATE_TENSORS; i++) {
        t[i] = orr_alloc((i == WG || i == DWG ? C : T) * C, sizeof(real)); /* zeros */
        rc = t[i] ? 0 : ORR_ENOMEM;
    }
    for (int i = Y; !rc && i <= DWG; i++) {
        const size_t rows = i == WG || i == DWG ? C : T;
        struct comparison d = {0};
        if (i == OUT)
            rc = gate_pass(c, ops, t);
        if (!rc)
            rc = expect(c, gate_names[i], 2, (size_t[]){rows, C}, &d);
        for (size_t k = 0; !rc && k < rows * C; k++) {
            if (i < OUT)
                t[i][k] = (real)d.want[k];
            else
                see(&d, (double)t[i][k]);
        }
        if (!rc && i >= OUT)
            finish(c, ops->name, "gate", gate_names[i], &d, wrong);
        else
            free(d.want);
    }
    for (int i = 0; i < GATE_TENSORS; i++)
        free(t[i]);
    return rc;
}

static int run_case(const struct a_case *c, const struct k_ops *ops, int *wrong)
{
    if (c->is_gate)
        return run_gate(c, ops, wrong);
    const size_t block = (size_t)c->shape.H * (size_t)c->shape.T * (size_t)c->shape.D;
    struct buffers m = {
        .qkv = orr_alloc(3 * block, sizeof(real)),
        .dqkv = orr_alloc(3 * block, sizeof(real)),
        .out = orr_alloc(block, sizeof(real)),
        .dout = orr_alloc(block, sizeof(real)),
        .row_stats = orr_alloc(k_attention_row_stats(NULL, &c->shape), sizeof(real)),
    };
    int rc = m.qkv && m.dqkv && m.out && m.dout && m.row_stats ? 0 : ORR_ENOMEM;
    if (!rc && !c->shape.variant)
        rc = run_rotation(c, ops, &m, wrong);
    for (int generic = 0; !rc && c->shape.variant && generic < 2; generic++)
        rc = run_path(c, ops, generic, &m, wrong);
    free(m.qkv);
    free(m.dqkv);
    free(m.out);
    free(m.dout);
    free(m.row_stats);
    return rc;
}

/* Fills the case from its manifest entry; a reason to skip it, or NULL. */
static const char *take_case(struct a_case *c, const char *root, const cJSON *entry)
{
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(entry, "params");
    *c = (struct a_case){
        .root = root,
        .entry = entry,
        .variant = text_or(entry, "variant", "?"),
        .name = text_or(entry, "case", "?"),
        .shape = {.B = 1,
                  .T = (int)number_or(entry, "L", 0),
                  .H = (int)number_or(entry, "heads", 0),
                  .D = (int)number_or(entry, "d", 0),
                  .power = 15,
                  .window = (int)number_or(params, "window", 0)},
        .rope = cJSON_HasObjectItem(params, "layout"),
        .interleaved = !strcmp(text_or(params, "layout", "half"), "interleaved"),
        .rope_offset = (int)number_or(params, "offset", 0),
        .tolerance = sizeof(real) == sizeof(double) ? 1e-10 : number_or(entry, "tol_f32", 1e-4),
    };
    if (!strcmp(c->variant, "gate")) {
        const char *act = text_or(params, "act", "?");
        c->is_gate = true;
        c->shape.T = (int)number_or(entry, "T", 0);
        c->shape.D = (int)number_or(entry, "C", 0);
        c->gate = !strcmp(act, "softplus") ? K_GATE_SOFTPLUS : K_GATE_SIGMOID;
        if (c->gate == K_GATE_SIGMOID && strcmp(act, "sigmoid"))
            return "no such gate";
        return c->shape.T > 0 && c->shape.D > 0 ? NULL : "no shape (T, C) in the manifest";
    }
    if (c->shape.T <= 0 || c->shape.H <= 0 || c->shape.D <= 0)
        return "no shape (L, heads, d) in the manifest";
    const double d = c->shape.D;
    c->rope_base = number_or(params, "base", 10000) *
                   (d > 2 ? pow(number_or(params, "ntk_scale", 1), d / (d - 2)) : 1);
    if (!strcmp(c->variant, "rope"))
        return NULL;
    c->shape.variant = find_variant(c->variant, &c->shape.power);
    c->shape.power = number_or(params, "p", c->shape.power);
    return c->shape.variant ? NULL : "no such line in the attention table";
}

/* The variant's file in the place of another one's, NULL where it has none. */
static int open_variant(const char *root, const char *variant, char opened[64],
                        struct orr_safetensors **file)
{
    char path[4096];
    if (!strcmp(opened, variant))
        return 0;
    snprintf(opened, 64, "%s", variant);
    orr_safetensors_close(*file);
    *file = NULL;
    int rc = orr_path(path, "%s/%s.safetensors", root, variant);
    if (!rc && orr_exists(path))
        rc = orr_safetensors_open(path, file);
    if (rc)
        opened[0] = '\0'; /* said of every case */
    return rc;
}

static void run_list(const char *root, const struct orr_safetensors *shared, const cJSON *list,
                     const struct k_ops *ops, struct tally *tally)
{
    const cJSON *entry;
    struct orr_safetensors *file = NULL;
    char opened[64] = "";
    cJSON_ArrayForEach (entry, list) {
        struct a_case c;
        const char *reason = take_case(&c, root, entry);
        if (reason) {
            printf("skipped %s/%s: %s\n", c.variant, c.name, reason);
            tally->skipped++;
            continue;
        }
        int wrong = 0;
        int rc = open_variant(root, c.variant, opened, &file);
        c.file = file;
        c.shared = shared;
        rc = rc ? rc : run_case(&c, ops, &wrong);
        if (rc) {
            printf("FAILED %s/%s %s: %s\n", c.variant, c.name, ops->name, orr_error());
            wrong++;
        }
        *(wrong ? &tally->failed : &tally->passed) += 1;
    }
    orr_safetensors_close(file);
}

static int run_backend(const char *root, const cJSON *manifest, const struct k_ops *ops,
                       struct tally *tally)
{
    static const char *const lists[] = {"attention", "rope", "gate"};
    struct orr_safetensors *shared = NULL;
    char opened[64] = "";
    TRY(open_variant(root, "shared", opened, &shared));
    const int rc = ops->open(0, false);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !rc; i++)
        run_list(root, shared, cJSON_GetObjectItemCaseSensitive(manifest, lists[i]), ops, tally);
    if (!rc)
        ops->close();
    orr_safetensors_close(shared);
    return rc;
}

int main(int argc, char **argv)
{
    const bool chosen = argc == 4 && !strcmp(argv[2], "--backend");
    if ((argc != 2 && !chosen) || argv[1][0] == '-') {
        fprintf(stderr, "usage: golden_attention DIR [--backend ref|cpu]\n");
        return 2;
    }
    const struct k_ops *only[2] = {NULL, NULL};
    const struct k_ops *const *backends = k_backends();
    if (chosen) {
        const int rc = k_find(argv[3], &only[0]);
        if (rc)
            return orr_error_exit("golden_attention", ORR_EUSAGE);
        backends = only;
    }
    char path[4096];
    cJSON *manifest = NULL;
    int rc = orr_path(path, "%s/MANIFEST.json", argv[1]);
    if (!rc)
        rc = orr_json_read(path, &manifest);
    struct tally tally = {0};
    for (int i = 0; !rc && backends[i]; i++)
        rc = run_backend(argv[1], manifest, backends[i], &tally);
    cJSON_Delete(manifest);
    if (rc)
        return orr_error_exit("golden_attention", rc);
    printf("%d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped);
    return tally.failed || !tally.passed ? 1 : 0;
}
