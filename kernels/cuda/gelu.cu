/* gelu.cu - GELU of the CUDA backend, for float and bf16 tensors, each to the precision of its
 * type. Its gradient is in columns.cu.
 *
 * GELU is not fused into the matrix product: the library's epilogue is the tanh approximation,
 * and this project uses the exact form, so that models are equal on every backend. */
#include "kernels/scalar.h"
#include "matmul.h"
#include "load_store.h"

enum { THREADS = 256 };

template <typename T> static __device__ __forceinline__ float gelu_of(float x)
{
    return sizeof(T) == sizeof(float) ? k_gelu(x) : k_gelu_bf16(x);
}

/* A thread takes eight numbers where the pointers are aligned; numbers after the last eight are
 * taken one by one. */
template <typename T, bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    k_gelu_kernel(T *__restrict__ out, const T *__restrict__ pre, size_t n)
{
    size_t done = 0;
    if (WIDE) {
        for (size_t i = k_cuda_first(); i < n / K_EIGHT; i += k_cuda_step()) {
            struct k_cuda_eight x = k_cuda_get8(pre + K_EIGHT * i);
#pragma unroll
            for (int k = 0; k < K_EIGHT; k++)
                x.x[k] = gelu_of<T>(x.x[k]);
            k_cuda_put8(out + K_EIGHT * i, x);
        }
        done = n / K_EIGHT * K_EIGHT;
    }
    for (size_t i = done + k_cuda_first(); i < n; i += k_cuda_step())
        k_cuda_put(out + i, gelu_of<T>(k_cuda_get(pre + i)));
}

template <typename T> static int launch(T *out, const T *pre, size_t n)
{
    if (k_cuda_aligned(out) && k_cuda_aligned(pre))
        return K_LAUNCH((k_gelu_kernel<T, true>),
                        k_cuda_blocks((n + K_EIGHT - 1) / K_EIGHT, THREADS), THREADS, 0, out, pre,
                        n);
    return K_LAUNCH((k_gelu_kernel<T, false>), k_cuda_blocks(n, THREADS), THREADS, 0, out, pre, n);
}

int k_cuda_gelu_forward(void *out, const void *pre, bool bf16, size_t n)
{
    if (!n)
        return 0;
    if (bf16)
        return launch((__nv_bfloat16 *)out, (const __nv_bfloat16 *)pre, n);
    return launch((float *)out, (const float *)pre, n);
}
