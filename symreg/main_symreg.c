/* main_symreg.c - bin/symreg: formulas from a CSV table, or the laws of a run directory. */
#include "symreg.h"

static const char *target, *features;
static const struct orr_option options[] = {
    {"--target", "COLUMN", "column to explain (with FILE.csv)", &target},
    {"--features", "A,B,C", "columns to explain it with (default: all others)", &features},
    {NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "symreg",
    .purpose = "Finds formulas: of every force source of a run, or of a column of a CSV file.",
    .usage = "symreg [options]\n       symreg [options] FILE.csv --target COLUMN [--features A,B]",
    .options = options,
    .max_rest = 1,
    .groups = "seed,attention,symreg",
};

static int run(const struct orr_cli *cli)
{
    if (cli->argc_rest == 1) {
        if (!target)
            return ORR_FAIL(ORR_EUSAGE, "%s: which column is to be explained? Give --target COLUMN",
                            cli->argv_rest[0]);
        return sr_csv_run(cli, cli->argv_rest[0], target, features);
    }
    if (target || features)
        return ORR_FAIL(ORR_EUSAGE, "%s: needs a FILE.csv", target ? "--target" : "--features");
    return sr_laws_run(cli);
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
