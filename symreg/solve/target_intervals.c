/* target_intervals.c - --target-interval LOW,HIGH: targets of which the table says between which
 * numbers they lie, as of detection limits, classes and rounded numbers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

int sr_interval_columns(const struct orr_csv *csv, const char *file, const char *text,
                        int column[2])
{
    const char *at = text;
    char name[256];
    for (int k = 0; k < 2; k++) {
        if (!at)
            return ORR_FAIL(ORR_EUSAGE, "--target-interval: expected LOW,HIGH, found \"%s\"", text);
        TRY(sr_column_next("--target-interval", text, &at, name, sizeof name));
        TRY(sr_column_find(csv, file, name, NULL, &column[k]));
    }
    if (at || column[0] == column[1])
        return ORR_FAIL(ORR_EUSAGE,
                        "--target-interval: expected two columns, LOW,HIGH, found %s%s%s",
                        at ? "\"" : "one twice: \"", text, "\"");
    return 0;
}

/* Whether a formula could take the name for another column's. */
static bool is_taken(const struct orr_csv *csv, const char *name)
{
    return orr_csv_column(csv, name) >= 0;
}

char *sr_interval_name(const struct orr_csv *csv, const int column[2])
{
    enum { MORE = 16 };
    const char *const low = csv->names[column[0]], *const high = csv->names[column[1]];
    size_t length = 0;
    while (low[length] && low[length] == high[length])
        length++;
    while (length && (ispunct((unsigned char)low[length - 1]) || low[length - 1] == ' ' ||
                      (low[length] & 0xc0) == 0x80))
        length--;
    char *const name = orr_alloc(length + MORE, 1);
    if (!name)
        return NULL;
    if (length)
        memcpy(name, low, length);
    else
        name[length++] = 'y';
    for (int k = 0; is_taken(csv, name) && k < MORE - 4; k++)
        name[length++] = '_';
    return name;
}

/* An end of an interval as a cell says it: a number, or nothing, a number of --missing-value or
 * `open` where it has none. */
static int read_end(const struct orr_csv *csv, const char *file, const struct sr_missing *what,
                    size_t row, int column, double open, double *end)
{
    const size_t at = row * csv->cols + (size_t)column;
    *end = sr_is_missing(what, NULL, csv->values[at]) ? open : csv->values[at];
    if (isfinite(*end) || (*end >= open && *end <= open))
        return 0;
    if (!isnan(*end) || (csv->cells && !sr_cell_is_missing(csv->cells[at])))
        return sr_table_wrong_cell(csv, file, row, column);
    *end = open;
    return 0;
}

static int check_ends(const char *where, double low, double high)
{
    char number[2][SR_NUMBER];
    if (isinf(low) && isinf(high))
        return ORR_FAIL(ORR_EINVAL, "%s: expected an interval with an end, found none", where);
    sr_number_print(low, number[0]);
    sr_number_print(high, number[1]);
    return low <= high ? 0
                       : ORR_FAIL(ORR_EINVAL,
                                  "%s: expected the low end of the target up to its high end, "
                                  "found %s above %s",
                                  where, number[0], number[1]);
}

int sr_interval_read(const char *file, const int column[2], const struct sr_missing *what,
                     struct sr_table *table)
{
    struct orr_csv *const csv = &table->csv;
    char where[512];
    table->interval = orr_alloc(2 * csv->rows, sizeof *table->interval);
    if (!table->interval)
        return ORR_ENOMEM;
    for (size_t i = 0; i < csv->rows; i++) {
        double *const low = &table->interval[i], *const high = low + csv->rows;
        snprintf(where, sizeof where, "%s:%zu", file, csv->line[i]);
        TRY(read_end(csv, file, what, i, column[0], -HUGE_VAL, low));
        TRY(read_end(csv, file, what, i, column[1], HUGE_VAL, high));
        TRY(check_ends(where, *low, *high));
        csv->values[i * csv->cols + (size_t)column[0]] = sr_interval_middle(*low, *high);
    }
    csv->digits[column[0]] = (struct orr_csv_digits){.whole = true}; /* of middles: unknown */
    return 0;
}

int sr_interval_give(const char *file, bool logarithm, struct sr_table *table)
{
    const size_t rows = table->data.rows;
    double *const low = table->interval, *const high = low + rows;
    double *const y = table->block + (table->data.y - table->block);
    for (size_t i = 0; i < rows; i++) {
        if (logarithm && !(high[i] > 0))
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: \"%s\": --log-target expects positive numbers, found %g as "
                            "the high end",
                            file, table->csv.line[i], table->target, high[i]);
        if (logarithm) {
            low[i] = low[i] > 0 ? orr_log(low[i]) : -HUGE_VAL;
            high[i] = isinf(high[i]) ? HUGE_VAL : orr_log(high[i]);
        }
        y[i] = sr_interval_middle(low[i], high[i]);
    }
    table->data.low = low;
    table->data.high = high;
    return 0;
}

int sr_interval_refuse(const struct sr_csv_options *o, const struct sr_csv_setup *setup,
                       enum orr_symreg_loss loss)
{
    const char *with = loss != ORR_SR_L2                                 ? "another loss than l2"
                       : setup->settings.algorithm == &sr_algorithm_pysr ? "--compat pysr"
                       : o->alternatives && atoi(o->alternatives)        ? "--alternatives"
                       : o->permutations                                 ? "--permutations"
                       : o->category                                     ? "--category"
                       : o->tolerance                                    ? "--tolerance"
                       : o->sigma_x                                      ? "--sigma-x"
                       : o->weights && !strcmp(o->weights, "relative")   ? "--weights relative"
                                                                         : NULL;
    return with ? ORR_FAIL(ORR_EUSAGE, "--target-interval: not with %s", with) : 0;
}

bool sr_remark_intervals(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_data *data = o->data;
    const int row = sr_front_select(o->front, o->rule);
    struct sr_interval_noise noise;
    size_t inside = 0, open = 0, lows = 0, highs = 0;
    *text = '\0';
    double *value = data->low && row >= 0 ? orr_alloc(data->rows, sizeof *value) : NULL;
    if (!value || !sr_eval(&o->front->expr[row], data, value)) {
        free(value);
        return false;
    }
    for (size_t i = 0; i < data->rows; i++) {
        inside += value[i] >= data->low[i] && value[i] <= data->high[i];
        open += !sr_interval_is_closed(data, i);
        lows += isfinite(data->low[i]) ? 1 : 0;
        highs += isfinite(data->high[i]) ? 1 : 0;
    }
    sr_interval_measure(data, value, &noise);
    orr_append(text, bytes,
               "targets are intervals: the formula of rule %s lies in %zu of %zu, and the loss is "
               "the mean square of the distance to them",
               sr_rule_name[o->rule], inside, data->rows);
    if (noise.sigma > 0)
        orr_append(text, bytes, "; noise of standard deviation %.3g explains the others",
                   noise.sigma);
    if (!lows || !highs)
        orr_append(text, bytes, "; none has a %s end: every number that is %s enough lies in all",
                   highs ? "low" : "high", highs ? "small" : "large");
    else if (open)
        orr_append(text, bytes, "; R2 counts the middles of the %zu that have two ends",
                   data->rows - open);
    else
        orr_append(text, bytes, "; R2 counts their middles");
    free(value);
    return true;
}
