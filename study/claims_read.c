/* claims_read.c - reads the published claims, rows of study/claims.csv. Their papers: [L] the
 * LSSAR paper, version 3 of 2026; [V] Vafa et al. 2025, arXiv 2507.06952; [K] "From Kepler to
 * Newton", arXiv 2602.06923; [O] "The Observer Effect in World Models", arXiv 2602.12218; [G] the
 * note on softplus-gated attention, 2025; [F] the public fork of the code of [V] with masks of
 * labels. */
#include "claims.h"
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int take_claim(const struct verdict_reader *r, struct verdict_claim *c)
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
        if (!(*texts[k].to = verdict_cell_of(r, texts[k].column)))
            return ORR_EFORMAT;
    TRY(verdict_take_word(r, "ground", grounds, &ground));
    TRY(verdict_take_word(r, "measured", grounds, &measured));
    TRY(verdict_take_word(r, "statistic", "value|nearer|learned|slope|ratio|steps|rise",
                          &statistic));
    TRY(verdict_take_word(r, "rule", "above|below|equal|small", &rule));
    TRY(verdict_take_number(r, "context", -1, &context));
    TRY(verdict_take_number(r, "size", 0, &c->size));
    if (!(fabs(context) < 1e9))
        return verdict_bad_cell(r, "context", "positions");
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
    struct verdict_reader r;
    TRY(verdict_reader_open(path, "claims.csv", found, &r, &claims->csv));
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

int verdict_files_read(const char *path, struct verdict_files *files)
{
    char found[4096];
    struct verdict_reader r;
    *files = (struct verdict_files){.count = 0};
    TRY(verdict_reader_open(path, "files.csv", found, &r, &files->csv));
    files->file = orr_alloc(files->csv.rows + 1, sizeof *files->file);
    TRY(files->file ? 0 : ORR_ENOMEM);
    for (; r.row < files->csv.rows; r.row++, files->count++) {
        files->file[files->count].name = verdict_cell_of(&r, "file");
        files->file[files->count].grid = verdict_cell_of(&r, "grid");
        if (!files->file[files->count].name || !files->file[files->count].grid)
            return ORR_EFORMAT;
    }
    return 0;
}

void verdict_files_free(struct verdict_files *files)
{
    orr_csv_free(&files->csv);
    free(files->file);
    *files = (struct verdict_files){.count = 0};
}
