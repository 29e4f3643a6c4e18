/* symmetry_evidence.c - which symmetries equations of accelerations have, measured along the
 * tracks: a central force has nothing across the position, a force without velocities is the same
 * for those of other rows, and the derivatives of a conservative one are symmetric. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/json.h"

enum { ROWS = 400 };
/* A share below this is rounding. */
static const double none = 1e-9;

/* Positions and velocities of at most ROWS rows as columns; rows `turn` later lend velocities. */
struct table {
    size_t rows, features;
    double *x, *other; /* (features, rows) */
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
    if (!table->x || !table->other)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++)
            for (size_t d = 0; d < dims && row % each == 0; d++) {
                table->x[d * n + row / each] = s->track[k].smooth[d * s->track[k].n + i];
                table->x[(dims + d) * n + row / each] = s->track[k].rate[d * s->track[k].n + i];
                table->x[2 * dims * n + row / each] = s->track[k].t[i];
                for (size_t c = 0; c < (size_t)system->constants; c++)
                    table->x[(SR_EACH_FIRST + c) * n + row / each] =
                        system->each.value[c][s->track[k].category];
            }
    memcpy(table->other, table->x, n * table->features * sizeof *table->x);
    for (size_t d = dims; d < 2 * dims; d++)
        for (size_t i = 0; i < n; i++)
            table->other[d * n + i] = table->x[d * n + (i + n / 3) % n];
    return 0;
}

/* a, other (dims, n): accelerations with each row's velocity, and with that of another row. */
static void find_shares(const struct sr_states *s, const struct table *table, const double *a,
                        const double *other, struct sr_symmetry *symmetry)
{
    const size_t n = table->rows, dims = (size_t)s->dims;
    double all = 0, across = 0, changed = 0;
    for (size_t i = 0; i < n; i++) {
        double r2 = 0, a2 = 0, along = 0;
        for (size_t d = 0; d < dims; d++) {
            const double x = table->x[d * n + i], off = other[d * n + i] - a[d * n + i];
            r2 += x * x;
            a2 += a[d * n + i] * a[d * n + i];
            along += x * a[d * n + i];
            changed += off * off;
        }
        all += a2;
        for (size_t d = 0; d < dims && r2 > 0; d++) {
            const double part = a[d * n + i] - along / r2 * table->x[d * n + i];
            across += part * part;
        }
    }
    symmetry->share[SR_CENTRAL] = sqrt(across / all);
    symmetry->share[SR_STILL] = sqrt(changed / all);
}

/* grad (dims, features, n) */
static void find_curl(const struct sr_states *s, const struct table *table, const double *grad,
                      struct sr_symmetry *symmetry)
{
    const size_t n = table->rows, dims = (size_t)s->dims, width = table->features;
    double all = 0, curl = 0;
    symmetry->timed = false;
    for (size_t a = 0; a < dims; a++)
        for (size_t i = 0; i < n; i++)
            symmetry->timed = symmetry->timed || grad[(a * width + 2 * dims) * n + i] != 0;
    for (size_t a = 0; a < dims; a++)
        for (size_t b = 0; b < dims; b++)
            for (size_t i = 0; i < n; i++) {
                const double own = grad[(a * width + b) * n + i];
                const double half = (own - grad[(b * width + a) * n + i]) / 2;
                all += own * own;
                curl += half * half;
            }
    symmetry->share[SR_CURL_FREE] = all > 0 ? sqrt(curl / all) : 0;
}

int sr_symmetry_measure(const struct sr_states *s, const struct sr_language *language,
                        struct sr_system *system)
{
    const struct sr_expr *const equation = system->expr;
    struct sr_symmetry *const symmetry = &system->symmetry;
    struct table table = {0};
    symmetry->measured = false;
    if (s->order != 2 || s->dims < 2 || s->inputs)
        return 0;
    int rc = fill(s, system, &table);
    const size_t n = table.rows, dims = (size_t)s->dims;
    double *const a = orr_alloc(2 * dims * n + 1, sizeof *a);
    double *const grad = orr_alloc(dims * table.features * n + 1, sizeof *grad);
    bool finite = !rc && a && grad;
    rc = rc || (a && grad) ? rc : ORR_ENOMEM;
    struct sr_data data = {
        .rows = n, .features = (int)table.features, .x = table.other, .language = language};
    for (size_t d = 0; d < dims && finite; d++)
        finite = sr_eval(&equation[d], &data, a + (dims + d) * n);
    data.x = table.x;
    for (size_t d = 0; d < dims && finite; d++)
        finite = sr_eval_slopes(&equation[d], &data, a + d * n, grad + d * table.features * n);
    if (finite) {
        find_shares(s, &table, a, a + dims * n, symmetry);
        find_curl(s, &table, grad, symmetry);
        symmetry->measured = true;
        for (int k = 0; k < SR_SYMMETRIES; k++)
            symmetry->measured = symmetry->measured && isfinite(symmetry->share[k]);
    }
    free(table.x);
    free(table.other);
    free(a);
    free(grad);
    return rc;
}

static bool holds(const struct sr_symmetry *symmetry, int which)
{
    return symmetry->share[which] < none;
}

static void write_symmetry(const struct sr_symmetry *symmetry, int which, char *text, size_t bytes)
{
    const double percent = 100 * symmetry->share[which];
    if (which == SR_CENTRAL && holds(symmetry, which))
        snprintf(text, bytes, "central: nothing of the acceleration is across the position");
    else if (which == SR_CENTRAL)
        snprintf(text, bytes,
                 "not central: %.2g%% of the acceleration is across the position (rms)", percent);
    else if (which == SR_STILL && holds(symmetry, which))
        snprintf(text, bytes, "independent of the velocity");
    else if (which == SR_STILL)
        snprintf(text, bytes,
                 "dependent on the velocity: that of other rows changes the acceleration by %.2g%% "
                 "(rms)",
                 percent);
    else if (!holds(symmetry, SR_STILL))
        snprintf(text, bytes, "not of a potential of the position, as it depends on the velocity");
    else if (holds(symmetry, which) && symmetry->timed)
        snprintf(text, bytes, "not conservative: free of curl, but it changes with the time");
    else if (holds(symmetry, which))
        snprintf(text, bytes, "conservative: free of curl");
    else
        snprintf(text, bytes,
                 "not conservative: %.2g%% of the derivatives by the position are curl (rms)",
                 percent);
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
