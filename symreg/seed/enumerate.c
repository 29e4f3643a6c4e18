/* enumerate.c - enumerates formulas of given operators in order of increasing cost, each function
 * once. */
#include "enumerate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sr_enumerate_init(struct sr_enumeration *all)
{
    all->cost = 2;
    for (all->slots = 1; all->slots < 2 * (size_t)all->room;)
        all->slots *= 2;
    all->entry = orr_alloc_unset((size_t)all->room, sizeof *all->entry);
    all->value = orr_alloc_unset((size_t)all->room, sizeof *all->value);
    all->table = orr_alloc(all->slots, sizeof *all->table);
    return all->entry && all->value && all->table ? 0 : ORR_ENOMEM;
}

void sr_enumerate_free(struct sr_enumeration *all)
{
    free(all->entry);
    free(all->value);
    free(all->table);
}

/* ---- each function once */

uint64_t sr_enumerate_hash(const double value[SR_ROWS], double unit)
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

bool sr_enumerate_is_new(struct sr_enumeration *all, const double value[SR_ROWS], bool keep)
{
    size_t slot = sr_enumerate_hash(value, 1) % all->slots;
    for (; all->table[slot]; slot = (slot + 1) % all->slots) {
        const double *other = all->value[all->table[slot] - 1];
        bool same = true;
        for (int i = 0; i < SR_ROWS && same; i++)
            same = fabs(other[i] - value[i]) <= 1e-11 * (fabs(other[i]) + fabs(value[i]));
        if (same)
            return false;
    }
    if (keep)
        all->table[slot] = (uint32_t)all->count + 1;
    return true;
}

void sr_enumerate_keep(struct sr_enumeration *all, const struct sr_entry *entry,
                       const double value[SR_ROWS])
{
    all->entry[all->count] = *entry;
    memcpy(all->value[all->count], value, sizeof all->value[0]);
    all->count++;
}

/* ---- leaves */

void sr_enumerate_feature(struct sr_enumeration *all, int feature, const double value[SR_ROWS])
{
    const struct sr_entry leaf = {
        .op = SR_FEATURE, .size = 1, .cost = 1, .feature = (uint8_t)feature};
    all->offer(all->owner, &leaf, value);
}

void sr_enumerate_constants(struct sr_enumeration *all, int constants)
{
    for (int c = 0; c < constants; c++) {
        const struct sr_entry leaf = {
            .op = SR_CONSTANT, .size = 1, .cost = 1, .feature = (uint8_t)c, .constants = 1};
        double value[SR_ROWS];
        sr_fill(value, SR_ROWS, all->grid[c]);
        all->offer(all->owner, &leaf, value);
    }
}

/* ---- levels */

static void join_entries(struct sr_enumeration *all, enum sr_op op, int a, int b)
{
    double value[SR_ROWS];
    const struct sr_entry *p = &all->entry[a], *q = &all->entry[b];
    const struct sr_language *const language = all->settings->language;
    const bool binary = sr_op(language, (int)op)->arity == 2;
    const int size = 1 + p->size + (binary ? q->size : 0);
    if (size > all->largest || (p->op == SR_CONSTANT && (!binary || q->op == SR_CONSTANT)) ||
        !sr_op_apply(language, op, SR_ROWS, all->value[a], all->value[b], value))
        return;
    const struct sr_entry entry = {.op = (uint8_t)op,
                                   .size = (uint8_t)size,
                                   .cost = (uint8_t)all->cost,
                                   .constants =
                                       (uint8_t)(p->constants + (binary ? q->constants : 0)),
                                   .a = a,
                                   .b = b};
    all->offer(all->owner, &entry, value);
}

/* Takes the next step of a level, unless the budget is used up or an earlier call has taken it. */
static bool takes_step(struct sr_enumeration *all, double budget, int *step)
{
    if (!(all->tried < budget) || (*step)++ < all->step || orr_signal_seen())
        return false;
    all->step++;
    return true;
}

/* All formulas of cost all->cost over entries of smaller cost. */
static void add_level(struct sr_enumeration *all, double budget)
{
    const struct sr_settings *s = all->settings;
    const int *first = all->first;
    int step = 0;
    for (int k = 0; k < s->unary_count; k++) {
        const int operand = all->cost - sr_op(s->language, (int)s->unary[k])->cost;
        for (int a = operand > 0 ? first[operand] : 0; operand > 0 && a < first[operand + 1]; a++)
            if (takes_step(all, budget, &step))
                join_entries(all, s->unary[k], a, a);
    }
    for (int left = 1; left <= all->cost - 2; left++) {
        const int right = all->cost - 1 - left;
        for (int a = first[left]; a < first[left + 1]; a++) {
            if (!takes_step(all, budget, &step))
                continue;
            for (int b = first[right]; b < first[right + 1]; b++)
                for (int k = 0; k < s->binary_count; k++)
                    if (a <= b || !(sr_op(s->language, (int)s->binary[k])->traits & SR_COMMUTES))
                        join_entries(all, s->binary[k], a, b);
        }
    }
}

void sr_enumerate_run(struct sr_enumeration *all, double budget)
{
    if (all->cost == 2 && all->step == 0)
        all->first[2] = all->count;
    while (all->cost <= SR_MOST_COST && all->tried < budget && !orr_signal_seen()) {
        add_level(all, budget);
        if (!(all->tried < budget) || orr_signal_seen()) /* a later call may finish the level */
            return;
        all->step = 0;
        all->first[++all->cost] = all->count;
    }
}

/* ---- formulas */

static bool write_entry(const struct sr_enumeration *all, const struct sr_entry *entry,
                        struct sr_expr *expr)
{
    const int arity = sr_op(all->settings->language, entry->op)->arity;
    if (arity > 0 && !write_entry(all, &all->entry[entry->a], expr))
        return false;
    if (arity > 1 && !write_entry(all, &all->entry[entry->b], expr))
        return false;
    if (expr->count == SR_NODES)
        return false;
    expr->node[expr->count++] =
        (struct sr_node){.op = entry->op,
                         .feature = entry->op == SR_FEATURE ? entry->feature : 0,
                         .value = entry->op == SR_CONSTANT ? all->grid[entry->feature] : 0};
    return true;
}

bool sr_enumerate_write(const struct sr_enumeration *all, const struct sr_entry *entry,
                        struct sr_expr *expr)
{
    expr->count = 0;
    return write_entry(all, entry, expr) && sr_expr_measure(all->settings->language, expr);
}
