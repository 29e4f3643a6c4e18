/* elementary.h - exp, log and pow with the same bits on every CPU. */
#ifndef ORR_ELEMENTARY_H
#define ORR_ELEMENTARY_H

/* exp, log and pow with the same bits on every CPU, for all numbers that reach data sets or fronts.
 * The C library chooses among variants by the CPU, and their last bits differ; its sqrt, fabs, fma,
 * floor, rint, fmod, ldexp, frexp and the like are exact. Errors: exp 0.8 ulp, log 1.1; pow 1.1
 * where |b log a| <= 40 and 9 up to 700. With b = 1/2 pow is the square root, and with a whole b up
 * to 8 products and a quotient: exact where these are. */
double orr_exp(double x);
double orr_log(double x);
double orr_pow(double a, double b); /* of finite numbers */

#endif
