/* pareto_front.c - hall of fame, Pareto front and selection rules. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Losses up to this multiple of the smallest count as close, as in PySR. */
static const double most_close = 1.5;

const char *const sr_rule_name[SR_RULES] = {
    [SR_ACCURACY] = "accuracy", [SR_SCORE] = "score", [SR_BEST] = "best", [SR_MDL] = "mdl"};

int sr_rule_find(const char *key, const char *name, enum sr_rule *rule)
{
    struct orr_nearest nearest = {0};
    for (int i = 0; i < SR_RULES; i++) {
        if (!strcmp(name, sr_rule_name[i])) {
            *rule = (enum sr_rule)i;
            return 0;
        }
        orr_nearest_offer(&nearest, name, sr_rule_name[i]);
    }
    return ORR_FAIL(ORR_EUSAGE, "%s: no rule \"%s\"; %s%s", key, name,
                    nearest.name ? "did you mean " : "expected ",
                    nearest.name ? nearest.name : "accuracy, score, best or mdl");
}

void sr_hall_of_fame_clear(struct sr_hall_of_fame *hall)
{
    for (int i = 0; i <= SR_NODES; i++) {
        hall->loss[i] = HUGE_VAL;
        hall->expr[i].count = 0;
    }
}

bool sr_hall_of_fame_offer(struct sr_hall_of_fame *hall, const struct sr_language *language,
                           const struct sr_expr *expr, double loss)
{
    const int size = sr_expr_complexity(language, expr);
    if (size > SR_NODES || !(loss < hall->loss[size]))
        return false;
    hall->loss[size] = loss;
    sr_expr_copy(&hall->expr[size], expr);
    return true;
}

/* ln(a / b) of positive numbers, whose quotient may leave the range of numbers. */
static double log_ratio(double a, double b)
{
    const double quotient = b / a;
    return isnormal(quotient) ? -orr_log(quotient) : orr_log(a) - orr_log(b);
}

void sr_front_make(const struct sr_hall_of_fame *hall, struct sr_front *front)
{
    double smallest = HUGE_VAL;
    front->count = 0;
    front->rows = 0;
    front->worth = front->independent = front->power = 0;
    front->without = 0;
    front->odds = 0;
    front->within = false;
    front->close = most_close;
    for (int c = 1; c <= SR_NODES; c++) {
        if (!(hall->loss[c] < smallest))
            continue;
        smallest = hall->loss[c];
        const int row = front->count++;
        front->complexity[row] = c;
        front->loss[row] = front->compared[row] = front->fair[row] = smallest;
        front->expr[row] = hall->expr[c];
        front->unfitted[row] = false;
        front->score[row] = 0;
        front->mdl[row] = front->cost[row] = NAN;
        front->evidence[row] = 0;
        if (row && smallest <= 0)
            front->score[row] = HUGE_VAL;
        else if (row)
            front->score[row] =
                log_ratio(front->loss[row - 1], smallest) / (c - front->complexity[row - 1]);
    }
}

/* Whether the constants of the front were charged by their evidence. */
static bool is_evident(const struct sr_front *front)
{
    return front->count && front->evidence[front->count - 1] > 0;
}

static double nats_of(const struct sr_front *front, int row)
{
    return is_evident(front) ? front->evidence[row] : front->cost[row];
}

/* ln of the factor by which a formula of so many nats, times the power of residuals, has a smaller
 * loss by chance. What uneven rows add is a share of the loss, not a power: where few rows make up
 * the sum of squares, their share is all that chance can explain. */
static double by_chance(const struct sr_front *front, double nats)
{
    const double rows = front->independent > 0 ? front->independent : (double)front->rows;
    const double more = front->worth > 0 ? nats * fmax(1 / front->worth - 1 / rows, 0) : 0;
    return nats / rows + orr_log(1 + more);
}

void sr_front_correct(struct sr_front *front, const struct sr_loss *loss)
{
    const double nats = 4;
    const double power = front->power > 0 ? front->power : sr_loss_of_squares(loss->kind) ? 2 : 1;
    int before = -1; /* index of the row with the smallest loss so far */
    double log_fair[SR_NODES + 1] = {0}, most = 0;
    for (int i = 0; i < front->count; i++) /* what is not known costs no less than the others */
        most = isfinite(nats_of(front, i)) ? fmax(most, nats_of(front, i)) : most;
    front->close = fmin(most_close, orr_exp(by_chance(front, power * nats)));
    for (int i = 0; i < front->count; i++) {
        const bool exact = front->compared[i] <= 0 && sr_loss_decides(loss, &front->expr[i]);
        const double least = fmax(loss->noise, DBL_MIN);
        const double spent = isfinite(nats_of(front, i)) ? nats_of(front, i) : most;
        log_fair[i] = orr_log(fmax(front->compared[i], least)) + by_chance(front, power * spent);
        front->fair[i] = exact ? 0 : orr_exp(fmin(fmax(log_fair[i], -700), 700));
        front->score[i] = 0;
        if (before >= 0 && exact && front->fair[before] > 0)
            front->score[i] = HUGE_VAL;
        else if (before >= 0 && front->fair[before] > 0)
            front->score[i] = (log_fair[before] - log_fair[i]) /
                              (front->complexity[i] - front->complexity[before]);
        if (before < 0 || (front->fair[before] > 0 && (exact || log_fair[i] < log_fair[before])))
            before = i;
    }
}

int sr_front_end_within(struct sr_front *front, const struct sr_data *data, double tolerance)
{
    double left, worst;
    double *value = orr_alloc(data->rows, sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    for (int i = 0; i < front->count && !front->within; i++) {
        if (!sr_eval(&front->expr[i], data, value))
            continue;
        sr_measure_fit(data, value, &left, &worst);
        if (!(left <= tolerance * tolerance))
            continue;
        front->within = true;
        front->count = i + 1;
    }
    free(value);
    return 0;
}

int sr_front_constants(const struct sr_front *front)
{
    int most = 0;
    for (int i = 0; i < front->count; i++) {
        const int count = sr_expr_constants(&front->expr[i], NULL);
        most = count > most ? count : most;
    }
    return most;
}

int sr_front_select(const struct sr_front *front, enum sr_rule rule)
{
    if (front->count == 0)
        return -1;
    if (rule == SR_ACCURACY || front->within)
        return front->count - 1;
    int chosen = -1;
    double smallest = HUGE_VAL;
    for (int i = 0; i < front->count; i++)
        smallest = fmin(smallest, front->fair[i]);
    for (int i = 0; i < front->count && rule == SR_MDL; i++)
        if (!isnan(front->mdl[i]) && (chosen < 0 || front->mdl[i] < front->mdl[chosen]))
            chosen = i;
    for (int i = 0; i < front->count && rule != SR_MDL; i++) {
        if (rule == SR_BEST &&
            !(front->fair[i] <= (is_evident(front) ? 1 : front->close) * smallest))
            continue;
        if (chosen < 0 || front->score[i] > front->score[chosen])
            chosen = i;
    }
    return chosen;
}

/* A numeric cell; empty for NaN. */
static void write_number(struct orr_file *file, double value)
{
    orr_file_printf(file, isfinite(value) ? ",%.9g" : ",", value);
}

int sr_front_write(const struct sr_front *front, const struct sr_language *language,
                   const char *const *names, const double *test_loss, const double *test_r2,
                   const char *path)
{
    struct orr_file file;
    char text[SR_TEXT];
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "Complexity,Loss,Equation%s\n", test_loss ? ",TestLoss,TestR2" : "");
    for (int i = 0; i < front->count; i++) {
        sr_expr_print(language, &front->expr[i], names, text, sizeof text);
        orr_file_printf(&file, "%d,%.9g,", front->complexity[i], front->loss[i]);
        orr_csv_write_cell(&file, text);
        if (test_loss) {
            write_number(&file, test_loss[i]);
            write_number(&file, test_r2[i]);
        }
        orr_file_printf(&file, "\n");
    }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
