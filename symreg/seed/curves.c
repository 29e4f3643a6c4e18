/* curves.c - enumerates functions of one variable with up to two constants in order of increasing
 * cost.
 *
 * Constants take values on a coarse grid, and every function carries its derivatives by them. A
 * target is fitted by a f + b and, to first order, by a f(c + d) + b: R^2 is that of f and its
 * derivatives together, provided the resulting shift d is not much larger than c. */
#include "curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "enumerate.h"
#include "shared.h"

enum {
    STORED = 32000, /* functions kept as operands of others */
    CONSTANTS = 2,  /* constants of a function, at most */
    /* up to this cost every part builds all functions; above it each part builds its share */
    SHARED_COST = 7,
    SHALLOW_COST = 6, /* largest cost of functions for targets that are not deep */
    MOST_COST = 9,
};

static const double grid[] = {0.93, -0.93, 0.29, -0.29, 3.1, -3.1};
enum { GRID = sizeof grid / sizeof *grid };

/* Least variance of a direction and of a target, relative to its mean square. */
static const double least_of_direction = 1e-13, least_of_target = 1e-20;

/* An entry's constants, and its derivatives by them. */
struct slopes {
    bool transcendental; /* contains exp, sin, ... */
    double constant[CONSTANTS], slope[CONSTANTS][SR_ROWS];
};

struct curves {
    struct sr_enumeration all;
    struct slopes *slopes; /* (STORED) for the kept entries */
    const struct sr_curve_target *target;
    int targets, part, parts;
    struct sr_curves *found;
};

/* Divides a vector by its length. Vectorised, as it runs for every function. */
static double scale_to_one(double v[SR_ROWS])
{
    const double length = sqrt(sr_dot(v, v, SR_ROWS));
    for (int i = 0; i < SR_ROWS; i++)
        v[i] /= length;
    return length;
}

bool sr_curve_unit(const double value[SR_ROWS], double unit[SR_ROWS])
{
    double mean;
    if (!sr_centre(value, SR_ROWS, least_of_target, unit, &mean))
        return false;
    scale_to_one(unit);
    return true;
}

/* ---- ranking */

/* An entry's value and derivatives, orthonormalised, with the triangular matrix R. */
struct directions {
    int count;
    double q[1 + CONSTANTS][SR_ROWS], r[1 + CONSTANTS][1 + CONSTANTS];
    int constant[1 + CONSTANTS]; /* the constant that belongs to the direction */
};

static bool make_directions(const struct sr_entry *e, const double value[SR_ROWS],
                            const struct slopes *s, struct directions *d)
{
    double mean;
    if (!sr_centre(value, SR_ROWS, least_of_direction, d->q[0], &mean))
        return false;
    d->r[0][0] = scale_to_one(d->q[0]);
    d->count = 1;
    for (int k = 0; k < e->constants; k++) {
        const int n = d->count;
        double *q = d->q[n];
        if (!sr_centre(s->slope[k], SR_ROWS, least_of_direction, q, &mean))
            continue;
        const double before = sr_dot(q, q, SR_ROWS);
        for (int i = 0; i < n; i++) {
            d->r[i][n] = sr_dot(q, d->q[i], SR_ROWS);
            for (int row = 0; row < SR_ROWS; row++)
                q[row] -= d->r[i][n] * d->q[i][row];
        }
        if (!(sr_dot(q, q, SR_ROWS) > 1e-10 * before))
            continue;
        d->r[n][n] = scale_to_one(q);
        d->constant[n] = k;
        d->count++;
    }
    return true;
}

/* Shifts the constants to first order and returns 1 - R^2. If a shift is too large, no constant is
 * shifted, and 1 - R^2 is that of the function alone. */
static double move_constants(const struct slopes *s, const struct directions *d,
                             const double *target, double move[CONSTANTS])
{
    double c[1 + CONSTANTS], rest = 1;
    memset(move, 0, CONSTANTS * sizeof *move);
    for (int k = 0; k < d->count; k++) {
        c[k] = sr_dot(d->q[k], target, SR_ROWS);
        rest -= c[k] * c[k];
    }
    for (int k = d->count - 1; k >= 0; k--) {
        for (int j = k + 1; j < d->count; j++)
            c[k] -= d->r[k][j] * c[j];
        c[k] /= d->r[k][k];
    }
    bool far = false;
    for (int k = 1; k < d->count; k++) {
        const int constant = d->constant[k];
        move[constant] = c[k] / c[0];
        far = far || !(fabs(move[constant]) <= 1.2 * fabs(s->constant[constant]));
    }
    if (!far)
        return fmax(rest, 1e-15);
    memset(move, 0, CONSTANTS * sizeof *move);
    const double plain = sr_dot(d->q[0], target, SR_ROWS);
    return fmax(1 - plain * plain, 1e-15);
}

/* Keeps the function with shifted constants, unless the list has a function of equal shape and no
 * larger score. */
static void keep_function(struct curves *c, int t, const struct sr_entry *e, const struct slopes *s,
                          const double *move, struct sr_curve_found item)
{
    struct sr_curve_found *list = c->found->found[t][e->size];
    int *count = &c->found->count[t][e->size];
    for (int i = 0; i < *count; i++)
        if (list[i].hash == item.hash) {
            if (!(item.score < list[i].score))
                return;
            memmove(list + i, list + i + 1, (size_t)(*count - i - 1) * sizeof *list);
            --*count;
            break;
        }
    sr_enumerate_write(&c->all, e, &item.expr);
    for (int i = 0, n = 0; i < item.expr.count; i++)
        if (item.expr.node[i].op == SR_CONSTANT && n < CONSTANTS)
            item.expr.node[i].value = s->constant[n] + move[n], n++;
    sr_best_insert(list, sizeof item, count, SR_CURVE_KEPT, &item);
}

/* Hash of operators and features; the values of constants do not matter. */
static uint64_t shape_hash(const struct curves *c, const struct sr_entry *e)
{
    struct sr_expr expr;
    uint64_t hash = 0x9E3779B97F4A7C15u;
    sr_enumerate_write(&c->all, e, &expr);
    for (int i = 0; i < expr.count; i++) {
        hash = (hash ^ (uint64_t)sr_op_code(expr.node[i].op)) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void rank_function(struct curves *c, const struct sr_entry *e, const double value[SR_ROWS],
                          const struct slopes *s)
{
    struct directions d;
    if (!make_directions(e, value, s, &d))
        return;
    uint64_t hash = 0;
    for (int t = 0; t < c->targets; t++) {
        if (e->cost > SHALLOW_COST && !c->target[t].deep)
            continue;
        const struct sr_curve_found *list = c->found->found[t][e->size];
        const int count = c->found->count[t][e->size];
        const double worst = count < SR_CURVE_KEPT ? 2 : list[SR_CURVE_KEPT - 1].score;
        double most = 1, move[CONSTANTS];
        for (int k = 0; k < d.count; k++) {
            const double r = sr_dot(d.q[k], c->target[t].unit, SR_ROWS);
            most -= r * r;
        }
        if (!(most < worst))
            continue;
        const double score = move_constants(s, &d, c->target[t].unit, move);
        if (!(score < worst))
            continue;
        hash = hash ? hash : shape_hash(c, e);
        keep_function(c, t, e, s, move, (struct sr_curve_found){.score = score, .hash = hash});
    }
}

/* ---- functions offered by the enumerator */

static bool is_sum(enum sr_op op)
{
    return op == SR_ADD || op == SR_SUB;
}

/* Whether a constant is redundant because another could absorb it: c + (c + x), c (c x), x - c, x /
 * c. */
static bool is_redundant(const struct sr_enumeration *all, enum sr_op op, const struct sr_entry *p,
                         const struct sr_entry *q)
{
    if (q->op == SR_CONSTANT && (op == SR_SUB || op == SR_DIV))
        return true;
    const struct sr_entry *other = p->op == SR_CONSTANT ? q : p;
    if (p->op != SR_CONSTANT && q->op != SR_CONSTANT)
        return false;
    const bool sum = is_sum(op), product = op == SR_MUL || op == SR_DIV;
    if (!((sum && is_sum(other->op)) || (product && (other->op == SR_MUL || other->op == SR_DIV))))
        return false;
    return all->entry[other->a].op == SR_CONSTANT || all->entry[other->b].op == SR_CONSTANT;
}

/* Counts the functions worth an evaluation, and accepts those in this part's share. */
static bool wants_function(void *owner, enum sr_op op, int a, int b)
{
    struct curves *c = owner;
    const struct sr_entry *p = &c->all.entry[a], *q = &c->all.entry[b];
    const bool binary = sr_op(c->all.settings->language, (int)op)->arity == 2;
    const int number = binary ? a + b : a;
    if ((c->all.cost > SHARED_COST && number % c->parts != c->part) ||
        p->constants + (binary ? q->constants : 0) > CONSTANTS ||
        (binary ? is_redundant(&c->all, op, p, q) : op >= SR_EXP && c->slopes[a].transcendental))
        return false;
    c->all.tried++;
    return true;
}

/* Chains an operand's constants and derivatives, stored from index `n` on. Returns the new
 * count. */
static int chain_slopes(const struct curves *c, const struct sr_entry *e, int operand,
                        const double value[SR_ROWS], int n, struct slopes *s)
{
    const int from = operand ? e->b : e->a;
    for (int k = 0; k < c->all.entry[from].constants; k++, n++) {
        s->constant[n] = c->slopes[from].constant[k];
        sr_op_chain(c->all.settings->language, (enum sr_op)e->op, operand, SR_ROWS,
                    c->all.value[e->a], c->all.value[e->b], value, c->slopes[from].slope[k],
                    s->slope[n]);
    }
    return n;
}

static void make_slopes(const struct curves *c, const struct sr_entry *e,
                        const double value[SR_ROWS], struct slopes *s)
{
    const int arity = sr_op(c->all.settings->language, e->op)->arity;
    s->transcendental = e->op >= SR_EXP || (arity > 0 && c->slopes[e->a].transcendental) ||
                        (arity > 1 && c->slopes[e->b].transcendental);
    if (e->op == SR_CONSTANT) {
        s->constant[0] = grid[e->feature];
        sr_fill(s->slope[0], SR_ROWS, 1);
    }
    const int n = arity > 0 ? chain_slopes(c, e, 0, value, 0, s) : 0;
    if (arity > 1)
        chain_slopes(c, e, 1, value, n, s);
}

static void consider_function(void *owner, const struct sr_entry *e, const double value[SR_ROWS])
{
    struct curves *c = owner;
    struct slopes s;
    const int arity = sr_op(c->all.settings->language, e->op)->arity;
    const bool keep = e->cost <= SHARED_COST && c->all.count < STORED;
    make_slopes(c, e, value, &s);
    if (keep && arity > 0 && !sr_enumerate_is_new(&c->all, value, true))
        return;
    /* a f and f + c are already covered by f */
    const bool affine =
        arity == 2 && (e->op == SR_ADD || e->op == SR_SUB || e->op == SR_MUL) &&
        (c->all.entry[e->a].op == SR_CONSTANT || c->all.entry[e->b].op == SR_CONSTANT);
    if (e->op != SR_CONSTANT && !affine && (e->cost > SHARED_COST || c->part == 0))
        rank_function(c, e, value, &s);
    if (keep) {
        c->slopes[c->all.count] = s;
        sr_enumerate_keep(&c->all, e, value);
    }
}

/* ---- the search */

int sr_curves_find(const struct sr_settings *settings, const double x[SR_ROWS],
                   const struct sr_curve_target *target, int targets, double budget, int part,
                   int parts, struct sr_curves *curves)
{
    struct curves c = {.target = target,
                       .targets = targets,
                       .part = part,
                       .parts = parts,
                       .found = curves,
                       .all = {.settings = settings,
                               .grid = grid,
                               .room = STORED,
                               .largest = SR_CURVE_SIZE,
                               .most_cost = MOST_COST,
                               .owner = &c,
                               .wants = wants_function,
                               .offer = consider_function}};
    int rc = sr_enumerate_init(&c.all);
    c.slopes = orr_alloc_unset(STORED, sizeof *c.slopes);
    if (!c.slopes)
        rc = ORR_ENOMEM;
    if (!rc) {
        sr_enumerate_feature(&c.all, 0, x);
        sr_enumerate_constants(&c.all, GRID);
        sr_enumerate_run(&c.all, budget);
    }
    sr_enumerate_free(&c.all);
    free(c.slopes);
    return rc;
}

void sr_curves_merge(struct sr_curves *curves, const struct sr_curves *other, int targets)
{
    for (int t = 0; t < targets; t++)
        for (int size = 1; size <= SR_CURVE_SIZE; size++)
            for (int i = 0; i < other->count[t][size]; i++)
                sr_best_insert(curves->found[t][size], sizeof(struct sr_curve_found),
                               &curves->count[t][size], SR_CURVE_KEPT, &other->found[t][size][i]);
}
