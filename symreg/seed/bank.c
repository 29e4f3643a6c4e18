/* bank.c - keeps small formulas of all features with their values, and ranks them by how close they
 * are to y. */
#include "bank.h"

#include <math.h>
#include <stdlib.h>

#include "shared.h"

/* Values that stand for a free constant. They satisfy no identity, and form a grid of both signs in
 * equal ratios; tables of fewer features use more of them. */
#define GENERIC 0.7548776662466927
static const double generic[] = {GENERIC,      -GENERIC,     GENERIC / 4, GENERIC * 4,
                                 -GENERIC / 4, -GENERIC * 4, GENERIC / 2, GENERIC * 2,
                                 -GENERIC / 2, -GENERIC * 2};

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
        const double *column = data->x + (size_t)f * data->rows;
        const double common = column[bank->row[0]];
        bool differs = false;
        for (int k = 0; k < SR_ROWS && !differs; k++)
            differs = column[bank->row[k]] != common;
        for (size_t i = 0; i < data->rows && !differs; i++)
            if (column[i] != common) {
                differs = true;
                place_row(bank, data, i, taken);
            }
    }
}

/* Chooses rows at even quantiles of y. */
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

/* Ranks an entry by its values, and keeps it while the bank has capacity. */
static void consider_entry(void *owner, const struct sr_entry *entry, const double value[SR_ROWS])
{
    struct sr_bank *bank = owner;
    struct sr_enumeration *all = &bank->all;
    double score[SR_RESPECTS];
    all->tried++;
    if (entry->op != SR_CONSTANT && !rate_entry(bank, value, score))
        return;
    struct sr_ranking *ranking = bank->ranking[entry->size];
    bool good = false;
    for (int i = 0; i < SR_RESPECTS && entry->op != SR_CONSTANT; i++)
        good = good || is_good(&ranking[i], score[i]);
    const bool keep =
        all->count < SR_BANK &&
        (entry->constants == 0 || (entry->constants == 1 && entry->cost <= SR_CONSTANT_COST));
    if ((!good && !keep) || !sr_enumerate_is_new(all, value, keep))
        return;
    const uint64_t hash = good ? sr_enumerate_hash(value, value[0] != 0 ? value[0] : 1) : 0;
    for (int i = 0; i < SR_RESPECTS && good; i++)
        rank_entry(&ranking[i], entry, score[i], hash);
    if (keep)
        sr_enumerate_keep(all, entry, value);
}

/* ---- the bank */

int sr_bank_init(struct sr_bank *bank, const struct sr_settings *settings,
                 const struct sr_data *data)
{
    const int largest = settings->maxsize < SR_BANK_SIZE ? settings->maxsize : SR_BANK_SIZE;
    *bank = (struct sr_bank){.all = {.settings = settings,
                                     .grid = generic,
                                     .room = SR_BANK,
                                     .largest = largest,
                                     .owner = bank,
                                     .offer = consider_entry}};
    bank->ranking = orr_alloc(SR_BANK_SIZE + 1, sizeof *bank->ranking);
    int rc = sr_enumerate_init(&bank->all);
    if (!rc)
        rc = bank->ranking ? pick_rows(bank, data) : ORR_ENOMEM;
    for (int f = 0; f < data->features && !rc; f++) {
        double value[SR_ROWS];
        for (int i = 0; i < SR_ROWS; i++)
            value[i] = data->x[(size_t)f * data->rows + bank->row[i]];
        sr_enumerate_feature(&bank->all, f, value);
    }
    if (!rc && settings->binary_count)
        sr_enumerate_constants(&bank->all, data->features == 1 ? 10 : data->features == 2 ? 6 : 4);
    return rc;
}

void sr_bank_free(struct sr_bank *bank)
{
    sr_enumerate_free(&bank->all);
    free(bank->ranking);
}

/* ---- formulas */

bool sr_bank_expr(const struct sr_bank *bank, int e, struct sr_expr *expr)
{
    return sr_enumerate_write(&bank->all, &bank->all.entry[e], expr);
}

void sr_bank_made_of(const struct sr_bank *bank, uint64_t operators, bool made[SR_BANK])
{
    const struct sr_language *const language = bank->all.settings->language;
    for (int e = 0; e < bank->all.count; e++) {
        const struct sr_entry *entry = &bank->all.entry[e];
        made[e] = entry->op == SR_FEATURE ||
                  (entry->op != SR_CONSTANT && sr_has(operators, (enum sr_op)entry->op) &&
                   made[entry->a] && (sr_op(language, entry->op)->arity < 2 || made[entry->b]));
    }
}

void sr_bank_offer(const struct sr_bank *bank, int maxsize, struct sr_candidates *candidates)
{
    const bool adds = sr_has(sr_settings_operators(bank->all.settings), SR_ADD);
    for (int size = 1; size <= SR_BANK_SIZE; size++)
        for (int respect = 0; respect < SR_RESPECTS; respect++) {
            const struct sr_ranking *r = &bank->ranking[size][respect];
            for (int i = 0; i < r->count && candidates->count < SR_CANDIDATES; i++) {
                struct sr_expr *expr = sr_candidates_next(candidates);
                if (!sr_enumerate_write(&bank->all, &r->best[i].entry, expr) ||
                    (respect == SR_OFFSET && !adds))
                    continue;
                if (respect == SR_OFFSET) {
                    sr_put_constant(expr, generic[0]);
                    sr_put_op(expr, SR_ADD);
                }
                candidates->count += sr_put_end(bank->all.settings->language, expr, maxsize);
            }
        }
}
