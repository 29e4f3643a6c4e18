/* elementary.h - exp, log and pow with the same bits on every CPU. */
#ifndef ORR_ELEMENTARY_H
#define ORR_ELEMENTARY_H

/* exp, log and pow with equal bits on every CPU, for all numbers that reach data sets or fronts.
 * The C library selects variants by the CPU, and their last bits differ; its sqrt, fabs, fma,
 * floor, rint, fmod, ldexp, frexp are exact. Errors: exp 0.8 ulp, log 1.1 ulp, pow 1.1 ulp where |b
 * log a| <= 40 and 9 ulp up to 700. pow uses the square root for b = 1/2, and products and one
 * quotient for whole b up to 8; these are exact where the products are. */
double orr_exp(double x);
double orr_log(double x);
double orr_pow(double a, double b); /* NaN where a or b is */

#endif
