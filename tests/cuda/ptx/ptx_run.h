/* ptx_run.h - what the C++ of a translated kernel is made of. */
#ifndef PTX_RUN_H
#define PTX_RUN_H

#include <stdarg.h>
#include <string.h>

#include <initializer_list>
#include <limits>
#include <type_traits>

#include "cuda_host.h"
#include "cuda_host_ptx.h"

/* ---- registers: a type of the instruction and one of the register, of the same bits */

template <typename T, typename R> static inline T ptx_as(R x)
{
    if constexpr (std::is_same<T, R>::value) {
        return x;
    } else if constexpr (std::is_same<T, bool>::value) {
        return x != 0;
    } else if constexpr (sizeof(R) >= sizeof(T)) { /* the lower bytes */
        T y;
        memcpy(&y, &x, sizeof(T));
        return y;
    } else {
        static_assert(std::is_unsigned<R>::value && std::is_integral<T>::value, "no bits for this");
        return (T)x;
    }
}

/* A register that is wider takes a number extended by its sign, where its type has one. */
template <typename R, typename T> static inline void ptx_put(R &to, T x)
{
    static_assert(sizeof(R) >= sizeof(T), "a register that is too narrow");
    if constexpr (std::is_same<R, T>::value)
        to = x;
    else if constexpr (sizeof(R) == sizeof(T))
        memcpy(&to, &x, sizeof(T));
    else if constexpr (std::is_integral<T>::value)
        to = (R)x;
    else {
        uint64_t bits = 0;
        memcpy(&bits, &x, sizeof(T));
        to = (R)bits;
    }
}

/* What registers hold before they are written: numbers that spoil what they meet. */
#define PTX_NONSENSE_bool     false
#define PTX_NONSENSE_uint16_t 0xfbfb
#define PTX_NONSENSE_uint32_t 0xfbfbfbfb
#define PTX_NONSENSE_uint64_t 0xfbfbfbfbfbfbfbfb
#define PTX_NONSENSE_float    NAN
#define PTX_NONSENSE_double   (double)NAN

template <typename P, typename W> static inline P ptx_part(W whole, int i)
{
    return (P)(whole >> (8 * (int)sizeof(P) * i));
}

template <typename W, typename P> static inline W ptx_whole(std::initializer_list<P> parts)
{
    W whole = 0;
    int shift = 0;
    for (const P p : parts) {
        whole |= (W)((W)p << shift);
        shift += 8 * (int)sizeof(P);
    }
    return whole;
}

#include "ptx_spaces.h"
#include "ptx_numbers.h"
#include "ptx_half.h"
#include "ptx_warp.h"

#endif
