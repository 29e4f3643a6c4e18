/* label_answers.c - forces that a model of another program predicts after it learned from few
 * labels: forces_labels.csv, or forces_extrapolate_r.csv and forces_extrapolate_m.csv
 * (docs/exchange.md), checked row by row against what was asked. */
#include "labels.h"
#include "probe/core/answers.h"

#include <float.h>
#include <math.h>

/* Some roundings of float32, in which labels are. */
static const double same = 8 * (double)FLT_EPSILON;

enum { COLUMNS = 6 };
static const char *const column_name[COLUMNS] = {"n", "draw", "sequence", "step", "F_true", "F"};

/* A row of the table. */
struct label_row {
    double of[COLUMNS]; /* in the order of column_name */
    size_t line;
};

struct asked {
    const struct probe_label_study *t;
    char path[4096];
    size_t P;
    size_t *place; /* (sequences of the set, P) index of a held-out row, plus 1; 0: none */
    double *F;     /* (sizes, draws, rows); NaN: not read yet */
};

static int list_asked(struct probe_arena *arena, struct asked *a)
{
    const struct probe_held_out *j = &a->t->held_out;
    const size_t all = (size_t)a->t->sizes * (size_t)a->t->draws * j->rows;
    a->P = (size_t)j->set->positions;
    a->place = probe_take(arena, j->set->n * a->P, sizeof *a->place);
    TRY(arena->failed);
    for (size_t i = 0; i < j->rows; i++)
        a->place[j->at[i]] = i + 1;
    for (size_t i = 0; i < all; i++)
        a->F[i] = NAN;
    return 0;
}

static int size_of(const struct asked *a, double n)
{
    for (int k = 0; k < a->t->sizes; k++)
        if (a->t->n[k] == n)
            return k;
    return -1;
}

/* The held-out row of a sequence and a step; false where it was not asked for. */
static bool find_row(const struct asked *a, const struct label_row *row, size_t *i)
{
    const struct probe_held_out *j = &a->t->held_out;
    const double sequence = row->of[2], step = row->of[3];
    if (!(sequence >= 0 && sequence < (double)j->set->n && sequence == floor(sequence)) ||
        !(step >= 0 && step < (double)a->P / 2 - 1 && step == floor(step)))
        return false;
    *i = a->place[(size_t)sequence * a->P + 2 + 2 * (size_t)step];
    return (*i)-- > 0;
}

static int take_row(const struct asked *a, const struct label_row *row)
{
    const struct probe_held_out *j = &a->t->held_out;
    const double draw = row->of[1];
    const int size = size_of(a, row->of[0]);
    size_t i;
    if (size < 0 || !(draw >= 0 && draw < a->t->draws && draw == floor(draw)) ||
        !find_row(a, row, &i))
        return ORR_FAIL(
            ORR_EFORMAT,
            "%s:%zu: expected a row that was asked, found n %.17g, draw %.17g, sequence "
            "%.17g, step %.17g",
            a->path, row->line, row->of[0], draw, row->of[2], row->of[3]);
    const double truth = (double)j->set->force_magnitude[j->at[i]];
    if (!(fabs(row->of[4] - truth) <= same * truth))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: F_true: expected %.9g, as exported, found %.9g",
                        a->path, row->line, truth, row->of[4]);
    if (!isfinite(row->of[5]))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: F: expected a finite number, found %g", a->path,
                        row->line, row->of[5]);
    double *to = a->F + ((size_t)size * (size_t)a->t->draws + (size_t)draw) * j->rows + i;
    if (!isnan(*to))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s:%zu: n %.0f, draw %.0f, sequence %.0f, step %.0f is there twice",
                        a->path, row->line, row->of[0], draw, row->of[2], row->of[3]);
    *to = row->of[5];
    return 0;
}

static int take_table(const struct asked *a, const struct orr_csv *csv)
{
    int column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = orr_csv_column(csv, column_name[c]);
        if (column[c] < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", a->path, column_name[c]);
    }
    for (size_t r = 0; r < csv->rows; r++) {
        struct label_row row = {.line = csv->line[r]};
        for (int c = 0; c < COLUMNS; c++)
            row.of[c] = csv->values[r * csv->cols + (size_t)column[c]];
        TRY(take_row(a, &row));
    }
    return 0;
}

static int check_complete(const struct asked *a)
{
    const struct probe_held_out *j = &a->t->held_out;
    const size_t all = (size_t)a->t->sizes * (size_t)a->t->draws * j->rows;
    for (size_t k = 0; k < all; k++) {
        const size_t i = k % j->rows, cell = k / j->rows;
        if (isnan(a->F[k]))
            return ORR_FAIL(
                ORR_EFORMAT,
                "%s: expected n %d, draw %zu, sequence %zu, step %zu, found no such row", a->path,
                a->t->n[cell / (size_t)a->t->draws], cell % (size_t)a->t->draws, j->at[i] / a->P,
                (j->at[i] % a->P - 2) / 2);
    }
    return 0;
}

int probe_label_answers_read(struct probe_label_study *t, const struct probe_answers *answers,
                             const char *file, double *F)
{
    struct probe_arena *arena = &t->s.arena;
    const size_t kept = arena->count;
    struct asked a = {.t = t, .F = F};
    struct orr_csv csv = {0};
    TRY(orr_path(a.path, "%s/%s", answers->folder, file));
    if (!orr_exists(a.path))
        return ORR_FAIL(ORR_EMISSING, "%s: missing; export.json lists what is asked", a.path);
    TRY(list_asked(arena, &a));
    int rc = orr_csv_read(a.path, ORR_CSV_NUMBERS, &csv);
    rc = rc ? rc : take_table(&a, &csv);
    rc = rc ? rc : check_complete(&a);
    orr_csv_free(&csv);
    probe_rewind(arena, kept);
    return rc;
}
