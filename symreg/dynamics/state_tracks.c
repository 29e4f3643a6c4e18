/* state_tracks.c - a file of states, or of positions, becomes one track per value of --track. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

/* Columns of the file; -1 where an option is absent. */
struct columns {
    int time, track, category, x[SR_STATES], input[SR_INPUTS];
};

/* ---- names */

static int find_columns(const struct sr_dynamics_options *o, struct columns *c, struct sr_states *s)
{
    const struct orr_csv *csv = &s->csv;
    s->order = o->state ? 1 : 2;
    s->explicit_time = o->explicit_time;
    TRY(sr_table_column(csv, s->file, o->time, &c->time));
    TRY(o->track ? sr_table_column(csv, s->file, o->track, &c->track) : 0);
    TRY(sr_table_columns(csv, s->file, o->state ? "--state" : "--position",
                         o->state ? o->state : o->position, SR_STATES, c->x, &s->dims));
    TRY(o->input
            ? sr_table_columns(csv, s->file, "--input", o->input, SR_INPUTS, c->input, &s->inputs)
            : 0);
    for (int k = 0; k < s->inputs; k++)
        if (c->input[k] == c->time)
            return ORR_FAIL(ORR_EUSAGE,
                            "--input: \"%s\" is the time, too; --explicit-time lets equations "
                            "contain it",
                            csv->names[c->time]);
    for (int d = 0; d < s->dims; d++) {
        for (int k = 0; k < s->inputs; k++)
            if (c->input[k] == c->x[d])
                return ORR_FAIL(ORR_EUSAGE, "--input: \"%s\" is a state, too", csv->names[c->x[d]]);
        if (c->x[d] == c->time)
            return ORR_FAIL(ORR_EUSAGE, "--time: \"%s\" is a state, too", csv->names[c->time]);
    }
    return 0;
}

/* The column of --category, and the names of the constants that its values have. */
static int find_category(const struct sr_dynamics_options *o, struct columns *c,
                         struct sr_states *s)
{
    if (!o->category)
        return 0;
    TRY(sr_table_column(&s->csv, s->file, o->category, &c->category));
    const char *const name = s->csv.names[c->category];
    bool other = c->category == c->time;
    for (int d = 0; d < s->dims; d++)
        other = other || c->category == c->x[d];
    for (int k = 0; k < s->inputs; k++)
        other = other || c->category == c->input[k];
    if (other)
        return ORR_FAIL(ORR_EUSAGE, "--category: \"%s\" is the time, a state or an input, too",
                        name);
    if (strlen(name) >= SR_STATE_NAME)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected names of fewer than %d bytes, found \"%s\"",
                        s->file, s->csv.header, SR_STATE_NAME, name);
    TRY(sr_feature_name_check(s->file, s->csv.header, c->category, name));
    snprintf(s->category, sizeof s->category, "%s", name);
    for (int k = 0; k < SR_EACH; k++)
        snprintf(s->each_name[k], sizeof s->each_name[k], "c%d[%s]", k + 1, name);
    return 0;
}

static int add_name(const struct orr_csv *csv, const char *before, int column, struct sr_states *s)
{
    const char *name = csv->names[column];
    if (strlen(before) + strlen(name) >= SR_STATE_NAME)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected names of fewer than %d bytes, found \"%s\"",
                        s->file, csv->header, SR_STATE_NAME - 8, name);
    TRY(sr_feature_name_check(s->file, csv->header, column, name));
    snprintf(s->name[s->names], SR_STATE_NAME, "%s%s", before, name);
    for (int k = 0; k < s->names; k++)
        if (!strcmp(s->name[k], s->name[s->names]))
            return ORR_FAIL(ORR_EUSAGE,
                            "%s: \"%s\" is a velocity, and the name of a column; expected another "
                            "name",
                            s->file, s->name[k]);
    s->names++;
    return 0;
}

static int make_names(const struct columns *c, struct sr_states *s)
{
    for (int k = 0; k < s->order; k++)
        for (int d = 0; d < s->dims; d++)
            TRY(add_name(&s->csv, k ? "v_" : "", c->x[d], s));
    TRY(add_name(&s->csv, "", c->time, s));
    for (int k = 0; k < s->inputs; k++)
        TRY(add_name(&s->csv, "", c->input[k], s));
    for (int k = 0; k < s->names; k++)
        if (c->category >= 0 && sr_category_takes_name(s->category, s->name[k]))
            return ORR_FAIL(ORR_EUSAGE,
                            "--category: a column \"%s\" and a constant of each \"%s\" would have "
                            "one name; expected another name",
                            s->name[k], s->category);
    for (int d = 0; d < s->dims; d++)
        snprintf(s->target[d], sizeof s->target[d], s->order == 1 ? "d%s/d%s" : "d2%s/d%s2",
                 s->name[d], s->name[sr_states_time(s)]);
    return 0;
}

/* ---- rows */

static int check_row(const struct sr_states *s, const struct columns *c, size_t row)
{
    int all[1 + SR_STATES + SR_INPUTS] = {c->time}, count = 1;
    for (int d = 0; d < s->dims; d++)
        all[count++] = c->x[d];
    for (int k = 0; k < s->inputs; k++)
        all[count++] = c->input[k];
    for (int k = 0; k < count; k++)
        if (!isfinite(s->csv.values[row * s->csv.cols + (size_t)all[k]]))
            return sr_table_wrong_cell(&s->csv, s->file, row, all[k]);
    return 0;
}

/* For --missing drop: removes rows that lack a value in a column that is used. */
static int drop_rows(const struct columns *c, const struct sr_dynamics_options *o,
                     struct sr_states *s)
{
    int column[3 + SR_STATES + SR_INPUTS], count = 0;
    struct sr_missing what;
    TRY(sr_missing_read(o->missing, o->missing_value, &what));
    if (!what.cells)
        return 0;
    column[count++] = c->time;
    for (int d = 0; d < s->dims; d++)
        column[count++] = c->x[d];
    for (int k = 0; k < s->inputs; k++)
        column[count++] = c->input[k];
    if (c->track >= 0)
        column[count++] = c->track;
    if (c->category >= 0)
        column[count++] = c->category;
    return sr_table_drop_missing(&s->csv, &what, column, count, &s->dropped);
}

/* ---- tracks */

struct key {
    const char *label;
    size_t row;
};

static int by_label(const void *a, const void *b)
{
    const struct key *p = a, *q = b;
    const int order = strcmp(p->label, q->label);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

static int by_first_line(const void *a, const void *b)
{
    const struct sr_state_track *p = a, *q = b;
    return (p->line[0] > q->line[0]) - (p->line[0] < q->line[0]);
}

int sr_states_create(struct sr_states *s, size_t count, const size_t *rows)
{
    const size_t dims = (size_t)s->dims, width = 1 + (size_t)s->inputs + dims * 8;
    s->rows = 0;
    for (size_t k = 0; k < count; k++)
        s->rows += rows[k];
    double *block = s->block = orr_alloc(s->rows * width, sizeof *block);
    size_t *line = s->lines = orr_alloc(s->rows, sizeof *line);
    s->track = orr_alloc(count, sizeof *s->track);
    if (!block || !line || !s->track)
        return ORR_ENOMEM;
    s->count = count;
    for (size_t k = 0; k < count; k++) {
        struct sr_state_track *track = &s->track[k];
        *track = (struct sr_state_track){.label = "", .n = rows[k], .line = line, .t = block};
        double **const array[] = {&track->x,
                                  &track->smooth,
                                  &track->rate,
                                  &track->bend,
                                  &track->smooth_variance,
                                  &track->rate_variance,
                                  &track->bend_variance,
                                  &track->sigma};
        block += rows[k];
        track->input = block;
        block += rows[k] * (size_t)s->inputs;
        for (size_t a = 0; a < sizeof array / sizeof *array; a++, block += rows[k] * dims)
            *array[a] = block;
        line += rows[k];
    }
    return 0;
}

static int fill_track(const struct columns *c, const struct key *key, struct sr_states *s,
                      struct sr_state_track *track)
{
    const struct orr_csv *csv = &s->csv;
    track->label = key->label;
    for (size_t i = 0; i < track->n; i++) {
        const double *value = csv->values + key[i].row * csv->cols;
        track->line[i] = csv->line[key[i].row];
        track->t[i] = value[c->time];
        for (size_t d = 0; d < (size_t)s->dims; d++)
            track->x[d * track->n + i] = value[c->x[d]];
        for (size_t k = 0; k < (size_t)s->inputs; k++)
            track->input[k * track->n + i] = value[c->input[k]];
        if (i > 0 && !(track->t[i] > track->t[i - 1]))
            return sr_table_time_falls(csv, s->file, key[i - 1].row, key[i].row, c->time, "",
                                       c->track < 0 ? "; rows of several tracks need --track COLUMN"
                                                    : "");
    }
    return 0;
}

bool sr_state_rests(const struct sr_state_track *track, size_t d)
{
    const double *x = track->x + d * track->n;
    for (size_t i = 1; i < track->n; i++)
        if (x[i] < x[0] || x[i] > x[0])
            return false;
    return true;
}

static int check_track(const struct sr_states *s, const struct sr_state_track *track)
{
    char named[300] = "";
    if (*track->label)
        snprintf(named, sizeof named, "track \"%.200s\": ", track->label);
    if (track->n < SR_STATE_ROWS)
        return ORR_FAIL(ORR_EINVAL, "%s:%zu: %sexpected at least %d rows, found %zu", s->file,
                        track->line[track->n - 1], named, SR_STATE_ROWS, track->n);
    bool rests = true;
    for (size_t d = 0; d < (size_t)s->dims; d++)
        rests = rests && sr_state_rests(track, d);
    if (rests)
        return ORR_FAIL(ORR_EINVAL,
                        "%s:%zu: %sall rows are at one point; expected a track that "
                        "moves",
                        s->file, track->line[0], named);
    for (size_t i = 1; i < track->n; i++) {
        const double gap = track->t[i] - track->t[i - 1];
        if (gap > 0.5 * (track->t[track->n - 1] - track->t[0]))
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: %sa gap of %g after line %zu, more than half of the track; "
                            "expected two tracks (--track COLUMN)",
                            s->file, track->line[i], named, gap, track->line[i - 1]);
    }
    return 0;
}

/* A state that does not change in any track has no equation. */
static int check_states(const struct sr_states *s)
{
    for (size_t d = 0; d < (size_t)s->dims; d++) {
        bool rests = true;
        for (size_t k = 0; k < s->count; k++)
            rests = rests && sr_state_rests(&s->track[k], d);
        if (rests)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: column \"%s\" is the same number in all rows of every track; "
                            "expected a state that changes",
                            s->file, s->name[d]);
    }
    return 0;
}

static int make_tracks(const struct columns *c, const struct key *key, struct sr_states *s)
{
    size_t *rows = orr_alloc(s->csv.rows, sizeof *rows), count = 0;
    if (!rows)
        return ORR_ENOMEM;
    for (size_t i = 0; i < s->csv.rows; i++) {
        count += i == 0 || strcmp(key[i].label, key[i - 1].label) != 0;
        rows[count - 1]++;
    }
    const int rc = sr_states_create(s, count, rows);
    free(rows);
    TRY(rc);
    for (size_t k = 0; k < count; key += s->track[k++].n) {
        TRY(fill_track(c, key, s, &s->track[k]));
        TRY(check_track(s, &s->track[k]));
    }
    qsort(s->track, count, sizeof *s->track, by_first_line);
    return check_states(s);
}

/* ---- categories */

/* The number of a category, a new one where none has this label. */
static int number_category(struct sr_states *s, const char *label, size_t *category)
{
    int k = 0;
    while (k < s->categories && strcmp(s->category_label[k], label) != 0)
        k++;
    *category = (size_t)k;
    if (k < s->categories)
        return 0;
    if (k == SR_CATEGORIES)
        return ORR_FAIL(ORR_EINVAL, "%s: column \"%s\": expected at most %d categories, found more",
                        s->file, s->category, SR_CATEGORIES);
    s->category_label[k] = strdup(label);
    s->categories += s->category_label[k] != NULL;
    return s->category_label[k] ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", s->file);
}

/* The row of the file that line `line` is. */
static size_t row_of_line(const struct orr_csv *csv, size_t line)
{
    size_t from = 0, to = csv->rows;
    while (from + 1 < to) {
        const size_t middle = from + (to - from) / 2;
        if (csv->line[middle] <= line)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* Gives each track its category, which has to be one in all of its rows. */
static int read_categories(const struct columns *c, struct sr_states *s)
{
    for (size_t k = 0; k < s->count && c->category >= 0; k++) {
        struct sr_state_track *const track = &s->track[k];
        char first[SR_NUMBER] = "", number[SR_NUMBER] = "";
        const char *label = NULL;
        for (size_t i = 0; i < track->n; i++) {
            const size_t row = row_of_line(&s->csv, track->line[i]);
            const char *own = sr_category_label(&s->csv, row, c->category, i ? number : first);
            label = i ? label : own;
            if (sr_cell_is_missing(own))
                return ORR_FAIL(ORR_EFORMAT,
                                "%s:%zu: column \"%s\": expected a category, found \"%s\"", s->file,
                                track->line[i], s->category, own);
            if (strcmp(own, label) != 0)
                return ORR_FAIL(
                    ORR_EINVAL,
                    "%s:%zu: column \"%s\": expected one value in all rows of %s%.200s%s, "
                    "found \"%.100s\" after \"%.100s\"%s",
                    s->file, track->line[i], s->category, *track->label ? "track \"" : "the track",
                    track->label, *track->label ? "\"" : "", own, label,
                    c->track < 0 ? "; rows of several tracks need --track COLUMN" : "");
        }
        TRY(number_category(s, label, &track->category));
    }
    if (s->categories == 1)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: column \"%s\": expected at least two values, found \"%.100s\" in all "
                        "tracks, so that no constant differs; leave --category out",
                        s->file, s->category, s->category_label[0]);
    return 0;
}

int sr_states_read(const char *file, const struct sr_dynamics_options *o, struct sr_states *s)
{
    struct columns c = {.time = -1, .track = -1, .category = -1};
    *s = (struct sr_states){.file = orr_input_name(file)};
    TRY(sr_cells_read(file, ORR_CSV_KEEP_TEXT, &s->csv));
    TRY(find_columns(o, &c, s));
    TRY(find_category(o, &c, s));
    TRY(make_names(&c, s));
    TRY(drop_rows(&c, o, s));
    if (s->csv.rows == 0)
        return ORR_FAIL(ORR_EINVAL, "%s: expected at least %d rows, found 0", s->file,
                        SR_STATE_ROWS);
    struct key *key = orr_alloc(s->csv.rows, sizeof *key);
    int rc = key ? 0 : ORR_ENOMEM;
    for (size_t i = 0; i < s->csv.rows && !rc; i++) {
        rc = check_row(s, &c, i);
        key[i].row = i;
        key[i].label = c.track < 0 ? "" : s->csv.cells[i * s->csv.cols + (size_t)c.track];
    }
    if (!rc) {
        qsort(key, s->csv.rows, sizeof *key, by_label);
        rc = make_tracks(&c, key, s);
    }
    if (!rc)
        rc = read_categories(&c, s);
    free(key);
    return rc;
}

void sr_states_free(struct sr_states *s)
{
    for (int k = 0; k < s->categories && s->category_label[k] && !s->part; k++)
        free(s->category_label[k]);
    free(s->track);
    free(s->block);
    free(s->lines);
    orr_csv_free(&s->csv);
    *s = (struct sr_states){0};
}
