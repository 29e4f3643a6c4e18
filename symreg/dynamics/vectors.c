/* vectors.c - accelerations as sums of vectors. A field that has a symmetry is short as a vector
 * and long by components: -k r^-3 (x, y) has one number, which both components share. Here are the
 * list of vectors, their values, and forms as formulas and as text; vector_sums.c finds which sums
 * explain the tracks. */
#include "judge.h"

#include <math.h>

/* A list under construction. */
struct list {
    const struct sr_states *states;
    int count;
    struct sr_vector *term;
};

/* ---- the list */

static void add(struct list *list, struct sr_vector term)
{
    if (list->count < SR_VECTOR_TERMS)
        list->term[list->count++] = term;
}

/* Those of an axis: a magnetic field, a rotating frame; a uniform field, tides; an oblate body. */
static void list_axis(struct list *list, int axis, bool space)
{
    add(list, (struct sr_vector){.direction = SR_UNIT, .axis = axis});
    add(list, (struct sr_vector){.direction = SR_UNIT, .axis = axis, .height = 1});
    if (!space)
        return;
    add(list, (struct sr_vector){.direction = SR_TURNED, .axis = axis});
    add(list, (struct sr_vector){.direction = SR_UNIT, .axis = axis, .height = 1, .power = -5});
    add(list, (struct sr_vector){.direction = SR_RADIAL, .axis = axis, .height = 2, .power = -7});
}

/* Coefficients that drift, and uniform fields that change. */
static void list_timed(struct list *list, int dims)
{
    for (int power = -5; power <= 1; power++)
        add(list, (struct sr_vector){.direction = SR_RADIAL, .power = power, .time = 1});
    add(list, (struct sr_vector){.direction = SR_VELOCITY, .time = 1});
    for (int axis = 0; axis < 3; axis++) {
        if (dims == 3 || axis == 2)
            add(list, (struct sr_vector){.direction = SR_TURNED, .axis = axis, .time = 1});
        for (int time = 1; time <= 2 && axis < dims; time++)
            add(list, (struct sr_vector){.direction = SR_UNIT, .axis = axis, .time = time});
    }
}

int sr_vectors_list(const struct sr_states *s, struct sr_vector term[SR_VECTOR_TERMS],
                    int *timeless)
{
    struct list list = {.states = s, .term = term};
    const bool space = s->dims == 3;
    for (int power = -7; power <= 2; power++)
        add(&list, (struct sr_vector){.direction = SR_RADIAL, .power = power});
    for (int power = -3; power <= 0; power++) {
        add(&list, (struct sr_vector){.direction = SR_RADIAL, .power = power, .speed = 2});
        add(&list, (struct sr_vector){.direction = SR_VELOCITY, .power = power, .along = 1});
        if (!space)
            add(&list, (struct sr_vector){.direction = SR_TURNED, .power = power, .axis = 2});
    }
    for (int power = -2; power <= 0; power++)
        add(&list, (struct sr_vector){.direction = SR_VELOCITY, .power = power});
    for (int speed = 1; speed <= 2; speed++)
        add(&list, (struct sr_vector){.direction = SR_VELOCITY, .speed = speed});
    for (int axis = 0; axis < s->dims; axis++)
        list_axis(&list, axis, space);
    *timeless = list.count;
    list_timed(&list, s->dims);
    return list.count;
}

bool sr_vector_is(const struct sr_vector *a, const struct sr_vector *b)
{
    return a->direction == b->direction && a->axis == b->axis && a->speed == b->speed &&
           a->along == b->along && a->height == b->height && a->time == b->time &&
           a->fades == b->fades && a->power == b->power;
}

bool sr_form_is_timed(const struct sr_form *form)
{
    bool any = false;
    for (int k = 0; k < form->count; k++)
        any = any || form->term[k].time || form->term[k].fades;
    return any;
}

/* ---- values */

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

void sr_vector_at(const struct sr_states *s, const struct sr_vector *term, const double *x,
                  double t, double *vector)
{
    double r2 = 0, v2 = 0, along = 0, scalar = 1;
    int feature, sign;
    for (int d = 0; d < s->dims; d++) {
        r2 += x[d] * x[d];
        v2 += x[s->dims + d] * x[s->dims + d];
        along += x[d] * x[s->dims + d];
    }
    if (term->power != 0)
        scalar *= orr_pow(r2, 0.5 * term->power);
    if (term->speed)
        scalar *= term->speed == 2 ? v2 : sqrt(v2);
    if (term->along)
        scalar *= along;
    for (int k = 0; k < term->height; k++)
        scalar *= x[term->axis];
    for (int k = 0; k < term->time; k++)
        scalar *= t;
    if (term->fades)
        scalar *= orr_exp(term->rate * t);
    for (int d = 0; d < s->dims; d++) {
        const bool in = component(s, term, d, &feature, &sign);
        vector[d] = in ? scalar * sign * (feature < 0 ? 1 : x[feature]) : 0;
    }
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

/* Times r^power; group: of a power that is fitted, else -1. */
static void put_power(struct writer *w, double power, int group)
{
    if (power == 0 && group < 0)
        return;
    put_square(w->out, 0, w->states->dims);
    if (power != 2 || group >= 0) {
        put_number(w, 0.5 * power, group);
        sr_put_op(w->out, SR_POW);
    }
    sr_put_op(w->out, SR_MUL);
}

/* Which fitted number the free one of term k is; -1: none. */
static int group_of_free(const struct sr_form *form, int k)
{
    int group = form->count;
    for (int b = 0; b < k; b++)
        group += form->free[b];
    return form->free[k] ? group : -1;
}

/* The coefficient of term k times its scalar, over r^common. */
static void put_scalar(struct writer *w, const struct sr_form *form, int k, double common)
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
    for (int b = 0; b < term->time; b++) {
        sr_put_node(w->out, sr_feature_node(sr_states_time(w->states)));
        sr_put_op(w->out, SR_MUL);
    }
    if (term->fades) {
        put_number(w, term->rate, group_of_free(form, k));
        sr_put_node(w->out, sr_feature_node(sr_states_time(w->states)));
        sr_put_op(w->out, SR_MUL);
        sr_put_op(w->out, SR_EXP);
        sr_put_op(w->out, SR_MUL);
    }
    put_power(w, term->power - common, term->fades ? -1 : group_of_free(form, k));
}

/* Whether the power of r of a vector is fitted. */
static bool has_free(const struct sr_form *form)
{
    bool any = false;
    for (int k = 0; k < form->count; k++)
        any = any || (form->free[k] && !form->term[k].fades);
    return any;
}

/* Adds all terms of the direction and axis of term `first` to component i. */
static void put_direction(struct writer *w, const struct sr_form *form, int first, int i,
                          double common, bool *any)
{
    int feature, sign, terms = 0, own, own_sign;
    component(w->states, &form->term[first], i, &feature, &sign);
    double most = form->term[first].power - common;
    for (int k = first; k < form->count; k++)
        if (component(w->states, &form->term[k], i, &own, &own_sign) && own == feature &&
            form->term[k].power - common > most)
            most = form->term[k].power - common;
    /* a power of r that all terms of the direction have */
    most = most < 0 && !has_free(form) ? most : 0;
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
    put_power(w, most, -1);
    if (*any)
        sr_put_op(w->out, sign > 0 ? SR_ADD : SR_SUB);
    else if (sign < 0)
        sr_put_op(w->out, SR_NEG);
    *any = true;
}

static bool put_component(struct writer *w, const struct sr_form *form, int i)
{
    double common = -99;
    int feature[SR_FORM_TERMS] = {0}, sign;
    bool any = false, in[SR_FORM_TERMS] = {false};
    for (int k = 0; k < form->count; k++) {
        in[k] = component(w->states, &form->term[k], i, &feature[k], &sign);
        if (in[k] && form->term[k].power > common)
            common = form->term[k].power;
    }
    common = common == -99 || common > 0 || has_free(form) ? 0 : common;
    w->out->count = 0;
    for (int k = 0; k < form->count; k++) {
        bool first = in[k];
        for (int b = 0; b < k; b++)
            first = first && !(in[b] && feature[b] == feature[k]);
        if (first)
            put_direction(w, form, k, i, common, &any);
    }
    if (any)
        put_power(w, common, -1);
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

/* The standard error of fitted number `group`. */
static double error_of(const struct sr_form *form, int group)
{
    int next = form->count;
    if (group < form->count)
        return group < 0 ? NAN : form->error[group];
    for (int k = 0; k < form->count; k++)
        if (form->free[k] && next++ == group)
            return form->free_error[k] / sr_form_times(form, k);
    return NAN;
}

void sr_form_errors(const struct sr_form *form, int dims, const struct sr_expr *expr,
                    const int (*group)[SR_NODES], double (*error)[SR_NODES])
{
    for (int d = 0; d < dims; d++) {
        double value[SR_NODES];
        const int count = sr_expr_constants(&expr[d], value);
        for (int k = 0; k < SR_NODES; k++)
            error[d][k] = k < count ? error_of(form, group[d][k]) : NAN;
    }
}

/* ---- the form itself */

double sr_vectors_nats(const struct sr_form *form)
{
    /* features of the description: r, v, r.v, a direction with an axis, an axis */
    enum { R, V, ALONG, T, DIRECTION, AXIS = DIRECTION + 20, NAMES = 12 /* to choose from */ };
    static const double powers = 10; /* of r, from which one is chosen */
    struct sr_expr expr = {.count = 0};
    double nats = 0;
    for (int k = 0; k < form->count; k++) {
        const struct sr_vector *term = &form->term[k];
        sr_put_constant(&expr, 1);
        sr_put_node(&expr, sr_feature_node(DIRECTION + (int)term->direction * 4 + term->axis));
        sr_put_op(&expr, SR_MUL);
        for (int f = 0; f < 5; f++) {
            const int times[] = {term->power != 0, term->speed, term->along, term->height,
                                 term->time};
            const int feature[] = {R, V, ALONG, AXIS + term->axis, T};
            if (!times[f])
                continue;
            sr_put_node(&expr, sr_feature_node(feature[f]));
            if (times[f] != 1 && f > 0) {
                sr_put_constant(&expr, times[f]);
                sr_put_op(&expr, SR_POW);
            }
            sr_put_op(&expr, SR_MUL);
        }
        if (term->fades) {
            sr_put_constant(&expr, 1);
            sr_put_node(&expr, sr_feature_node(T));
            sr_put_op(&expr, SR_MUL);
            sr_put_op(&expr, SR_EXP);
            sr_put_op(&expr, SR_MUL);
        }
        nats += term->power != 0 && (term->fades || !form->free[k]) ? orr_log(powers) : 0;
        if (k)
            sr_put_op(&expr, SR_ADD);
    }
    return sr_put_end(NULL, &expr, SR_NODES) ? nats + sr_equation_nats(&expr, NAMES) : HUGE_VAL;
}

/* "(x, y)", "(-v_y, v_x)", "(0, 1)". */
static void write_direction(const struct sr_states *s, const struct sr_vector *term, char *text,
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

void sr_vector_text(const struct sr_states *s, const struct sr_vector *term, char *text,
                    size_t bytes)
{
    char number[SR_NUMBER], direction[SR_STATES * (SR_STATE_NAME + 4)];
    *text = '\0';
    sr_number_print(sr_round_digits(term->power, 6), number);
    if (term->time || term->fades) {
        char epoch[SR_NUMBER], rate[SR_NUMBER];
        sr_number_print(fabs(s->epoch), epoch);
        sr_number_print(sr_round_digits(term->rate, 6), rate);
        if (term->fades)
            orr_append(text, bytes, "exp(%s * ", rate);
        orr_append(text, bytes, s->epoch != 0 ? "(%s %c %s)" : "%s", s->name[sr_states_time(s)],
                   s->epoch < 0 ? '+' : '-', epoch);
        orr_append(text, bytes, term->fades ? ") * " : term->time == 2 ? "^2 * " : " * ");
    }
    if (term->power != 0)
        orr_append(text, bytes, term->power == 1 ? "r * " : "r^%s * ", number);
    if (term->speed)
        orr_append(text, bytes, "%s * ", term->speed == 2 ? "v^2" : "v");
    if (term->along)
        orr_append(text, bytes, "(r.v) * ");
    if (term->height)
        orr_append(text, bytes, "%s%s * ", s->name[term->axis], term->height == 2 ? "^2" : "");
    write_direction(s, term, direction, sizeof direction);
    orr_append(text, bytes, "%s", direction);
}

void sr_form_text(const struct sr_states *s, const struct sr_form *form, char *text, size_t bytes)
{
    char number[SR_NUMBER], vector[SR_TEXT];
    snprintf(text, bytes, "a =");
    for (int k = 0; k < form->count; k++) {
        const char *sign = form->value[k] < 0 ? "-" : "+";
        sr_number_print(sr_round_digits(fabs(form->value[k]), 10), number);
        sr_vector_text(s, &form->term[k], vector, sizeof vector);
        orr_append(text, bytes, k ? " %s " : " %s", k || *sign == '-' ? sign : "");
        orr_append(text, bytes, "%s * %s", number, vector);
    }
}
