/* echelon.c - Gauss-Jordan elimination. */
#include "echelon.h"

#include <math.h>
#include <stdbool.h>

int sr_echelon(double *a, int rows, int columns, int width, double least, int *pivot)
{
    int rank = 0;
    for (int f = 0; f < columns && rank < rows; f++) {
        double *const to = a + rank * width, *best = to;
        for (int r = rank; r < rows; r++)
            if (fabs(a[r * width + f]) > fabs(best[f]))
                best = a + r * width;
        const double largest = best[f];
        if (fabs(largest) < least)
            continue;
        for (int c = 0; c < width; c++) {
            const double moved = to[c];
            to[c] = best[c] / largest;
            if (best != to)
                best[c] = moved;
        }
        for (int r = 0; r < rows; r++) {
            const double share = a[r * width + f];
            for (int c = 0; c < width && r != rank; c++)
                a[r * width + c] -= share * to[c];
        }
        pivot[rank++] = f;
    }
    return rank;
}
