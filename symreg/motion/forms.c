/* forms.c - general hypotheses about a force between two bodies. The search composes formulas from
 * operators, and those of a dozen operators and two or three constants are beyond its seconds. But
 * forces are often of few kinds, none of which is a law:
 *
 *   power       A r^p
 *   factor      A r^p phi(r): phi changes at one length
 *   potential   the derivative of a potential that is a power times such a factor
 *   sum         A r^p + B phi(r) r^p, or of two powers; the second may act on the mass that moves
 *               in place of both masses
 *   response    the acceleration is a function of what a power law gives
 *
 * p is whole. Every text is tried with every p; letters are constants, of which those of one letter
 * are one parameter. */
#include "forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* P: times r^p, I: times r^-p, M: times the product of the masses, R: times the reduced mass, T: by
 * the sum of the masses; A, B: amplitudes, L: a length, Q: its square. The unit of B is
 * A^a L^(to + p with_p), times the sum of the masses where `sum` says so. */
struct text {
    const char *text;
    int a, to, with_p;
    bool sum;
};
static const struct text texts[] = {
    {"AMP", 0, 0, 0, false},
    /* one factor */
    {"AMP*exp(-r/L)", 0, 0, 0, false},
    {"AMP/exp(r/L)", 0, 0, 0, false},
    {"AMP/(r+L)", 0, 0, 0, false},
    {"AMP*(r+L)", 0, 0, 0, false},
    {"AMP/(r*r+Q)", 0, 0, 0, false},
    {"AMP*(r*r+Q)", 0, 0, 0, false},
    {"AMP*sqrt(r*r+Q)", 0, 0, 0, false},
    {"AMP/sqrt(r*r+Q)", 0, 0, 0, false},
    {"AMP/(r*r+Q)/sqrt(r*r+Q)", 0, 0, 0, false},
    {"AMP/(r*r+Q)^1.5", 0, 0, 0, false},
    /* of a potential with exp(-r/L) */
    {"AMP*(r+L)/exp(r/L)", 0, 0, 0, false},
    {"AMP*(r+L)*exp(-r/L)", 0, 0, 0, false},
    /* sums */
    {"(A+B/exp(r/L))MP", 1, 0, 0, false},
    {"(A+B*exp(-r/L))MP", 1, 0, 0, false},
    {"(A+B*(r+L)/exp(r/L))MP", 1, -1, 0, false},
    {"(A+B*(r+L)*exp(-r/L))MP", 1, -1, 0, false},
    {"(AP+B*r)M", 1, -1, 1, false},
    {"(AP+B)M", 1, 0, 1, false},
    {"(AP+B/r)M", 1, 1, 1, false},
    {"(AP+B/(r*r))M", 1, 2, 1, false},
    {"(AP+B*r/(m1+m2))M", 1, -1, 1, true},
    {"(AP+B/(m1+m2))M", 1, 0, 1, true},
    {"(AP+B/r/(m1+m2))M", 1, 1, 1, true},
    {"(AP+B/(r*r)/(m1+m2))M", 1, 2, 1, true},
    /* the response to the acceleration of a power law */
    {"(A+sqrt(A*A+BIT))MP", 2, 0, 1, true},
    {"A*sqrt(1+BIT)MP", 0, 0, 1, true},
    {"A/(1+BIT)MP", 0, 0, 1, true},
};
enum { TEXTS = sizeof texts / sizeof *texts, LEAST = -3, MOST_POWER = 1 };

/* ---- least squares of the table */

double sr_form_fit(const struct sr_data *data, int steps, struct sr_form *form, double *work)
{
    enum { REJECTIONS = 6 };
    const size_t n = data->rows, C = (size_t)form->params;
    double *const value = work, *const jacobian = work + n;
    double now[SR_NODES], next[SR_NODES], loss = HUGE_VAL, damping = 1e-3;
    sr_form_get(form, now);
    memcpy(next, now, C * sizeof *now);
    double A[SR_NODES * SR_NODES], b[SR_NODES], L[SR_NODES * SR_NODES];
    for (int i = 0, rejected = 0; i < steps && rejected < REJECTIONS; i++) {
        double trial = 0;
        sr_form_set(form, next);
        const bool finite = sr_eval_jacobian(&form->expr, data, value, jacobian);
        for (size_t k = 0; k < n && finite; k++) {
            const double off = data->y[k] - value[k];
            trial += sr_row_weight(data, k) * off * off / (double)n;
        }
        if (finite && trial < loss) {
            const bool small = loss - trial < 1e-4 * loss;
            sr_form_collect(form, n, jacobian);
            memset(A, 0, sizeof A);
            memset(b, 0, sizeof b);
            for (size_t a = 0; a < C; a++)
                for (size_t k = 0; k < n; k++) {
                    const double w = sr_row_weight(data, k) * jacobian[a * n + k];
                    b[a] += w * (data->y[k] - value[k]);
                    for (size_t c = 0; c <= a; c++)
                        A[a * C + c] += w * jacobian[c * n + k];
                }
            loss = trial;
            memcpy(now, next, C * sizeof *now);
            damping = fmax(damping / 10, 1e-9);
            rejected = 0;
            if (small)
                break;
        } else if (i == 0) {
            return HUGE_VAL;
        } else {
            damping = fmax(10 * damping, 1e-3);
            rejected++;
        }
        memcpy(L, A, C * C * sizeof *A);
        memcpy(next, b, C * sizeof *b);
        for (size_t a = 0; a < C; a++)
            L[a * C + a] *= 1 + damping;
        if (!sr_cholesky(L, C, C, 0))
            break;
        sr_cholesky_solve(L, C, C, next);
        for (size_t a = 0; a < C; a++)
            next[a] += now[a];
    }
    sr_form_set(form, now);
    return loss;
}

double sr_form_nats(const struct sr_data *data, const struct sr_form *form, double loss)
{
    /* Paths are followed to a millionth of their size (paths.c), and so decide no less of a force
     * than this share. Exact rows that tell less apart would have long forms followed first, and
     * the seconds end before the short one's turn. */
    const double exact = 1e-7, n = sr_rows_counted(data);
    double least = 1e-300;
    for (size_t k = 0; k < data->rows; k++)
        least +=
            sr_row_weight(data, k) * exact * data->y[k] * exact * data->y[k] / (double)data->rows;
    return loss < HUGE_VAL ? 0.5 * n * orr_log(fmax(loss, least)) + sr_expr_nats(&form->expr, 0) +
                                 0.5 * form->params * orr_log(n)
                           : HUGE_VAL;
}

/* ---- texts */

/* What the letters stand for. */
struct letters {
    const char *M, *T;
    double A, B, L;
    int p;
};

static const char *power_text(int p)
{
    static const char *const text[] = {"/(r*r*r)", "/(r*r)", "/r", "", "*r", "*(r*r)", "*(r*r*r)"};
    return text[p + 3];
}

static void write_text(const char *text, const struct letters *l, char *out, size_t bytes)
{
    size_t at = 0;
    for (; *text && at + 40 < bytes; text++) {
        const double number = *text == 'A'   ? l->A
                              : *text == 'B' ? l->B
                              : *text == 'L' ? l->L
                                             : l->L * l->L;
        const char *const words = *text == 'M'   ? l->M
                                  : *text == 'T' ? l->T
                                  : *text == 'P' ? power_text(l->p)
                                  : *text == 'I' ? power_text(-l->p)
                                                 : NULL;
        if (words)
            at += (size_t)snprintf(out + at, bytes - at, "%s", words);
        else if (strchr("ABLQ", *text))
            at += (size_t)snprintf(out + at, bytes - at, "(%.17g)", number);
        else
            out[at++] = *text;
    }
    out[at] = '\0';
}

/* Numbers that are those of letters are parameters, one for each letter; others stay. */
static void find_params(const struct letters *l, struct sr_form *form)
{
    const double letter[] = {l->A, l->B, l->L, l->L * l->L};
    double all[SR_NODES];
    int of[4] = {-1, -1, -1, -1};
    form->numbers = sr_expr_constants(&form->expr, all);
    form->params = 0;
    for (int k = 0; k < form->numbers; k++) {
        form->param[k] = -1;
        for (int j = 0; j < 4; j++)
            if (fabs(all[k] - letter[j]) <= 1e-12 * fabs(letter[j]))
                form->param[k] = of[j] = of[j] < 0 ? form->params++ : of[j];
    }
}

/* ---- all of them */

struct finder {
    const struct sr_settings *settings;
    const struct sr_data *data;
    const char *const *features;
    const char *M, *T;         /* NULL: the masses are not known */
    double r, product, sum, y; /* medians: distance, product and sum of the masses, value */
    double *work, until_s;
    int most, count;
    struct sr_form_found *found;
};

static bool is_allowed(const struct finder *f, const struct sr_expr *expr)
{
    const struct sr_settings *s = f->settings;
    return sr_expr_complexity(s->language, expr) <= s->maxsize && sr_settings_allow(s, expr) &&
           (!s->whole || s->whole(expr, s->context));
}

/* Keeps a form where it is among the best; the best of each shape alone. */
static void keep(struct finder *f, const struct sr_form_found *new)
{
    int at = f->count;
    if (at == f->most && !(new->nats < f->found[at - 1].nats))
        return;
    at -= at == f->most;
    for (; at > 0 && new->nats < f->found[at - 1].nats; at--)
        f->found[at] = f->found[at - 1];
    f->found[at] = *new;
    f->count += f->count < f->most;
}

/* Fits one text with one power, from a few starts. */
static void try_text(struct finder *f, const struct text *t, int p)
{
    enum { STEPS = 15, LENGTHS = 3 };
    static const double length[LENGTHS] = {0.3, 1, 3};
    const bool has_B = strchr(t->text, 'B'), has_L = strpbrk(t->text, "LQ");
    struct sr_form_found best = {.loss = HUGE_VAL};
    char text[512];
    for (int k = 0; k < LENGTHS * (has_B ? 2 : 1); k++) {
        const double L = length[k % LENGTHS] * f->r, at = has_L ? L : f->r;
        struct letters l = {.M = f->M, .T = f->T, .L = L, .p = p};
        l.A = f->y / f->product / orr_pow(f->r, p);
        l.B = (k < LENGTHS ? 0.31 : -0.31) * length[k % LENGTHS] * orr_pow(l.A, t->a) *
              orr_pow(at, t->to + p * t->with_p) * (t->sum ? f->sum : 1);
        if (!has_B && !has_L && k)
            break;
        struct sr_form_found one = {.loss = HUGE_VAL};
        write_text(t->text, &l, text, sizeof text);
        if (sr_expr_parse(f->settings->language, text, f->features, f->data->features,
                          &one.form.expr)) {
            orr_error_recover(); /* an operator that the language lacks */
            return;
        }
        if (!is_allowed(f, &one.form.expr))
            return;
        find_params(&l, &one.form);
        one.loss = sr_form_fit(f->data, STEPS, &one.form, f->work);
        if (one.loss < best.loss)
            best = one;
    }
    best.nats = sr_form_nats(f->data, &best.form, best.loss);
    if (best.nats < HUGE_VAL)
        keep(f, &best);
}

static double median_of(const struct sr_data *data, double (*value)(const double *), int m1, int m2,
                        double *work)
{
    for (size_t i = 0; i < data->rows; i++) {
        const double m[2] = {m1 < 0 ? 1 : data->x[(size_t)m1 * data->rows + i],
                             m2 < 0 ? 1 : data->x[(size_t)m2 * data->rows + i]};
        work[i] = value(m);
    }
    return orr_median(work, data->rows);
}

static double product(const double *m)
{
    return m[0] * m[1];
}

static double sum(const double *m)
{
    return m[0] + m[1];
}

static int feature_of(const struct finder *f, const char *name)
{
    for (int k = 0; k < f->data->features; k++)
        if (!strcmp(f->features[k], name))
            return k;
    return -1;
}

/* What the letters of masses mean with these columns, and medians. */
static void look_at_columns(struct finder *f)
{
    const int m1 = feature_of(f, "m1"), m2 = feature_of(f, "m2"), r = feature_of(f, "r");
    const size_t n = f->data->rows;
    f->M = m1 >= 0 && m2 >= 0 ? "*m1*m2" : m1 >= 0 ? "*m1" : m2 >= 0 ? "*m2" : "";
    f->T = m1 >= 0 && m2 >= 0 ? "/(m1+m2)" : m1 < 0 && m2 < 0 ? "" : NULL;
    memcpy(f->work, f->data->x + (size_t)r * n, n * sizeof *f->work);
    f->r = orr_median(f->work, n);
    memcpy(f->work, f->data->y, n * sizeof *f->work);
    f->y = orr_median(f->work, n);
    f->product = median_of(f->data, product, m1, m2, f->work);
    f->sum = m1 >= 0 && m2 >= 0 ? median_of(f->data, sum, m1, m2, f->work) : 1;
}

int sr_forms_find(const struct sr_settings *settings, const struct sr_data *data,
                  const char *const *features, double until_s, int most,
                  struct sr_form_found *found, int *rc)
{
    struct finder f = {.settings = settings,
                       .data = data,
                       .features = features,
                       .until_s = until_s,
                       .most = most,
                       .found = found,
                       .work = orr_alloc((SR_NODES + 1) * data->rows, sizeof *f.work)};
    if (!f.work) {
        *rc = ORR_ENOMEM;
        return 0;
    }
    look_at_columns(&f);
    for (int t = 0; t < TEXTS; t++)
        for (int p = LEAST; p <= MOST_POWER; p++) {
            const struct text *text = &texts[t];
            const bool masses = strstr(text->text, "m1") || strchr(text->text, 'T');
            const bool over = until_s > 0 && orr_time_s() > until_s;
            if (!over && (!masses || (f.T && (*f.T || !strstr(text->text, "m1")))))
                try_text(&f, text, p);
        }
    free(f.work);
    return f.count;
}
