/* curves.c - every function of one variable with up to two constants, by increasing cost.
 *
 * Constants stand on a coarse grid, and every function carries its derivatives by them. A target is
 * met by a f + b and, to first order, by a f(c + d) + b: R^2 is that of f and its derivatives
 * together, as long as the move d that follows from it is no larger than c. */
#include "collapse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STORED = 32000,   /* functions over which others are built */
    TABLE = 1 << 16,  /* of their hashes */
    CONSTANTS = 2,    /* of one function */
    SHARED_COST = 7,  /* up to here all parts build all, above each its share */
    SHALLOW_COST = 6, /* of functions for targets that are not deep */
    MOST_COST = 9,
};

static const double grid[] = {0.93, -0.93, 0.29, -0.29, 3.1, -3.1};
enum { GRID = sizeof grid / sizeof *grid };

struct entry {
    uint8_t op, size, cost, constants;
    bool transcendental; /* holds exp, sin, ... */
    int a, b;            /* operands; of a constant a is its place in the grid */
    double constant[CONSTANTS];
    double value[SR_ROWS], slope[CONSTANTS][SR_ROWS];
};

struct curves {
    const struct sr_settings *settings;
    const struct sr_curve_target *target;
    int targets, count, part, parts;
    double tried, budget;
    struct entry *entry;
    uint32_t *table;
    struct sr_curves *found;
    uint64_t (*hash)[SR_CURVE_SIZE + 1][SR_CURVE_KEPT];
};

static double dot(const double *a, const double *b)
{
    double lane[8] = {0};
    for (int i = 0; i < SR_ROWS; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += a[i + l] * b[i + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static bool centre(const double *value, double *unit, double least)
{
    double sum = 0;
    for (int i = 0; i < SR_ROWS; i++)
        sum += value[i];
    sum /= SR_ROWS;
    for (int i = 0; i < SR_ROWS; i++)
        unit[i] = value[i] - sum;
    const double square = dot(unit, unit), whole = square + SR_ROWS * sum * sum;
    return square > least * whole && isfinite(whole);
}

static double scale_to_one(double *unit)
{
    const double length = sqrt(dot(unit, unit));
    for (int i = 0; i < SR_ROWS; i++)
        unit[i] /= length;
    return length;
}

bool sr_curve_normalise(const double value[SR_ROWS], double unit[SR_ROWS])
{
    if (!centre(value, unit, 1e-20))
        return false;
    scale_to_one(unit);
    return true;
}

/* ---- formulas */

static bool write_entry(const struct curves *c, const struct entry *e, struct sr_expr *expr)
{
    const int arity = sr_op_table[e->op].arity;
    if (arity > 0 && !write_entry(c, &c->entry[e->a], expr))
        return false;
    if (arity > 1 && !write_entry(c, &c->entry[e->b], expr))
        return false;
    if (expr->count == SR_NODES)
        return false;
    expr->node[expr->count++] =
        (struct sr_node){.op = e->op, .value = e->op == SR_CONSTANT ? e->constant[0] : 0};
    return true;
}

/* ---- ranking */

/* An entry's directions: its value and its derivatives, made orthonormal, and the triangle R. */
struct directions {
    int count;
    double q[1 + CONSTANTS][SR_ROWS], r[1 + CONSTANTS][1 + CONSTANTS];
    int constant[1 + CONSTANTS]; /* of which the direction is the derivative */
};

static bool make_directions(const struct entry *e, struct directions *d)
{
    if (!centre(e->value, d->q[0], 1e-13))
        return false;
    d->r[0][0] = scale_to_one(d->q[0]);
    d->count = 1;
    for (int k = 0; k < e->constants; k++) {
        const int n = d->count;
        double *q = d->q[n];
        if (!centre(e->slope[k], q, 1e-13))
            continue;
        const double before = dot(q, q);
        for (int i = 0; i < n; i++) {
            d->r[i][n] = dot(q, d->q[i]);
            for (int row = 0; row < SR_ROWS; row++)
                q[row] -= d->r[i][n] * d->q[i][row];
        }
        if (!(dot(q, q) > 1e-10 * before))
            continue;
        d->r[n][n] = scale_to_one(q);
        d->constant[n] = k;
        d->count++;
    }
    return true;
}

/* 1 - R^2 with the constants moved, and the moves; of moves that are too long nothing counts. */
static double move_constants(const struct entry *e, const struct directions *d,
                             const double *target, double move[CONSTANTS])
{
    double c[1 + CONSTANTS], rest = 1;
    memset(move, 0, CONSTANTS * sizeof *move);
    for (int k = 0; k < d->count; k++) {
        c[k] = dot(d->q[k], target);
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
        far = far || !(fabs(move[constant]) <= 1.2 * fabs(e->constant[constant]));
    }
    if (!far)
        return fmax(rest, 1e-15);
    memset(move, 0, CONSTANTS * sizeof *move);
    const double plain = dot(d->q[0], target);
    return fmax(1 - plain * plain, 1e-15);
}

static void keep(struct curves *c, int t, const struct entry *e, double score, uint64_t hash,
                 const double *move)
{
    struct sr_curve_found *list = c->found->found[t][e->size];
    uint64_t *hashes = c->hash[t][e->size];
    int *count = &c->found->count[t][e->size];
    for (int i = 0; i < *count; i++)
        if (hashes[i] == hash) { /* the same formula from other constants */
            if (!(score < list[i].score))
                return;
            memmove(list + i, list + i + 1, (size_t)(*count - i - 1) * sizeof *list);
            memmove(hashes + i, hashes + i + 1, (size_t)(*count - i - 1) * sizeof *hashes);
            --*count;
            break;
        }
    if (*count == SR_CURVE_KEPT)
        --*count;
    int k = (*count)++;
    for (; k > 0 && score < list[k - 1].score; k--) {
        list[k] = list[k - 1];
        hashes[k] = hashes[k - 1];
    }
    hashes[k] = hash;
    list[k].score = score;
    list[k].expr.count = 0;
    write_entry(c, e, &list[k].expr);
    sr_expr_measure(&list[k].expr);
    for (int i = 0, n = 0; i < list[k].expr.count; i++)
        if (list[k].expr.node[i].op == SR_CONSTANT && n < CONSTANTS)
            list[k].expr.node[i].value = e->constant[n] + move[n], n++;
}

/* Of operators and features, constants of any value alike. */
static uint64_t shape_hash(const struct curves *c, const struct entry *e)
{
    struct sr_expr expr = {.count = 0};
    uint64_t hash = 0x9E3779B97F4A7C15u;
    write_entry(c, e, &expr);
    for (int i = 0; i < expr.count; i++) {
        hash = (hash ^ expr.node[i].op) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void rank(struct curves *c, const struct entry *e)
{
    struct directions d;
    if (!make_directions(e, &d))
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
            const double r = dot(d.q[k], c->target[t].unit);
            most -= r * r;
        }
        if (!(most < worst))
            continue;
        const double score = move_constants(e, &d, c->target[t].unit, move);
        if (!(score < worst))
            continue;
        hash = hash ? hash : shape_hash(c, e);
        keep(c, t, e, score, hash, move);
    }
}

/* ---- levels */

/* Not seen with the same values before? */
static bool is_new(struct curves *c, const struct entry *e)
{
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (int i = 3; i < SR_ROWS; i += SR_ROWS / 4) {
        const float rounded = (float)e->value[i] + 0.0F;
        uint32_t word;
        memcpy(&word, &rounded, sizeof word);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    size_t slot = hash % TABLE;
    for (; c->table[slot]; slot = (slot + 1) % TABLE) {
        const double *other = c->entry[c->table[slot] - 1].value;
        bool same = true;
        for (int i = 0; i < SR_ROWS && same; i++)
            same = fabs(other[i] - e->value[i]) <= 1e-11 * (fabs(other[i]) + fabs(e->value[i]));
        if (same)
            return false;
    }
    if (c->count < STORED)
        c->table[slot] = (uint32_t)c->count + 1;
    return true;
}

static bool is_sum(enum sr_op op)
{
    return op == SR_ADD || op == SR_SUB;
}

/* A constant next to another that could take it: c + (c + x), c (c x), x - c, x / c. */
static bool redundant(const struct curves *c, enum sr_op op, const struct entry *p,
                      const struct entry *q)
{
    if (q->op == SR_CONSTANT && (op == SR_SUB || op == SR_DIV))
        return true;
    const struct entry *other = p->op == SR_CONSTANT ? q : p;
    if (p->op != SR_CONSTANT && q->op != SR_CONSTANT)
        return false;
    const bool sum = is_sum(op), product = op == SR_MUL || op == SR_DIV;
    if (!((sum && is_sum(other->op)) || (product && (other->op == SR_MUL || other->op == SR_DIV))))
        return false;
    return c->entry[other->a].op == SR_CONSTANT || c->entry[other->b].op == SR_CONSTANT;
}

static int price(enum sr_op op)
{
    return sr_op_table[op].cost;
}

static void join(struct curves *c, enum sr_op op, int a, int b, int cost)
{
    const struct entry *p = &c->entry[a], *q = &c->entry[b];
    const bool binary = sr_op_table[op].arity == 2;
    const int constants = p->constants + (binary ? q->constants : 0);
    const int size = 1 + p->size + (binary ? q->size : 0);
    if (constants > CONSTANTS || size > SR_CURVE_SIZE ||
        (binary ? redundant(c, op, p, q) : p->op == SR_CONSTANT) ||
        (binary && p->op == SR_CONSTANT && q->op == SR_CONSTANT) ||
        (!binary && op >= SR_EXP && p->transcendental))
        return;
    struct entry e = {.op = (uint8_t)op,
                      .size = (uint8_t)size,
                      .cost = (uint8_t)cost,
                      .constants = (uint8_t)constants,
                      .transcendental =
                          op >= SR_EXP || p->transcendental || (binary && q->transcendental),
                      .a = a,
                      .b = b};
    c->tried++;
    if (!sr_op_apply(op, SR_ROWS, p->value, q->value, e.value))
        return;
    int n = 0;
    for (int k = 0; k < p->constants; k++, n++) {
        e.constant[n] = p->constant[k];
        sr_op_chain(op, 0, SR_ROWS, p->value, q->value, e.value, p->slope[k], e.slope[n]);
    }
    for (int k = 0; k < q->constants && binary; k++, n++) {
        e.constant[n] = q->constant[k];
        sr_op_chain(op, 1, SR_ROWS, p->value, q->value, e.value, q->slope[k], e.slope[n]);
    }
    const bool store = cost <= SHARED_COST && c->count < STORED;
    if (store && !is_new(c, &e))
        return;
    /* a f and f + c are met by f itself */
    const bool affine = binary && (p->op == SR_CONSTANT || q->op == SR_CONSTANT) &&
                        (op == SR_ADD || op == SR_SUB || op == SR_MUL);
    if (!affine && (cost > SHARED_COST || c->part == 0))
        rank(c, &e);
    if (store)
        c->entry[c->count++] = e;
}

static bool commutes(enum sr_op op)
{
    return sr_op_table[op].traits & SR_COMMUTES;
}

static void add_level(struct curves *c, const int *first, int cost)
{
    const struct sr_settings *s = c->settings;
    const bool shared = cost > SHARED_COST;
    for (int k = 0; k < s->unary_count; k++) {
        const int operand = cost - price(s->unary[k]);
        for (int a = operand > 0 ? first[operand] : 0; operand > 0 && a < first[operand + 1]; a++)
            if (c->tried < c->budget && (!shared || a % c->parts == c->part))
                join(c, s->unary[k], a, a, cost);
    }
    for (int left = 1; left <= cost - 2; left++) {
        const int right = cost - 1 - left;
        for (int a = first[left]; a < first[left + 1] && c->tried < c->budget; a++)
            for (int b = first[right]; b < first[right + 1]; b++)
                for (int k = 0; k < s->binary_count; k++)
                    if ((!commutes(s->binary[k]) || a <= b) &&
                        (!shared || (a + b) % c->parts == c->part))
                        join(c, s->binary[k], a, b, cost);
    }
}

static void add_leaves(struct curves *c, const double *x)
{
    struct entry leaf = {.op = SR_FEATURE, .size = 1, .cost = 1};
    memcpy(leaf.value, x, sizeof leaf.value);
    if (c->part == 0)
        rank(c, &leaf);
    c->entry[c->count++] = leaf;
    for (int k = 0; k < GRID; k++) {
        struct entry e = {.op = SR_CONSTANT, .size = 1, .cost = 1, .constants = 1, .a = k};
        e.constant[0] = grid[k];
        for (int i = 0; i < SR_ROWS; i++) {
            e.value[i] = grid[k];
            e.slope[0][i] = 1;
        }
        c->entry[c->count++] = e;
    }
}

int sr_curves_find(const struct sr_settings *settings, const double x[SR_ROWS],
                   const struct sr_curve_target *target, int targets, double budget, int part,
                   int parts, struct sr_curves *curves)
{
    struct curves c = {.settings = settings,
                       .target = target,
                       .targets = targets,
                       .part = part,
                       .parts = parts,
                       .budget = budget,
                       .found = curves};
    int first[MOST_COST + 3] = {0};
    c.entry = orr_alloc(STORED, sizeof *c.entry);
    c.table = orr_alloc(TABLE, sizeof *c.table);
    c.hash = orr_alloc(SR_CURVE_TARGETS, sizeof *c.hash);
    const int rc = c.entry && c.table && c.hash ? 0 : ORR_ENOMEM;
    if (!rc) {
        add_leaves(&c, x);
        first[2] = c.count;
        for (int cost = 2; cost <= MOST_COST && c.tried < budget && !orr_signal_seen(); cost++) {
            add_level(&c, first, cost);
            first[cost + 1] = c.count;
        }
    }
    free(c.entry);
    free(c.table);
    free(c.hash);
    return rc;
}

void sr_curves_merge(struct sr_curves *curves, const struct sr_curves *other, int targets)
{
    for (int t = 0; t < targets; t++)
        for (int size = 1; size <= SR_CURVE_SIZE; size++) {
            struct sr_curve_found *list = curves->found[t][size];
            int *count = &curves->count[t][size];
            for (int i = 0; i < other->count[t][size]; i++) {
                const struct sr_curve_found *item = &other->found[t][size][i];
                if (*count == SR_CURVE_KEPT && !(item->score < list[*count - 1].score))
                    break;
                int k = *count < SR_CURVE_KEPT ? (*count)++ : SR_CURVE_KEPT - 1;
                for (; k > 0 && item->score < list[k - 1].score; k--)
                    list[k] = list[k - 1];
                list[k] = *item;
            }
        }
}
