/* claims_read.c - reads the published claims, rows of figures/claims.csv. Their papers: [L] the
 * LSSAR paper, version 3 of 2026; [V] Vafa et al. 2025, arXiv 2507.06952; [K] "From Kepler to
 * Newton", arXiv 2602.06923; [O] "The Observer Effect in World Models", arXiv 2602.12218; [G] the
 * note on softplus-gated attention, 2025; [F] the public fork of the code of [V] with masks of
 * labels. */
#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    const struct orr_csv *csv;
    size_t row;
};

/* The cell of a column; NULL, with a message, where the file lacks the column. */
static const char *cell_of(const struct reader *r, const char *column)
{
    const int c = orr_csv_column(r->csv, column);
    if (c >= 0)
        return r->csv->cells[r->row * r->csv->cols + (size_t)c];
    (void)ORR_FAIL(ORR_EFORMAT, "%s: expected a column \"%s\", found none", r->path, column);
    return NULL;
}

static int bad_cell(const struct reader *r, const char *column, const char *expected,
                    const char *found)
{
    return ORR_FAIL(ORR_EFORMAT, "%s:%zu: column \"%s\": expected %s, found \"%s\"", r->path,
                    r->csv->line[r->row], column, expected, found);
}

/* Reads a cell that must be one of the words; *number is its index, from 0. */
static int take_word(const struct reader *r, const char *column, const char *words, int *number)
{
    const char *found = cell_of(r, column);
    *number = 0;
    if (!found)
        return ORR_EFORMAT;
    for (const char *word = words; *word; word += word[strcspn(word, "|")] == '|', ++*number) {
        const size_t bytes = strcspn(word, "|");
        if (strlen(found) == bytes && !strncmp(word, found, bytes))
            return 0;
        word += bytes;
    }
    return bad_cell(r, column, words, found);
}

/* Reads a number; an empty cell gives `none`. */
static int take_number(const struct reader *r, const char *column, double none, double *number)
{
    char *end;
    const char *found = cell_of(r, column);
    if (!found)
        return ORR_EFORMAT;
    *number = *found ? strtod(found, &end) : none;
    return !*found || (end != found && !*end && isfinite(*number))
               ? 0
               : bad_cell(r, column, "a number", found);
}

static int take_claim(const struct reader *r, struct verdict_claim *c)
{
    const struct {
        const char *column, **to;
    } texts[] = {{"claim", &c->claim},         {"where", &c->where},     {"ours", &c->ours},
                 {"published", &c->published}, {"command", &c->command}, {"file", &c->file},
                 {"quantity", &c->quantity},   {"measure", &c->measure}, {"of", &c->of},
                 {"setting", &c->setting},     {"from", &c->from},       {"remark", &c->remark}};
    static const char grounds[] = "orbits|text|other settings|own question";
    int ground, measured, statistic, rule;
    double context;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (!(*texts[k].to = cell_of(r, texts[k].column)))
            return ORR_EFORMAT;
    TRY(take_word(r, "ground", grounds, &ground));
    TRY(take_word(r, "measured", grounds, &measured));
    TRY(take_word(r, "statistic", "value|nearer|learned|slope|ratio|steps|rise", &statistic));
    TRY(take_word(r, "rule", "above|below|equal|small", &rule));
    TRY(take_number(r, "context", -1, &context));
    TRY(take_number(r, "size", 0, &c->size));
    if (!(fabs(context) < 1e9))
        return bad_cell(r, "context", "positions", cell_of(r, "context"));
    c->ground = (enum verdict_ground)ground;
    c->measured = (enum verdict_ground)measured;
    c->statistic = (enum verdict_statistic)statistic;
    c->rule = (enum verdict_rule)rule;
    c->context = (int)context;
    return 0;
}

int verdict_claims_read(const char *path, struct verdict_claims *claims)
{
    char found[4096];
    *claims = (struct verdict_claims){.count = 0};
    if (!path)
        TRY(orr_figures_path("claims.csv", found));
    struct reader r = {.path = path ? path : found, .csv = &claims->csv};
    TRY(orr_csv_read(r.path, ORR_CSV_KEEP_TEXT, &claims->csv));
    claims->claim = orr_alloc(claims->csv.rows + 1, sizeof *claims->claim);
    TRY(claims->claim ? 0 : ORR_ENOMEM);
    for (; r.row < claims->csv.rows; r.row++)
        TRY(take_claim(&r, &claims->claim[claims->count++]));
    return 0;
}

void verdict_claims_free(struct verdict_claims *claims)
{
    orr_csv_free(&claims->csv);
    free(claims->claim);
    *claims = (struct verdict_claims){.count = 0};
}
