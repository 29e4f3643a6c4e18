/* remark.c - remarks about constants close to well-known numbers, and about a table: too few rows,
 * one row far off, a few rows that dominate the loss, residuals proportional to the target, zeros
 * under a relative loss. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>

#include "solve.h"

/* Multiples of pi, roots, thirds, sixths, sevenths, G in SI units, and G in AU, years and solar
 * masses: 4 pi^2 in Gaussian years (365.2569 days, those of the simulator), in Julian years (365.25
 * days) the nominal GM of the Sun (IAU resolution B3 of 2015) by the AU of 2012. */
static const struct {
    const char *name;
    double value;
    const char *meaning; /* NULL: the name says it */
} known[] = {
    {"pi", M_PI, NULL},
    {"2 pi", 2 * M_PI, NULL},
    {"4 pi", 4 * M_PI, NULL},
    {"4 pi / 3", 4 * M_PI / 3, NULL},
    {"pi / 2", M_PI_2, NULL},
    {"pi / 4", M_PI_4, NULL},
    {"1 / pi", M_1_PI, NULL},
    {"1 / (2 pi)", M_1_PI / 2, NULL},
    {"pi^2", M_PI *M_PI, NULL},
    {"4 pi^2", 4 * M_PI *M_PI, "G in AU, Gaussian years and solar masses"},
    {"G in AU, Julian years and solar masses", 39.476926408897626, NULL},
    {"sqrt(pi)", M_SQRTPI, NULL},
    {"sqrt(2 pi)", M_SQRT2 *M_SQRTPI, NULL},
    {"e", M_E, NULL},
    {"sqrt(2)", M_SQRT2, NULL},
    {"sqrt(3)", 1.7320508075688772, NULL},
    {"log(2)", M_LN2, NULL},
    {"1 / 3", 1. / 3, NULL},
    {"2 / 3", 2. / 3, NULL},
    {"4 / 3", 4. / 3, NULL},
    {"5 / 3", 5. / 3, NULL},
    {"1 / 6", 1. / 6, NULL},
    {"5 / 6", 5. / 6, NULL},
    {"1 / 7", 1. / 7, NULL},
    {"G in m^3 / (kg s^2)", 6.6743e-11, NULL},
};
enum { KNOWN = sizeof known / sizeof *known };
static const double likely = 0.01; /* probability by chance from which on no remark is made */

static double distance(double value, size_t k)
{
    return fabs(fabs(value) - known[k].value) / known[k].value;
}

bool sr_constant_remark(double value, double error, char *text, size_t bytes)
{
    const char *sign = value < 0 ? "-" : "";
    char measured[64] = "";
    size_t best = 0;
    for (size_t k = 1; k < KNOWN; k++)
        if (distance(value, k) < distance(value, best))
            best = k;
    const double off = distance(value, best);
    const double spread = isfinite(error) ? fabs(error) / known[best].value : 0;
    /* for numbers spread evenly in logarithm over a decade that contains all listed constants: how
     * often one is as close, where numbers within a standard error cannot be told apart */
    const double chance = KNOWN * 2 * fmax(off, spread) / M_LN10;
    *text = '\0';
    if (!(chance < likely))
        return false;
    if (spread > 0)
        snprintf(measured, sizeof measured, ", its standard error %.1g%%", 100 * spread);
    orr_append(text, bytes, "%s%s (%.1g%% off%s; so close by chance: %.1g%%)", sign,
               known[best].name, 100 * off, measured, fmax(100 * chance, 1e-9));
    if (known[best].meaning)
        orr_append(text, bytes, ": %s", known[best].meaning);
    for (size_t k = 0; k < KNOWN; k++)
        if (k != best && distance(value, k) < 2 * spread)
            orr_append(text, bytes, "; within two standard errors also of %s%s", sign,
                       known[k].name);
    return true;
}

/* ---- remarks about the table */

/* Compares the rule's formula with the others of the front by their description lengths. */
static bool remark_undecided(const struct sr_answer *o, char *text, size_t bytes)
{
    enum { FEW = 50 };
    const double within = 3; /* nats, a factor of 20 */
    const struct sr_front *front = o->front;
    const int row = sr_front_select(front, o->rule);
    char others[128] = "";
    const double rows = front->independent > 0 ? front->independent : (double)front->rows;
    if (row < 0 || front->rows > FEW)
        return false;
    const int count = sr_expr_constants(&front->expr[row], NULL);
    if (count + 2 > rows) {
        snprintf(text, bytes,
                 "%.0f rows cannot decide about the formula of rule %s, which has %d constant%s",
                 rows, sr_rule_name[o->rule], count, count == 1 ? "" : "s");
        return true;
    }
    for (int i = 0; i < front->count; i++) {
        const size_t used = strlen(others);
        if (i != row && front->mdl[i] < front->mdl[row] + within && used + 8 < sizeof others)
            snprintf(others + used, sizeof others - used, "%s%d", used ? ", " : "",
                     front->complexity[i]);
    }
    snprintf(text, bytes,
             "%.0f rows cannot decide between the formula of rule %s, of complexity %d, and %s "
             "(description lengths shorter or up to 3 nats longer, a factor of 20)",
             rows, sr_rule_name[o->rule], front->complexity[row], others);
    return *others != '\0' && front->loss[row] > 0;
}

static bool remark_unfitted(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_front *front = o->front;
    char which[128] = "";
    for (int i = 0; i < front->count; i++) {
        const size_t used = strlen(which);
        if (front->unfitted[i] && used + 8 < sizeof which)
            snprintf(which + used, sizeof which - used, "%s%d", used ? ", " : "",
                     front->complexity[i]);
    }
    snprintf(
        text, bytes,
        "no time was left to finish the fit of the formulas of complexity %s: their losses may "
        "be too large, and their constants have no standard errors; a longer --seconds, or "
        "--resume, fits them",
        which);
    return *which != '\0';
}

static bool remark_single_row(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_front *front = o->front;
    snprintf(text, bytes,
             "row %zu of the %zu that are used is far off from the simpler formulas, and a longer "
             "one has a pole or a peak there: rules score and best compare losses without this row",
             front->without, o->data->rows);
    return front->without > 0;
}

/* "rows 4, 10 of the 40 that are used (lines 5, 11)"; line NULL or of 0: not known. */
static void list_odd(const size_t *odd, const size_t *line, int odds, size_t of, char *text,
                     size_t bytes)
{
    enum { LISTED = 20 };
    const char *const plural = odds > 1 ? "s" : "", *const more = odds > LISTED ? " and more" : "";
    *text = '\0';
    orr_append(text, bytes, "row%s ", plural);
    for (int k = 0; k < odds && k < LISTED; k++)
        orr_append(text, bytes, "%s%zu", k ? ", " : "", odd[k]);
    orr_append(text, bytes, "%s of the %zu that are used", more, of);
    for (int k = 0; line && line[0] && k < odds && k < LISTED; k++)
        orr_append(text, bytes, "%s%s%s%zu", k ? ", " : " (line", k ? "" : plural, k ? "" : " ",
                   line[k]);
    orr_append(text, bytes, "%s %s far from a formula that all others follow",
               line && line[0] ? ")" : "", odds > 1 ? "are" : "is");
}

/* Rows that hide a law, by their numbers and the lines of the file. */
static bool remark_odd_rows(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_front *front = o->front;
    const struct sr_table *table = o->table;
    size_t line[SR_ODDS] = {0};
    char rows[400];
    *text = '\0';
    if (table && table->odds) {
        list_odd(table->odd, table->odd_line, table->odds, table->whole.rows, rows, sizeof rows);
        snprintf(text, bytes, "%s%s: %s leave %s out", rows,
                 table->odds_late ? "" : ", as two short searches found",
                 table->odds_late ? "losses, constants and rules"
                                  : "the search, losses and constants",
                 table->odds > 1 ? "them" : "it");
        return true;
    }
    for (int k = 0; k < front->odds && o->line; k++)
        line[k] = o->line[front->odd[k] - 1];
    list_odd(front->odd, line, front->odds, o->data->rows, rows, sizeof rows);
    snprintf(text, bytes,
             "%s: the rules score, best and mdl leave %s out (losses and constants do "
             "not)",
             rows, front->odds > 1 ? "them" : "it");
    return front->odds > 0;
}

static bool remark_dominated(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_data *data = o->data;
    const size_t n = data->rows;
    double total = 0, least = HUGE_VAL;
    const double mean = sr_weighted_mean(data);
    double *share = orr_alloc(n, sizeof *share);
    /* where huber turns linear at the scatter of the residuals, few rows do not dominate */
    if (!share || n < 5 || !strcmp(o->loss, "relative") || o->log_target || o->bend > 0) {
        free(share);
        return false;
    }
    const bool squares = strcmp(o->loss, "l1") && strcmp(o->loss, "study");
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(data->y[i] - mean);
        share[i] = sr_row_weight(data, i) * (squares ? d * d : d);
        total += share[i];
        least = fmin(least, data->y[i]);
    }
    /* the largest alone are sorted: no more of them may count */
    const size_t limit = n < 40 ? 1 : n / 20, kept = limit + 1;
    orr_select(share, n, n - kept);
    gsl_sort(share + n - kept, 1, kept);
    double most = 0;
    size_t few = 0;
    while (few < kept && most < 0.9 * total)
        most += share[n - 1 - few++];
    free(share);
    snprintf(
        text, bytes,
        "%zu of %zu rows make up %.3g%% of the loss of the best constant: the others hardly "
        "count%s",
        few, n, 100 * most / total,
        data->low ? "" /* --weights relative needs numbers */
        : least > 0
            ? ". `--weights relative` lets relative errors count, and so does `--log-target`"
            : ". `--weights relative` lets relative errors count (`--log-target` needs numbers "
              "above 0)");
    return total > 0 && few <= limit && most >= 0.9 * total;
}

/* The quarters of the rows, or of evenly spaced ones of a large table. */
static int measure_quarters(const struct sr_data *data, const struct sr_expr *expr,
                            struct sr_quarters *q)
{
    enum { MOST = 1 << 16 };
    struct sr_data sample;
    double *storage;
    if (data->rows <= MOST)
        return sr_quarters_measure(data, expr, q);
    TRY(sr_rows_take(data, MOST, NULL, &sample, &storage));
    const int rc = sr_quarters_measure(&sample, expr, q);
    free(storage);
    return rc;
}

/* Noise in proportion to y, which the short search saw, or else these residuals show. */
static bool remark_proportional(const struct sr_answer *o, char *text, size_t bytes)
{
    enum { FEW = 20 };
    const int row = sr_front_select(o->front, o->rule);
    struct sr_quarters q;
    if (o->by) {
        snprintf(text, bytes,
                 "residuals of a short first search grew with the size of %s, so rows count by "
                 "1 / prediction^2 (`--weights equal`: all rows alike)",
                 o->target);
        return true;
    }
    if (row < 0 || o->data->low || o->data->rows < FEW || o->weights || o->log_target ||
        (!o->least_squares && strcmp(o->loss, "l1")) || remark_dominated(o, text, bytes) ||
        measure_quarters(sr_answer_data(o, row), &o->front->expr[row], &q))
        return false;
    snprintf(text, bytes,
             "residuals grow with the size of %s: %.2g (median) in the quarter of rows with the "
             "smallest predictions, %.2g in that with the largest, %.2g and %.2g of a prediction. "
             "`--weights relative` lets all rows count alike",
             o->target, q.residual[0], q.residual[1], q.ratio[0], q.ratio[1]);
    return sr_quarters_proportional(&q);
}

/* Deviations that count by their size. */
static bool remark_tails(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_tails *tails = o->tails;
    const bool chosen = tails && tails->rows;
    *text = '\0';
    if (!(o->bend > 0))
        return false;
    if (chosen)
        orr_append(text, bytes,
                   "%zu of %zu rows are far from the formulas of a short first search, and not "
                   "beside each other, as normal noise has none: the loss is huber (`--loss l2`: "
                   "least squares). ",
                   tails->far, tails->rows);
    orr_append(text, bytes,
               "Deviations above %.3g count by their size, smaller ones by their square: 1.345 "
               "times the scatter of the residuals (`%s--set symreg.loss_parameter=X`: X times the "
               "median of |%s|)",
               o->bend,
               chosen                        ? "--loss huber "
               : !strcmp(o->loss, "logcosh") ? "--loss logcosh "
                                             : "",
               o->target);
    return true;
}

static bool remark_zeros(const struct sr_answer *o, char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < o->data->rows; i++)
        count += fabs(o->data->y[i]) <= SR_NO_SIZE;
    snprintf(text, bytes,
             "the target is 0 in %zu of %zu rows: there a deviation counts in units of the median "
             "of its size",
             count, o->data->rows);
    return count > 0 && !strcmp(o->loss, "relative");
}

/* Whether the sigmas of the rows explain the residuals: o->variance / weight is sigma^2. */
static bool remark_chi2(const struct sr_answer *o, char *text, size_t bytes)
{
    double constant[SR_NODES];
    const int row = sr_front_select(o->front, o->rule);
    if (row < 0 || !o->least_squares || !(o->variance > 0) || o->data->low)
        return false;
    const double rows = (double)o->data->rows, counted = o->data->independent;
    const double n = counted > 0 ? counted : rows;
    double chi2 = n * o->front->loss[row] / o->variance,
           freedom = n - sr_expr_constants(&o->front->expr[row], constant);
    const bool measured = sr_answer_measured(o, row, &chi2, &freedom);
    if (freedom < 1)
        return false;
    snprintf(text, bytes,
             "the formula of rule %s has chi^2 = %.4g with %.0f degrees of freedom; if formula "
             "and sigmas are right it is %.0f +- %.2g%s",
             sr_rule_name[o->rule], chi2, freedom, freedom, sqrt(2 * freedom),
             measured      ? " (of the positions along the paths)"
             : counted > 0 ? " (of the rows that count, as residuals follow each other)"
                           : "");
    return true;
}

/* Rows whose errors follow each other, where they count as fewer. */
static bool remark_following(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_front *front = o->front;
    char along[300] = "the order of the rows";
    if (!sr_front_counts_fewer(front))
        return false;
    if (front->along >= 0)
        snprintf(along, sizeof along, "column \"%s\"", o->names[front->along]);
    else if (front->along == SR_ALONG_NEAREST)
        snprintf(along, sizeof along, "neighbouring values of the columns");
    snprintf(
        text, bytes,
        "residuals of the formula of complexity %d follow each other along %s, as the smooth "
        "errors of derivatives, integrations and interpolations do, or what a missing term leaves: "
        "the %zu rows count as %.0f in the rules best, score and mdl and in standard errors",
        front->complexity[front->followed], along, front->rows, front->independent);
    return true;
}

/* Other frequencies that the rows of an even grid do not tell from those of the formula. Of numbers
 * rounded to decimals, most places of the grid are empty. */
static bool remark_aliases(const struct sr_answer *o, char *text, size_t bytes)
{
    const double most_empty = 5;
    const int row = sr_front_select(o->front, o->rule);
    *text = '\0';
    for (int i = 1; row >= 0 && !o->form && i < o->front->expr[row].count; i++) {
        const struct sr_expr *expr = &o->front->expr[row];
        struct sr_wave_line line;
        struct sr_grid grid;
        if (!sr_wave_find(expr, i, &line) ||
            !sr_grid_find(o->data->x + (size_t)line.column * o->data->rows, o->data->rows, &grid) ||
            grid.steps > most_empty * (double)o->data->rows)
            continue;
        const double apart = (expr->node[i].op == SR_TAN ? 1 : 2) * M_PI / grid.step;
        const double own = fabs(line.slope);
        orr_append(text, bytes,
                   "%s%s has even steps of %.6g, so that frequencies of %.6g, %.6g and %.6g fit "
                   "these rows alike",
                   *text ? "; " : "", o->names[line.column], grid.step, own, fabs(apart - own),
                   apart + own);
    }
    return *text != '\0';
}

/* Columns of one value, but of tables of tracks, where planes and single stars are usual. */
static bool remark_constant(const struct sr_answer *o, char *text, size_t bytes)
{
    enum { MOST = 240 }; /* characters of names, which would push the rest out of the text */
    const size_t n = o->data->rows;
    char number[SR_NUMBER];
    int count = 0, unnamed = 0;
    *text = '\0';
    for (int f = 0; f < sr_answer_features(o) && !o->remark; f++) {
        const double *x = o->data->x + (size_t)f * n;
        size_t i = 1;
        while (i < n && fabs(x[i] - x[0]) <= 0)
            i++;
        if (i < n)
            continue;
        sr_number_print(x[0], number);
        if (count++ && strlen(text) + strlen(o->names[f]) + strlen(number) > MOST)
            unnamed++;
        else
            orr_append(text, bytes, "%s%s is %s", count > 1 ? ", " : "", o->names[f], number);
    }
    if (unnamed)
        orr_append(text, bytes, ", and %d more have one value", unnamed);
    if (count)
        orr_append(text, bytes,
                   " in all rows that are used: no row shows how %s depends on %s, and a number of "
                   "the formula may stand for %s",
                   o->target, count > 1 ? "them" : "it", count > 1 ? "them" : "it");
    return count > 0;
}

/* Numbers of the selected formula that a bound of --constrain-constants stopped, or whose 95%
 * interval would reach beyond it. */
static bool remark_bounds(const struct sr_answer *o, char *text, size_t bytes)
{
    static const double at = 1e-6, reach = 1.96; /* of the bound; standard errors */
    const int row = sr_front_select(o->front, o->rule);
    const struct sr_language *language = o->data->language;
    double value[SR_NODES], low[SR_NODES], high[SR_NODES], error[SR_NODES];
    *text = '\0';
    if (row < 0 || !language || !language->bounded)
        return false;
    const struct sr_expr *expr = &o->front->expr[row];
    const int n = sr_expr_constants(expr, value);
    const bool measured =
        o->least_squares && !sr_constants_errors(expr, o->data, o->variance, error);
    orr_error_clear();
    sr_expr_bounds(language, expr, low, high);
    for (int i = 0; i < n; i++) {
        const double room = measured && isfinite(error[i]) ? reach * error[i] : 0;
        for (int side = 0; side < 2; side++) {
            const double bound = side ? high[i] : low[i], off = fabs(value[i] - bound),
                         least = at * fmax(fabs(bound), fabs(value[i]));
            if (!isfinite(bound) || !(off <= fmax(room, least)))
                continue;
            orr_append(text, bytes, "%snumber %d, %.6g, %s its bound %.6g", *text ? "; " : "",
                       i + 1, value[i], off <= least ? "is at" : "is within two standard errors of",
                       bound);
        }
    }
    if (*text && measured)
        orr_append(text, bytes, " (its standard error and interval suppose no bound)");
    return *text != '\0';
}

/* What the maker of the table knows about it. */
static bool remark_given(const struct sr_answer *o, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", o->remark ? o->remark : "");
    return o->remark && *o->remark;
}

bool sr_table_remark(const struct sr_answer *o, enum sr_table_remark remark, char *text,
                     size_t bytes)
{
    bool (*const find[SR_TABLE_REMARKS])(const struct sr_answer *, char *,
                                         size_t) = {[SR_UNDECIDED] = remark_undecided,
                                                    [SR_UNFITTED] = remark_unfitted,
                                                    [SR_SINGLE_ROW] = remark_single_row,
                                                    [SR_ODD_ROWS] = remark_odd_rows,
                                                    [SR_DOMINATED] = remark_dominated,
                                                    [SR_PROPORTIONAL] = remark_proportional,
                                                    [SR_TAILS] = remark_tails,
                                                    [SR_ZEROS] = remark_zeros,
                                                    [SR_CHI2] = remark_chi2,
                                                    [SR_FOLLOWING] = remark_following,
                                                    [SR_INTERVALS] = sr_remark_intervals,
                                                    [SR_ALIASES] = remark_aliases,
                                                    [SR_BOUNDS] = remark_bounds,
                                                    [SR_FILL] = sr_remark_fill,
                                                    [SR_TOTAL] = sr_remark_total,
                                                    [SR_SAME] = remark_constant,
                                                    [SR_GIVEN] = remark_given};
    return find[remark](o, text, bytes);
}
