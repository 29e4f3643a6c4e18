/* sentences.c - what is said of a system of equations: on the terminal, and as parts of its report
 * and its page. */
#include <math.h>

#include "base/text.h"
#include "sentences.h"

void sr_said_names(const struct sr_states *s, const char *name[SR_SYSTEM_NAMES])
{
    for (int k = 0; k < SR_SYSTEM_NAMES; k++)
        name[k] = k < s->names        ? s->name[k]
                  : k < SR_EACH_FIRST ? ""
                                      : s->each_name[k - SR_EACH_FIRST];
}

/* a + -2 * b becomes a - 2 * b, and -(-2 * b) becomes 2 * b, for people: numbers stay in their
 * order. */
static void carry_signs(const struct sr_language *language, struct sr_expr *expr)
{
    for (int i = 1; i < expr->count; i++) {
        struct sr_node *const sign = &expr->node[i];
        if (sign->op != SR_ADD && sign->op != SR_SUB && sign->op != SR_NEG)
            continue;
        int at = i - 1;
        while (expr->node[at].op == SR_MUL || expr->node[at].op == SR_DIV)
            at = sr_expr_left(expr, at);
        if (!sr_is_number(&expr->node[at]) || !(expr->node[at].value < 0))
            continue;
        expr->node[at].value = -expr->node[at].value;
        if (sign->op == SR_NEG) {
            memmove(sign, sign + 1, (size_t)(--expr->count - i) * sizeof *sign);
            sr_expr_measure(language, expr);
            i--;
        } else {
            sign->op = sign->op == SR_ADD ? SR_SUB : SR_ADD;
        }
    }
}

/* Whether the interval of a number is far from 1.96 standard errors on either side. */
static bool is_uneven(double below, double above, double error)
{
    static const double uneven = 0.2;
    const double off = SR_NORMAL_95 * error;
    return isfinite(below) && isfinite(above) &&
           fmax(fabs(below - off), fabs(above - off)) > uneven * off;
}

/* A bound of an interval, with three digits, or as many as the standard error needs. */
static void print_bound(double bound, double error, char text[SR_NUMBER])
{
    int digits = 3;
    for (double share = error; share < 0.01 * fabs(bound) && digits < 17; digits++)
        share *= 10;
    sr_number_print(sr_round_digits(bound, digits), text);
}

/* "0.4 +- 0.001, 30 +- 6 (95%: 21 to 47)"; empty where no error is known. The numbers are those of
 * the formula as it is shown, which may have the opposite signs. */
static void write_errors(const struct sr_system *system, int d, const struct sr_expr *shown,
                         char *text, size_t bytes)
{
    double value[SR_NODES], own[SR_NODES];
    char number[SR_NUMBER], error[SR_NUMBER];
    const int count = sr_expr_constants(shown, value);
    sr_expr_constants(&system->expr[d], own);
    *text = '\0';
    for (int c = 0; c < count; c++) {
        const double below = own[c] - system->low[d][c], above = system->high[d][c] - own[c];
        const bool opposite = value[c] * own[c] < 0;
        if (!isfinite(system->error[d][c]))
            continue;
        sr_number_print(sr_round_digits(value[c], 10), number);
        sr_number_print(sr_round_digits(system->error[d][c], 2), error);
        orr_append(text, bytes, "%s%s +- %s", *text ? ", " : "", number, error);
        if (!is_uneven(below, above, system->error[d][c]))
            continue;
        print_bound(value[c] - (opposite ? above : below), system->error[d][c], number);
        print_bound(value[c] + (opposite ? below : above), system->error[d][c], error);
        orr_append(text, bytes, " (95%%: %s to %s)", number, error);
    }
}

void sr_said_constant(const struct sr_system *system, int k, int i, char text[SR_SAID_CONSTANT])
{
    char number[SR_NUMBER], error[SR_NUMBER];
    const double off = system->each_error.value[k][i];
    sr_number_print(sr_round_digits(system->each.value[k][i], 10), number);
    sr_number_print(sr_round_digits(off, 2), error);
    snprintf(text, SR_SAID_CONSTANT, isfinite(off) ? "%s +- %s" : "%s", number, error);
}

void sr_said_equation(const struct sr_states *s, const struct sr_language *language,
                      const struct sr_system *system, int d, char *text, size_t bytes)
{
    const char *name[SR_SYSTEM_NAMES];
    char formula[SR_TEXT], errors[SR_TEXT];
    struct sr_expr shown = system->expr[d];
    carry_signs(language, &shown);
    sr_said_names(s, name);
    sr_expr_text(language, &shown, SR_INFIX, name, formula, sizeof formula);
    write_errors(system, d, &shown, errors, sizeof errors);
    snprintf(text, bytes, "%s = %s%s%s%s", s->target[d], formula, *errors ? "   (" : "", errors,
             *errors ? ")" : "");
}

/* A conserved quantity, with constants of six digits. */
void sr_said_quantity(const struct sr_states *s, const struct sr_language *language,
                      const struct sr_conserved *conserved, int q, enum sr_notation notation,
                      char *text, size_t bytes)
{
    const char *name[SR_SYSTEM_NAMES];
    struct sr_expr expr = conserved->expr[q];
    double value[SR_NODES];
    const int count = sr_expr_constants(&expr, value);
    for (int k = 0; k < count; k++)
        value[k] = sr_round_digits(value[k], 6);
    sr_expr_set_constants(&expr, value);
    sr_expr_collect(language, &expr);
    sr_said_names(s, name);
    sr_expr_text(language, &expr, notation, name, text, bytes);
}

/* "conserved", or of one that is so nearly how much it changes. */
void sr_said_how(const struct sr_conserved *conserved, int q, char *text, size_t bytes)
{
    if (conserved->change[q] < SR_CONSERVED_EXACT)
        snprintf(text, bytes, "conserved");
    else
        snprintf(text, bytes,
                 "nearly conserved (it changes by %.2g%% while the states change by their ranges)",
                 100 * conserved->change[q]);
}

/* What is known of the choice. */
void sr_said_choice(const struct sr_system *system, char *text, size_t bytes)
{
    if (!system->by_track)
        snprintf(text, bytes,
                 "chosen by the derivatives: no solution of the equations follows the tracks");
    else
        snprintf(text, bytes,
                 "chosen by the tracks: residuals of the solutions are %.3g standard deviations of "
                 "the noise (rms)",
                 system->residual);
}

/* From so many standard deviations of the noise on, residuals are no noise: right equations leave
 * more than 1 only where the noise was estimated too small. */
static const double too_far = 1.5;
static const char *const advice_far =
    "at least one equation is wrong or lacks a term; more --seconds find more formulas, and the "
    "time (--explicit-time) or another column (--input) may act on the system";
static const char *const advice_alone =
    "with the other states known these are followed within the noise, and constants are those of "
    "that fit; the other equations are wrong or incomplete";
static const char *const advice_time =
    "with a term of the time added here the solutions follow the tracks better; the time may act "
    "on the system (--explicit-time), or another term is missing";

static const char *const advice_still =
    "no formula explains this more than a constant with noise does; what its equation says is "
    "noise, too";
static const char *const advice_gain =
    "chosen with the time: without it the solutions leave more than the noise, and the description "
    "is longer";

static const char *const advice_coarse =
    "fewer than five rows for each oscillation: neither its noise nor its derivatives are known, "
    "and "
    "standard deviations of the noise are no measure; rows nearer to each other are needed";

/* Whether a state, as it was smoothed, passes its mean more often than every 2.5 rows. A process
 * can follow such rows through every point, so that their noise is taken for motion. */
static bool is_coarse(const struct sr_states *s, int d)
{
    size_t rows = 0, passes = 0;
    for (size_t k = 0; k < s->count; k++) {
        const double *const x = s->track[k].smooth + (size_t)d * s->track[k].n;
        double mean = 0;
        for (size_t i = 0; i < s->track[k].n; i++)
            mean += x[i] / (double)s->track[k].n;
        for (size_t i = 1; i < s->track[k].n; i++, rows++)
            passes += (x[i] > mean) != (x[i - 1] > mean);
    }
    return passes > 3 && 2 * rows < 5 * passes;
}

/* The names for which a list is true; "": none. */
static const char *list_true(int dims, const bool *is, const char *name, size_t width, char *text,
                             size_t bytes)
{
    *text = 0;
    for (int d = 0; d < dims; d++)
        if (is[d])
            orr_append(text, bytes, "%s%s", *text ? ", " : "", name + (size_t)d * width);
    return text;
}

int sr_said_remarks(const struct sr_states *s, const struct sr_system *system,
                    struct sr_said_remark remark[SR_SAID_REMARKS])
{
    bool coarse[SR_STATES] = {false};
    int count = 0;
    if (system->by_track && system->residual > too_far) {
        remark[count++] = (struct sr_said_remark){.advice = advice_far};
        for (int d = 0; d < s->dims; d++)
            coarse[d] = is_coarse(s, d);
    }
    if (*list_true(s->dims, coarse, s->name[0], sizeof s->name[0], remark[count].subject, SR_TEXT))
        remark[count++].advice = advice_coarse;
    if (*list_true(s->dims, system->still, s->name[0], sizeof s->name[0], remark[count].subject,
                   SR_TEXT))
        remark[count++].advice = advice_still;
    if (*list_true(s->dims, system->alone, s->target[0], sizeof s->target[0], remark[count].subject,
                   SR_TEXT))
        remark[count++].advice = advice_alone;
    if (system->time_gain > 0) {
        snprintf(remark[count].subject, SR_TEXT, "%s", s->name[sr_states_time(s)]);
        remark[count++].advice = advice_gain;
    }
    if (system->follows_time >= 0) {
        snprintf(remark[count].subject, SR_TEXT, "%s", s->target[system->follows_time]);
        remark[count++].advice = advice_time;
    }
    return count;
}

static void print_remarks(const struct sr_states *s, const struct sr_system *system)
{
    struct sr_said_remark remark[SR_SAID_REMARKS];
    char shown[2 * SR_TEXT];
    const int count = sr_said_remarks(s, system, remark);
    for (int k = 0; k < count; k++)
        if (*remark[k].subject)
            printf("remark: %s: %s\n", orr_shown(shown, sizeof shown, remark[k].subject),
                   remark[k].advice);
        else
            printf("remark: residuals of the solutions are %.3g standard deviations of the noise: "
                   "%s\n",
                   system->residual, remark[k].advice);
}

/* The constants of each category, above the equations. */
static void print_constants(const struct sr_states *s, const struct sr_system *system)
{
    char text[SR_SAID_CONSTANT], shown[2 * SR_STATE_NAME];
    if (!system->constants)
        return;
    printf("\nconstants of each %s:\n", orr_shown(shown, sizeof shown, s->category));
    for (int i = 0; i < s->categories && i < SR_PRINTED_CATEGORIES; i++) {
        printf("  %-12s", orr_shown(shown, sizeof shown, s->category_label[i]));
        for (int k = 0; k < system->constants; k++) {
            sr_said_constant(system, k, i, text);
            printf("  c%d = %s", k + 1, text);
        }
        printf("\n");
    }
    if (s->categories > SR_PRINTED_CATEGORIES)
        printf("  ... and %d more (equations.json of --out DIR has all)\n",
               s->categories - SR_PRINTED_CATEGORIES);
}

int sr_system_print(const struct sr_states *s, const struct sr_language *language,
                    const struct sr_system *system)
{
    char text[3 * SR_TEXT], shown[6 * SR_TEXT], how[300];
    for (int q = 0; q < system->conserved.count; q++) {
        sr_said_quantity(s, language, &system->conserved, q, SR_INFIX, text, sizeof text);
        sr_said_how(&system->conserved, q, how, sizeof how);
        printf("%s%s: %s\n", q ? "" : "\n", how, orr_shown(shown, sizeof shown, text));
    }
    print_remarks(s, system);
    sr_said_choice(system, how, sizeof how);
    if (system->symmetry.vectors) {
        sr_form_text(s, &system->symmetry.form, text, sizeof text);
        printf("\nvectors: %s\n", orr_shown(shown, sizeof shown, text));
    }
    for (int k = 0; sr_symmetry_text(s, &system->symmetry, k, text, sizeof text); k++)
        printf("%s\n", orr_shown(shown, sizeof shown, text));
    print_constants(s, system);
    printf("\nequations, %s\n", how);
    for (int d = 0; d < s->dims; d++) {
        sr_said_equation(s, language, system, d, text, sizeof text);
        printf("%s\n", orr_shown(shown, sizeof shown, text));
    }
    fflush(stdout);
    return 0;
}
