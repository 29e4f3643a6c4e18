/* test_vec.c - the elementary functions against long double on dense grids, and the same bits from
 * every variant of the loops. */
#include "symreg/formulas.h"
#include "under_valgrind.h"

#include <float.h>

#include "value/vec.h"

/* |x - exact| in units of the last place of exact. */
static double ulps(double x, long double exact)
{
    const double size = fabs((double)exact);
    int e;
    frexp(size < DBL_MIN ? DBL_MIN : size, &e);
    return (double)(fabsl((long double)x - exact) / ldexpl(1, e - DBL_MANT_DIG));
}

static long double tan_l(long double x)
{
    return sinl(x) / cosl(x);
}

/* Grids are linear in x, or in log |x| of both signs where low > 0 and `both`. */
static const struct {
    enum sr_op op;
    long double (*exact)(long double);
    double low, high;
    bool logarithmic, both;
    double limit; /* ulp */
} grids[] = {
    {SR_EXP, expl, -708, 709.7, false, false, 0.85},
    {SR_EXP, expl, -745, -708, false, false, 1.0}, /* denormal results */
    {SR_EXP, expl, 1e-20, 1, true, true, 1.0},
    {SR_LOG, logl, 0.3, 3, false, false, 1.1},
    {SR_LOG, logl, 5e-324, 1.7e308, true, false, 1.1},
    {SR_SIN, sinl, -12, 12, false, false, 2.5},
    {SR_SIN, sinl, 1e-300, 99999, true, true, 2.5},
    {SR_COS, cosl, -12, 12, false, false, 2.5},
    {SR_COS, cosl, 1e-300, 99999, true, true, 2.5},
    {SR_SIN, sinl, 1e5, 1e300, true, true, 2.5}, /* by whole numbers */
    {SR_COS, cosl, 1e5, 1e300, true, true, 2.5},
    {SR_TAN, tan_l, -12, 12, false, false, 4.0},
    {SR_TAN, tan_l, 1e-300, 1e9, true, true, 4.0},
    {SR_ASIN, asinl, -1, 1, false, false, 3.0},
    {SR_ASIN, asinl, 1e-300, 1, true, true, 3.0},
    {SR_ACOS, acosl, -1, 1, false, false, 3.0},
    {SR_ATAN, atanl, -4, 4, false, false, 1.5},
    {SR_ATAN, atanl, 1e-300, 1e300, true, true, 2.0},
    {SR_SINH, sinhl, -4, 4, false, false, 3.0},
    {SR_SINH, sinhl, 1e-300, 710.4, true, true, 3.0},
    {SR_COSH, coshl, -710.4, 710.4, false, false, 3.0},
    {SR_TANH, tanhl, -25, 25, false, false, 3.0},
    {SR_TANH, tanhl, 1e-300, 1e300, true, true, 3.0},
    {SR_CBRT, cbrtl, -4, 4, false, false, 1.5},
    {SR_CBRT, cbrtl, 5e-324, 1.7e308, true, true, 1.5},
    {SR_LOG10, log10l, 0.3, 3, false, false, 0.6},
    {SR_LOG10, log10l, 5e-324, 1.7e308, true, false, 0.6},
};

TEST(functions_are_accurate)
{
    if (!has_long_double())
        skip();
    enum { POINTS = 60000 };
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        double a[SR_TILE], out[SR_TILE], worst = 0, where = 0;
        for (int k = 0; k < POINTS; k += SR_TILE) {
            for (int i = 0; i < SR_TILE; i++) {
                const double share = (k + i + 0.5) / (POINTS + SR_TILE);
                const double low = grids[g].low, high = grids[g].high;
                a[i] = grids[g].logarithmic ? exp(log(low) + share * (log(high) - log(low)))
                                            : low + share * (high - low);
                if (grids[g].both && i % 2)
                    a[i] = -a[i];
            }
            assert_true(sr_op_apply(NULL, grids[g].op, SR_TILE, a, a, out));
            for (int i = 0; i < SR_TILE; i++) {
                const double error = ulps(out[i], grids[g].exact((long double)a[i]));
                if (error > worst) {
                    worst = error;
                    where = a[i];
                }
            }
        }
        if (getenv("ORRERY_SHOW"))
            print_message("%-5s %10.4g .. %-10.4g %.3f ulp at %.17g\n",
                          sr_op_table[grids[g].op].name, grids[g].low, grids[g].high, worst, where);
        if (!(worst <= grids[g].limit))
            fail_msg("%s: %.3f ulp at %.17g", sr_op_table[grids[g].op].name, worst, where);
    }
}

TEST(powers_are_accurate)
{
    if (!has_long_double())
        skip();
    gsl_rng *rng = random_stream(61);
    double near_one = 0, anywhere = 0;
    for (int k = 0; k < 100000; k++) {
        const double a = exp((k % 2 ? 1 : 30) * gsl_ran_gaussian(rng, 1));
        const double b = (k % 3 ? 3 : k % 2 ? 30 : 600) * gsl_ran_gaussian(rng, 1);
        double out;
        if (fabs(b * log(a)) > 700 || !sr_op_apply(NULL, SR_POW, 1, &a, &b, &out))
            continue;
        const double error = ulps(out, powl((long double)a, (long double)b));
        if (fabs(b * log(a)) < 40)
            near_one = fmax(near_one, error);
        anywhere = fmax(anywhere, error);
    }
    if (getenv("ORRERY_SHOW"))
        print_message("pow %.3f ulp, %.3f anywhere\n", near_one, anywhere);
    assert_true(near_one <= 1.6 && anywhere <= 10);
    gsl_rng_free(rng);
}

/* The points of a plane, most of them near an axis or of very different coordinates. */
TEST(points_of_a_plane_are_accurate)
{
    if (!has_long_double())
        skip();
    gsl_rng *rng = random_stream(63);
    double length = 0, angle = 0;
    for (int k = 0; k < 100000; k++) {
        const double spread = k % 3 == 0 ? 0.3 : k % 3 == 1 ? 20 : 200;
        const double a = gsl_ran_gaussian(rng, 1) * exp(spread * gsl_ran_gaussian(rng, 1));
        const double b = gsl_ran_gaussian(rng, 1) * exp(spread * gsl_ran_gaussian(rng, 1));
        double out;
        if (sr_op_apply(NULL, SR_HYPOT, 1, &a, &b, &out))
            length = fmax(length, ulps(out, hypotl((long double)a, (long double)b)));
        if (isfinite(a) && isfinite(b)) {
            assert_true(sr_op_apply(NULL, SR_ATAN2, 1, &a, &b, &out));
            angle = fmax(angle, ulps(out, atan2l((long double)a, (long double)b)));
        }
    }
    if (getenv("ORRERY_SHOW"))
        print_message("hypot %.3f ulp, atan2 %.3f\n", length, angle);
    assert_true(length <= 1.1 && angle <= 2.5);
    gsl_rng_free(rng);
}

static void same(enum sr_op op, double a, double b)
{
    const double expected = op == SR_POW ? pow(a, b) : NAN;
    double out = sr_op_table[op].value(a, b);
    if (!((isnan(out) && isnan(expected)) ||
          (near(out, expected, DBL_EPSILON) && signbit(out) == signbit(expected)) ||
          (isinf(out) && isinf(expected) && (out > 0) == (expected > 0))))
        fail_msg("%s(%g, %g) is %g, expected %g", sr_op_table[op].name, a, b, out, expected);
}

TEST(special_powers)
{
    static const double base[] = {0,      1,      -1, 2,      -2,       0.5,      -0.5,
                                  1e-300, -1e300, 4,  1e-310, INFINITY, -INFINITY};
    static const double power[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   -3,
                                   0.5,
                                   -0.5,
                                   4503599627370497.0,
                                   9007199254740993.0,
                                   1e300,
                                   -1e300,
                                   1e-300,
                                   700.5,
                                   INFINITY,
                                   -INFINITY};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        for (size_t k = 0; k < sizeof power / sizeof *power; k++)
            same(SR_POW, base[i], power[k]);
}

TEST(infinities_and_domains)
{
    static const struct {
        enum sr_op op;
        double a, expected;
    } cases[] = {
        {SR_EXP, INFINITY, INFINITY},
        {SR_EXP, -INFINITY, 0},
        {SR_EXP, 709.79, INFINITY},
        {SR_LOG, INFINITY, INFINITY},
        {SR_LOG, 0, -INFINITY},
        {SR_LOG, -1, NAN},
        {SR_SIN, INFINITY, NAN},
        {SR_COS, -INFINITY, NAN},
        {SR_TAN, INFINITY, NAN},
        {SR_ASIN, 1.5, NAN},
        {SR_ASIN, -1, -1.5707963267948966},
        {SR_ACOS, -1.0001, NAN},
        {SR_ACOS, 1.0001, NAN},
        {SR_ACOS, 1, 0},
        {SR_ACOS, -1, 3.1415926535897931},
        {SR_ATAN, INFINITY, 1.5707963267948966},
        {SR_SINH, 711, INFINITY},
        {SR_SINH, -1e9, -INFINITY},
        {SR_COSH, -711, INFINITY},
        {SR_TANH, -INFINITY, -1},
        {SR_TANH, 30, 1},
        {SR_SIN, 0, 0},
        {SR_SQRT, -1, NAN},
        {SR_INV, 0, INFINITY},
        {SR_EXP, NAN, NAN},
        {SR_LOG, NAN, NAN},
        {SR_TANH, NAN, NAN},
        {SR_ATAN, NAN, NAN},
        {SR_SINH, NAN, NAN},
        {SR_COSH, NAN, NAN},
        {SR_ACOS, NAN, NAN},
        {SR_SIN, 1e-320, 1e-320},
        {SR_ATAN, -1e-320, -1e-320},
        {SR_TANH, 1e-320, 1e-320},
        {SR_SINH, 1e-320, 1e-320},
        {SR_CBRT, NAN, NAN},
        {SR_CBRT, -8, -2},
        {SR_CBRT, INFINITY, INFINITY},
        {SR_CBRT, -INFINITY, -INFINITY},
        {SR_LOG10, NAN, NAN},
        {SR_LOG10, INFINITY, INFINITY},
        {SR_LOG10, 0, -INFINITY},
        {SR_EXP, 1e-320, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double out = sr_op_table[cases[k].op].value(cases[k].a, 0);
        const double expected = cases[k].expected;
        if (!((isnan(out) && isnan(expected)) || (out >= expected && out <= expected)))
            fail_msg("%s(%g) is %.17g, expected %.17g", sr_op_table[cases[k].op].name, cases[k].a,
                     out, expected);
    }
}

/* ---- variants */

/* Numbers of every kind. */
static double any_number(gsl_rng *rng, int k)
{
    static const double special[] = {0,    -0.0,    1,         -1,      0.5,     INFINITY,
                                     -1e9, -1e-310, -INFINITY, DBL_MAX, DBL_MIN, NAN};
    if (k % 7 == 0)
        return special[(k / 7) % (int)(sizeof special / sizeof *special)];
    const double size = gsl_ran_gaussian(rng, 2) * exp(k % 3 ? 0 : gsl_ran_gaussian(rng, 4));
    return k % 11 ? size : fabs(size);
}

/* NaN of one kind equals that of another. */
static bool same_bits(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

TEST(variants_give_the_same_bits)
{
    gsl_rng *rng = random_stream(62);
    const struct sr_vec *plain = sr_vec_here(ORR_ISA_PLAIN);
    double a[SR_TILE], b[SR_TILE], v[SR_TILE], d[SR_TILE], x[SR_TILE], y[SR_TILE];
    for (int which = ORR_ISA_AVX2; which < ORR_ISA_COUNT; which++) {
        const struct sr_vec *vec = sr_vec_here(which);
        for (int round = 0; round < 40 && vec; round++) {
            const int n = round == 0 ? SR_TILE : 1 + (int)gsl_rng_uniform_int(rng, SR_TILE);
            for (int i = 0; i < n; i++) {
                a[i] = any_number(rng, i + round);
                b[i] = any_number(rng, 3 * i + round);
                d[i] = gsl_ran_gaussian(rng, 1);
            }
            for (int op = SR_FEATURE + 1; op < SR_OPS; op++) {
                const int forms = sr_op_table[op].arity == 2 ? 3 : 1;
                for (int form = forms - 1; form >= 0; form--) {
                    const bool all = plain->apply(op, form, n, a, b, x);
                    assert_int_equal(vec->apply(op, form, n, a, b, v), all);
                    if (!same_bits(x, v, (size_t)n))
                        fail_msg("%s, form %d, %s", sr_op_table[op].name, form,
                                 orr_isa_name((enum orr_isa)which));
                    bool expected = true;
                    for (int i = 0; i < n; i++)
                        expected = expected && isfinite(x[i]);
                    assert_int_equal(all, expected);
                }
                for (int operand = 0; operand < sr_op_table[op].arity; operand++) {
                    plain->chain(op, operand, n, a, b, v, d, x);
                    vec->chain(op, operand, n, a, b, v, d, y);
                    if (!same_bits(x, y, (size_t)n))
                        fail_msg("slope of %s, %s", sr_op_table[op].name,
                                 orr_isa_name((enum orr_isa)which));
                }
            }
        }
    }
    gsl_rng_free(rng);
}

/* Where the forms of vector and scalar code differ: denormal and overflowing exponentials, ends of
 * the table of logarithms, denormals and powers of two, angles near multiples of pi / 2 and near
 * the largest that are reduced, two groups of eight with one odd row among them. */
TEST(edges_give_the_same_bits)
{
    enum { ROUNDS = 200 };
    static const enum sr_op ops[] = {SR_EXP, SR_LOG, SR_SIN, SR_COS, SR_SQRT, SR_INV};
    gsl_rng *rng = random_stream(65);
    const struct sr_vec *plain = sr_vec_here(ORR_ISA_PLAIN);
    double a[16], x[16], y[16];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 16; i++) {
            const double u = gsl_rng_uniform(rng), small = ldexp(u, -60 + round % 16);
            const double pick[] = {-746.5 + 39 * u,
                                   709.5 + u,
                                   (1 + round % 40) / 64.0 * (1 + small),
                                   ldexp(1 + round % 2 * u, -1074 + round % 60),
                                   ldexp(1 - small, round % 40 - 20),
                                   (round * 16 + i) * 1.5707963267948966 * (1 + small),
                                   (1e5 - 1 + 2 * u) * (i % 2 ? 1 : -1)};
            a[i] = pick[i == round % 16 ? round % 7 : (round / 7) % 7];
        }
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            for (int which = ORR_ISA_AVX2; which < ORR_ISA_COUNT; which++) {
                const struct sr_vec *vec = sr_vec_here(which);
                const int n = 16 - round % 9;
                if (!vec)
                    continue;
                const bool all = plain->apply((int)ops[k], SR_VEC_ROWS, n, a, a, x);
                memcpy(y, a, sizeof y); /* in place */
                assert_int_equal(vec->apply((int)ops[k], SR_VEC_ROWS, n, y, y, y), all);
                if (!same_bits(x, y, (size_t)n))
                    fail_msg("%s of numbers like %.17g by %s", sr_op_table[ops[k]].name, a[0],
                             orr_isa_name((enum orr_isa)which));
                for (int i = 0; i < n; i++) {
                    const double alone = sr_op_table[ops[k]].value(a[i], 0);
                    assert_true(same_bits(&alone, &x[i], 1));
                }
            }
    }
    gsl_rng_free(rng);
}

/* ---- the median of ratios */

struct ratio {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct ratio *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

/* By sorting. Weights are whole numbers: sums are exact. */
static double sorted_median(const double *p, const double *t, size_t n, struct ratio *ratio)
{
    double total = 0, below = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0) {
            ratio[count++] = (struct ratio){t[i] / p[i], fabs(p[i])};
            total += fabs(p[i]);
        }
    qsort(ratio, count, sizeof *ratio, by_value);
    for (size_t i = 0; i < count; i++) {
        below += ratio[i].weight;
        if (2 * below >= total)
            return ratio[i].value;
    }
    return NAN;
}

/* Both signs, ties, zeros, long tails, of any number of rows: the very same number. */
TEST(median_ratio_by_sorting)
{
    enum { MOST = 3000 };
    static double p[MOST], t[MOST], scratch[2 * MOST + SR_SCRATCH];
    static struct ratio ratio[MOST];
    gsl_rng *rng = random_stream(66);
    for (int round = 0; round < 1200; round++) {
        const size_t n = 1 + gsl_rng_uniform_int(rng, round % 5 ? 300 : MOST);
        const int kind = round % 7;
        for (size_t i = 0; i < n; i++) {
            const double u = gsl_rng_uniform(rng);
            p[i] = kind == 6 ? 1 : 1 + floor((kind % 2 ? 7 : 1000) * u);
            if (kind > 1 && kind < 6 && gsl_rng_uniform(rng) < 0.4)
                p[i] = gsl_rng_uniform(rng) < 0.2 ? 0 : -p[i];
            t[i] = kind == 2   ? floor(5 * gsl_rng_uniform(rng)) * p[i]
                   : kind == 3 ? 3 * p[i]
                   : kind == 4 ? exp(10 * gsl_ran_gaussian(rng, 1)) - 1
                   : kind == 6 ? (double)(i % 2) + 0.1 * u /* half below every end in a gap */
                               : gsl_ran_gaussian(rng, 1);
        }
        const double expected = sorted_median(p, t, n, ratio);
        for (int which = 0; which < ORR_ISA_COUNT; which++) {
            const struct sr_vec *vec = sr_vec_here(which);
            if (!vec || (which == ORR_ISA_PLAIN && round % 8))
                continue;
            const double found = sr_vec_median_ratio(vec, p, t, n, scratch);
            if (!(found >= expected && found <= expected) && !(isnan(found) && isnan(expected)))
                fail_msg("%zu rows of kind %d by %s: %.17g, expected %.17g", n, kind,
                         orr_isa_name((enum orr_isa)which), found, expected);
        }
    }
    gsl_rng_free(rng);
}

/* Sums and selections of any length. */
TEST(sums_give_the_same_bits)
{
    enum { MOST = 700 };
    gsl_rng *rng = random_stream(64);
    const struct sr_vec *plain = sr_vec_here(ORR_ISA_PLAIN);
    double a[MOST], b[MOST], c[MOST], d[MOST], x[MOST], y[MOST], one[2], two[2];
    for (int which = ORR_ISA_AVX2; which < ORR_ISA_COUNT; which++) {
        const struct sr_vec *vec = sr_vec_here(which);
        for (int round = 0; round < 200 && vec; round++) {
            const size_t n = 1 + gsl_rng_uniform_int(rng, MOST);
            for (size_t i = 0; i < MOST; i++) {
                a[i] = i % 17 ? gsl_ran_gaussian(rng, 1) : 0;
                b[i] = gsl_ran_gaussian(rng, 1);
                x[i] = y[i] = 77;
            }
            assert_true(plain->sum(a, n) == vec->sum(a, n));
            assert_true(plain->dot(a, b, n) == vec->dot(a, b, n));
            if (plain->below(a, b, n, 0.3) != vec->below(a, b, n, 0.3))
                fail_msg("%s %zu %.17g %.17g", orr_isa_name((enum orr_isa)which), n,
                         plain->below(a, b, n, 0.3), vec->below(a, b, n, 0.3));
            plain->products(a, b, round % 2 ? a : NULL, n, one);
            vec->products(a, b, round % 2 ? a : NULL, n, two);
            assert_true(same_bits(one, two, 2));
            for (int kind = ORR_SR_L1; kind <= ORR_SR_QUANTILE; kind++) {
                const struct sr_vec_loss loss = {.kind = (enum orr_symreg_loss)kind,
                                                 .parameter = 0.5,
                                                 .t = b,
                                                 .weight = round % 3 ? a : NULL};
                one[0] = plain->loss(&loss, a, 0.7, n);
                two[0] = vec->loss(&loss, a, 0.7, n);
                assert_true(same_bits(one, two, 1));
            }
            plain->divide(b, a, n, x);
            vec->divide(b, a, n, y);
            assert_true(same_bits(x, y, MOST));
            if (n >= SR_VEC_FEW) {
                plain->between(a, b, 0.2, 0.4, one);
                vec->between(a, b, 0.2, 0.4, two);
                assert_true(same_bits(one, two, 2));
            }
            const double end[2] = {-0.5, 0.6};
            uint64_t in[MOST / 64 + 1], same_in[MOST / 64 + 1];
            plain->split(a, b, n, end, one, in);
            vec->split(a, b, n, end, two, same_in);
            assert_true(same_bits(one, two, 2));
            assert_memory_equal(in, same_in, (n + 63) / 64 * sizeof *in);
            memcpy(x, a, sizeof x);
            memcpy(c, b, sizeof c);
            memcpy(y, a, sizeof y);
            memcpy(d, b, sizeof d);
            const size_t left = plain->keep_pairs(x, c, n, -0.5, 0.6);
            assert_int_equal(left, vec->keep_pairs(y, d, n, -0.5, 0.6));
            assert_true(same_bits(x, y, left) && same_bits(c, d, left));
        }
    }
    gsl_rng_free(rng);
}

/* Bodies that are integrated with their derivatives: numbers as the header defines them. */
TEST(paths_give_the_bits_of_their_definition)
{
    enum { MOST = 80, PARTS = 4 };
    gsl_rng *rng = random_stream(65);
    double x[PARTS][MOST], y[3 * MOST], out[3 * MOST], by[2][3 * MOST], add[MOST];
    for (int which = ORR_ISA_PLAIN; which < ORR_ISA_COUNT; which++) {
        const struct sr_vec *vec = sr_vec_here(which);
        for (size_t n = 1; n <= MOST && vec; n++) {
            const double weight[PARTS] = {0.3, -1.7, 0.012, 2.1};
            const double *const rate[PARTS] = {x[0], x[1], x[2], x[3]};
            const struct sr_vec_pull pull = {{0.6, -0.48, 0.64}, -2.3, 0.87};
            for (size_t k = 0; k < MOST; k++) {
                add[k] = gsl_ran_gaussian(rng, 1);
                for (int j = 0; j < PARTS; j++)
                    x[j][k] = y[k] = gsl_ran_gaussian(rng, 1);
            }
            for (size_t k = 0; k < sizeof out / sizeof *out; k++)
                by[0][k] = gsl_ran_gaussian(rng, 1), by[1][k] = gsl_ran_gaussian(rng, 1);
            vec->advance(PARTS, weight, rate, y, n, out);
            for (size_t k = 0; k < n; k++)
                assert_true(out[k] == y[k] + 0.3 * x[0][k] + -1.7 * x[1][k] + 0.012 * x[2][k] +
                                          2.1 * x[3][k]);
            vec->subtract(0.7, x[0], n, y);
            vec->bend((int)(n % 3 + 1), &pull, n, by[0], by[1], add, out);
            for (size_t k = 0; k < n; k++) {
                double along = 0;
                assert_true(y[k] == x[3][k] - 0.7 * x[0][k]);
                for (size_t d = 0; d <= n % 3; d++)
                    along += pull.away[d] * (by[0][d * n + k] - by[1][d * n + k]);
                along = along * pull.slope + add[k];
                for (size_t d = 0; d <= n % 3; d++)
                    assert_true(out[d * n + k] ==
                                pull.ratio * (by[0][d * n + k] - by[1][d * n + k]) +
                                    along * pull.away[d]);
            }
        }
    }
    gsl_rng_free(rng);
}

/* Products of one to nine vectors with columns: every sum over the rows in order, whatever the
 * instruction set and however many vectors there are. */
TEST(correlations_are_sums_in_order)
{
    enum { VECTORS = 9, ROWS = 37, APART = ROWS + 3 };
    static float v[VECTORS][APART], column[ROWS][SR_VEC_COLUMNS], c[VECTORS + 1][SR_VEC_COLUMNS];
    gsl_rng *rng = random_stream(65);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < VECTORS; k++)
            v[k][i] = (float)gsl_ran_gaussian(rng, 2.385);
        for (int f = 0; f < SR_VEC_COLUMNS; f++)
            column[i][f] = (float)gsl_ran_gaussian(rng, 0.77);
    }
    for (int which = 0; which < ORR_ISA_COUNT; which++) {
        const struct sr_vec *vec = sr_vec_here(which);
        for (int vectors = 1; vectors <= VECTORS && vec; vectors++) {
            memset(c, 0, sizeof c);
            vec->correlate(vectors, v[0], APART, column[0], ROWS, c[0]);
            for (int k = 0; k <= vectors; k++)
                for (int f = 0; f < SR_VEC_COLUMNS; f++) {
                    float sum = 0;
                    for (int i = 0; i < ROWS && k < vectors; i++)
                        sum += v[k][i] * column[i][f];
                    if (sum != c[k][f])
                        fail_msg("%s: vector %d of %d, column %d: %.9g, expected %.9g",
                                 orr_isa_name((enum orr_isa)which), k, vectors, f, (double)c[k][f],
                                 (double)sum);
                }
        }
    }
    gsl_rng_free(rng);
}

/* L L' = K and K^-1 K = 1 to rounding, with the same bits from every variant; a matrix that is not
 * positive definite is refused wherever the first pivot fails. */
TEST(matrices_are_factorised_and_inverted)
{
    enum { MOST = 40 };
    gsl_rng *rng = random_stream(66);
    for (int n = 8; n <= MOST; n += 8) {
        static double k[MOST * MOST], l[MOST * MOST], x[MOST * MOST], inverse[MOST * MOST],
            first[2][MOST * MOST];
        const size_t size = (size_t)n * (size_t)n * sizeof *k;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                k[i * n + j] = k[j * n + i] =
                    exp(-0.1 * (i - j) * (i - j)) * gsl_rng_uniform(rng) + (i == j ? n : 0);
        for (int which = 0; which < ORR_ISA_COUNT; which++) {
            const struct sr_vec *vec = sr_vec_here(which);
            if (!vec)
                continue;
            memcpy(l, k, size);
            assert_true(vec->factorise(l, n));
            vec->invert(l, n, x, inverse);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double product = 0, one = 0;
                    for (int m = 0; m < n; m++) {
                        product += l[i * n + m] * l[j * n + m];
                        one += inverse[i > m ? i * n + m : m * n + i] * k[m * n + j];
                    }
                    assert_true(fabs(product - k[i * n + j]) < 1e-13 * n);
                    assert_true(fabs(one - (i == j)) < 1e-13 * n);
                    assert_true(j <= i || l[i * n + j] == 0);
                }
            if (which == 0) {
                memcpy(first[0], l, size);
                memcpy(first[1], inverse, size);
            }
            assert_true(same_bits(first[0], l, (size_t)(n * n)));
            assert_true(same_bits(first[1], inverse, (size_t)(n * n)));
            for (int i = 0; i < n; i++) {
                memcpy(l, k, size);
                l[i * n + i] = -0.2385;
                assert_false(vec->factorise(l, n));
            }
        }
    }
    gsl_rng_free(rng);
}

/* Losses, scales and fits of whole formulas, by every variant. */
TEST(results_do_not_depend_on_the_variant)
{
    struct table t;
    gsl_rng *rng = random_stream(63);
    table_create(&t, 1003, 60, true);
    for (size_t i = 0; i < 1003; i++)
        t.y[i] = t.x[i] * t.x[1003 + i] + gsl_ran_gaussian(rng, 1);
    double *weight = orr_alloc(1003, sizeof *weight);
    assert_non_null(weight);
    for (size_t i = 0; i < 1003; i++)
        weight[i] = gsl_rng_uniform(rng);
    for (int kind = ORR_SR_L1; kind <= ORR_SR_QUANTILE; kind++)
        for (int k = 0; k < 60; k++) {
            const struct sr_expr expr = random_formula(rng, 3 + k % 12);
            t.data.weight = k % 2 ? weight : NULL;
            double first[3] = {0};
            for (int which = 0; which < ORR_ISA_COUNT; which++) {
                const struct sr_vec *vec = sr_vec_here(which);
                struct sr_work work;
                struct sr_loss loss;
                double result[3] = {NAN, NAN, NAN};
                if (!vec)
                    continue;
                orr_isa_force((enum orr_isa)which);
                assert_int_equal(sr_work_init(&work, 1003, 20), 0);
                assert_int_equal(sr_loss_init(&loss, (enum orr_symreg_loss)kind, &t.data), 0);
                if (sr_eval(&expr, &t.data, work.value)) {
                    struct sr_expr fitted = expr;
                    result[0] = sr_loss_scale(&loss, work.value, work.scratch);
                    result[1] = sr_loss_value(&loss, work.value, result[0]);
                    result[2] = sr_constants_fit(&loss, &fitted, true, 3, 0, rng, &work);
                }
                if (which == 0)
                    memcpy(first, result, sizeof first);
                else if (!same_bits(first, result, 3))
                    fail_msg("loss %d of %s: %.17g %.17g %.17g by %s, %.17g %.17g %.17g plain",
                             kind, text_of(&expr), result[0], result[1], result[2],
                             orr_isa_name((enum orr_isa)which), first[0], first[1], first[2]);
                sr_loss_free(&loss);
                sr_work_free(&work);
            }
        }
    orr_isa_force(ORR_ISA_COUNT);
    free(weight);
    table_free(&t);
    gsl_rng_free(rng);
}

TESTS(NULL, NULL)
