/* rank.c - see rank.h. */
#include "rank.h"

#include <math.h>
#include <string.h>

size_t probe_pairs(size_t n)
{
    return n * (n - 1) / 2;
}

void probe_distances(size_t n, size_t dims, const double *x, float *distance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double square = 0;
            if (dims == 1) { /* the root of the square, without either: most are of projections */
                *distance++ = (float)fabs(x[i] - x[j]);
                continue;
            }
            for (size_t c = 0; c < dims; c++) {
                const double d = x[i * dims + c] - x[j * dims + c];
                square += d * d;
            }
            *distance++ = (float)sqrt(square);
        }
}

/* Three stable passes over digits of 11 bits, the lowest first. How many keys have each digit is
 * counted for all passes at once, in an array that becomes the place of each digit's next key. */
enum { BITS = 11, DIGITS = 1 << BITS, PASSES = 3 };

static uint64_t digit_of(uint64_t key, int pass)
{
    return key >> (32 + BITS * pass) & (DIGITS - 1);
}

static void sort_by_digit(size_t n, int pass, size_t place[], const uint64_t *from, uint64_t *to)
{
    for (int d = 0; d < DIGITS; d++)
        place[d + 1] += place[d];
    for (size_t i = 0; i < n; i++)
        to[place[digit_of(from[i], pass)]++] = from[i];
}

void probe_ranks(size_t n, const float *x, double *rank, uint64_t *work)
{
    uint64_t *one = work, *other = work + n;
    size_t place[PASSES][DIGITS + 1] = {{0}};
    for (size_t i = 0; i < n; i++) { /* the bits of nonnegative floats sort like their values */
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        one[i] = (uint64_t)bits << 32 | i;
        for (int pass = 0; pass < PASSES; pass++)
            place[pass][digit_of(one[i], pass) + 1]++;
    }
    sort_by_digit(n, 0, place[0], one, other);
    sort_by_digit(n, 1, place[1], other, one);
    sort_by_digit(n, 2, place[2], one, other);
    for (size_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && other[last] >> 32 == other[first] >> 32;)
            last++;
        for (size_t i = first; i < last; i++)
            rank[other[i] & UINT32_MAX] = ((double)first + 1 + (double)last) / 2;
    }
}

double probe_correlation(size_t n, const double *a, const double *b)
{
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        mean_a += a[i];
        mean_b += b[i];
    }
    mean_a /= (double)n;
    mean_b /= (double)n;
    for (size_t i = 0; i < n; i++) {
        const double da = a[i] - mean_a, db = b[i] - mean_b;
        aa += da * da;
        bb += db * db;
        ab += da * db;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : (double)NAN;
}
