/* orbit.c - motion of a planet around a fixed star under a law that a person wrote. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/orrery.h"
#include "base/error.h"
#include "formula/expr.h"

#define TOLERANCE         1e-11 /* of a step's relative error */
#define PICTURE_TOLERANCE 1e-6  /* where it is only drawn */
enum { AXES = 4, STAGES = 7, STEPS_MAX = 200000 };

/* A formula's nodes: an orbit evaluates them thousands of times while a finger moves. */
struct lab_law {
    struct sr_language *language;
    struct sr_expr expr;
    bool drawn; /* for a picture, powers are those of the C library */
};

static char message[1024];

const char *lab_message(void)
{
    return message;
}

int lab_say(int status, const char *text)
{
    strncpy(message, text, sizeof message - 1);
    return status;
}

int lab_note(int status, const void *handle)
{
    return lab_say(status, !status  ? ""
                           : handle ? orrery_message(handle)
                                    : orrery_status_text(status));
}

int lab_law_open(const char *text, struct lab_law **law)
{
    static const char *const names[] = {"r", "v", "GM", "p"};
    struct lab_law *made = *law = calloc(1, sizeof *made);
    if (!made || !(made->language = sr_language_create())) {
        lab_law_free(made);
        *law = NULL;
        return lab_note(ORRERY_ENOMEM, NULL);
    }
    if (!sr_expr_parse(made->language, text, names, 4, &made->expr))
        return lab_note(0, NULL);
    lab_law_free(made);
    *law = NULL;
    return lab_say(ORRERY_EUSAGE, orr_error());
}

void lab_law_free(struct lab_law *law)
{
    if (law)
        sr_language_free(law->language);
    free(law);
}

/* An operator's value: those of sr_op_value(), with the commonest ones and squares, of which an
 * orbit takes tens of thousands, in place. */
static double op_value(const struct lab_law *law, int op, double a, double b)
{
    switch (op) {
    case SR_ADD:
        return a + b;
    case SR_SUB:
        return a - b;
    case SR_MUL:
        return a * b;
    case SR_DIV:
        return a / b;
    default:
        if (op == SR_POW && (b == 2 || law->drawn))
            return b == 2 ? a * a : pow(a, b);
        return sr_op_value(law->language, (enum sr_op)op, a, b);
    }
}

double lab_law_force(struct lab_law *law, double gm, double p, double r, double v)
{
    const double x[] = {r, v, gm, p};
    double stack[SR_NODES];
    int top = 0;
    for (int i = 0; i < law->expr.count; i++) {
        const struct sr_node *node = &law->expr.node[i];
        if (node->op == SR_CONSTANT || node->op == SR_FEATURE) {
            stack[top++] = node->op == SR_CONSTANT ? node->value : x[node->feature];
            continue;
        }
        const bool two = node->size > 1 + law->expr.node[i - 1].size;
        const double b = two ? stack[--top] : 0;
        stack[top - 1] = op_value(law, node->op, stack[top - 1], b);
    }
    return isfinite(stack[0]) ? stack[0] : (double)NAN;
}

struct motion {
    struct lab_law *law;
    double gm, p, tolerance;
};

static void rates(const struct motion *m, const double y[AXES], double dydt[AXES])
{
    const double r = sqrt(y[0] * y[0] + y[1] * y[1]), v = sqrt(y[2] * y[2] + y[3] * y[3]);
    const double f = lab_law_force(m->law, m->gm, m->p, r, v) / r;
    dydt[0] = y[2];
    dydt[1] = y[3];
    dydt[2] = -f * y[0];
    dydt[3] = -f * y[1];
}

/* One step of Dormand and Prince (1980), RK5(4)7M: `next` is of fifth order, and the largest
 * relative difference from the result of fourth order is returned. k[0] are the rates at y; k[6]
 * become those at `next`. */
static double try_step(const struct motion *m, const double y[AXES], double h,
                       double k[STAGES][AXES], double next[AXES])
{
    static const double a[STAGES][STAGES - 1] = {
        {0},
        {1. / 5},
        {3. / 40, 9. / 40},
        {44. / 45, -56. / 15, 32. / 9},
        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
        {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
        {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
    static const double e[STAGES] = {71. / 57600,       0,          -71. / 16695, 71. / 1920,
                                     -17253. / 339200., 22. / 525., -1. / 40};
    double worst = 0;
    for (int s = 1; s < STAGES; s++) {
        for (int c = 0; c < AXES; c++) {
            double sum = 0;
            for (int j = 0; j < s; j++)
                sum += a[s][j] * k[j][c];
            next[c] = y[c] + h * sum;
        }
        rates(m, next, k[s]);
    }
    for (int c = 0; c < AXES; c += 2) {
        const double scale = sqrt(y[c] * y[c] + y[c + 1] * y[c + 1]) + 1e-300;
        for (int i = c; i < c + 2; i++) {
            double sum = 0;
            for (int s = 0; s < STAGES; s++)
                sum += e[s] * k[s][i];
            const double error = fabs(h * sum) / scale;
            worst = error <= worst ? worst : error; /* NaN becomes the worst */
        }
    }
    return worst;
}

/* Moves y by `dt`; *h is the step to try, and then the next one. Returns whether it got there. */
static int advance(const struct motion *m, double y[AXES], double dt, double *h, int *steps)
{
    double k[STAGES][AXES], next[AXES], left = dt;
    rates(m, y, k[0]);
    while (left > 0) {
        const double step = *h < left ? *h : left;
        const double error = try_step(m, y, step, k, next);
        if (--*steps < 0 || step < 1e-13 * dt)
            return 0;
        /* the step grows or shrinks by the fifth root of the error, found by Newton's square roots
         * (a fourth root shrinks a little more), so that no function of libm chooses it */
        double factor = error == 0 ? 4 : 0.9 * sqrt(sqrt(m->tolerance / error)); /* NaN: 0.1 */
        factor = factor > 4 ? 4 : factor > 0.1 ? factor : 0.1;
        if (error <= m->tolerance) {
            left = step < left ? left - step : 0;
            memcpy(y, next, sizeof next);
            memcpy(k[0], k[STAGES - 1], sizeof k[0]);
            if (step == *h || factor < 1)
                *h = step * factor;
        } else {
            *h = step * factor;
        }
    }
    return 1;
}

int lab_orbit(struct lab_law *law, double gm, double p, double dt, int rows, double *track)
{
    const struct motion m = {law, gm, p, TOLERANCE};
    double y[AXES], h = dt / 16;
    int steps = STEPS_MAX;
    memcpy(y, track, sizeof y);
    for (int row = 1; row < rows; row++) {
        if (!advance(&m, y, dt, &h, &steps)) {
            lab_say(0, steps < 0 ? "stops: too many rounds for the page"
                       : hypot(y[0], y[1]) < 1e-3 * hypot(track[0], track[1])
                           ? "ends at the star"
                           : "ends where the law has no value");
            return row;
        }
        memcpy(track + AXES * row, y, sizeof y);
    }
    return rows;
}

int lab_path(struct lab_law *law, double gm, double p, double years, const double *from, int rows,
             double *path)
{
    const struct motion m = {law, gm, p, PICTURE_TOLERANCE};
    double y[AXES], t = 0, h = years / 1e3;
    int steps = STEPS_MAX, row = 0;
    bool moves = true;
    law->drawn = true;
    memcpy(y, from, sizeof y);
    for (; row < rows && moves; row++) {
        memcpy(path + (AXES + 1) * row, y, sizeof y);
        path[(AXES + 1) * row + AXES] = t;
        const double step = h < years - t ? h : years - t;
        moves = step > 0 && advance(&m, y, step, &h, &steps) && h >= 1e-13 * years;
        t += step;
    }
    law->drawn = false;
    return row;
}

/* The direction of the point nearest to the star, which lies less than `dt` after y: by bisection
 * of the product of distance and radial speed. */
static double nearest_angle(const struct motion *m, const double y[AXES], double dt, int *steps)
{
    double low = 0, high = dt, at[AXES];
    memcpy(at, y, sizeof at);
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        double h = middle;
        memcpy(at, y, sizeof at);
        if (!advance(m, at, middle, &h, steps))
            return NAN;
        *(at[0] * at[2] + at[1] * at[3] < 0 ? &low : &high) = middle;
    }
    return atan2(at[1], at[0]);
}

double lab_precession(struct lab_law *law, double gm, double p, double years, const double *from)
{
    const struct motion m = {law, gm, p, TOLERANCE};
    double y[AXES], h = years / 1e4, first = NAN, near = 0, far = 0;
    int steps = STEPS_MAX;
    memcpy(y, from, sizeof y);
    for (double t = 0; t < years;) {
        const double step = h < years - t ? h : years - t;
        double last[AXES];
        memcpy(last, y, sizeof last);
        if (!advance(&m, y, step, &h, &steps) || h < 1e-13 * years)
            return NAN; /* it falls into the star */
        t += step;
        const double r = hypot(y[0], y[1]);
        far = r > far ? r : far;
        if (!(last[0] * last[2] + last[1] * last[3] < 0 && y[0] * y[2] + y[1] * y[3] >= 0))
            continue;
        const double angle = nearest_angle(&m, last, step, &steps);
        if (!isnan(first)) {
            near = r < near ? r : near;
            const double between = angle - first;
            return far > near * (1 + 1e-7) ? atan2(sin(between), cos(between)) : (double)NAN;
        }
        first = angle;
        near = far = r;
    }
    return NAN;
}

void *lab_alloc(size_t bytes)
{
    return malloc(bytes);
}

void lab_free(void *memory)
{
    free(memory);
}
