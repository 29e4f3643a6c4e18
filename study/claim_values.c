/* claim_values.c - our value for a claim: a contrast between rows of the table that the claim
 * names. */
#include "compare/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "verdict.h"

/* -------------------------------------------------------------------------------- figures */

/* Collects the rows that a claim names, of one layer and context: those of the first matching
 * row. */
static int choose_rows(const struct orr_table *table, const struct verdict_claim *claim,
                       struct orr_table *chosen)
{
    const struct orr_row *first = NULL;
    /* its rows differ in the context, which is the step */
    const bool any = claim->statistic == VERDICT_STEPS;
    *chosen = (struct orr_table){.crossed = table->crossed};
    for (size_t i = 0; i < table->count; i++) {
        const struct orr_row *row = &table->row[i];
        if (strcmp(row->quantity, claim->quantity) != 0 ||
            (*claim->measure && strcmp(row->measure, claim->measure) != 0) ||
            (claim->context >= 0 && row->context != claim->context) ||
            !orr_row_has(row, claim->setting))
            continue;
        first = first ? first : row;
        if (any || (row->layer == first->layer && row->context == first->context))
            TRY(orr_table_add(chosen, row));
    }
    return 0;
}

static void take_mean(struct verdict_fact *fact, struct orr_mean mean)
{
    fact->mean = mean.mean;
    fact->half = mean.half;
    fact->n = mean.n;
    fact->there = mean.n > 0;
}

/* The models' value minus that of others, with the same difference for the truth and for random
 * weights. A row that already is a mean over seeds is used as it is. */
static void take_value(const struct orr_table *table, const struct verdict_claim *claim,
                       struct verdict_fact *fact)
{
    take_mean(fact, orr_table_contrast(table, claim->of, claim->from, ORR_ROW_VALUE));
    fact->upper_bound = orr_table_contrast(table, claim->of, claim->from, ORR_ROW_UPPER_BOUND).mean;
    fact->baseline = orr_table_contrast(table, claim->of, claim->from, ORR_ROW_BASELINE).mean;
    if (*claim->from && claim->rule == VERDICT_ABOVE) {
        const double most = orr_table_contrast(table, claim->of, "", ORR_ROW_UPPER_BOUND).mean,
                     least = orr_table_contrast(table, claim->of, "", ORR_ROW_BASELINE).mean;
        fact->most = most > least ? most : (double)NAN; /* larger is better, unlike errors */
    }
    for (size_t i = 0; i < table->count && fact->there; i++) {
        const struct orr_row *row = &table->row[i];
        if (row->seeds && orr_row_has(row, claim->of)) {
            fact->half = row->half;
            fact->n = row->seeds;
        }
    }
}

/* The gain in accuracy. Its bounds are computed from means over seeds. */
static void take_nearer(const struct orr_table *table, const struct verdict_claim *claim,
                        struct verdict_fact *fact)
{
    double bound[2][3]; /* for both models: value, upper bound, baseline */
    for (int k = 0; k < 2; k++) {
        const char *model = k ? claim->from : claim->of;
        bound[k][0] = orr_table_contrast(table, model, "", ORR_ROW_VALUE).mean;
        bound[k][1] = orr_table_contrast(table, model, "", ORR_ROW_UPPER_BOUND).mean;
        bound[k][2] = orr_table_contrast(table, model, "", ORR_ROW_BASELINE).mean;
    }
    take_mean(fact, orr_table_contrast(table, claim->of, claim->from, ORR_ROW_NEARNESS));
    fact->most = fact->upper_bound = fabs(bound[1][0] - bound[1][1]);
    fact->baseline = fabs(bound[1][2] - bound[1][1]) - fabs(bound[0][2] - bound[0][1]);
}

static void take_learned(const struct orr_table *table, const struct verdict_claim *claim,
                         struct verdict_fact *fact)
{
    const struct orr_mean share = orr_table_contrast(table, claim->of, claim->from, ORR_ROW_SHARE);
    take_mean(fact, orr_table_contrast(table, claim->of, claim->from, ORR_ROW_LEARNED));
    fact->baseline = 0;
    fact->learned = fact->there;
    fact->share = share.mean;
    fact->share_half = share.half;
    fact->headroom = 0;
    for (int k = 0; k < 2; k++) {
        const char *model = k ? claim->from : claim->of;
        fact->headroom += orr_table_contrast(table, model, "", ORR_ROW_UPPER_BOUND).mean / 2 -
                          orr_table_contrast(table, model, "", ORR_ROW_BASELINE).mean / 2;
    }
}

/* The slope over the decades of a setting for one seed, by least squares. */
static double slope_of(const struct orr_table *table, const char *key, uint64_t seed,
                       enum orr_row_number number)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *level = orr_row_setting(&table->row[i], key);
        if (table->row[i].seed != seed)
            continue;
        const double at = level ? log10(strtod(level, NULL)) : NAN,
                     is = orr_row_number(&table->row[i], number);
        n++;
        x += at;
        y += is;
        xx += at * at;
        xy += at * is;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static void take_slope(const struct orr_table *table, const struct verdict_claim *claim,
                       struct verdict_fact *fact)
{
    double slope[ORR_SEEDS], baseline[ORR_SEEDS];
    uint64_t seed[ORR_SEEDS];
    const int seeds = orr_table_seeds(table, seed);
    for (int s = 0; s < seeds; s++) {
        slope[s] = slope_of(table, claim->of, seed[s], ORR_ROW_LEARNED);
        baseline[s] = slope_of(table, claim->of, seed[s], ORR_ROW_BASELINE);
    }
    take_mean(fact, orr_mean_of(slope, seeds));
    fact->baseline = orr_mean_of(baseline, seeds).mean;
}

/* The ratio of two single measurements, not over seeds. */
static void take_ratio(const struct orr_table *table, const struct verdict_claim *claim,
                       struct verdict_fact *fact)
{
    fact->mean = orr_table_contrast(table, claim->of, "", ORR_ROW_VALUE).mean /
                 orr_table_contrast(table, claim->from, "", ORR_ROW_VALUE).mean;
    fact->there = isfinite(fact->mean);
}

/* Whether the value is a difference stored as a row of the file: above the baseline, or "a less
 * b". */
static bool is_difference(const struct verdict_claim *claim)
{
    return claim->statistic != VERDICT_RATIO &&
           (claim->statistic == VERDICT_RISE || *claim->from ||
            !strncmp(claim->of, "above_baseline=", 12) || strstr(claim->quantity, " less "));
}

static void take_steps(const struct orr_table *table, const struct verdict_claim *claim,
                       struct verdict_fact *fact)
{
    take_mean(fact, verdict_curves(table, claim->of, claim->from));
}

/* The shortest context of a quantity; -1: none. */
static int shortest_context(const struct orr_table *table, const char *quantity)
{
    int shortest = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct orr_row *row = &table->row[i];
        if (!strcmp(row->quantity, quantity) && (shortest < 0 || row->context < shortest))
            shortest = row->context;
    }
    return shortest;
}

/* What the value rises by from the trained length, where the quantity has neither scaling nor
 * positions beyond: "next token" for "next token, NTK". */
static int take_rise(const struct orr_table *table, const struct verdict_claim *claim,
                     const struct orr_table *chosen, struct verdict_fact *fact)
{
    struct verdict_claim trained = *claim;
    struct orr_table before;
    char quantity[128];
    uint64_t seed[ORR_SEEDS];
    double value[ORR_SEEDS], start[ORR_SEEDS];
    snprintf(quantity, sizeof quantity, "%.*s", (int)strcspn(claim->quantity, ","),
             claim->quantity);
    trained.quantity = quantity;
    trained.context = shortest_context(table, quantity);
    const int rc = choose_rows(table, &trained, &before), seeds = orr_table_seeds(chosen, seed);
    orr_table_values(chosen, seed, seeds, claim->of, claim->from, ORR_ROW_VALUE, value);
    orr_table_values(&before, seed, seeds, claim->of, claim->from, ORR_ROW_VALUE, start);
    for (int s = 0; s < seeds; s++)
        value[s] -= start[s];
    take_mean(fact, orr_mean_of(value, seeds));
    fact->baseline = orr_table_contrast(chosen, claim->of, claim->from, ORR_ROW_BASELINE).mean -
                     orr_table_contrast(&before, claim->of, claim->from, ORR_ROW_BASELINE).mean;
    orr_table_free(&before);
    return rc;
}

static int fact_of(const struct orr_table *table, const struct verdict_claim *claim,
                   struct verdict_fact *fact)
{
    static void (*const take[])(const struct orr_table *, const struct verdict_claim *,
                                struct verdict_fact *) = {
        [VERDICT_VALUE] = take_value,     [VERDICT_NEARER] = take_nearer,
        [VERDICT_LEARNED] = take_learned, [VERDICT_SLOPE] = take_slope,
        [VERDICT_RATIO] = take_ratio,     [VERDICT_STEPS] = take_steps};
    struct orr_table chosen;
    int rc = choose_rows(table, claim, &chosen);
    if (claim->statistic != VERDICT_RISE)
        take[claim->statistic](&chosen, claim, fact);
    else if (!rc)
        rc = take_rise(table, claim, &chosen, fact);
    orr_table_free(&chosen);
    fact->difference = is_difference(claim);
    fact->half = verdict_half(fact->mean, fact->half, fact->n, fact->difference);
    return rc;
}

int verdict_fact(const char *folder, const struct verdict_claim *claim, struct verdict_fact *fact)
{
    char path[4096];
    struct orr_table table = {0};
    *fact = (struct verdict_fact){.mean = NAN,
                                  .half = NAN,
                                  .upper_bound = NAN,
                                  .baseline = NAN,
                                  .most = NAN,
                                  .share = NAN,
                                  .share_half = NAN};
    TRY(orr_path(path, "%s/%s", folder, claim->file));
    if (!orr_exists(path))
        return 0;
    int rc = compare_results_read(path, &table);
    rc = rc ? rc : fact_of(&table, claim, fact);
    fact->read = !rc;
    orr_table_free(&table);
    return rc;
}
