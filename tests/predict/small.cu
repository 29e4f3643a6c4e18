/* small.cu - the kernel of tests/predict/small.sass: two loops, one in the other, with numbers of
 * instructions that test_sass.c knows.
 *
 *   nvcc -O3 -arch=sm_80 -cubin tests/predict/small.cu -o small.cubin
 *   nvdisasm -c small.cubin >tests/predict/small.sass */

/* The inner loop has two products of matrices, two special functions and 16 bytes of shared memory
 * to a thread; the outer one reads and writes 4 bytes of device memory. */
extern "C" __global__ void small(float *x, int n, int m)
{
    __shared__ float4 tile[64];
    const int lane = (int)threadIdx.x;
    tile[lane] = make_float4(0.5f, 1.5f, 2.5f, 3.5f);
    tile[lane + 32] = make_float4(0.25f, 1.25f, 2.25f, 3.25f);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        float c[4] = {};
        const float scale = x[32 * i + lane];
#pragma unroll 1
        for (int j = 0; j < m; j++) {
            const float4 v = tile[(lane + j) & 63];
            unsigned a = __float_as_uint(v.x), b = __float_as_uint(v.y);
            for (int k = 0; k < 2; k++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                             "{%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
                             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                             : "r"(a), "r"(b));
            float u, w;
            asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(u) : "f"(v.z * scale));
            asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(v.w * scale));
            c[0] += u * w;
        }
        x[32 * i + lane] = (c[0] + c[1]) + (c[2] + c[3]);
    }
}
