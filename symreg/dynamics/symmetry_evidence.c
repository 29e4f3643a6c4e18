/* symmetry_evidence.c - which symmetries equations of accelerations have, measured along the
 * tracks: a central force has nothing across the position, a force without velocities is the same
 * for those of other rows, and the derivatives of a conservative one are symmetric. What breaks a
 * symmetry counts where it is more than the errors of the constants make of it: the two constants
 * of a spring between two bodies are never measured as equal. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/json.h"

enum { ROWS = 400 };
/* A share below this is rounding. */
static const double none = 1e-9;
/* So many standard errors are significant. */
static const double significant = 3;

/* Positions and velocities of at most ROWS rows as columns; rows `turn` later lend velocities. */
struct table {
    size_t rows, features;
    double *x, *other; /* (features, rows) */
    double *each;      /* (constants, rows) standard errors of constants of each category */
};
/* Accelerations with each row's velocity and with that of another row, (dims, rows), and their
 * derivatives, (dims, features, rows). */
struct field {
    double *a, *other, *grad;
};
/* Sums of squares: of the acceleration, its part across the position, and its change by other
 * velocities; of derivatives by the position, and of their antisymmetric part. */
struct sums {
    double all, across, changed, own, curl;
};

/* Constants of each category stand behind the names, as in formulas. */
static int fill(const struct sr_states *s, const struct sr_system *system, struct table *table)
{
    const size_t each = (s->rows + ROWS - 1) / ROWS, dims = (size_t)s->dims;
    size_t row = 0;
    table->features =
        system->constants ? (size_t)(SR_EACH_FIRST + system->constants) : (size_t)s->names;
    table->rows = (s->rows + each - 1) / each;
    const size_t n = table->rows;
    table->x = orr_alloc(n * table->features, sizeof *table->x);
    table->other = orr_alloc(n * table->features, sizeof *table->other);
    table->each = orr_alloc(n * (size_t)system->constants + 1, sizeof *table->each);
    if (!table->x || !table->other || !table->each)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++)
            if (row % each == 0) {
                for (size_t d = 0; d < dims; d++) {
                    table->x[d * n + row / each] = s->track[k].smooth[d * s->track[k].n + i];
                    table->x[(dims + d) * n + row / each] = s->track[k].rate[d * s->track[k].n + i];
                }
                table->x[2 * dims * n + row / each] = s->track[k].t[i];
                for (size_t c = 0; c < (size_t)system->constants; c++) {
                    const size_t category = s->track[k].category;
                    const double error = system->each_error.value[c][category];
                    table->x[(SR_EACH_FIRST + c) * n + row / each] =
                        system->each.value[c][category];
                    table->each[c * n + row / each] = isfinite(error) ? error : 0;
                }
            }
    memcpy(table->other, table->x, n * table->features * sizeof *table->x);
    for (size_t d = dims; d < 2 * dims; d++)
        for (size_t i = 0; i < n; i++)
            table->other[d * n + i] = table->x[d * n + (i + n / 3) % n];
    return 0;
}

static int make_field(const struct table *table, size_t dims, struct field *field)
{
    const size_t n = table->rows;
    field->a = orr_alloc(dims * n + 1, sizeof *field->a);
    field->other = orr_alloc(dims * n + 1, sizeof *field->other);
    field->grad = orr_alloc(dims * table->features * n + 1, sizeof *field->grad);
    return field->a && field->other && field->grad ? 0 : ORR_ENOMEM;
}

static void free_field(struct field *field)
{
    free(field->a);
    free(field->other);
    free(field->grad);
}

/* False where a value is not finite. */
static bool evaluate(const struct sr_states *s, const struct sr_language *language,
                     const struct table *table, const struct sr_expr *equation, struct field *field)
{
    const size_t n = table->rows;
    struct sr_data data = {
        .rows = n, .features = (int)table->features, .x = table->other, .language = language};
    for (int d = 0; d < s->dims; d++)
        if (!sr_eval(&equation[d], &data, field->other + (size_t)d * n))
            return false;
    data.x = table->x;
    for (int d = 0; d < s->dims; d++)
        if (!sr_eval_slopes(&equation[d], &data, field->a + (size_t)d * n,
                            field->grad + (size_t)d * table->features * n))
            return false;
    return true;
}

static struct sums sum_squares(const struct sr_states *s, const struct table *table,
                               const struct field *field)
{
    const size_t n = table->rows, dims = (size_t)s->dims, width = table->features;
    const double *const a = field->a, *const grad = field->grad;
    struct sums sums = {0};
    for (size_t i = 0; i < n; i++) {
        double r2 = 0, along = 0;
        for (size_t d = 0; d < dims; d++) {
            const double x = table->x[d * n + i], off = field->other[d * n + i] - a[d * n + i];
            r2 += x * x;
            sums.all += a[d * n + i] * a[d * n + i];
            along += x * a[d * n + i];
            sums.changed += off * off;
        }
        for (size_t d = 0; d < dims && r2 > 0; d++) {
            const double part = a[d * n + i] - along / r2 * table->x[d * n + i];
            sums.across += part * part;
        }
    }
    for (size_t d = 0; d < dims; d++)
        for (size_t b = 0; b < dims; b++)
            for (size_t i = 0; i < n; i++) {
                const double own = grad[(d * width + b) * n + i];
                const double half = (own - grad[(b * width + d) * n + i]) / 2;
                sums.own += own * own;
                sums.curl += half * half;
            }
    return sums;
}

/* The shares, of `part` in what `whole` has. */
static void find_shares(const struct sums *part, const struct sums *whole,
                        double share[SR_SYMMETRIES])
{
    share[SR_CENTRAL] = sqrt(part->across / whole->all);
    share[SR_STILL] = sqrt(part->changed / whole->all);
    share[SR_CURL_FREE] = whole->own > 0 ? sqrt(part->curl / whole->own) : 0;
}

/* What changes when equations have a constant that is off by its standard error. The parts that
 * break symmetries are linear in accelerations, so that those of the change are the errors. */
struct changes {
    const struct sr_states *s;
    const struct sr_language *language;
    const struct table *table;
    const struct field *field; /* with the constants as they are */
    struct field off;
    struct sums sums; /* over all constants */
};

static void add_change(struct changes *c, const struct sr_expr *equation)
{
    const size_t dims = (size_t)c->s->dims, rows = dims * c->table->rows;
    if (!evaluate(c->s, c->language, c->table, equation, &c->off))
        return;
    for (size_t i = 0; i < rows; i++) {
        c->off.a[i] -= c->field->a[i];
        c->off.other[i] -= c->field->other[i];
    }
    for (size_t i = 0; i < rows * c->table->features; i++)
        c->off.grad[i] -= c->field->grad[i];
    const struct sums sums = sum_squares(c->s, c->table, &c->off);
    c->sums.across += sums.across;
    c->sums.changed += sums.changed;
    c->sums.curl += sums.curl;
}

/* Of a sum of vectors components share their constants. */
static void change_form(struct changes *c, const struct sr_form *form)
{
    struct sr_expr equation[SR_STATES];
    int group[SR_STATES][SR_NODES];
    for (int k = 0; k < 2 * form->count; k++) {
        struct sr_form other = *form;
        const bool free = k >= form->count;
        const int of = free ? k - form->count : k;
        const double error = free ? form->free_error[of] : form->error[of];
        if ((free && !form->free[of]) || !(error > 0))
            continue;
        *(free ? sr_form_number(&other, of) : &other.value[of]) += error;
        if (sr_form_components(c->s, &other, equation, group))
            add_change(c, equation);
    }
}

static void change_constants(struct changes *c, const struct sr_system *system)
{
    struct sr_expr equation[SR_STATES];
    double value[SR_NODES];
    for (int d = 0; d < c->s->dims; d++) {
        const int count = sr_expr_constants(&system->expr[d], value);
        for (int k = 0; k < count; k++) {
            if (!(system->error[d][k] > 0))
                continue;
            memcpy(equation, system->expr, (size_t)c->s->dims * sizeof *equation);
            const double own = value[k];
            value[k] += system->error[d][k];
            sr_expr_set_constants(&equation[d], value);
            value[k] = own;
            add_change(c, equation);
        }
    }
    const size_t n = c->table->rows;
    for (size_t k = 0; k < (size_t)system->constants; k++)
        for (int sign = 1; sign >= -1; sign -= 2) { /* there and back */
            for (size_t i = 0; i < n; i++) {
                c->table->x[(SR_EACH_FIRST + k) * n + i] += sign * c->table->each[k * n + i];
                c->table->other[(SR_EACH_FIRST + k) * n + i] += sign * c->table->each[k * n + i];
            }
            if (sign > 0)
                add_change(c, system->expr);
        }
}

static int find_errors(struct changes *c, const struct sums *whole, struct sr_system *system)
{
    const int rc = make_field(c->table, (size_t)c->s->dims, &c->off);
    if (!rc && system->symmetry.vectors)
        change_form(c, &system->symmetry.form);
    else if (!rc)
        change_constants(c, system);
    find_shares(&c->sums, whole, system->symmetry.error);
    free_field(&c->off);
    return rc;
}

int sr_symmetry_measure(const struct sr_states *s, const struct sr_language *language,
                        struct sr_system *system)
{
    struct sr_symmetry *const symmetry = &system->symmetry;
    struct table table = {0};
    struct field field = {0};
    symmetry->measured = symmetry->timed = false;
    if (s->order != 2 || s->dims < 2 || s->inputs)
        return 0;
    const size_t dims = (size_t)s->dims;
    int rc = fill(s, system, &table);
    rc = rc ? rc : make_field(&table, dims, &field);
    if (!rc && evaluate(s, language, &table, system->expr, &field)) {
        const struct sums whole = sum_squares(s, &table, &field);
        struct changes changes = {.s = s, .language = language, .table = &table, .field = &field};
        find_shares(&whole, &whole, symmetry->share);
        for (size_t d = 0; d < dims; d++)
            for (size_t i = 0; i < table.rows; i++)
                symmetry->timed = symmetry->timed ||
                                  field.grad[(d * table.features + 2 * dims) * table.rows + i] != 0;
        rc = find_errors(&changes, &whole, system);
        symmetry->measured = true;
        for (int k = 0; k < SR_SYMMETRIES; k++)
            symmetry->measured =
                symmetry->measured && isfinite(symmetry->share[k]) && isfinite(symmetry->error[k]);
    }
    free(table.x);
    free(table.other);
    free(table.each);
    free_field(&field);
    return rc;
}

/* Whether a symmetry is exact, and whether no more breaks it than errors of the constants. */
static bool is_exact(const struct sr_symmetry *symmetry, int which)
{
    return symmetry->share[which] < none;
}

static bool holds(const struct sr_symmetry *symmetry, int which)
{
    return is_exact(symmetry, which) ||
           symmetry->share[which] < significant * symmetry->error[which];
}

/* "0.76%", "0.0055% +- 0.007%": an error that its digits hide is not written. */
static void write_share(const struct sr_symmetry *symmetry, int which, char *text, size_t bytes)
{
    const double share = 100 * symmetry->share[which], error = 100 * symmetry->error[which];
    if (error > 0.005 * share)
        snprintf(text, bytes, "%.2g%% +- %.1g%%", share, error);
    else
        snprintf(text, bytes, "%.2g%%", share);
}

static void write_symmetry(const struct sr_symmetry *symmetry, int which, char *text, size_t bytes)
{
    const bool exact = is_exact(symmetry, which), held = holds(symmetry, which);
    char share[64];
    write_share(symmetry, which, share, sizeof share);
    if (which == SR_CENTRAL && exact)
        snprintf(text, bytes, "central: nothing of the acceleration is across the position");
    else if (which == SR_CENTRAL)
        snprintf(text, bytes, "%s: %s of the acceleration is across the position (rms)",
                 held ? "central within its errors" : "not central", share);
    else if (which == SR_STILL && exact)
        snprintf(text, bytes, "independent of the velocity");
    else if (which == SR_STILL)
        snprintf(text, bytes, "%s: that of other rows changes the acceleration by %s (rms)",
                 held ? "independent of the velocity within its errors"
                      : "dependent on the velocity",
                 share);
    else if (!holds(symmetry, SR_STILL))
        snprintf(text, bytes, "not of a potential of the position, as it depends on the velocity");
    else if (held && symmetry->timed)
        snprintf(text, bytes, "not conservative: free of curl, but it changes with the time");
    else if (exact)
        snprintf(text, bytes, "conservative: free of curl");
    else
        snprintf(text, bytes, "%s: %s of the derivatives by the position are curl (rms)",
                 held ? "conservative within its errors" : "not conservative", share);
}

/* The number of a form's vector with the time; -1: there is none. */
static int find_timed(const struct sr_symmetry *symmetry)
{
    for (int k = 0; symmetry->vectors && k < symmetry->form.count; k++)
        if (symmetry->form.term[k].time || symmetry->form.term[k].fades)
            return k;
    return -1;
}

static void write_value(double value, double error, char text[2 * SR_NUMBER + 4])
{
    char number[SR_NUMBER], by[SR_NUMBER];
    sr_number_print(sr_round_digits(value, 4), number);
    sr_number_print(sr_round_digits(error, 2), by);
    snprintf(text, 2 * SR_NUMBER + 4, error > 0 ? "%s +- %s" : "%s", number, by);
}

/* The evidence that the acceleration is explicit in the time. */
static void write_time(const struct sr_states *s, const struct sr_symmetry *symmetry, int k,
                       char *text, size_t bytes)
{
    char vector[SR_TEXT], value[2 * SR_NUMBER + 4], nats[40] = "no solution follows the tracks";
    sr_vector_text(s, &symmetry->form.term[k], vector, sizeof vector);
    const struct sr_vector *const term = &symmetry->form.term[k];
    write_value(term->fades ? term->rate : symmetry->form.value[k],
                term->fades ? symmetry->form.free_error[k] : symmetry->form.error[k], value);
    if (symmetry->time_nats < HUGE_VAL)
        snprintf(nats, sizeof nats, "%.4g nats longer", symmetry->time_nats);
    snprintf(text, bytes,
             "explicit in the time: the %s of %s is %s; the best sum without the time: %s",
             term->fades ? "rate" : "coefficient", vector, value, nats);
}

bool sr_symmetry_text(const struct sr_states *s, const struct sr_symmetry *symmetry, int number,
                      char *text, size_t bytes)
{
    char value[2 * SR_NUMBER + 4], vector[SR_TEXT];
    const int lines = symmetry->measured ? SR_SYMMETRIES : 0, timed = find_timed(symmetry);
    if (number < lines) {
        write_symmetry(symmetry, number, text, bytes);
        return true;
    }
    if (timed >= 0 && number == lines) {
        write_time(s, symmetry, timed, text, bytes);
        return true;
    }
    const int k = number - lines - (timed >= 0);
    if (k >= symmetry->probes)
        return false;
    const struct sr_probe *probe = &symmetry->probe[k];
    write_value(sr_round_digits(probe->value, 2), probe->error, value);
    sr_vector_text(s, &probe->term, vector, sizeof vector);
    snprintf(text, bytes, "evidence of the tracks: with c * %s added, c = %s", vector, value);
    return true;
}

void sr_symmetry_json(const struct sr_states *s, const struct sr_symmetry *symmetry, cJSON *json)
{
    char text[SR_TEXT];
    if (!symmetry->measured)
        return;
    cJSON *object = cJSON_AddObjectToObject(json, "symmetry");
    cJSON_AddBoolToObject(object, "central", holds(symmetry, SR_CENTRAL));
    cJSON_AddBoolToObject(object, "velocity_dependent", !holds(symmetry, SR_STILL));
    cJSON_AddBoolToObject(object, "explicit_in_time", symmetry->timed);
    cJSON_AddBoolToObject(object, "conservative",
                          holds(symmetry, SR_STILL) && holds(symmetry, SR_CURL_FREE) &&
                              !symmetry->timed);
    orr_json_add_exact(object, "across_position", symmetry->share[SR_CENTRAL]);
    orr_json_add_exact(object, "by_velocity", symmetry->share[SR_STILL]);
    orr_json_add_exact(object, "curl", symmetry->share[SR_CURL_FREE]);
    orr_json_add_list(object, "errors", symmetry->error, SR_SYMMETRIES);
    if (symmetry->nats < HUGE_VAL && symmetry->by_components < HUGE_VAL && symmetry->nats != 0) {
        orr_json_add_exact(object, "nats_of_vectors", symmetry->nats);
        orr_json_add_exact(object, "nats_by_components", symmetry->by_components);
    }
    cJSON *probes = cJSON_AddArrayToObject(object, "probes");
    for (int k = 0; k < symmetry->probes; k++) {
        cJSON *item = cJSON_CreateObject();
        sr_vector_text(s, &symmetry->probe[k].term, text, sizeof text);
        cJSON_AddStringToObject(item, "added", text);
        orr_json_add_exact(item, "coefficient", symmetry->probe[k].value);
        orr_json_add_exact(item, "standard_error", symmetry->probe[k].error);
        cJSON_AddItemToArray(probes, item);
    }
    if (!symmetry->vectors)
        return;
    if (find_timed(symmetry) >= 0 && symmetry->time_nats < HUGE_VAL)
        orr_json_add_exact(object, "nats_of_time", symmetry->time_nats);
    sr_form_text(s, &symmetry->form, text, sizeof text);
    cJSON_AddStringToObject(object, "form", text);
    orr_json_add_list(object, "coefficients", symmetry->form.value, symmetry->form.count);
    orr_json_add_list(object, "standard_errors", symmetry->form.error, symmetry->form.count);
}
