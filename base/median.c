/* median.c - the median of a few numbers, and the k-th of many. */
#include "statistics.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

int orr_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double orr_median(double *x, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(x, n, sizeof *x, orr_compare_doubles);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

static void swap(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

/* Hoare's algorithm (FIND, 1961), with the median of three numbers between the parts. */
void orr_select(double *x, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (x[middle] < x[low])
            swap(x + middle, x + low);
        if (x[high] < x[low])
            swap(x + high, x + low);
        if (x[high] < x[middle])
            swap(x + high, x + middle);
        const double pivot = x[middle];
        size_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i > j)
                break;
            swap(x + i++, x + j);
            if (j-- == 0)
                break;
        }
        if (k <= j && j < n)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}
