/* main_verdict.c - bin/verdict: the combined results of the cells of a grid. */
#include "study/claims.h"
#include "stage/cli.h"
#include "study/verdict.h"

static struct verdict v;
static struct verdict_ledger ledger;
static const char *claims, *beside;
static const char *is_record; /* a flag */

/* Writes the ledger of claims in place of a verdict. */
static int write_ledger(const struct orr_cli *cli)
{
    char path[4096];
    const char *folder = *cli->out ? cli->out : ".";
    int rc = verdict_ledger_read(claims, NULL, &ledger);
    rc = rc ? rc : verdict_ledger_there(&ledger); /* checked before a folder is created */
    rc = rc ? rc : orr_mkdir(folder);
    rc = rc ? rc : orr_path(path, "%s/claims.md", folder);
    rc = rc ? rc : verdict_ledger_write(&ledger, path);
    verdict_ledger_free(&ledger);
    return rc;
}

static int write_verdict(const struct orr_cli *cli)
{
    struct verdict_sentences sentences = {.count = 0};
    verdict_sentences(&v, &sentences);
    TRY(verdict_write(&v, &sentences, *cli->out ? cli->out : "."));
    return verdict_print(&v, &sentences);
}

static int combine(const struct orr_cli *cli)
{
    if (is_record && cli->argc_rest != 1)
        return ORR_FAIL(ORR_EUSAGE, "--cell: expected one run directory, found %d", cli->argc_rest);
    int rc = cli->argc_rest ? verdict_read(&v, cli->argv_rest, cli->argc_rest)
                            : ORR_FAIL(ORR_EUSAGE, "expected run directories of a grid's cells, "
                                                   "found none; make verdict does it all");
    if (!rc && beside && !orr_exists(beside))
        rc = ORR_FAIL(ORR_EMISSING, "%s: --beside: no such folder", beside);
    if (!rc && beside)
        /* verdict.json is written by this program */
        rc = verdict_ledger_read(beside, "verdict.json", &ledger);
    v.beside = beside ? &ledger : NULL;
    if (!rc && is_record)
        rc = v.cells.cell[0].record
                 ? ORR_FAIL(ORR_EUSAGE, "%s: --cell: expected a run directory", cli->argv_rest[0])
                 : verdict_record(&v, cli->argv_rest[0]);
    else if (!rc)
        rc = write_verdict(cli);
    for (size_t i = 0; i < v.missing.count && !rc; i++)
        orr_note(cli->quiet, "verdict: missing: %s: %s", v.missing.at[i].what, v.missing.at[i].why);
    verdict_free(&v);
    verdict_ledger_free(&ledger);
    return rc;
}

static const struct orr_option options[] = {
    {"--claims", "DIR",
     "instead: writes claims.md, what these files of results say of published claims", &claims,
     NULL},
    {"--beside", "DIR",
     "results of other grids, as --claims takes them, whose claims stand beside the verdict",
     &beside, NULL},
    {"--cell", NULL,
     "instead: writes <CELL>/cell.json, the results of one run as a small file, which stands "
     "for the run wherever cells are put together",
     &is_record, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_command commands[] = {
    {"--claims", "verdict --claims", "--claims", write_ledger, .words = ORR_NO_WORDS},
    {"--cell", "verdict --cell", "--cell", combine, .words = 0},
    {"", "a verdict", "--beside", combine, .words = 0},
    {"*", "a verdict", "--beside", combine, .words = 0},
    {.name = NULL},
};
static const struct orr_program program = {
    .name = "verdict",
    .purpose = "Compares the models of several runs, the cells of a grid: means over seeds with\n"
               "upper bound and untrained baseline, differences between attention variants, and\n"
               "a summary in words. Prints Markdown, writes verdict.json into --out\n"
               "(study/docs/verdict.md).",
    .usage = "verdict [--out DIR] [--beside DIR] CELL...\n       verdict --cell CELL\n       "
             "verdict --claims "
             "DIR [--out DIR]",
    .options = options,
    .max_rest = 1024,
    .groups = "",
    .without = "--checkpoint,--device,--attention-impl,--threads,--plan,--run,--preset,--set,"
               "--seed,--resume,--attention",
    .commands = commands,
};

static int run(const struct orr_cli *cli)
{
    return orr_command_run(&program, cli);
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
