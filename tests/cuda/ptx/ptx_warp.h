/* ptx_warp.h - what lanes exchange. */
#ifndef PTX_WARP_H
#define PTX_WARP_H

static inline uint32_t ptx_lane(void)
{
    return (uint32_t)cuda_host_thread() % 32;
}

/* shfl.sync: `range` has the last lane of a segment (bits 0-4) and the bits of the lane that name
 * the segment (8-12); *inside: whether the source is in the segment. */
static inline uint32_t ptx_shuffle(bool *inside, enum cuda_host_shuffle how, uint32_t x,
                                   uint32_t by, uint32_t range, uint32_t mask)
{
    const uint32_t lane = ptx_lane(), segment = range >> 8 & 31, last = range & 31;
    const uint32_t most = (lane & segment) | (last & ~segment), first = lane & segment;
    const int from = how == CUDA_HOST_UP     ? (int)lane - (int)(by & 31)
                     : how == CUDA_HOST_DOWN ? (int)(lane + (by & 31))
                     : how == CUDA_HOST_XOR  ? (int)(lane ^ (by & 31))
                                             : (int)(first | (by & 31 & ~segment));
    *inside = how == CUDA_HOST_UP ? from >= (int)most : from <= (int)most;
    return (uint32_t)cuda_host_shuffle_bits(mask, x, (int)(by & 31), 32 - (int)segment, how);
}

#endif
