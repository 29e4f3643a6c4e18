/* main_laws.c - bin/laws: the laws of a run, a formula of every source of forces.
 *
 * bin/symreg without a file becomes this program, which then goes by the name "symreg", as in the
 * advice of programs and documents. */
#include "laws.h"

#include <malloc.h>
#include <string.h>

#include "symreg/solve/options.h"

static struct sr_csv_options given;
static struct orr_option options[SR_OPTION_COUNT + 1];

static struct orr_program program = {
    .name = "laws",
    .purpose = "Finds the laws of a run: a formula of every source of forces.",
    .usage = "laws [options]",
    .options = options,
    .groups = "seed,attention,symreg",
    .without = "--checkpoint,--device,--attention-impl",
    .usual = "--orbits,--answers,--compat,--preset,--set,--run,--out,--attention,--threads,--seed,-"
             "-resume,"
             "--plan,--help,symreg.binary,symreg.unary,symreg.loss,symreg.maxsize",
};

static int run(const struct orr_cli *cli)
{
    /* symreg with nothing behind it may have been typed by somebody who has a table */
    if (!cli->run_given && !cli->plan && !orr_exists(cli->run))
        return ORR_FAIL(ORR_EMISSING,
                        "%s: no such run directory; formulas of a table: symreg FILE.csv --target "
                        "COLUMN; a run: make world RUN=%s",
                        cli->run, cli->run);
    return laws_run(cli, given.orbits ? given.orbits : "", given.answers ? given.answers : "",
                    program.name);
}

int main(int argc, char **argv)
{
    const char *called = argc > 0 ? argv[0] : "", *slash = strrchr(called, '/');
    if (!strcmp(slash ? slash + 1 : called, "symreg"))
        program.name = "symreg";
    sr_options_list(&given, SR_OF_RUN, options);
    mallopt(M_MMAP_THRESHOLD, 16 << 20); /* large blocks are returned to the system when freed */
    return orr_main(&program, argc, argv, run);
}
