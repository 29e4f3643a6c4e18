/* draw.h - inside base/: elementary functions and draws, compiled once per instruction set (isa.h).
 * All copies give equal bits, because fused multiply-adds stand only where vecmath.h writes them;
 * on CPUs without the instruction the C library's fma() emulates it. */
#ifndef ORR_DRAW_H
#define ORR_DRAW_H

#include <stdint.h>

#include <gsl/gsl_rng.h>

#include "isa.h"

enum { ORR_STRIPS = 128, ORR_BLOCKS = 16 };
#define ORR_TAIL_FROM 3.442619855899

/* The strips of the ziggurat: `edge`, their right ends; `share`, the fraction of a strip's width in
 * which a point is accepted without evaluating the density. */
struct orr_strips {
    double edge[ORR_STRIPS + 1], share[ORR_STRIPS];
};
extern struct orr_strips orr_strips;

struct orr_draws {
    double (*exp)(double x);
    double (*log)(double x);
    double (*power)(double a, double b);
    double (*normal)(gsl_rng *rng);
    double (*gamma)(gsl_rng *rng, double shape);
    double (*beta)(gsl_rng *rng, double a, double b);
    /* Blocks number `first` on of a stream, ORR_BLOCKS of them, as philox.c has them. out:
     * (ORR_BLOCKS, 4). */
    void (*blocks)(const uint32_t key[2], uint64_t index, uint64_t first, uint32_t *out);
};
ORR_ISA_TABLES(orr_draws)

#endif
