/* matmul.cu - the matrix product of the linear layers, by cuBLASLt.
 *
 * The library is column-major, and a row-major (M, N) is a column-major (N, M). The code
 * therefore computes out^T = B^T A^T: the library's first operand is our B, its second our A,
 * and its rows are our columns.
 *
 * The library chooses a kernel for every shape. The choice is cached, so that a shape has one
 * kernel per process, and kernels that sum in no fixed order (reduction in place, by atomics)
 * are excluded: results are reproducible. */
#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

#include "matmul.h"

enum { PLANS = 512, OPERANDS = 5 };

/* Everything that the choice of a kernel may depend on. */
struct key {
    int M, N, K, batch;
    enum k_precision precision; /* bf16 also where an operand is already bf16 */
    int a_stride, b_stride;
    unsigned char a_transposed, b_transposed, has_add, has_bias;
    unsigned char out_bf16;            /* the bias is then bf16 too */
    unsigned char alignment[OPERANDS]; /* of a, b, add, out, bias: powers of 2, at most 256 */
};

struct plan {
    bool used, plain; /* plain: the library has no kernel for it */
    struct key key;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t first, second, out; /* in the order of the library's arguments */
    cublasLtMatmulAlgo_t algorithm;
};

static struct {
    cublasLtHandle_t handle;
    size_t workspace_bytes;
    struct plan plans[PLANS];
    int count;
} lt;

static int check_cublas(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return 0;
    return ORR_FAIL(status == CUBLAS_STATUS_ALLOC_FAILED ? ORR_ENOMEM : ORR_EDEVICE,
                    "cuda: cuBLASLt: %s: %s", what, cublasLtGetStatusString(status));
}

static int open_library(void)
{
    if (lt.handle)
        return 0;
    int major = 0;
    TRY(k_cuda_check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, k_cuda_device()),
        "compute capability"));
    lt.workspace_bytes = (size_t)(major >= 9 ? 64 : 32) << 20;
    return check_cublas(cublasLtCreate(&lt.handle), "start");
}

/* ---- plans */

static void drop_plan(struct plan *p)
{
    if (p->what)
        cublasLtMatmulDescDestroy(p->what);
    if (p->first)
        cublasLtMatrixLayoutDestroy(p->first);
    if (p->second)
        cublasLtMatrixLayoutDestroy(p->second);
    if (p->out)
        cublasLtMatrixLayoutDestroy(p->out);
    memset(p, 0, sizeof(*p));
}

static void drop_all(void)
{
    for (int i = 0; i < PLANS; i++)
        drop_plan(&lt.plans[i]);
    lt.count = 0;
}

void k_cuda_matmul_close(void)
{
    drop_all();
    if (lt.handle)
        cublasLtDestroy(lt.handle);
    lt.handle = NULL;
}

static unsigned char alignment_of(const void *p)
{
    unsigned char power = 0;
    while (power < 8 && ((uintptr_t)p >> power & 1) == 0)
        power++;
    return power;
}

static int set_attribute(cublasLtMatmulDesc_t what, cublasLtMatmulDescAttributes_t attribute,
                         const void *value, size_t bytes)
{
    return check_cublas(cublasLtMatmulDescSetAttribute(what, attribute, value, bytes), "attribute");
}

/* Makes the layout of `batch` column-major matrices that follow each other. */
static int describe_layout(cublasLtMatrixLayout_t *layout, cudaDataType_t type, uint64_t rows,
                           uint64_t cols, int64_t leading, int batch)
{
    const int32_t count = batch;
    const int64_t stride = leading * (int64_t)cols;
    TRY(check_cublas(cublasLtMatrixLayoutCreate(layout, type, rows, cols, leading), "layout"));
    if (batch <= 1)
        return 0;
    TRY(check_cublas(cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                      &count, sizeof(count)),
                     "batch"));
    return check_cublas(
        cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &stride, sizeof(stride)),
        "batch");
}

static int describe_product(struct plan *p, const void *bias)
{
    const struct key *k = &p->key;
    const cudaDataType_t type = k->precision == K_PRECISION_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    const cublasComputeType_t compute =
        k->precision == K_PRECISION_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const cublasOperation_t first = k->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = k->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const uint64_t M = (uint64_t)k->M, N = (uint64_t)k->N, K = (uint64_t)k->K;
    TRY(check_cublas(cublasLtMatmulDescCreate(&p->what, compute, CUDA_R_32F), "description"));
    TRY(set_attribute(p->what, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)));
    TRY(set_attribute(p->what, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)));
    if (k->has_bias) { /* the bias has the type of out, which epilogues assume */
        const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
        TRY(set_attribute(p->what, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
        TRY(set_attribute(p->what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
    }
    /* our row-major (rows, cols) is a column-major (cols, rows) */
    TRY(describe_layout(&p->first, type, k->b_transposed ? K : N, k->b_transposed ? N : K,
                        k->b_stride, k->batch));
    TRY(describe_layout(&p->second, type, k->a_transposed ? M : K, k->a_transposed ? K : M,
                        k->a_stride, k->batch));
    return describe_layout(&p->out, k->out_bf16 ? CUDA_R_16BF : CUDA_R_32F, N, M, k->N, k->batch);
}

static int set_preferences(cublasLtMatmulPreference_t preference, const struct key *k)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        /* operands in the library's order: first, second, C, D; in ours: b, a, add, out */
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    static const int ours[] = {1, 0, 2, 3};
    const uint32_t reductions =
        CUBLASLT_REDUCTION_SCHEME_MASK & ~(uint32_t)CUBLASLT_REDUCTION_SCHEME_INPLACE;
    TRY(check_cublas(
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &lt.workspace_bytes, sizeof(lt.workspace_bytes)),
        "workspace"));
    TRY(check_cublas(
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                             &reductions, sizeof(reductions)),
        "reductions"));
    for (int i = 0; i < 4; i++) {
        const uint32_t bytes = 1u << k->alignment[ours[i]];
        TRY(check_cublas(
            cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &bytes, sizeof(bytes)),
            "alignment"));
    }
    return 0;
}

static int make_plan(struct plan *p, const void *bias)
{
    cublasLtMatmulPreference_t preference = NULL;
    int rc = describe_product(p, bias);
    if (!rc)
        rc = check_cublas(cublasLtMatmulPreferenceCreate(&preference), "preference");
    if (!rc)
        rc = set_preferences(preference, &p->key);
    if (!rc) {
        cublasLtMatmulHeuristicResult_t found;
        int count = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
            lt.handle, p->what, p->first, p->second, p->out, p->out, preference, 1, &found, &count);
        p->plain = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
                   (status == CUBLAS_STATUS_SUCCESS &&
                    (count < 1 || found.state != CUBLAS_STATUS_SUCCESS));
        /* reported, since it may be slow: the plain product uses no tensor cores */
        if (p->plain && !p->key.has_bias && (double)p->key.M * p->key.N * p->key.K > 1e8)
            fprintf(stderr, "note: cuBLASLt has no kernel for a product (%d, %d, %d)\n", p->key.M,
                    p->key.N, p->key.K);
        if (!p->plain)
            rc = check_cublas(status, "choice of a kernel");
        if (!rc && !p->plain)
            p->algorithm = found.algo;
    }
    if (preference)
        cublasLtMatmulPreferenceDestroy(preference);
    return rc;
}

static int find_plan(const struct key *key, const void *bias, struct plan **found)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < sizeof(*key); i++)
        hash = (hash ^ ((const unsigned char *)key)[i]) * 1099511628211u;
    for (size_t at = hash % PLANS;; at = (at + 1) % PLANS) {
        struct plan *p = &lt.plans[at];
        if (p->used && !memcmp(&p->key, key, sizeof(*key))) {
            *found = p;
            return 0;
        }
        if (p->used)
            continue;
        if (lt.count >= PLANS * 3 / 4) /* too many shapes: the cache is emptied */
            drop_all();
        p->key = *key;
        const int rc = make_plan(p, bias);
        if (rc) {
            drop_plan(p);
            return rc;
        }
        p->used = true;
        lt.count++;
        *found = p;
        return 0;
    }
}

/* ---- products */

static int run_plan(struct plan *p, const struct k_cuda_matmul *m, const void *a, const void *b)
{
    const float one = 1, beta = m->add ? 1.0f : 0.0f;
    const void *const bias = k_cuda_bias_of(m);
    void *const out = m->out_bf16 ? (void *)m->out_bf16 : (void *)m->out;
    void *workspace;
    TRY(k_cuda_scratch(K_CUDA_SLOT_MATMUL, lt.workspace_bytes, &workspace));
    if (m->bias)
        TRY(set_attribute(p->what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
    return check_cublas(cublasLtMatmul(lt.handle, p->what, &one, b, p->first, a, p->second, &beta,
                                       m->add ? m->add : out, p->out, out, p->out, &p->algorithm,
                                       workspace, lt.workspace_bytes, k_cuda_stream()),
                        "product");
}

/* Finds the plan for a product, and its operands: rounded copies where they need rounding. */
static int prepare_product(const struct k_cuda_matmul *m, struct plan **plan, const void **a,
                           const void **b)
{
    struct key key;
    const void *const bias = m->bias ? k_cuda_bias_of(m) : NULL;
    const void *const out = m->out_bf16 ? (void *)m->out_bf16 : (void *)m->out;
    memset(&key, 0, sizeof(key)); /* padding too, because keys are compared as bytes */
    key.M = m->M;
    key.N = m->N;
    key.K = m->K;
    key.batch = m->batch > 1 ? m->batch : 1;
    key.precision = k_cuda_is_bf16(m) ? K_PRECISION_BF16 : m->precision;
    key.a_transposed = m->a_transposed;
    key.b_transposed = m->b_transposed;
    key.has_add = m->add != NULL;
    key.has_bias = m->bias != NULL;
    key.out_bf16 = m->out_bf16 != NULL;
    key.a_stride = m->a_transposed ? m->M : m->K;
    key.b_stride = m->b_transposed ? m->K : m->N;
    *a = m->a;
    *b = m->b;
    if (k_cuda_is_bf16(m)) {
        struct k_cuda_operand a_bf16, b_bf16;
        TRY(k_cuda_operands(m, &a_bf16, &b_bf16));
        *a = a_bf16.x;
        *b = b_bf16.x;
        key.a_stride = a_bf16.stride;
        key.b_stride = b_bf16.stride;
    }
    const void *const operands[OPERANDS] = {*a, *b, m->add ? m->add : out, out, bias};
    const size_t bytes = k_cuda_is_bf16(m) ? sizeof(__nv_bfloat16) : sizeof(float);
    const size_t out_bytes = (size_t)m->M * (size_t)m->N * sizeof(float);
    const size_t apart[OPERANDS] = {(size_t)m->M * (size_t)m->K * bytes,
                                    (size_t)m->K * (size_t)m->N * bytes, out_bytes, out_bytes, 0};
    for (int i = 0; i < OPERANDS; i++) /* in a batch that of its worst matrix */
        key.alignment[i] =
            alignment_of((const void *)((uintptr_t)operands[i] | (key.batch > 1 ? apart[i] : 0)));
    return find_plan(&key, bias, plan);
}

int k_cuda_matmul(const struct k_cuda_matmul *m)
{
    struct plan *plan;
    const void *a, *b;
    if (!m->M || !m->N)
        return 0;
    if (!k_cuda_bias_rides(m))
        return k_cuda_matmul_then_bias(m);
    TRY(open_library());
    TRY(prepare_product(m, &plan, &a, &b));
    if (plan->plain && m->bias)
        return k_cuda_matmul_then_bias(m);
    return plan->plain ? k_cuda_matmul_plain(m) : run_plan(plan, m, a, b);
}

/* ---- the best rate */

/* Fills x with various numbers in [-1, 1): a product of zeros draws little power and is faster
 * than any real product. */
static __global__ void k_fill(float *x, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint32_t u = (uint32_t)i * 2654435761u;
        u = (u ^ u >> 15) * 2246822519u;
        x[i] = (float)(u >> 8) * 0x1p-23f - 1.0f;
    }
}

/* *seconds = time of `times` products, without the rounding of inputs. */
static int measure_products(const struct k_cuda_matmul *m, int times, cudaEvent_t from,
                            cudaEvent_t to, double *seconds)
{
    struct plan *plan;
    const void *a, *b;
    float ms = 0;
    TRY(prepare_product(m, &plan, &a, &b));
    if (plan->plain)
        return ORR_FAIL(ORR_EDEVICE, "cuda: cuBLASLt has no kernel for the peak");
    TRY(k_cuda_check(cudaEventRecord(from, k_cuda_stream()), "event"));
    for (int i = 0; i < times; i++)
        TRY(run_plan(plan, m, a, b));
    TRY(k_cuda_check(cudaEventRecord(to, k_cuda_stream()), "event"));
    TRY(k_cuda_check(cudaEventSynchronize(to), "peak"));
    TRY(k_cuda_check(cudaEventElapsedTime(&ms, from, to), "peak"));
    *seconds = (double)ms * 1e-3;
    return 0;
}

int k_cuda_matmul_peak(double *gflops)
{
    enum { TIMES = 8 };
    /* large enough that the rate no longer grows; each product takes a few milliseconds */
#ifdef K_CUDA_HOST
    const int side = 256;
#else
    const int side = k_cuda_precision() == K_PRECISION_FP32 ? 4096 : 8192;
#endif
    const size_t n = (size_t)side * (size_t)side;
    cudaEvent_t from = NULL, to = NULL;
    void *memory = NULL;
    double first = 0, seconds = 0;
    struct k_cuda_matmul m = {};
    int rc = open_library();
    if (!rc)
        rc = k_cuda_check(cudaMalloc(&memory, 3 * n * sizeof(float)), "memory for the peak");
    m.M = m.N = m.K = side;
    m.a = (const float *)memory;
    m.b = m.a + n;
    m.out = (float *)memory + 2 * n;
    m.b_transposed = true; /* as in a layer's forward pass */
    m.precision = k_cuda_precision();
    if (!rc)
        rc = K_LAUNCH(k_fill, k_cuda_blocks(2 * n, 256), 256, 0, (float *)memory, 2 * n);
    if (!rc)
        rc = k_cuda_check(cudaEventCreate(&from), "event");
    if (!rc)
        rc = k_cuda_check(cudaEventCreate(&to), "event");
    if (!rc) /* warm-up: clocks rise and kernels are loaded */
        rc = measure_products(&m, 2, from, to, &first);
    if (!rc)
        rc = measure_products(&m, TIMES, from, to, &seconds);
    *gflops = seconds > 0 ? 2e-9 * TIMES * side * (double)n / seconds : 0;
    if (from)
        cudaEventDestroy(from);
    if (to)
        cudaEventDestroy(to);
    cudaFree(memory);
    return rc;
}
