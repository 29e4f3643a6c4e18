/* bank.c - enumerates small formulas, and ranks them by how close they are to y. */
#include "bank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

/* Values that stand for a free constant. They satisfy no identity, and form a grid of both signs in
 * equal ratios; tables of fewer features use more of them. */
#define GENERIC 0.7548776662466927
static const double generic[] = {GENERIC,      -GENERIC,     GENERIC / 4, GENERIC * 4,
                                 -GENERIC / 4, -GENERIC * 4, GENERIC / 2, GENERIC * 2,
                                 -GENERIC / 2, -GENERIC * 2};

enum { SLOTS = 1 << 17 }; /* of the hash table: more than three for each entry */

/* ---- rows */

/* Puts a row into the place with the nearest y of those not yet taken. */
static void place_row(struct sr_bank *bank, const struct sr_data *data, size_t row,
                      bool taken[SR_ROWS])
{
    int nearest = -1;
    double least = HUGE_VAL;
    for (int k = 0; k < SR_ROWS; k++) {
        const double off = fabs(data->y[bank->row[k]] - data->y[row]);
        if (!taken[k] && off < least) {
            least = off;
            nearest = k;
        }
    }
    if (nearest >= 0) {
        bank->row[nearest] = row;
        taken[nearest] = true;
    }
}

/* A column that differs in other rows only would look like a constant: one of these rows is
 * taken. */
static void show_columns(struct sr_bank *bank, const struct sr_data *data)
{
    bool taken[SR_ROWS] = {false};
    for (int f = 0; f < data->features; f++) {
        const double *column = data->x + (size_t)f * data->rows, common = column[bank->row[0]];
        size_t k = 0, row = 0;
        while (k < SR_ROWS && column[bank->row[k]] == common)
            k++;
        while (row < data->rows && column[row] == common)
            row++;
        if (k == SR_ROWS && row < data->rows)
            place_row(bank, data, row, taken);
    }
}

static int pick_rows(struct sr_bank *bank, const struct sr_data *data)
{
    size_t *order = sr_order(data->y, data->rows);
    if (!order)
        return ORR_ENOMEM;
    for (size_t k = 0; k < SR_ROWS; k++)
        bank->row[k] = order[(2 * k + 1) * data->rows / (2 * SR_ROWS)];
    free(order);
    show_columns(bank, data);
    for (size_t k = 0; k < SR_ROWS; k++) {
        const double y = bank->y[k] = data->y[bank->row[k]];
        bank->inverse[k] = y != 0 ? 1 / y : 0;
        bank->yy += y * y;
        bank->sy += y;
    }
    return 0;
}

/* ---- each function once */

/* Hash of four values divided by `unit` and rounded to float, so that formulas equal up to rounding
 * have one hash. */
static uint64_t hash_of(const double value[SR_ROWS], double unit)
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

/* False where an equal function was kept; else, with `keep`, registers the next entry. */
static bool is_new(struct sr_bank *bank, const double value[SR_ROWS], bool keep)
{
    size_t slot = hash_of(value, 1) % SLOTS;
    for (; bank->table[slot]; slot = (slot + 1) % SLOTS) {
        const double *other = bank->value[bank->table[slot] - 1];
        bool same = true;
        for (int i = 0; i < SR_ROWS && same; i++)
            same = fabs(other[i] - value[i]) <= 1e-11 * (fabs(other[i]) + fabs(value[i]));
        if (same)
            return false;
    }
    if (keep)
        bank->table[slot] = (uint32_t)bank->count + 1;
    return true;
}

/* ---- ranking */

/* Unexplained shares of y for the fits s p, s p relative to y, and s p + c. False when p is
 * constant over the rows. */
static bool rate_entry(const struct sr_bank *bank, const double *p, double score[SR_RESPECTS])
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

static bool is_good(const struct sr_ranking *ranking, double score)
{
    return ranking->count < SR_BEST_KEPT || score < ranking->best[SR_BEST_KEPT - 1].score;
}

static void rank_entry(struct sr_ranking *ranking, const struct sr_entry *entry, double score,
                       uint64_t hash)
{
    const struct sr_ranked item = {score, hash, *entry};
    if (!(score < 1) || !is_good(ranking, score))
        return;
    for (int i = 0; i < ranking->count; i++)
        if (ranking->best[i].hash == hash)
            return;
    sr_best_insert(ranking->best, sizeof item, &ranking->count, SR_BEST_KEPT, &item);
}

static void consider_entry(struct sr_bank *bank, const struct sr_entry *entry,
                           const double value[SR_ROWS])
{
    double score[SR_RESPECTS] = {1, 1, 1};
    bank->tried++;
    if (entry->op != SR_CONSTANT && !rate_entry(bank, value, score))
        return;
    struct sr_ranking *ranking = bank->ranking[entry->size];
    bool good = false;
    for (int i = 0; i < SR_RESPECTS; i++)
        good = good || is_good(&ranking[i], score[i]);
    const bool keep =
        bank->count < SR_BANK &&
        (entry->constants == 0 || (entry->constants == 1 && entry->cost <= SR_CONSTANT_COST));
    if ((!good && !keep) || !is_new(bank, value, keep))
        return;
    const uint64_t hash = good ? hash_of(value, value[0] != 0 ? value[0] : 1) : 0;
    for (int i = 0; i < SR_RESPECTS && good; i++)
        rank_entry(&ranking[i], entry, score[i], hash);
    if (keep) {
        bank->entry[bank->count] = *entry;
        memcpy(bank->value[bank->count++], value, sizeof bank->value[0]);
    }
}

/* ---- levels */

/* Considers op(a, b), or op(a) of a unary operator, for which b is a. */
static void join_entries(struct sr_bank *bank, enum sr_op op, int a, int b)
{
    double value[SR_ROWS];
    const struct sr_entry *p = &bank->entry[a], *q = &bank->entry[b];
    const struct sr_language *const language = bank->settings->language;
    const bool binary = sr_op(language, (int)op)->arity == 2;
    struct sr_entry entry = {.op = (uint8_t)op, .cost = (uint8_t)bank->cost, .a = a, .b = b};
    entry.size = (uint8_t)(1 + p->size + (binary ? q->size : 0));
    entry.constants = (uint8_t)(p->constants + (binary ? q->constants : 0));
    if (entry.size <= bank->largest && !(p->op == SR_CONSTANT && q->op == SR_CONSTANT) &&
        sr_op_apply(language, op, SR_ROWS, bank->value[a], bank->value[b], value))
        consider_entry(bank, &entry, value);
}

/* Takes the next step of a level, unless the budget is used up or an earlier call has taken it. */
static bool takes_step(struct sr_bank *bank, double budget, int *step)
{
    if (!(bank->tried < budget) || (*step)++ < bank->step || orr_signal_seen())
        return false;
    bank->step++;
    return true;
}

/* All formulas of cost bank->cost over entries of smaller cost. */
static void add_level(struct sr_bank *bank, double budget)
{
    const struct sr_settings *s = bank->settings;
    const int *first = bank->first, cost = bank->cost;
    int step = 0;
    for (int k = 0; k < s->unary_count; k++) {
        const int operand = cost - sr_op(s->language, (int)s->unary[k])->cost;
        for (int a = operand > 0 ? first[operand] : 0; operand > 0 && a < first[operand + 1]; a++)
            if (takes_step(bank, budget, &step))
                join_entries(bank, s->unary[k], a, a);
    }
    for (int left = 1; left <= cost - 2; left++) {
        const int right = cost - 1 - left;
        for (int a = first[left]; a < first[left + 1]; a++) {
            if (!takes_step(bank, budget, &step))
                continue;
            for (int b = first[right]; b < first[right + 1]; b++)
                for (int k = 0; k < s->binary_count; k++)
                    if (a <= b || !(sr_op(s->language, (int)s->binary[k])->traits & SR_COMMUTES))
                        join_entries(bank, s->binary[k], a, b);
        }
    }
}

void sr_bank_run(struct sr_bank *bank, double budget)
{
    while (bank->cost <= SR_MOST_COST && bank->tried < budget && !orr_signal_seen()) {
        add_level(bank, budget);
        if (!(bank->tried < budget) || orr_signal_seen()) /* a later call may finish the level */
            return;
        bank->step = 0;
        bank->first[++bank->cost] = bank->count;
    }
}

/* ---- the bank */

/* Offers a column, or a constant of the grid. */
static void add_leaf(struct sr_bank *bank, const struct sr_data *data, enum sr_op op, int number)
{
    const struct sr_entry leaf = {(uint8_t)op, 1, 1, (uint8_t)number, op == SR_CONSTANT, 0, 0};
    double value[SR_ROWS];
    for (int i = 0; i < SR_ROWS; i++)
        value[i] = op == SR_CONSTANT ? generic[number]
                                     : data->x[(size_t)number * data->rows + bank->row[i]];
    consider_entry(bank, &leaf, value);
}

int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data)
{
    const int largest = settings->maxsize < SR_BANK_SIZE ? settings->maxsize : SR_BANK_SIZE;
    const int constants = data->features == 1 ? 10 : data->features == 2 ? 6 : 4;
    *bank = (struct sr_bank){.settings = settings, .largest = largest, .cost = 2};
    bank->entry = orr_alloc_unset(SR_BANK, sizeof *bank->entry);
    bank->value = orr_alloc_unset(SR_BANK, sizeof *bank->value);
    bank->table = orr_alloc(SLOTS, sizeof *bank->table);
    bank->ranking = orr_alloc(SR_BANK_SIZE + 1, sizeof *bank->ranking);
    if (!bank->entry || !bank->value || !bank->table || !bank->ranking)
        return ORR_ENOMEM;
    TRY(pick_rows(bank, data));
    for (int f = 0; f < data->features; f++)
        add_leaf(bank, data, SR_FEATURE, f);
    for (int c = 0; c < constants && settings->binary_count; c++)
        add_leaf(bank, data, SR_CONSTANT, c);
    bank->first[2] = bank->count;
    return 0;
}

void sr_bank_free(struct sr_bank *bank)
{
    free(bank->entry);
    free(bank->value);
    free(bank->table);
    free(bank->ranking);
}

/* ---- formulas */

static void put_entry(const struct sr_bank *bank, const struct sr_entry *entry, struct sr_expr *out)
{
    const int arity = sr_op(bank->settings->language, entry->op)->arity;
    if (arity > 0)
        put_entry(bank, &bank->entry[entry->a], out);
    if (arity > 1)
        put_entry(bank, &bank->entry[entry->b], out);
    sr_put_node(out, entry->op == SR_FEATURE    ? sr_feature_node(entry->feature)
                     : entry->op == SR_CONSTANT ? sr_constant_node(generic[entry->feature])
                                                : sr_op_node(entry->op));
}

void sr_bank_put(const struct sr_bank *bank, int e, struct sr_expr *out)
{
    put_entry(bank, &bank->entry[e], out);
}

void sr_bank_offer(const struct sr_bank *bank, int maxsize, struct sr_candidates *candidates)
{
    const bool adds = sr_has(sr_settings_operators(bank->settings), SR_ADD);
    for (int size = 1; size <= SR_BANK_SIZE; size++)
        for (int respect = 0; respect < (adds ? SR_RESPECTS : SR_OFFSET); respect++) {
            const struct sr_ranking *r = &bank->ranking[size][respect];
            for (int i = 0; i < r->count && candidates->count < SR_CANDIDATES; i++) {
                struct sr_expr *expr = sr_candidates_next(candidates);
                put_entry(bank, &r->best[i].entry, expr);
                if (respect == SR_OFFSET)
                    sr_put_by(SR_ADD, generic[0], expr);
                candidates->count += sr_put_end(bank->settings->language, expr, maxsize);
            }
        }
}
