/* sha256.c - SHA-256 as FIPS 180-4 defines it; names of functions are those of the standard. */
#include "sha256.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, WORDS = 8 };

/* Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
static const uint32_t K[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Section 6.2.2: one block of the message. */
static void add_block(uint32_t H[WORDS], const unsigned char *block)
{
    uint32_t W[ROUNDS], v[WORDS];
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < ROUNDS; t++) {
        const uint32_t x = W[t - 15], y = W[t - 2];
        W[t] = W[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + W[t - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    memcpy(v, H, sizeof v);
    for (int t = 0; t < ROUNDS; t++) { /* v: a to h */
        const uint32_t sum1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        const uint32_t sum0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        const uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        const uint32_t T1 = v[7] + sum1 + ch + K[t] + W[t];
        memmove(v + 1, v, (WORDS - 1) * sizeof *v);
        v[4] += T1;
        v[0] = T1 + sum0 + maj;
    }
    for (int i = 0; i < WORDS; i++)
        H[i] += v[i];
}

void orr_sha256(const void *data, size_t bytes, unsigned char hash[ORR_SHA256])
{
    uint32_t H[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = data;
    size_t left = bytes;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(H, at);
    unsigned char end[2 * BLOCK] = {0}; /* section 5.1.1: a one, zeros, the length in bits */
    const size_t padded = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    if (left)
        memcpy(end, at, left);
    end[left] = 0x80;
    for (size_t i = 0; i < 8; i++)
        end[padded - 1 - i] = (unsigned char)((uint64_t)bytes * 8 >> 8 * i);
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(H, end + i);
    for (size_t i = 0; i < ORR_SHA256; i++)
        hash[i] = (unsigned char)(H[i / 4] >> (24 - 8 * (i % 4)));
}
