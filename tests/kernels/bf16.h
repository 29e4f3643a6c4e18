/* bf16.h - bfloat16 on the host, for the tests of tensors that are bf16 on a device. */
#ifndef TEST_BF16_H
#define TEST_BF16_H

#include <stdint.h>
#include <string.h>

/* To nearest, ties to even. */
static inline uint16_t bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float bf16_widen(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
