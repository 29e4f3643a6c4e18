/* enumerate.c - every function of few operators once, by increasing size. */
#include "enumerate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/vec.h"

/* A constant stands for any value: these satisfy no identity, and are a grid of both signs in
 * equal ratios; the fewer features, the more of them. */
static const double generic_unit = 0.7548776662466927;
static const double generic_constant[] = {1, -1, 0.25, 4, -0.25, -4, 0.5, 2, -0.5, -2};
enum { TABLE = 1 << 17 };

/* ---- rows */

struct ranked_row {
    double y;
    size_t row;
};

static int by_y(const void *a, const void *b)
{
    const struct ranked_row *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Rows at even quantiles of y. */
static int pick_rows(struct sr_bank *bank, const struct sr_data *data)
{
    struct ranked_row *rank = orr_alloc(data->rows, sizeof *rank);
    if (!rank)
        return ORR_ENOMEM;
    for (size_t i = 0; i < data->rows; i++)
        rank[i] = (struct ranked_row){data->y[i], i};
    qsort(rank, data->rows, sizeof *rank, by_y);
    for (size_t k = 0; k < SR_ROWS; k++) {
        const size_t at = (2 * k + 1) * data->rows / (2 * SR_ROWS);
        bank->row[k] = rank[at].row;
        const double y = bank->y[k] = rank[at].y;
        bank->inverse[k] = y != 0 ? 1 / y : 0;
        bank->yy += y * y;
        bank->sy += y;
    }
    free(rank);
    return 0;
}

/* ---- hashes of values */

/* Four values, rounded to floats and divided by `unit`: formulas that are equal up to rounding
 * agree. */
static uint64_t hash_values(const double *value, double unit)
{
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (int i = 3; i < SR_ROWS; i += SR_ROWS / 4) {
        const float rounded = (float)(value[i] / unit) + 0.0F;
        uint32_t word;
        memcpy(&word, &rounded, sizeof word);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* False when an equal entry is there; else, to `keep` it, remembers that it will be at index
 * count. */
static bool is_new(struct sr_bank *bank, const double *value, bool keep)
{
    const uint64_t hash = hash_values(value, 1);
    size_t slot = hash % TABLE;
    while (bank->table[slot]) {
        const double *other = bank->value[bank->table[slot] - 1];
        bool same = true;
        for (int i = 0; i < SR_ROWS && same; i++)
            same = fabs(other[i] - value[i]) <= 1e-11 * (fabs(other[i]) + fabs(value[i]));
        if (same)
            return false;
        slot = (slot + 1) % TABLE;
    }
    if (keep)
        bank->table[slot] = (uint32_t)bank->count + 1;
    return true;
}

/* ---- ranking */

/* 1 - the share of y explained: by s p, by s p relative to y, by s p + c. False when p is the same
 * at all rows: such formulas are constants. */
static bool rate(const struct sr_bank *bank, const double *p, double score[SR_RESPECTS])
{
    double t[5];
    const double n = SR_ROWS, yy = bank->yy, sy = bank->sy;
    sr_vec_best()->add_up(p, bank->y, bank->inverse, t);
    const double cpp = t[0] - t[4] * t[4] / n, cyy = yy - sy * sy / n, cpy = t[1] - t[4] * sy / n;
    score[SR_ABSOLUTE] = yy > 0 ? 1 - t[1] * t[1] / (t[0] * yy) : 1;
    score[SR_RELATIVE] = t[3] > 0 ? 1 - t[2] * t[2] / (n * t[3]) : 1;
    score[SR_OFFSET] = cyy > 0 ? 1 - cpy * cpy / (cpp * cyy) : 1;
    return cpp > 1e-13 * t[0] && isfinite(t[0]);
}

static void rank(struct sr_ranking *ranking, const struct sr_bank_entry *entry, double score,
                 uint64_t hash)
{
    if (!(score < 1) ||
        (ranking->count == SR_BEST_KEPT && score >= ranking->score[SR_BEST_KEPT - 1]))
        return;
    for (int i = 0; i < ranking->count; i++)
        if (ranking->hash[i] == hash)
            return;
    int k = ranking->count < SR_BEST_KEPT ? ranking->count++ : SR_BEST_KEPT - 1;
    for (; k > 0 && score < ranking->score[k - 1]; k--) {
        ranking->score[k] = ranking->score[k - 1];
        ranking->hash[k] = ranking->hash[k - 1];
        ranking->entry[k] = ranking->entry[k - 1];
    }
    ranking->score[k] = score;
    ranking->hash[k] = hash;
    ranking->entry[k] = *entry;
}

/* Ranks an entry with these values, and keeps it while there is room. */
static void consider(struct sr_bank *bank, struct sr_bank_entry entry, const double *value)
{
    double score[SR_RESPECTS];
    bank->tried++;
    if (entry.op != SR_CONSTANT && !rate(bank, value, score))
        return;
    const struct sr_ranking *r = bank->ranking[entry.size];
    bool good = false;
    for (int i = 0; i < SR_RESPECTS && entry.op != SR_CONSTANT; i++)
        good = good || r[i].count < SR_BEST_KEPT || score[i] < r[i].score[SR_BEST_KEPT - 1];
    const bool keep =
        bank->count < SR_BANK &&
        (entry.constants == 0 || (entry.constants == 1 && entry.cost <= SR_CONSTANT_COST));
    if ((!good && !keep) || !is_new(bank, value, keep))
        return;
    const uint64_t hash = good ? hash_values(value, value[0] != 0 ? value[0] : 1) : 0;
    for (int i = 0; i < SR_RESPECTS && good; i++)
        rank(&bank->ranking[entry.size][i], &entry, score[i], hash);
    if (!keep)
        return;
    bank->entry[bank->count] = entry;
    memcpy(bank->value[bank->count], value, sizeof bank->value[0]);
    bank->count++;
}

/* ---- levels */

static void add_leaves(struct sr_bank *bank, const struct sr_settings *s,
                       const struct sr_data *data)
{
    double value[SR_ROWS];
    for (int f = 0; f < data->features; f++) {
        for (int i = 0; i < SR_ROWS; i++)
            value[i] = data->x[(size_t)f * data->rows + bank->row[i]];
        consider(
            bank,
            (struct sr_bank_entry){.op = SR_FEATURE, .size = 1, .cost = 1, .feature = (uint8_t)f},
            value);
    }
    const size_t constants = data->features == 1 ? 10 : data->features == 2 ? 6 : 4;
    for (size_t c = 0; c < constants; c++) {
        for (int i = 0; i < SR_ROWS; i++)
            value[i] = generic_unit * generic_constant[c];
        if (s->binary_count)
            consider(
                bank,
                (struct sr_bank_entry){
                    .op = SR_CONSTANT, .size = 1, .cost = 1, .feature = (uint8_t)c, .constants = 1},
                value);
    }
}

/* Operators whose operands may stand in one order only. */
static bool commutes(enum sr_op op)
{
    return sr_op_table[op].traits & SR_COMMUTES;
}

/* What an operator adds to the cost. */
static int price(enum sr_op op)
{
    return sr_op_table[op].cost;
}

static void join(struct sr_bank *bank, enum sr_op op, int a, int b)
{
    double value[SR_ROWS];
    const struct sr_bank_entry *p = &bank->entry[a], *q = &bank->entry[b];
    const bool binary = sr_op_table[op].arity == 2;
    if (p->op == SR_CONSTANT && (!binary || q->op == SR_CONSTANT))
        return;
    const int size = 1 + p->size + (binary ? q->size : 0);
    if (size > bank->largest || !sr_op_apply(op, SR_ROWS, bank->value[a], bank->value[b], value))
        return;
    consider(
        bank,
        (struct sr_bank_entry){.op = (uint8_t)op,
                               .size = (uint8_t)size,
                               .cost = (uint8_t)(price(op) + p->cost + (binary ? q->cost : 0)),
                               .constants = (uint8_t)(p->constants + (binary ? q->constants : 0)),
                               .a = a,
                               .b = b},
        value);
}

/* All formulas of one cost over those in the bank; first[n] is the first entry of cost n. */
static void add_level(struct sr_bank *bank, const struct sr_settings *s, const int *first, int cost,
                      double budget)
{
    for (int k = 0; k < s->unary_count; k++) {
        const int operand = cost - price(s->unary[k]);
        for (int a = operand > 0 ? first[operand] : 0; operand > 0 && a < first[operand + 1]; a++)
            if (bank->tried < budget)
                join(bank, s->unary[k], a, a);
    }
    for (int left = 1; left <= cost - 2; left++) {
        const int right = cost - 1 - left;
        for (int a = first[left]; a < first[left + 1] && bank->tried < budget; a++)
            for (int b = first[right]; b < first[right + 1]; b++)
                for (int k = 0; k < s->binary_count; k++)
                    if (!commutes(s->binary[k]) || a <= b)
                        join(bank, s->binary[k], a, b);
    }
}

int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data, double budget)
{
    enum { MOST_COST = 2 * SR_BANK_SIZE };
    int first[MOST_COST + 2] = {0};
    const int largest = settings->maxsize < SR_BANK_SIZE ? settings->maxsize : SR_BANK_SIZE;
    *bank = (struct sr_bank){.features = data->features, .largest = largest};
    bank->entry = orr_alloc(SR_BANK, sizeof *bank->entry);
    bank->value = orr_alloc(SR_BANK, sizeof *bank->value);
    bank->table = orr_alloc(TABLE, sizeof *bank->table);
    bank->ranking = orr_alloc(SR_BANK_SIZE + 1, sizeof *bank->ranking);
    int rc = bank->entry && bank->value && bank->table && bank->ranking ? 0 : ORR_ENOMEM;
    if (!rc)
        rc = pick_rows(bank, data);
    if (rc) {
        sr_bank_free(bank);
        return rc;
    }
    add_leaves(bank, settings, data);
    first[2] = bank->count;
    first[1] = 0;
    for (int cost = 2; cost <= MOST_COST && bank->tried < budget && !orr_signal_seen(); cost++) {
        add_level(bank, settings, first, cost, budget);
        first[cost + 1] = bank->count;
    }
    return 0;
}

void sr_bank_free(struct sr_bank *bank)
{
    free(bank->entry);
    free(bank->value);
    free(bank->table);
    free(bank->ranking);
    *bank = (struct sr_bank){0};
}

/* ---- formulas */

static bool write_entry(const struct sr_bank *bank, const struct sr_bank_entry *entry,
                        struct sr_expr *expr)
{
    const int arity = sr_op_table[entry->op].arity;
    if (arity > 0 && !write_entry(bank, &bank->entry[entry->a], expr))
        return false;
    if (arity > 1 && !write_entry(bank, &bank->entry[entry->b], expr))
        return false;
    if (expr->count == SR_NODES)
        return false;
    expr->node[expr->count++] =
        (struct sr_node){.op = entry->op,
                         .feature = entry->feature,
                         .value = entry->op ? 0 : generic_unit * generic_constant[entry->feature]};
    return true;
}

bool sr_bank_expr(const struct sr_bank *bank, const struct sr_bank_entry *entry,
                  struct sr_expr *expr)
{
    expr->count = 0;
    return write_entry(bank, entry, expr) && sr_expr_measure(expr);
}

static bool has(const struct sr_settings *s, enum sr_op op)
{
    for (int i = 0; i < s->binary_count; i++)
        if (s->binary[i] == op)
            return true;
    return false;
}

void sr_bank_offer(const struct sr_bank *bank, const struct sr_settings *settings,
                   struct sr_candidates *candidates)
{
    for (int size = 1; size <= SR_BANK_SIZE; size++)
        for (int respect = 0; respect < SR_RESPECTS; respect++) {
            const struct sr_ranking *r = &bank->ranking[size][respect];
            for (int i = 0; i < r->count && candidates->count < SR_CANDIDATES; i++) {
                struct sr_expr *expr = &candidates->expr[candidates->count];
                if (!sr_bank_expr(bank, &r->entry[i], expr))
                    continue;
                if (respect == SR_OFFSET) {
                    if (!has(settings, SR_ADD) || expr->count + 2 > settings->maxsize)
                        continue;
                    expr->node[expr->count++] =
                        (struct sr_node){.op = SR_CONSTANT, .value = generic_unit};
                    expr->node[expr->count++] = (struct sr_node){.op = SR_ADD};
                    sr_expr_measure(expr);
                }
                candidates->count++;
            }
        }
}
