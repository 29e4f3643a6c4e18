/* derived.c - searches tables derived from a table, and takes over what is found there. */
#include "base/stop.h"
#include "derived.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum {
    PHI_SIZE = 20, /* nodes of a formula of a derived table, at most */
    FIT_STEPS = 20,
    ADDED = 3 * SR_SEEDS /* evaluations that add_found() takes, at most */
};

/* ---- the table */

int sr_derived_init(struct sr_derived *d, const struct sr_data *all, size_t rows, const size_t *row,
                    int columns)
{
    rows = !row && rows > all->rows ? all->rows : rows;
    *d = (struct sr_derived){.x = orr_alloc(((size_t)columns + 2) * rows + 1, sizeof *d->x),
                             .row = orr_alloc(rows + 1, sizeof *d->row)};
    if (!d->x || !d->row)
        return ORR_ENOMEM;
    d->y = d->x + (size_t)columns * rows;
    d->weight = d->y + rows;
    d->data = (struct sr_data){
        .rows = rows, .x = d->x, .y = d->y, .weight = d->weight, .language = all->language};
    for (size_t i = 0; i < rows; i++) {
        d->row[i] = row ? row[i] : i * all->rows / rows;
        d->y[i] = all->y[d->row[i]];
        d->weight[i] = sr_row_weight(all, d->row[i]);
    }
    return 0;
}

double *sr_derived_append(struct sr_derived *d, const double *value, const struct sr_expr *column)
{
    double *x = d->x + (size_t)d->data.features * d->data.rows;
    for (size_t i = 0; i < d->data.rows; i++)
        x[i] = value[d->row[i]];
    d->column[d->data.features++] = *column;
    return x;
}

double *sr_derived_feature(struct sr_derived *d, const struct sr_data *all, int feature)
{
    const struct sr_expr column = {.count = 1, .node = {sr_feature_node(feature)}};
    return sr_derived_append(d, all->x + (size_t)feature * all->rows, &column);
}

int sr_derived_close(struct sr_derived *d, int rc)
{
    if (!rc || rc == ORR_ENOMEM)
        return rc;
    orr_error_clear();
    d->data.rows = 0;
    return 0;
}

int sr_derived_end(struct sr_derived *d, enum orr_symreg_loss kind)
{
    const double mean = sr_weights_level(d->weight, d->data.rows);
    const bool usable = mean > 0 && isfinite(mean);
    return sr_derived_close(d, usable ? sr_loss_init(&d->loss, kind, &d->data) : ORR_EINVAL);
}

void sr_derived_free(struct sr_derived *d)
{
    sr_loss_free(&d->loss);
    free(d->x);
    free(d->row);
}

/* ---- back to the table */

static bool write_whole(const struct sr_proposal *p, const struct sr_derived *d,
                        const struct sr_expr *phi, struct sr_expr *out)
{
    if (d->write)
        return d->write(p, d, phi, out);
    *out = d->before;
    if (!sr_put_over(d->column, phi, SR_NODES - d->after.count, out))
        return false;
    sr_put_expr(out, &d->after);
    return sr_put_end(p->settings->language, out, SR_NODES);
}

/* Shortens a formula of the table, also by moving columns into a sum where that has the same loss,
 * up to rounding. */
static bool shorten(struct sr_proposal *p, struct sr_expr *expr)
{
    static const double same = 1e-9;
    struct sr_work *work = &p->thread[0].work;
    struct sr_expr moved = *expr;
    double scale;
    if (sr_expr_into_sum(p->settings->language, &moved, p->operators) &&
        sr_proposal_take(p, 2) == 2) {
        const double before = sr_eval_loss(expr, p->loss, work, &scale);
        const double after = sr_eval_loss(&moved, p->loss, work, &scale);
        if (isfinite(before) && after <= fmax(before * (1 + same), p->loss->noise))
            *expr = moved;
    }
    return sr_proposal_shorten(p, expr);
}

/* Writes a formula in the table's columns; one that would be too long once more without factors
 * that are likely 1. */
static bool write_short(struct sr_proposal *p, const struct sr_derived *d,
                        const struct sr_expr *phi, struct sr_expr *out)
{
    static const double near_one = 0.02; /* what the other constants can make up for */
    struct sr_expr shorter = *phi;
    struct sr_work *work = &p->thread[0].work;
    double scale;
    if (write_whole(p, d, phi, out) && shorten(p, out))
        return true;
    if (!isfinite(sr_eval_loss(&shorter, &d->loss, work, &scale)) ||
        (fabs(scale - 1) > near_one && !sr_expr_scale(&shorter, scale)))
        return false;
    sr_constants_fit(&d->loss, &shorter, false, FIT_STEPS, 0, NULL, work);
    sr_constants_round(&d->loss, &shorter, SR_ROUND_LIKELY, work);
    sr_drop_ones(p->settings->language, false, &shorter);
    return write_whole(p, d, &shorter, out) && shorten(p, out);
}

/* ---- the search of a table */

struct search {
    struct sr_derived table;
    struct sr_proposal proposal;
    struct sr_seeds found;
    bool made;
    double least; /* the smallest loss of its seeds in the table itself */
};

/* Writes the outer factors of what was found, which are not free in the table itself. */
static void scale_found(const struct sr_proposal *p, struct search *s)
{
    for (int i = 0; i < s->found.count && !orr_signal_seen(); i++) {
        struct sr_expr *expr = &s->found.expr[i];
        double scale;
        if (!isfinite(sr_eval_loss(expr, &s->table.loss, &p->thread[0].work, &scale)) ||
            (fabs(scale - 1) > s->table.near && !sr_expr_scale(expr, scale)))
            s->found.loss[i] = HUGE_VAL;
    }
}

/* Takes over what was found: the best of every size, at most per_size, fitted to the table. */
static int add_found(struct sr_proposal *p, struct search *s, int per_size)
{
    const struct sr_seeds *found = &s->found;
    const int before = p->seeds->count;
    struct sr_expr *expr = orr_alloc((size_t)found->count + 1, sizeof *expr);
    double *loss = orr_alloc((size_t)found->count + 1, sizeof *loss), scale;
    int *from = orr_alloc((size_t)found->count + 1, sizeof *from), count = 0;
    const int rc = expr && loss && from ? 0 : ORR_ENOMEM;
    const int most = rc ? 0 : sr_proposal_take(p, found->count);
    for (int i = 0; i < found->count && count < most && !orr_signal_seen(); i++)
        if (isfinite(found->loss[i]) && write_short(p, &s->table, &found->expr[i], &expr[count])) {
            loss[count] = sr_eval_loss(&expr[count], p->loss, &p->thread[0].work, &scale);
            from[count++] = i;
        }
    if (!rc) {
        sr_proposal_add(p, expr, loss, count, per_size, false);
        sr_log_derived(p, found, before, from, loss, count);
        sr_proposal_fit(p, before, FIT_STEPS);
    }
    for (int i = before; i < p->seeds->count; i++)
        s->least = fmin(s->least, p->seeds->loss[i]);
    free(expr);
    free(loss);
    free(from);
    return rc;
}

static int begin_search(const struct sr_proposal *p, const struct sr_race *race, int number,
                        const struct sr_settings *settings, struct search *s)
{
    s->least = HUGE_VAL;
    TRY(race->make(p, race->context, number, &s->table));
    s->made = s->table.data.rows > 0;
    if (!s->made)
        return 0;
    const int rc = sr_proposal_init(&s->proposal, p->stage, settings, &s->table.loss, p->thread,
                                    p->threads, &s->found);
    s->proposal.derived = true;
    s->proposal.is_rest = s->table.is_rest;
    s->proposal.floor = s->table.floor;
    return rc;
}

/* Of a table without columns: the factor alone. */
static int offer_factor(struct sr_proposal *p, struct search *s, int per_size)
{
    s->found.count = 1;
    s->found.expr[0] = (struct sr_expr){.count = 1, .node = {sr_constant_node(1)}};
    s->found.loss[0] = 0;
    sr_expr_measure(p->settings->language, &s->found.expr[0]);
    return add_found(p, s, per_size);
}

/* Leaves the best of every size: few, so that few evaluations go into writing them. */
static void leave_best(struct sr_seeds *found, int per_size)
{
    bool best[SR_SEEDS] = {false};
    int chosen[SR_CHOSEN], left = 0;
    for (int size = 1; size <= SR_NODES; size++) {
        const int n =
            sr_best_of_size(found->expr, found->loss, found->count, size, per_size, chosen);
        for (int k = 0; k < n; k++)
            best[chosen[k]] = true;
    }
    for (int i = 0; i < found->count; i++)
        if (best[i]) {
            found->loss[left] = found->loss[i];
            found->finder[left] = found->finder[i];
            found->expr[left++] = found->expr[i];
        }
    found->count = left;
}

/* One round of a table. Some evaluations are left for add_found(), without which the others were in
 * vain. */
static int run_round(struct sr_proposal *p, const struct sr_race *race,
                     const struct sr_race_round *round, struct search *s)
{
    const double left = p->limit.evaluations - p->seeds->evaluations;
    if (!s->made || (!s->table.data.features && round != race->round))
        return 0;
    if (!s->table.data.features)
        return offer_factor(p, s, race->per_size);
    s->proposal.limit =
        (struct sr_limit){.until_s = p->limit.until_s, .evaluations = left - fmin(left / 4, ADDED)};
    s->found.count = 0;
    s->found.evaluations = 0;
    TRY(sr_proposal_run(&s->proposal, round->stages));
    p->seeds->evaluations += s->found.evaluations;
    if (race->few)
        leave_best(&s->found, race->per_size);
    if (s->table.near > 0)
        scale_found(p, s);
    return add_found(p, s, race->per_size);
}

/* ---- the race */

/* Lists the tables for the later rounds; returns how many. */
static int rank_tables(const struct sr_race *race, const struct search *search,
                       int best[SR_RACE_BEST])
{
    double least[SR_RACE_TABLES];
    int n = 0;
    for (int i = 0; i < race->count; i++) {
        least[i] = search[i].least;
        if (search[i].made && search[i].table.data.features)
            sr_best_number(least, i, &n, SR_RACE_BEST, best);
    }
    return n;
}

static bool ends(const struct sr_proposal *p, const struct sr_race_round *round, int tables)
{
    const bool late = p->limit.until_s > 0 && orr_time_s() >= p->limit.until_s;
    return round->always && tables ? orr_signal_seen() || late : sr_proposal_over(p);
}

static int run_rounds(struct sr_proposal *p, struct sr_race *race,
                      const struct sr_settings *settings, struct search *search)
{
    int best[SR_RACE_BEST], ranked = 0;
    race->best = -1;
    for (int r = 0; r < SR_ROUNDS && race->round[r].stages; r++) {
        const struct sr_race_round *round = &race->round[r];
        const int tables = !round->best ? race->count : round->best < ranked ? round->best : ranked;
        for (int k = 0; k < tables; k++) {
            const int number = round->best ? best[k] : k;
            if (ends(p, round, k))
                return 0;
            if (r == 0)
                TRY(begin_search(p, race, number, settings, &search[number]));
            TRY(run_round(p, race, round, &search[number]));
            if (r == 0 && race->floor > 0) /* only now, so that the first is always searched */
                p->floor = race->floor;
        }
        if (r == 0)
            ranked = rank_tables(race, search, best);
        race->best = ranked ? best[0] : -1;
    }
    return 0;
}

/* Settings of a search on a derived table: small formulas, which need not be admissible. */
static struct sr_settings derived_settings(const struct sr_settings *of_table)
{
    struct sr_settings s = *of_table;
    s.maxsize = s.maxsize < PHI_SIZE ? s.maxsize : PHI_SIZE;
    s.admissible = s.whole = NULL;
    s.units = NULL;
    s.penalty = NULL;
    s.guesses = 0;
    return s;
}

int sr_race(struct sr_proposal *p, struct sr_race *race)
{
    const struct sr_settings settings = derived_settings(p->settings);
    struct search *search = orr_alloc((size_t)race->count + 1, sizeof *search);
    const int rc = search ? run_rounds(p, race, &settings, search) : ORR_ENOMEM;
    for (int i = 0; i < race->count && search; i++) {
        sr_bank_free(&search[i].proposal.bank);
        sr_derived_free(&search[i].table);
    }
    free(search);
    return rc;
}
