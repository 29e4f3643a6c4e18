/* cublaslt_host.cc - a stand-in for cuBLASLt on the CPU, from its documentation and without a look
 * at who calls it: column-major matrices, D = alpha op(A) op(B) + beta C + bias.
 *
 * It is stricter than the library where the library would be silently slow, or wrong: operands may
 * be aligned no worse than the algorithm was chosen for, workspaces have their 256 bytes, layouts
 * fit each other, types are of the table of supported ones. A wrong call ends the test with a
 * message; a call that the library may refuse is refused. C is not read where beta is 0. */
#include <stdlib.h>

#include "cublasLt.h"
#include "cuda_host_internal.h"

enum { CHUNK = 64, WORKSPACE = 4096, LARGE = 200000 };

struct cublaslt_host_handle {
    int unused;
};
struct cublaslt_host_description {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int transposed[2], epilogue;
    const void *bias;
};
struct cublaslt_host_layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t leading;
    int32_t batch; /* matrices, `offset` numbers apart */
    int64_t offset;
};
struct cublaslt_host_preference {
    size_t workspace;
    uint32_t reductions, alignment[4];
};

static struct {
    int fail_at, status, calls, alive, choice, only_check;
    long products;
} host;

extern "C" void cublaslt_host_fail(int n, int status)
{
    host.fail_at = n;
    host.status = status;
    host.calls = 0;
}

extern "C" int cublaslt_host_calls(void)
{
    return host.calls;
}

extern "C" long cublaslt_host_products(void)
{
    return host.products;
}

extern "C" int cublaslt_host_alive(void)
{
    return host.alive;
}

extern "C" void cublaslt_host_choose(int choice)
{
    host.choice = choice;
}

extern "C" void cublaslt_host_only_check(int only)
{
    host.only_check = only;
}

/* Every call that may fail begins so. */
#define MAY_FAIL()                                                                                 \
    do {                                                                                           \
        if (++host.calls == host.fail_at)                                                          \
            return (cublasStatus_t)host.status;                                                    \
    } while (0)

/* A call that no caller may make. */
static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "cublasLt stand-in: %s\n", what);
    abort();
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
           : status == CUBLAS_STATUS_ALLOC_FAILED  ? "CUBLAS_STATUS_ALLOC_FAILED"
           : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                   : "CUBLAS_STATUS_INTERNAL_ERROR";
}

/* ---- what is created and destroyed */

template <typename T> static cublasStatus_t create(T **to, const T &value)
{
    *to = new T(value);
    host.alive++;
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T> static cublasStatus_t destroy(T *what)
{
    must(what != NULL, "nothing is destroyed");
    delete what;
    host.alive--;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    MAY_FAIL();
    return create(handle, {0});
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return destroy(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t compute, cudaDataType_t scale)
{
    MAY_FAIL();
    return create(description, {compute, scale, {0, 0}, CUBLASLT_EPILOGUE_DEFAULT, NULL});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description)
{
    return destroy(description);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t leading)
{
    MAY_FAIL();
    must(rows && columns && leading >= (int64_t)rows, "a leading dimension below the rows");
    return create(layout, {type, rows, columns, leading, 1, 0});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    return destroy(layout);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    MAY_FAIL();
    return create(preference, {0, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    return destroy(preference);
}

/* ---- attributes, by their documented sizes */

static void take(void *to, size_t wanted, const void *value, size_t bytes)
{
    must(bytes == wanted, "an attribute of another size");
    memcpy(to, value, bytes);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    MAY_FAIL();
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        take(&description->transposed[0], 4, value, bytes);
        break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
        take(&description->transposed[1], 4, value, bytes);
        break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        take(&description->epilogue, 4, value, bytes);
        break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        take(&description->bias, sizeof(void *), value, bytes);
        break;
    default:
        must(false, "an attribute that is not known");
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes)
{
    MAY_FAIL();
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        take(&layout->batch, 4, value, bytes);
        must(layout->batch >= 1, "a batch of no matrices");
        break;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        take(&layout->offset, 8, value, bytes);
        break;
    default:
        must(false, "an attribute of a layout that is not known");
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    MAY_FAIL();
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        take(&preference->workspace, sizeof(size_t), value, bytes);
        break;
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        take(&preference->reductions, 4, value, bytes);
        break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        take(&preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], 4,
             value, bytes);
        break;
    default:
        must(false, "a preference that is not known");
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- products */

struct shape {
    uint64_t m, n, k;
};

static struct shape shape_of(const struct cublaslt_host_description *what,
                             const struct cublaslt_host_layout *a,
                             const struct cublaslt_host_layout *b,
                             const struct cublaslt_host_layout *c,
                             const struct cublaslt_host_layout *d)
{
    const bool across_a = what->transposed[0], across_b = what->transposed[1];
    const struct shape s = {d->rows, d->columns, across_a ? a->rows : a->columns};
    must((across_a ? a->columns : a->rows) == s.m, "A has other rows than D");
    must((across_b ? b->columns : b->rows) == s.k, "B has other rows than A has columns");
    must((across_b ? b->rows : b->columns) == s.n, "B has other columns than D");
    must(c->rows == s.m && c->columns == s.n, "C has another shape than D");
    must(a->batch == d->batch && b->batch == d->batch && c->batch == d->batch,
         "batches of different sizes");
    must(d->batch < 2 || d->offset >= d->leading * (int64_t)d->columns, "results that overlap");
    must(what->scale == CUDA_R_32F, "factors that are no floats");
    must(a->type == b->type && c->type == d->type, "types that differ");
    must(a->type == CUDA_R_16BF || d->type == CUDA_R_32F, "float operands, bf16 output");
    must(a->type == CUDA_R_32F || what->compute == CUBLAS_COMPUTE_32F, "tf32 of bf16 operands");
    return s;
}

/* Every fifth of the small shapes has none at first: large ones take long without. */
static bool has_algorithm(const struct shape &s)
{
    return host.choice == CUBLASLT_HOST_ALL ||
           (host.choice == CUBLASLT_HOST_MOST &&
            (s.m * s.n * s.k > LARGE || (s.m * 31 + s.n * 17 + s.k) % 5 != 0));
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *found)
{
    MAY_FAIL();
    must(handle && wanted >= 1, "no handle, or no algorithm wanted");
    const struct shape s = shape_of(description, a, b, c, d);
    must(!(preference->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE), "sums in no fixed order");
    memset(results, 0, sizeof(*results));
    *found = 0;
    if (!has_algorithm(s) || preference->workspace < WORKSPACE) /* both ways of saying no */
        return s.k % 2 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    /* tensor cores take pieces of 16 bytes of bf16 */
    if (a->type == CUDA_R_16BF && (a->leading % 8 || b->leading % 8 ||
                                   preference->alignment[0] < 16 || preference->alignment[1] < 16))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const uint64_t kept[8] = {preference->alignment[0],
                              preference->alignment[1],
                              preference->alignment[2],
                              preference->alignment[3],
                              s.m,
                              s.n,
                              s.k,
                              (uint64_t)a->type << 32 | (uint64_t)d->type};
    memcpy(results->algo.data, kept, sizeof(kept));
    results->workspaceSize = WORKSPACE;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

struct product {
    struct cublaslt_host_description what;
    struct cublaslt_host_layout a, b, c, d;
    struct shape shape;
    const void *pointer[4];
    float alpha, beta;
};

static float number(const void *x, const struct cublaslt_host_layout &l, uint64_t row,
                    uint64_t column, bool tf32)
{
    const uint64_t at = row + column * (uint64_t)l.leading;
    if (l.type == CUDA_R_16BF)
        return __bfloat162float(((const __nv_bfloat16 *)x)[at]);
    const float y = ((const float *)x)[at];
    if (!tf32 || !isfinite(y)) /* which keeps 10 bits of the fraction */
        return y;
    const unsigned u = __float_as_uint(y);
    return __uint_as_float((u + 0xfffu + ((u >> 13) & 1u)) & ~0x1fffu);
}

/* (rows, columns) of a matrix or, across, of its transpose; one row after the other. */
static float *gather(const void *x, const struct cublaslt_host_layout &l, bool across,
                     uint64_t rows, uint64_t columns, bool tf32)
{
    float *y = (float *)malloc(rows * columns * sizeof(float));
    if (!y)
        abort();
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            y[r * columns + c] = across ? number(x, l, c, r, tf32) : number(x, l, r, c, tf32);
    return y;
}

static void put(const struct product *p, uint64_t row, uint64_t column, float sum)
{
    const uint64_t at = row + column * (uint64_t)p->d.leading;
    float x = p->alpha * sum;
    if (p->beta != 0)
        x += p->beta * number(p->pointer[2], p->c, row, column, false);
    if (p->what.epilogue == CUBLASLT_EPILOGUE_BIAS)
        x += p->d.type == CUDA_R_16BF ? __bfloat162float(((const __nv_bfloat16 *)p->what.bias)[row])
                                      : ((const float *)p->what.bias)[row];
    if (p->d.type == CUDA_R_16BF)
        ((__nv_bfloat16 *)p->pointer[3])[at] = __float2bfloat16_rn(x);
    else
        ((float *)p->pointer[3])[at] = x;
}

/* Float sums of 64 products, added up: about as a GPU does it. */
static void compute_one(const struct product *p)
{
    const uint64_t m = p->shape.m, n = p->shape.n, k = p->shape.k;
    const bool tf32 = p->what.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    /* both by their index of k and as the inner loops run: (k, m) and (n, k) */
    float *a = gather(p->pointer[0], p->a, !p->what.transposed[0], k, m, tf32);
    float *b = gather(p->pointer[1], p->b, !p->what.transposed[1], n, k, tf32);
    float *sum = (float *)malloc(2 * m * sizeof(float)), *part = sum + m;
    if (!sum)
        abort();
    for (uint64_t j = 0; j < n; j++) {
        memset(sum, 0, m * sizeof(float));
        for (uint64_t from = 0; from < k; from += CHUNK) {
            memset(part, 0, m * sizeof(float));
            for (uint64_t l = from; l < k && l < from + CHUNK; l++) {
                const float x = b[j * k + l];
                for (uint64_t i = 0; i < m; i++)
                    part[i] += x * a[l * m + i];
            }
            for (uint64_t i = 0; i < m; i++)
                sum[i] += part[i];
        }
        for (uint64_t i = 0; i < m; i++)
            put(p, i, j, sum[i]);
    }
    free(a);
    free(b);
    free(sum);
}

static const void *batch_at(const void *x, const struct cublaslt_host_layout &l, int64_t i)
{
    return (const char *)x + i * l.offset * (l.type == CUDA_R_16BF ? 2 : 4);
}

static void compute(const void *arguments)
{
    const struct product *all = (const struct product *)arguments;
    for (int64_t i = 0; i < all->d.batch; i++) {
        struct product one = *all;
        one.pointer[0] = batch_at(all->pointer[0], all->a, i);
        one.pointer[1] = batch_at(all->pointer[1], all->b, i);
        one.pointer[2] = batch_at(all->pointer[2], all->c, i);
        one.pointer[3] = batch_at(all->pointer[3], all->d, i);
        compute_one(&one);
    }
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t)
{
    MAY_FAIL();
    must(handle && algorithm, "no handle, or no algorithm");
    struct product p = {*description,        *a_layout, *b_layout,    *c_layout,
                        *d_layout,           {},        {a, b, c, d}, *(const float *)alpha,
                        *(const float *)beta};
    p.shape = shape_of(description, a_layout, b_layout, c_layout, d_layout);
    must(algorithm->data[4] == p.shape.m && algorithm->data[5] == p.shape.n &&
             algorithm->data[6] == p.shape.k &&
             algorithm->data[7] == ((uint64_t)p.a.type << 32 | (uint64_t)p.d.type),
         "an algorithm of another product");
    must(workspace && (uintptr_t)workspace % 256 == 0 && workspace_bytes >= WORKSPACE,
         "a workspace that is too small, or not aligned");
    for (int i = 0; i < 4; i++)
        must((uintptr_t)p.pointer[i] % algorithm->data[i] == 0,
             "an operand that is aligned worse than the algorithm was chosen for");
    const struct cublaslt_host_layout *const layouts[4] = {a_layout, b_layout, c_layout, d_layout};
    for (int i = 0; i < 4; i++)
        must(layouts[i]->batch < 2 || (uint64_t)layouts[i]->offset *
                                              (layouts[i]->type == CUDA_R_16BF ? 2 : 4) %
                                              algorithm->data[i] ==
                                          0,
             "a matrix of a batch that is aligned worse than the algorithm was chosen for");
    must(c != d || (c_layout->type == d_layout->type && c_layout->leading == d_layout->leading),
         "C in place of D with another layout");
    if (description->epilogue == CUBLASLT_EPILOGUE_BIAS)
        must(description->bias && (uintptr_t)description->bias % 16 == 0,
             "a bias that is not aligned");
    host.products++;
    if (host.only_check)
        return CUBLAS_STATUS_SUCCESS;
    return cuda_host_do("matmul", compute, &p, sizeof(p)) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                          : CUBLAS_STATUS_SUCCESS;
}
