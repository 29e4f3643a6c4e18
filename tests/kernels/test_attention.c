/* test_attention.c - every line of the table: the cpu backend against the reference over many
 * shapes, known weights, causality, windows, zero vectors and extreme powers. */
#include "attention_case.h"
#include "phi.h"

#include <limits.h>

#ifdef K_TEST_CUDA
enum { ON_CUDA = true };
#else
enum { ON_CUDA = false };
#endif

/* Powers enlarge rounding by their own size. */
static double tolerance(const struct attention *a)
{
    return a->shape.variant->reweight ? 3e-5 * (1 + a->shape.power) : 2e-5;
}

static void compare(const struct attention *a)
{
    struct outputs expected = {0}, own[2] = {{0}}, generic[2] = {{0}};
    char what[128];
    snprintf(what, sizeof what, "%s, T %d, H %d, D %d, window %d, p %g", a->shape.variant->name,
             a->shape.T, a->shape.H, a->shape.D, a->shape.window, a->shape.power);
    run(&k_ref, a, false, &expected);
    for (int i = 0; i < 2; i++) {
        /* bf16 is for matrices of weights; of CUDA also for attention: cuda_fused.c */
        assert_int_equal(k_cpu()->open(1 + i, i == 1 && !ON_CUDA), 0);
        run(k_cpu(), a, false, &own[i]);
        run(k_cpu(), a, true, &generic[i]);
        outputs_near(what, &own[i], &expected, tolerance(a));
        outputs_near(what, &generic[i], &expected, tolerance(a));
    }
    outputs_same(what, &own[0], &own[1]);
    outputs_same(what, &generic[0], &generic[1]);
    outputs_free(&expected);
    for (int i = 0; i < 2; i++) {
        outputs_free(&own[i]);
        outputs_free(&generic[i]);
    }
}

/* Moves the inputs away from ill-conditioned rows. In a few dimensions some queries are nearly 0
 * and their rows nearly uniform, where re-weighting has condition number 1 / (max(n A) - 1); rows
 * of relu, squares and the identity under an l1 have 1 / max |s|, so that keys get their queries
 * added (rows without positive scores have their own test). */
static void make_well_conditioned(const struct attention *a)
{
    const struct k_attention_shape *s = &a->shape;
    const bool under_l1 = s->variant->norm == K_NORM_L1 && phi_has_corner(s->variant->phi);
    const int part = s->H * s->D;
    for (int i = 0; i < s->B * s->T * part; i++) {
        real *q = a->qkv + (size_t)(i / part * 3 * part + i % part);
        if (s->D <= 4)
            *q += (real)copysign(0.5, (double)*q);
        if (under_l1)
            q[part] += *q;
    }
}

/* Every line over lengths and head sizes around the widths of vectors and tiles. */
TEST(agrees_with_reference)
{
    static const int T[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 47, 64, 65, 130};
    static const int D[] = {8, 1, 24, 4, 33, 16, 64, 80, 2};
    static const int window[] = {0, 1, 4, 7, 2, 40};
    static const double p[] = {2.5, 15, 1, 3, 50};
    int turn = 0;
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int t = 0; t < 15; t++)
            for (int w = 0; w < (T[t] < 60 ? 6 : 1); w++, turn++) {
                if (turn % step_of_cases())
                    continue;
                const int B = T[t] < 20 ? 3 : 1, H = 1 + turn % 3;
                struct attention a =
                    make(v->name, B, T[t], H, D[turn % 9], p[turn % 5], window[(w + t) % 6]);
                make_well_conditioned(&a);
                compare(&a);
                drop(&a);
            }
    k_cpu()->close();
}

/* Heads wider than a tile, of odd sizes too, and sequences of several tiles whose windows begin and
 * end at their edges. */
TEST(many_tiles)
{
    static const char *const lines[] = {"softmax",    "lssar",   "softmax_recentred_l1",
                                        "rw_sigmoid", "relu_li", "phi_gelu"};
    static const int sizes[][3] = {/* T, D, window */
                                   {5, 65, 0},   {66, 128, 0},  {3, 255, 2},   {65, 256, 40},
                                   {70, 193, 0}, {200, 8, 64},  {200, 4, 65},  {193, 3, 63},
                                   {200, 8, 0},  {200, 12, 70}, {200, 8, 129}, {129, 64, 1}};
    for (int k = 0; k < 12; k++)
        for (int i = k % 3; i < 6; i += 3) {
            struct attention a =
                make(lines[i], 1, sizes[k][0], 2, sizes[k][1], k % 2 ? 15 : 2.5, sizes[k][2]);
            make_well_conditioned(&a);
            compare(&a);
            drop(&a);
        }
    k_cpu()->close();
}

/* Rows first .. end - 1 alone, with anything behind them, are those of the whole pass. */
static void check_rows_alone(const struct attention *a, const struct k_ops *ops, bool generic,
                             int first, int end)
{
    const struct k_attention_shape *s = &a->shape;
    const size_t row = (size_t)s->H * (size_t)s->D, T = (size_t)s->T;
    struct k_attention_shape some = *s;
    struct outputs o = {0};
    real *all = output(&o, "all", a->n), *out = output(&o, "out", a->n);
    real *qkv = output(&o, "qkv", 3 * a->n);
    real *row_stats = output(&o, "saved", k_attention_row_stats(NULL, s));
    int (*forward)(real *, real *, const real *, const struct k_attention_shape *) =
        generic ? ops->attention_generic_forward : ops->attention_forward;
    memcpy(qkv, a->qkv, 3 * a->n * sizeof *qkv);
    for (size_t b = 0; b < (size_t)s->B; b++)
        for (size_t i = (b * T + (size_t)end) * 3 * row; i < (b + 1) * T * 3 * row; i++)
            qkv[i] = 100;
    some.first = first;
    some.end = end;
    assert_int_equal(forward(all, a->row_stats, a->qkv, s), 0);
    assert_int_equal(forward(out, row_stats, qkv, &some), 0);
    for (size_t b = 0; b < (size_t)s->B; b++)
        for (int t = first; t < end; t++) {
            const size_t at = (b * T + (size_t)t) * row;
            if (memcmp(all + at, out + at, row * sizeof *out))
                fail_msg("%s, %s, T %d, H %d, D %d, window %d: row %d of %d to %d is another one",
                         ops->name, s->variant->name, s->T, s->H, s->D, s->window, t, first, end);
            for (size_t h = 0; h < (size_t)s->H; h++) {
                const size_t degenerate = (b * (size_t)s->H + h) * T + (size_t)t;
                assert_int_equal(row_stats[degenerate] == 0, a->row_stats[degenerate] == 0);
            }
        }
    outputs_free(&o);
}

TEST(rows_alone)
{
    static const int sizes[][4] = {/* T, D, window, first row */
                                   {1, 8, 0, 0},  {9, 4, 0, 5},     {33, 24, 4, 32},
                                   {70, 8, 0, 9}, {130, 8, 0, 129}, {200, 12, 70, 100}};
    assert_int_equal(k_cpu()->open(2, false), 0);
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int k = 0; k < 6; k++) {
            const int T = sizes[k][0], first = sizes[k][3];
            struct attention a = make(v->name, 2, T, 3, sizes[k][1], 2.5, sizes[k][2]);
            for (int more = 0; more < 2; more++) {
                const int end = more ? (first + T + 1) / 2 : first + 1;
                check_rows_alone(&a, &k_ref, false, first, end);
                check_rows_alone(&a, k_cpu(), false, first, end);
                check_rows_alone(&a, k_cpu(), true, first, end);
            }
            drop(&a);
        }
    k_cpu()->close();
}

/* A = (0.4, 0.3, 0.2, 0.1): n A - 1 = (0.6, 0.2, <0, <0), squared and normed (0.9, 0.1, 0, 0). */
TEST(known_weights)
{
    static const double weight[4] = {0.4, 0.3, 0.2, 0.1};
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (int reweight = 0; reweight < 2; reweight++) {
            struct attention a = make(reweight ? "rw_softmax" : "softmax", 1, 4, 1, 4, 2, 0);
            for (int t = 0; t < 4; t++) {
                fill_vector(&a, t, 0, 0);
                fill_vector(&a, t, 1, 0);
                at(&a, 0, t, 0, 0)[0] = 2; /* sqrt(D) */
                at(&a, 0, t, 1, 0)[0] = (real)log(weight[t]);
            }
            struct outputs o = {0};
            assert_int_equal((*all)->open(1, false), 0);
            run(*all, &a, false, &o);
            for (int c = 0; c < 4; c++) {
                double row = 0, third = 0;
                for (int t = 0; t < 4; t++)
                    row += (reweight ? (const double[]){0.9, 0.1, 0, 0} : weight)[t] *
                           (double)at(&a, 0, t, 2, 0)[c];
                /* three keys are not shifted: (4, 3, 2) squared or as they are */
                const double sum = reweight ? 29 : 9;
                for (int t = 0; t < 3; t++)
                    third +=
                        (reweight ? pow(4 - t, 2) : 4 - t) / sum * (double)at(&a, 0, t, 2, 0)[c];
                assert_near((double)o.item[0].data[12 + c], row, 1e-5);
                assert_near((double)o.item[0].data[8 + c], third, 1e-5);
                assert_near((double)o.item[0].data[c], (double)at(&a, 0, 0, 2, 0)[c], 1e-6);
            }
            (*all)->close();
            outputs_free(&o);
            drop(&a);
        }
}

/* Whether row `at` of the first output, `count` reals, is 0. */
static bool is_zero(const struct outputs *o, size_t at, int count)
{
    for (int i = 0; i < count; i++)
        if (o->item[0].data[at + (size_t)i] != 0)
            return false;
    return true;
}

/* Position `moved` may change rows [moved, moved + window) and no other, gradients alike. */
TEST(nothing_looks_ahead_or_beyond_the_window)
{
    static const int windows[] = {0, 1, 4, 7};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int w = 0; w < 4; w++) {
                enum { T = 37, D = 8, H = 2, MOVED = 19 };
                struct attention a = make(v->name, 1, T, H, D, 2.5, windows[w]);
                const int end = windows[w] ? MOVED + windows[w] : T;
                struct outputs before = {0}, after = {0}, back = {0};
                run(*all, &a, false, &before);
                for (int which = 0; which < 3; which++)
                    for (int c = 0; c < H * D; c++)
                        at(&a, 0, MOVED, which, 0)[c] += (real)(1 + c % 3);
                run(*all, &a, false, &after);
                int changed = 0, degenerate = 0;
                for (int t = 0; t < T; t++) {
                    const size_t row = (size_t)t * H * D;
                    const bool same = !memcmp(before.item[0].data + row, after.item[0].data + row,
                                              H * D * sizeof(real));
                    if ((t < MOVED || t >= end) && !same)
                        fail_msg("%s, window %d: position %d changes row %d", v->name, windows[w],
                                 MOVED, t);
                    changed += !same;
                    degenerate += t >= MOVED && t < end && is_zero(&before, row, H * D) &&
                                  is_zero(&after, row, H * D);
                }
                /* rows that cannot be normalised are 0 before and after: ln 1 is 0, so that all
                 * scores of a cosine are at window 1 */
                if (changed == 0 && degenerate < (end < T ? end : T) - MOVED)
                    fail_msg("%s, window %d: position %d changes nothing", v->name, windows[w],
                             MOVED);
                /* a gradient that enters at row MOVED reaches (MOVED - window, MOVED] only */
                for (size_t i = 0; i < a.n; i++)
                    a.dout[i] = i / (H * D) == MOVED ? 1 : 0;
                run(*all, &a, false, &back);
                for (size_t i = 0; i < 3 * a.n; i++) {
                    const int t = (int)(i / (3 * H * D));
                    if ((t > MOVED || (windows[w] && t <= MOVED - windows[w])) &&
                        back.item[1].data[i] != 0)
                        fail_msg("%s, window %d: row %d has a gradient at position %d", v->name,
                                 windows[w], MOVED, t);
                }
                outputs_free(&before);
                outputs_free(&after);
                outputs_free(&back);
                drop(&a);
            }
        (*all)->close();
    }
}

/* A window as long as the sequence, and the longest that settings allow, is none: the same bits. */
TEST(a_window_of_all_is_none)
{
    enum { T = 70, D = 8 };
    static const int windows[] = {T, T + 1, INT_MAX - 100, INT_MAX - T, INT_MAX};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int generic = 0; generic < 2; generic++) {
                struct attention a = make(v->name, 1, T, 1, D, 2.5, 0);
                struct outputs none = {0};
                run(*all, &a, generic, &none);
                for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
                    struct outputs whole = {0};
                    a.shape.window = windows[w];
                    run(*all, &a, generic, &whole);
                    outputs_same(v->name, &none, &whole);
                    outputs_free(&whole);
                }
                outputs_free(&none);
                drop(&a);
            }
        (*all)->close();
    }
}

/* Rows that only one of two passes calls degenerate become 0 in both. Sums of softplus, gelu and
 * mish vanish in double where scores are below -745, or -38: the reference is degenerate there, the
 * cpu backend has the limit. */
static void forget_vanished_rows(const struct attention *a, const real *row_stats,
                                 struct outputs *one, struct outputs *two)
{
    const int T = a->shape.T, H = a->shape.H, D = a->shape.D;
    const enum k_phi phi = a->shape.variant->phi;
    const bool may = phi == K_PHI_SOFTPLUS || phi == K_PHI_GELU || phi == K_PHI_MISH;
    for (int i = 0; i < H * T; i++)
        if ((row_stats[i] == 0) != (a->row_stats[i] == 0)) {
            const size_t row = ((size_t)(i % T) * (size_t)H + (size_t)(i / T)) * (size_t)D;
            if (!may || row_stats[i] != 0)
                fail_msg("%s: row %d of head %d is degenerate on one backend only",
                         a->shape.variant->name, i % T, i / T);
            memset(one->item[0].data + row, 0, (size_t)D * sizeof(real));
            memset(two->item[0].data + row, 0, (size_t)D * sizeof(real));
        }
}

/* Tiny and huge vectors, an exact zero query and key, p = 50: everything stays finite and equals
 * the reference. */
TEST(extremes_stay_finite)
{
    static const double scales[] = {1e-15, 1e-6, 30};
    enum { T = 33, H = 2, D = 8 };
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int k = 0; k < 3; k++) {
            struct attention a = make(v->name, 1, T, H, D, 50, 0);
            for (size_t i = 0; i < 3 * a.n; i++)
                if (i / (H * D) % 3 < 2) /* q and k */
                    a.qkv[i] *= (real)scales[k];
            fill_vector(&a, 7, 0, 0);
            fill_vector(&a, 9, 1, 0);
            struct outputs expected = {0}, found = {0};
            real row_stats[H * T];
            assert_int_equal(k_cpu()->open(2, false), 0);
            run(&k_ref, &a, true, &expected);
            memcpy(row_stats, a.row_stats, sizeof row_stats);
            run(k_cpu(), &a, true, &found);
            for (int i = 0; i < 2; i++)
                for (size_t j = 0; j < found.item[i].n; j++)
                    if (!isfinite(expected.item[i].data[j]) || !isfinite(found.item[i].data[j]))
                        fail_msg("%s at scale %g: %s is not finite", v->name, scales[k],
                                 found.item[i].name);
            char what[64];
            snprintf(what, sizeof what, "%s at scale %g", v->name, scales[k]);
            forget_vanished_rows(&a, row_stats, &expected, &found);
            found.count = expected.count = 1; /* gradients of tiny vectors have no fixed scale */
            outputs_near(what, &found, &expected, 2e-3);
            found.count = expected.count = 2;
            outputs_free(&expected);
            outputs_free(&found);
            drop(&a);
        }
    k_cpu()->close();
}

TEST(table_is_sound)
{
    assert_null(k_attention_find("hardmax"));
    assert_null(k_attention_find(""));
    for (const struct k_attention *v = k_attention_table; v->name; v++) {
        assert_ptr_equal(k_attention_find(v->name), v);
        if (!*v->source || (v->reweight && !k_attention_reweightable(v)))
            fail_msg("%s: no source, or re-weighting of weights that do not sum to one", v->name);
        struct k_attention_shape shape = {.B = 2, .T = 3, .H = 5, .D = 4, .variant = v, .power = 3};
        if (k_attention_row_stats(NULL, &shape) < 2 * 3 * 5)
            fail_msg("%s: saves less than a number per row", v->name);
    }
}

TESTS(NULL, NULL)
