/* vectors.c - which sums of vectors explain accelerations. A field that has a symmetry is short as
 * a vector and long by components: -k r^-3 (x, y) has one number, which both components share. All
 * sums of up to four vectors of a list are fitted to the smoothed accelerations, all components
 * together, and the best of four are extended: a forward selection would miss sums whose vectors
 * explain little one by one, as of the post-Newtonian acceleration. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    WIDTH = SR_VECTOR_TERMS + 1,
    MOST_ROWS = 2000,
    ALL_SUMS = 4, /* vectors of a sum, all of which are tried */
    BEAM = 32,    /* sums of which longer ones are made */
    EACH = SR_FORMS / SR_FORM_TERMS,
};
/* Squared diagonal elements of the scaled matrix, at least, for vectors to be told apart. */
static const double apart = 1e-11;

struct sum {
    int count, term[SR_FORM_TERMS];
    double left;
};
struct choice {
    const struct sr_states *states;
    int count;
    struct sr_vector term[SR_VECTOR_TERMS];
    double scale[SR_VECTOR_TERMS];
    double gram[WIDTH * WIDTH];           /* of the scaled columns, the acceleration last */
    struct sum best[SR_FORM_TERMS][BEAM]; /* (vectors - 1), best first */
    int kept[SR_FORM_TERMS];
};

/* ---- the list */

static void add(struct choice *c, struct sr_vector term)
{
    if (c->count < SR_VECTOR_TERMS)
        c->term[c->count++] = term;
}

/* Those of an axis: a magnetic field, a rotating frame; a uniform field, tides; an oblate body. */
static void list_axis(struct choice *c, int axis, bool space)
{
    add(c, (struct sr_vector){.direction = SR_UNIT, .axis = axis});
    add(c, (struct sr_vector){.direction = SR_UNIT, .axis = axis, .height = 1});
    if (!space)
        return;
    add(c, (struct sr_vector){.direction = SR_TURNED, .axis = axis});
    add(c, (struct sr_vector){.direction = SR_UNIT, .axis = axis, .height = 1, .power = -5});
    add(c, (struct sr_vector){.direction = SR_RADIAL, .axis = axis, .height = 2, .power = -7});
}

static void list_vectors(struct choice *c)
{
    const bool space = c->states->dims == 3;
    for (int power = -7; power <= 2; power++)
        add(c, (struct sr_vector){.direction = SR_RADIAL, .power = power});
    for (int power = -3; power <= 0; power++) {
        add(c, (struct sr_vector){.direction = SR_RADIAL, .power = power, .speed = 2});
        add(c, (struct sr_vector){.direction = SR_VELOCITY, .power = power, .along = 1});
        if (!space)
            add(c, (struct sr_vector){.direction = SR_TURNED, .power = power, .axis = 2});
    }
    for (int power = -2; power <= 0; power++)
        add(c, (struct sr_vector){.direction = SR_VELOCITY, .power = power});
    for (int speed = 1; speed <= 2; speed++)
        add(c, (struct sr_vector){.direction = SR_VELOCITY, .speed = speed});
    for (int axis = 0; axis < c->states->dims; axis++)
        list_axis(c, axis, space);
}

int sr_vectors_list(const struct sr_states *s, struct sr_vector term[SR_VECTOR_TERMS])
{
    struct choice *c = orr_alloc(1, sizeof *c);
    int count = 0;
    if (c) {
        c->states = s;
        list_vectors(c);
        count = c->count;
        memcpy(term, c->term, sizeof c->term);
    }
    free(c);
    return count;
}

/* ---- least squares */

/* Component i of axis x v; *of: the velocity's component, *sign. False: it is 0. */
static bool turned(int axis, int i, int *of, int *sign)
{
    if (i == axis)
        return false;
    *sign = i == (axis + 1) % 3 ? -1 : 1;
    *of = 3 - axis - i;
    return true;
}

/* The component of a direction as the feature of a formula. False: it is 0; *feature -1: 1. */
static bool component(const struct sr_states *s, const struct sr_vector *term, int i, int *feature,
                      int *sign)
{
    *sign = 1;
    *feature = -1;
    switch (term->direction) {
    case SR_RADIAL:
        *feature = i;
        return true;
    case SR_VELOCITY:
        *feature = s->dims + i;
        return true;
    case SR_TURNED:
        if (!turned(term->axis, i, feature, sign))
            return false;
        *feature += s->dims;
        return true;
    case SR_ACROSS:
        return turned(term->axis, i, feature, sign);
    case SR_UNIT:
        break;
    }
    return i == term->axis;
}

/* x (states): position and velocity. */
static double value_of(const struct sr_states *s, const struct sr_vector *term, const double *x,
                       int i)
{
    double r2 = 0, v2 = 0, along = 0, value;
    int feature, sign;
    if (!component(s, term, i, &feature, &sign))
        return 0;
    for (int d = 0; d < s->dims; d++) {
        r2 += x[d] * x[d];
        v2 += x[s->dims + d] * x[s->dims + d];
        along += x[d] * x[s->dims + d];
    }
    value = sign * (feature < 0 ? 1 : x[feature]);
    if (term->power)
        value *= orr_pow(r2, 0.5 * term->power);
    if (term->speed)
        value *= term->speed == 2 ? v2 : sqrt(v2);
    if (term->along)
        value *= along;
    for (int k = 0; k < term->height; k++)
        value *= x[term->axis];
    return value;
}

static void add_row(struct choice *c, const struct sr_state_track *track, size_t i,
                    const double *least)
{
    const struct sr_states *s = c->states;
    const size_t n = track->n, width = (size_t)c->count + 1;
    double x[2 * SR_STATES], row[WIDTH];
    for (int d = 0; d < s->dims; d++) {
        x[d] = track->smooth[(size_t)d * n + i];
        x[s->dims + d] = track->rate[(size_t)d * n + i];
    }
    for (int d = 0; d < s->dims; d++) {
        const size_t at = (size_t)d * n + i;
        const double weight = 1 / fmax(sqrt(track->bend_variance[at]), least[d]);
        for (int k = 0; k < c->count; k++)
            row[k] = weight * value_of(s, &c->term[k], x, d);
        row[c->count] = weight * track->bend[at];
        for (size_t a = 0; a < width; a++)
            for (size_t b = 0; b <= a; b++)
                c->gram[a * width + b] += row[a] * row[b];
    }
}

static int fill(struct choice *c)
{
    const struct sr_states *s = c->states;
    const size_t each = (s->rows + MOST_ROWS - 1) / MOST_ROWS, width = (size_t)c->count + 1;
    double least[SR_STATES];
    size_t row = 0;
    for (int d = 0; d < s->dims; d++)
        TRY(sr_states_least(s, d, &least[d]));
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++)
            if (row % each == 0)
                add_row(c, &s->track[k], i, least);
    for (size_t a = 0; a + 1 < width; a++)
        c->scale[a] = sqrt(c->gram[a * width + a]);
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++) {
            const double unit =
                (a + 1 < width ? c->scale[a] : 1) * (b + 1 < width ? c->scale[b] : 1);
            double *g = &c->gram[a * width + b];
            *g = unit > 0 && isfinite(unit) && isfinite(*g) ? *g / unit : 0;
            c->gram[b * width + a] = *g;
        }
    return 0;
}

/* Least squares with some vectors: their coefficients (NULL: not wanted). Returns what is left;
 * infinite where the vectors cannot be told apart. */
static double solve(const struct choice *c, const struct sum *sum, double *value)
{
    double L[SR_FORM_TERMS * SR_FORM_TERMS], b[SR_FORM_TERMS];
    const size_t width = (size_t)c->count + 1, n = (size_t)sum->count;
    double left = c->gram[width * width - 1];
    for (size_t i = 0; i < n; i++) {
        const size_t from = (size_t)sum->term[i] * width;
        for (size_t k = 0; k <= i; k++)
            L[i * SR_FORM_TERMS + k] = c->gram[from + (size_t)sum->term[k]];
        b[i] = c->gram[from + width - 1];
    }
    if (!sr_cholesky(L, n, SR_FORM_TERMS, apart))
        return HUGE_VAL;
    sr_cholesky_lower(L, n, SR_FORM_TERMS, b);
    for (size_t i = 0; i < n; i++)
        left -= b[i] * b[i];
    sr_cholesky_upper(L, n, SR_FORM_TERMS, b);
    for (size_t i = 0; i < n && value; i++)
        value[i] = b[i] / c->scale[sum->term[i]];
    return fmax(left, 0);
}

/* ---- sums */

static bool is_same(const struct sum *a, const struct sum *b)
{
    uint64_t in = 0, also = 0;
    for (int k = 0; k < a->count; k++) {
        in |= UINT64_C(1) << a->term[k];
        also |= UINT64_C(1) << b->term[k];
    }
    return in == also;
}

static void keep(struct choice *c, const struct sum *sum)
{
    struct sum *const best = c->best[sum->count - 1];
    int *const kept = &c->kept[sum->count - 1], at = *kept;
    if (!(sum->left < HUGE_VAL) || (*kept == BEAM && sum->left >= best[BEAM - 1].left))
        return;
    for (int k = 0; k < *kept && sum->count > ALL_SUMS; k++)
        if (is_same(&best[k], sum))
            return;
    at -= *kept == BEAM;
    for (; at > 0 && best[at - 1].left > sum->left; at--)
        best[at] = best[at - 1];
    best[at] = *sum;
    *kept += *kept < BEAM;
}

/* All sums that contain `before` and later vectors of the list. */
static void try_sums(struct choice *c, const struct sum *before)
{
    struct sum sum = *before;
    const int from = sum.count ? sum.term[sum.count - 1] + 1 : 0;
    sum.count++;
    for (int k = from; k < c->count; k++) {
        if (!(c->scale[k] > 0) || !isfinite(c->scale[k]))
            continue;
        sum.term[sum.count - 1] = k;
        sum.left = solve(c, &sum, NULL);
        keep(c, &sum);
        if (sum.count < ALL_SUMS)
            try_sums(c, &sum);
    }
}

/* Sums of one vector more than the best of `count`. */
static void extend(struct choice *c, int count)
{
    for (int b = 0; b < c->kept[count - 1]; b++)
        for (int k = 0; k < c->count; k++) {
            struct sum sum = c->best[count - 1][b];
            bool in = !(c->scale[k] > 0) || !isfinite(c->scale[k]);
            for (int i = 0; i < count; i++)
                in = in || sum.term[i] == k;
            if (in)
                continue;
            sum.term[sum.count++] = k;
            sum.left = solve(c, &sum, NULL);
            keep(c, &sum);
        }
}

static void write_form(const struct choice *c, const struct sum *sum, struct sr_form *form)
{
    *form = (struct sr_form){.count = sum->count};
    form->left = solve(c, sum, form->value);
    for (int k = 0; k < sum->count; k++) {
        form->term[k] = c->term[sum->term[k]];
        form->error[k] = NAN;
    }
}

int sr_vectors_find(const struct sr_states *s, struct sr_form form[SR_FORMS], int *count)
{
    const struct sum none = {.count = 0};
    struct choice *c = orr_alloc(1, sizeof *c);
    *count = 0;
    if (!c)
        return ORR_ENOMEM;
    c->states = s;
    list_vectors(c);
    const int rc = fill(c);
    if (!rc) {
        try_sums(c, &none);
        for (int k = ALL_SUMS; k < SR_FORM_TERMS; k++)
            extend(c, k);
        for (int k = 0; k < SR_FORM_TERMS; k++)
            for (int b = 0; b < c->kept[k] && b < EACH; b++)
                write_form(c, &c->best[k][b], &form[(*count)++]);
    }
    free(c);
    return rc;
}

/* ---- components */

static void put_square(struct sr_expr *out, int from, int dims)
{
    for (int d = 0; d < dims; d++) {
        sr_put_node(out, sr_feature_node(from + d));
        sr_put_op(out, SR_SQUARE);
        if (d)
            sr_put_op(out, SR_ADD);
    }
}

/* Numbers of a formula under construction, and what they belong to. */
struct writer {
    const struct sr_states *states;
    struct sr_expr *out;
    int *group, numbers;
};

static void put_number(struct writer *w, double value, int group)
{
    if (w->numbers < SR_NODES)
        w->group[w->numbers++] = group;
    sr_put_constant(w->out, value);
}

/* Times r^power. */
static void put_power(struct writer *w, int power)
{
    if (!power)
        return;
    put_square(w->out, 0, w->states->dims);
    if (power != 2) {
        put_number(w, 0.5 * power, -1);
        sr_put_op(w->out, SR_POW);
    }
    sr_put_op(w->out, SR_MUL);
}

/* The coefficient of term k times its scalar, over r^common. */
static void put_scalar(struct writer *w, const struct sr_form *form, int k, int common)
{
    const struct sr_vector *term = &form->term[k];
    const int dims = w->states->dims;
    put_number(w, form->value[k], k);
    if (term->speed) {
        put_square(w->out, dims, dims);
        if (term->speed == 1)
            sr_put_op(w->out, SR_SQRT);
        sr_put_op(w->out, SR_MUL);
    }
    for (int d = 0; d < dims && term->along; d++) {
        sr_put_node(w->out, sr_feature_node(d));
        sr_put_node(w->out, sr_feature_node(dims + d));
        sr_put_op(w->out, SR_MUL);
        if (d)
            sr_put_op(w->out, SR_ADD);
    }
    if (term->along)
        sr_put_op(w->out, SR_MUL);
    if (term->height) {
        sr_put_node(w->out, sr_feature_node(term->axis));
        if (term->height == 2)
            sr_put_op(w->out, SR_SQUARE);
        sr_put_op(w->out, SR_MUL);
    }
    put_power(w, term->power - common);
}

/* Adds all terms of the direction and axis of term `first` to component i. */
static void put_direction(struct writer *w, const struct sr_form *form, int first, int i,
                          int common, bool *any)
{
    int feature, sign, terms = 0, own, own_sign;
    component(w->states, &form->term[first], i, &feature, &sign);
    int most = form->term[first].power - common;
    for (int k = first; k < form->count; k++)
        if (component(w->states, &form->term[k], i, &own, &own_sign) && own == feature &&
            form->term[k].power - common > most)
            most = form->term[k].power - common;
    most = most < 0 ? most : 0; /* a power of r that all terms of the direction have */
    for (int k = first; k < form->count; k++) {
        if (!component(w->states, &form->term[k], i, &own, &own_sign) || own != feature)
            continue;
        put_scalar(w, form, k, common + most);
        if (terms++)
            sr_put_op(w->out, own_sign == sign ? SR_ADD : SR_SUB);
    }
    if (feature >= 0) {
        sr_put_node(w->out, sr_feature_node(feature));
        sr_put_op(w->out, SR_MUL);
    }
    put_power(w, most);
    if (*any)
        sr_put_op(w->out, sign > 0 ? SR_ADD : SR_SUB);
    else if (sign < 0)
        sr_put_op(w->out, SR_NEG);
    *any = true;
}

static bool put_component(struct writer *w, const struct sr_form *form, int i)
{
    int common = -99, feature[SR_FORM_TERMS], sign;
    bool any = false, in[SR_FORM_TERMS];
    for (int k = 0; k < form->count; k++) {
        in[k] = component(w->states, &form->term[k], i, &feature[k], &sign);
        if (in[k] && form->term[k].power > common)
            common = form->term[k].power;
    }
    common = common == -99 || common > 0 ? 0 : common;
    w->out->count = 0;
    for (int k = 0; k < form->count; k++) {
        bool first = in[k];
        for (int b = 0; b < k; b++)
            first = first && !(in[b] && feature[b] == feature[k]);
        if (first)
            put_direction(w, form, k, i, common, &any);
    }
    if (any)
        put_power(w, common);
    else
        put_number(w, 0, -1);
    return sr_put_end(NULL, w->out, SR_NODES);
}

bool sr_form_components(const struct sr_states *s, const struct sr_form *form, struct sr_expr *expr,
                        int (*group)[SR_NODES])
{
    for (int d = 0; d < s->dims; d++) {
        struct writer w = {.states = s, .out = &expr[d], .group = group[d]};
        if (!put_component(&w, form, d))
            return false;
    }
    return true;
}

/* ---- the form itself */

double sr_vectors_nats(const struct sr_form *form)
{
    /* features of the description: r, v, r.v, a direction with an axis, an axis */
    enum { R, V, ALONG, DIRECTION, AXIS = DIRECTION + 20, NAMES = 12 /* to choose from, some */ };
    static const double powers = 10; /* of r, from which one is chosen */
    struct sr_expr expr = {.count = 0};
    double nats = 0;
    for (int k = 0; k < form->count; k++) {
        const struct sr_vector *term = &form->term[k];
        sr_put_constant(&expr, 1);
        sr_put_node(&expr, sr_feature_node(DIRECTION + (int)term->direction * 4 + term->axis));
        sr_put_op(&expr, SR_MUL);
        for (int f = 0; f < 4; f++) {
            const int times[] = {term->power, term->speed, term->along, term->height};
            const int feature[] = {R, V, ALONG, AXIS + term->axis};
            if (!times[f])
                continue;
            sr_put_node(&expr, sr_feature_node(feature[f]));
            if (times[f] != 1 && f > 0) {
                sr_put_constant(&expr, times[f]);
                sr_put_op(&expr, SR_POW);
            }
            sr_put_op(&expr, SR_MUL);
        }
        nats += term->power ? orr_log(powers) : 0;
        if (k)
            sr_put_op(&expr, SR_ADD);
    }
    return expr.count <= SR_NODES ? nats + sr_equation_nats(&expr, NAMES) : HUGE_VAL;
}

void sr_vector_text(const struct sr_states *s, const struct sr_vector *term, char *text,
                    size_t bytes)
{
    int feature, sign;
    *text = '\0';
    for (int i = 0; i < s->dims; i++) {
        const bool in = component(s, term, i, &feature, &sign);
        orr_append(text, bytes, "%s%s%s", i ? ", " : "(", in && sign < 0 ? "-" : "",
                   !in           ? "0"
                   : feature < 0 ? "1"
                                 : s->name[feature]);
    }
    orr_append(text, bytes, ")");
}

void sr_form_text(const struct sr_states *s, const struct sr_form *form, char *text, size_t bytes)
{
    char number[SR_NUMBER], direction[SR_STATES * (SR_STATE_NAME + 4)];
    snprintf(text, bytes, "a =");
    for (int k = 0; k < form->count; k++) {
        const struct sr_vector *term = &form->term[k];
        const char *sign = form->value[k] < 0 ? "-" : "+";
        sr_number_print(sr_round_digits(fabs(form->value[k]), 10), number);
        orr_append(text, bytes, k ? " %s " : " %s", k || *sign == '-' ? sign : "");
        orr_append(text, bytes, "%s * ", number);
        if (term->power)
            orr_append(text, bytes, term->power == 1 ? "r * " : "r^%d * ", term->power);
        if (term->speed)
            orr_append(text, bytes, "%s * ", term->speed == 2 ? "v^2" : "v");
        if (term->along)
            orr_append(text, bytes, "(r.v) * ");
        if (term->height)
            orr_append(text, bytes, "%s%s * ", s->name[term->axis], term->height == 2 ? "^2" : "");
        sr_vector_text(s, term, direction, sizeof direction);
        orr_append(text, bytes, "%s", direction);
    }
}
