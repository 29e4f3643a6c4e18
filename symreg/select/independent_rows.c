/* independent_rows.c - how many independent rows a table is worth whose errors follow each other.
 *
 * Derivatives by differences, integrations and interpolations have errors that are smooth along the
 * rows or along a column. A formula that lacks nothing but such an error has smooth residuals, too,
 * and so has every longer formula that explains a part of the error. */
#include "select.h"

#include <math.h>
#include <stdlib.h>

/* Least correlation of neighbours' residuals: of the most accurate formula, which may have taken up
 * most of a smooth error, and of the one that is followed; and in standard errors of independent
 * rows (0.05% by chance). */
static const double alike_still = 0.2, alike = 0.5, beyond_chance = 3.3;
/* The simplest formula with an rms residual up to this share of the target's rms spread is the one
 * whose residuals are the error of the table. */
static const double small = 0.01;
enum {
    JUDGED = 1024, /* rows judged, evenly over the table */
    LEAST = 16,    /* fewer rows tell nothing */
    FEWEST = 5 /* rows that a table is worth at least: constants are fitted to the error as well */
};

/* The judged rows. */
struct judged {
    struct sr_data data;
    double *rows;                       /* storage of data */
    double *residual;                   /* (data.rows) of a formula, times the root of the weight */
    double *other;                      /* (data.rows) scratch */
    uint64_t columns;                   /* that the most accurate formula uses, one bit each */
    int orders, along[SR_FEATURES + 2]; /* what each goes along, as front->along */
    size_t *order;                      /* (orders, data.rows) */
};

/* Takes the judged rows, none of weight 0. */
static int take_rows(const struct sr_data *all, struct judged *j)
{
    const size_t weighted = sr_rows_weighted(all), n = weighted < JUDGED ? weighted : JUDGED;
    size_t *row = orr_alloc(n, sizeof *row), seen = 0, taken = 0;
    if (!row)
        return ORR_ENOMEM;
    for (size_t i = 0; i < all->rows && taken < n; i++)
        if (sr_row_weight(all, i) > 0 && seen++ == taken * weighted / n)
            row[taken++] = i;
    const int rc = sr_rows_take(all, taken, row, &j->data, &j->rows);
    j->data.variance = all->variance;
    free(row);
    return rc;
}

static int start(const struct sr_data *all, struct judged *j)
{
    TRY(take_rows(all, j));
    const size_t n = j->data.rows;
    j->residual = orr_alloc(2 * n, sizeof *j->residual);
    j->order = orr_alloc(((size_t)all->features + 2) * n, sizeof *j->order);
    if (!j->residual || !j->order)
        return ORR_ENOMEM;
    j->other = j->residual + n;
    return 0;
}

static void finish(struct judged *j)
{
    free(j->rows);
    free(j->residual);
    free(j->order);
}

/* The residuals of a formula; false where they are not finite, or all 0. */
static bool follow(struct judged *j, const struct sr_expr *expr)
{
    double most = 0;
    if (!sr_eval(expr, &j->data, j->residual))
        return false;
    for (size_t i = 0; i < j->data.rows; i++) {
        j->residual[i] = sqrt(sr_row_weight(&j->data, i)) * (j->residual[i] - j->data.y[i]);
        most = fmax(most, fabs(j->residual[i]));
    }
    for (size_t i = 0; i < j->data.rows; i++) /* squares stay within the range of numbers */
        j->residual[i] /= most;
    return most > 0 && isfinite(most);
}

struct place {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    const int order = (p->value > q->value) - (p->value < q->value);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

static bool uses(const struct judged *j, int column)
{
    return column < 0 || (j->columns >> column & 1);
}

static uint64_t columns_of(const struct sr_expr *expr)
{
    uint64_t columns = 0;
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE)
            columns |= UINT64_C(1) << expr->node[i].feature;
    return columns;
}

/* Orders the rows by a column, equal ones as they are. */
static int order_by(const struct judged *j, int column, size_t *order)
{
    const size_t n = j->data.rows;
    struct place *place = orr_alloc(n, sizeof *place);
    if (!place)
        return ORR_ENOMEM;
    for (size_t i = 0; i < n; i++)
        place[i] = (struct place){j->data.x[(size_t)column * n + i], i};
    qsort(place, n, sizeof *place, by_value);
    for (size_t i = 0; i < n; i++)
        order[i] = place[i].row;
    free(place);
    return 0;
}

/* Orders the rows along a path from each to the nearest one left, by the ranks (used, n). */
static void order_by_path(const double *rank, int used, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = 0; i + 1 < n; i++) {
        double least = HUGE_VAL;
        size_t nearest = i + 1;
        for (size_t k = i + 1; k < n; k++) {
            double distance = 0;
            for (int f = 0; f < used; f++) {
                const double d = rank[(size_t)f * n + order[k]] - rank[(size_t)f * n + order[i]];
                distance += d * d;
            }
            if (distance < least) {
                least = distance;
                nearest = k;
            }
        }
        const size_t row = order[nearest];
        order[nearest] = order[i + 1];
        order[i + 1] = row;
    }
}

/* Makes the orders: of the rows, of each column used, and through all of these. */
static int make_orders(struct judged *j)
{
    const size_t n = j->data.rows;
    double *rank = orr_alloc(n * (size_t)j->data.features, sizeof *rank);
    int used = 0, rc = rank ? 0 : ORR_ENOMEM;
    for (int f = -1; f < j->data.features && !rc; f++) {
        if (!uses(j, f))
            continue;
        size_t *order = j->order + (size_t)j->orders * n;
        for (size_t i = 0; i < n && f < 0; i++)
            order[i] = i;
        rc = f < 0 ? 0 : order_by(j, f, order);
        for (size_t i = 0; i < n && f >= 0; i++)
            rank[(size_t)used * n + order[i]] = (double)i;
        used += f >= 0;
        j->along[j->orders++] = f;
    }
    if (used > 1 && !rc) {
        order_by_path(rank, used, n, j->order + (size_t)j->orders * n);
        j->along[j->orders++] = SR_ALONG_NEAREST;
    }
    free(rank);
    return rc;
}

/* The sum of products of the residuals of rows at a distance in an order. */
static double sum_of_products(const struct judged *j, int order, size_t lag)
{
    const size_t *row = j->order + (size_t)order * j->data.rows;
    double sum = 0;
    for (size_t i = 0; i + lag < j->data.rows; i++)
        sum += j->residual[row[i]] * j->residual[row[i + lag]];
    return sum;
}

/* Whether the residuals of a formula of the front resemble those of neighbours in some order. */
static bool resembles(const struct sr_front *front, int row, double least, struct judged *j)
{
    const double limit = fmax(least, beyond_chance / sqrt((double)j->data.rows));
    bool yes = false;
    if (!follow(j, &front->expr[row]))
        return false;
    for (int order = 0; order < j->orders && !yes; order++)
        yes = sum_of_products(j, order, 1) >= limit * sum_of_products(j, order, 0);
    return yes;
}

/* n / (1 + 2 sum of the correlations at each distance), the sum up to the first pair of distances
 * whose correlations are not positive together (Geyer, Statistical Science 7, 1992, 473, section
 * 3.3); n where neighbours do not resemble each other more than by chance. */
static double count_along(const struct judged *j, int order)
{
    const size_t n = j->data.rows;
    const double all = sum_of_products(j, order, 0), rows = (double)n;
    double total = 0;
    if (sum_of_products(j, order, 1) < beyond_chance / sqrt(rows) * all)
        return rows;
    for (size_t lag = 0; lag + 1 < n; lag += 2) {
        const double pair = sum_of_products(j, order, lag) + sum_of_products(j, order, lag + 1);
        if (!(pair > 0))
            break;
        total += pair / all;
    }
    return rows / fmax(2 * total - 1, 1);
}

/* The simplest formula with a small error; else the last. */
static int find_followed(const struct sr_front *front, struct judged *j)
{
    double left, worst;
    for (int i = 0; i < front->count; i++) {
        if (!sr_eval(&front->expr[i], &j->data, j->other))
            continue;
        sr_measure_fit(&j->data, j->other, &left, &worst);
        if (left <= small * small)
            return i;
    }
    return front->count - 1;
}

/* Whether the formula leaves more than the errors that the user states, by chi^2: then it lacks
 * something, and its residuals are no error of the table. */
static bool is_misfit(const struct judged *j, const struct sr_expr *expr)
{
    const double rows = (double)j->data.rows,
                 freedom = fmax(rows - sr_expr_constants(expr, NULL), 1);
    double sum = 0;
    if (!(j->data.variance > 0) || !sr_eval(expr, &j->data, j->other))
        return false;
    for (size_t i = 0; i < j->data.rows; i++) {
        const double off = j->other[i] - j->data.y[i];
        sum += sr_row_weight(&j->data, i) * off * off;
    }
    return sum / j->data.variance > freedom + beyond_chance * sqrt(2 * freedom);
}

/* The rows with which the followed formula gains over each simpler one twice what it costs more:
 * what a simpler formula leaves is no small error. */
static double count_supporting(const struct sr_front *front, int followed)
{
    double rows = FEWEST;
    for (int i = 0; i < followed; i++) {
        const double gain = orr_log(front->loss[i]) - orr_log(front->loss[followed]),
                     spent = front->cost[followed] - front->cost[i];
        if (gain > 0 && isfinite(spent))
            rows = fmax(rows, 4 * spent / gain);
    }
    return rows;
}

static void count_followed(struct sr_front *front, const struct judged *j, int followed)
{
    const double rows = (double)j->data.rows;
    double least = rows;
    for (int order = 0; order < j->orders; order++) {
        const double count = count_along(j, order);
        if (!(count < least))
            continue;
        least = count;
        front->independent = fmin(fmax(count, count_supporting(front, followed)), rows);
        front->along = j->along[order];
        front->followed = followed;
    }
}

int sr_front_count_independent(struct sr_front *front, const struct sr_data *data)
{
    const int last = front->count - 1;
    struct judged j = {0};
    front->independent = 0;
    if (sr_rows_weighted(data) < LEAST || last < 0 || !(front->loss[last] > 0))
        return 0;
    j.columns = columns_of(&front->expr[last]);
    int rc = start(data, &j);
    if (!rc)
        rc = make_orders(&j);
    if (!rc && resembles(front, last, alike_still, &j)) {
        const int followed = find_followed(front, &j);
        if (!is_misfit(&j, &front->expr[followed]) && resembles(front, followed, alike, &j))
            count_followed(front, &j, followed);
    }
    finish(&j);
    return rc;
}
