/* main_symreg.c - bin/symreg: formulas from a CSV table, or the laws of a run directory. */
#include "laws.h"

#include <malloc.h>
#include <string.h>

#include "base/file.h"
#include "symreg/motion/motion.h"

static struct sr_csv_options table;
static struct sr_motion_options motion;
/* Options that change a setting: their texts only record that they were given. */
static struct {
    const char *binary, *unary, *maxsize, *seconds, *evaluations, *iterations, *stop_loss, *compat;
} given;
static const char *orbits_option = "", *predict_index, *predict_interval;
static const struct orr_option options[] = {
    {"--orbits", "DIR", "of a run: the data sets it was made from, if not those of its settings",
     &orbits_option, NULL},
    {"--target", "COLUMN", "column to explain, A,B: each; FILE - is stdin", &table.target, NULL},
    {"--features", "A,B,C", "columns to explain it with (default: all others)", &table.features,
     NULL},
    {"--exclude", "A,B", "columns that formulas must not use", &table.exclude, NULL},
    {"--require", "A,B", "columns that every formula of the front must use", &table.require, NULL},
    {"--weights", "COLUMN|relative|equal", "row weights; relative: 1/y^2; equal: alike",
     &table.weights, NULL},
    {"--missing", "drop|error", "leave rows with a missing value out, or refuse them (default)",
     &table.missing, NULL},
    {"--sigma", "COLUMN", "standard deviation of the target in each row: weights 1/sigma^2",
     &table.sigma, NULL},
    {"--category", "COLUMN",
     "one formula for all rows, with constants of each value of this column", &table.category,
     NULL},
    {"--test", "FILE", "a second table: loss and R2 of every formula on it", &table.test, NULL},
    {"--log-target", NULL, "explain the logarithm of the target", &table.log_target, NULL},
    {"--binary", "+,-,*,/,^", "operators of two arguments", &given.binary, "symreg.binary"},
    {"--unary", "inv,exp,sin", "operators of one argument", &given.unary, "symreg.unary"},
    {"--define", "G(X)=FORMULA", "operators of your own, \"g(x)=x*exp(-x); h(u,v)=u/(u+v)\"",
     &table.define, NULL},
    {"--loss", "NAME|FORMULA", "a name of symreg.loss, or of p and t: \"abs(p-t)^1.5\"",
     &table.loss, NULL},
    {"--round-constants", "likely|digits|integers|rationals",
     "what constants are rounded to (default: likely, fractions that are no coincidence)",
     &table.round_constants, NULL},
    {"--guess", "FORMULAS", "start with these, \"a*b/r^2; a/r\"; constants are refined",
     &table.guess, NULL},
    {"--template", "FORM",
     "find f, g in a given form: \"sin(x)*f(r) + g(m)\"; other names: constants", &table.form,
     NULL},
    {"--maxsize", "N", "largest complexity", &given.maxsize, "symreg.maxsize"},
    {"--maxdepth", "N", "nodes on the longest path of a formula", &table.maxdepth, NULL},
    {"--complexity", "OP=N,...", "price of an operator, constant or variable, \"exp=3\"",
     &table.complexity, NULL},
    {"--constrain", "OP:N,M;...", "largest complexity of arguments, -1 = any: \"^:-1,1\"",
     &table.constrain, NULL},
    {"--nest", "OP:OP=N;...",
     "how often one may stand inside another: \"sin:cos=0\" (default: no "
     "sin(sin(x)))",
     &table.nest, NULL},
    {"--units", "A=UNIT,...", "dimensions of columns, \"r=AU, F=kg*AU/yr^2\"", &table.units, NULL},
    {"--constants", "NAME[=VALUE UNIT],...", "known constants, \"G=6.674e-11 m^3/kg/s^2, c, k_B\"",
     &table.constants, NULL},
    {"--units-penalty", "X", "wrong dimensions cost X constants' losses (default: forbidden)",
     &table.units_penalty, NULL},
    {"--seconds", "S", "stop after so long (with a FILE: 60)", &given.seconds, "symreg.seconds"},
    {"--evaluations", "N", "stop after so many formulas", &given.evaluations, "symreg.evaluations"},
    {"--iterations", "N", "stop after so many epochs", &given.iterations, "symreg.iterations"},
    {"--stop-loss", "X", "stop at this loss", &given.stop_loss, "symreg.stop_loss"},
    {"--batch", "ROWS",
     "search on so many random rows, refine on all; 0: search on all (default: 4096 above 10000 "
     "rows)",
     &table.batch, NULL},
    {"--compat", "pysr", "the algorithm of SymbolicRegression.jl (also of a run)", &given.compat,
     "symreg.algorithm"},
    {"--permutations", "N",
     "repeat the search on N shuffled targets, for a p-value; 19 suffice for 0.05",
     &table.permutations, NULL},
    {"--alternatives", "N",
     "also list up to N other formulas of each complexity that are as good as what best selects",
     &table.alternatives, NULL},
    {"--rule", "NAME", "whose choice the report shows, or predict evaluates (default best)",
     &table.rule, NULL},
    {"--time", "COLUMN", "of motion: times, which rise along the rows of a body", &motion.time,
     NULL},
    {"--position", "X,Y,Z", "of motion: columns of positions, one to three", &motion.position,
     NULL},
    {"--body", "COLUMN", "of motion: which body a row is of", &motion.body, NULL},
    {"--system", "COLUMN", "of motion: bodies of one value pull each other, those of others do not",
     &motion.system, NULL},
    {"--mass", "COLUMN", "of motion: the mass of the body", &motion.mass, NULL},
    {"--centre", "X,Y|NAME|fit", "of motion: what pulls, a point or a body; fit: find the point",
     &motion.centre, NULL},
    {"--index", "N", "of predict: the row of the front, from 1", &predict_index, NULL},
    {"--interval", "PERCENT", "of predict: columns low and high, between which new values lie (95)",
     &predict_interval, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_command commands[] = {
    {"motion", "--time,--position,--body,--system,--mass,--centre,--missing,--units,--binary,--"
               "unary,--maxsize,"
               "--seconds,--rule,--out,--threads,--seed,--help,symreg.binary,symreg.unary"},
    {"predict", "--index,--rule,--interval,--missing,--help"},
    {NULL, NULL},
};
static const struct orr_program program = {
    .name = "symreg",
    .purpose = "Finds formulas: of every force source of a run, of a column of a table, of motion.",
    .usage = "symreg [options]\n"
             "       symreg [options] FILE.csv[.gz] --target COLUMN [--features A,B]\n"
             "       symreg motion [options] TRACKS.csv[.gz] --time T --position X,Y[,Z]\n"
             "       symreg predict FRONT.json FILE.csv[.gz] [--index N] [--interval 95]",
    .options = options,
    .max_rest = 3,
    .groups = "seed,attention,symreg",
    .rest_preset = "table",
    .rest_ignores = "attention,orbits,planets,text,model,pretrain,pretrain_planets,finetune,"
                    "symreg.constant_tolerance",
    .without = "--checkpoint,--device,--attention-impl",
    .usual = "--target,--features,--weights,--sigma,--test,--binary,--unary,--guess,--"
             "maxsize,--units,"
             "--seconds,--permutations,--rule,--preset,--set,--run,--out,--threads,--seed,--resume,"
             "--help,"
             "symreg.binary,symreg.unary,symreg.loss,symreg.maxsize",
    .commands = commands,
};

/* Runs `symreg predict FRONT FILE`. */
static int run_predict(const struct orr_cli *cli)
{
    if (cli->argc_rest != 3)
        return ORR_FAIL(ORR_EUSAGE,
                        "predict: expected FRONT.json and FILE.csv, found %d argument%s",
                        cli->argc_rest - 1, cli->argc_rest == 2 ? "" : "s");
    for (const struct orr_option *o = options; o->name; o++)
        if (*o->value && **o->value && o->value != &predict_index &&
            o->value != &predict_interval && o->value != &table.rule && o->value != &table.missing)
            return ORR_FAIL(ORR_EUSAGE, "%s: belongs to a search, not to predict", o->name);
    const struct sr_predict_options how = {.index = predict_index,
                                           .rule = table.rule,
                                           .missing = table.missing,
                                           .interval = predict_interval,
                                           .quiet = cli->quiet};
    if (*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--out: predict writes to standard output");
    return sr_predict_run(cli->argv_rest[1], cli->argv_rest[2], &how);
}

/* Whether an option applies only to `symreg motion`. */
static bool is_motion(const struct orr_option *o)
{
    return o->value == &motion.time || o->value == &motion.position || o->value == &motion.body ||
           o->value == &motion.system || o->value == &motion.mass || o->value == &motion.centre;
}

static void note_seconds(const struct orr_cli *cli)
{
    table.use_seconds = (given.seconds || orr_cli_sets(cli, "symreg.seconds")) &&
                        !given.iterations && !orr_cli_sets(cli, "symreg.iterations");
}

static int refuse_run(const struct orr_cli *cli)
{
    if (cli->plan || *orbits_option || *cli->attention || cli->run_given)
        return ORR_FAIL(ORR_EUSAGE, "%s: belongs to the laws of a run, not to a FILE.csv",
                        cli->plan        ? "--plan"
                        : *orbits_option ? "--orbits"
                        : cli->run_given ? "--run"
                                         : "--attention");
    if (table.rule && !*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--rule: needs the --out DIR of the report that shows it");
    return 0;
}

/* Runs `symreg motion TRACKS`. */
static int run_motion(const struct orr_cli *cli)
{
    const char **const made[] = {&table.target, &table.features, &table.weights, &table.sigma,
                                 &table.test,   &table.category, &table.exclude};
    if (cli->argc_rest != 2)
        return ORR_FAIL(ORR_EUSAGE, "motion: expected TRACKS.csv, found %d arguments",
                        cli->argc_rest - 1);
    TRY(refuse_run(cli));
    for (const struct orr_option *o = options; o->name; o++)
        for (size_t k = 0; k < sizeof made / sizeof *made; k++)
            if (o->value == made[k] && *o->value)
                return ORR_FAIL(ORR_EUSAGE,
                                "%s: belongs to a table; motion makes its own, whose columns are "
                                "r, m1, m2, and F or a",
                                o->name);
    if (!motion.time || !motion.position)
        return ORR_FAIL(ORR_EUSAGE, "%s: motion needs --time COLUMN and --position X,Y",
                        cli->argv_rest[1]);
    note_seconds(cli);
    motion.missing = table.missing;
    return sr_motion_run(cli, cli->argv_rest[1], &motion, &table);
}

static int run(const struct orr_cli *cli)
{
    const bool moves = cli->argc_rest && !strcmp(cli->argv_rest[0], "motion");
    if (cli->argc_rest && !strcmp(cli->argv_rest[0], "predict"))
        return run_predict(cli);
    if (predict_index || predict_interval)
        return ORR_FAIL(ORR_EUSAGE, "%s: belongs to symreg predict FRONT.json FILE.csv",
                        predict_index ? "--index" : "--interval");
    if (moves)
        return run_motion(cli);
    for (const struct orr_option *o = options; o->name; o++)
        if (is_motion(o) && *o->value)
            return ORR_FAIL(ORR_EUSAGE, "%s: belongs to symreg motion TRACKS.csv", o->name);
    if (cli->argc_rest > 1)
        return ORR_FAIL(ORR_EUSAGE, "unexpected argument \"%s\"; usage: symreg [options] FILE.csv",
                        cli->argv_rest[1]);
    if (cli->argc_rest == 1) {
        TRY(refuse_run(cli));
        const char *file = cli->argv_rest[0];
        if (!table.target)
            return ORR_FAIL(ORR_EUSAGE,
                            strcmp(file, "-") == 0 || orr_exists(file)
                                ? "%s: which column is to be explained? Give --target COLUMN"
                                : "%s: no such file; see symreg --help",
                            file);
        note_seconds(cli);
        return sr_csv_run_targets(cli, file, &table);
    }
    for (const struct orr_option *o = options; o->name; o++)
        if (*o->value && o->value != &given.compat && o->value != &orbits_option)
            return ORR_FAIL(ORR_EUSAGE, "%s: needs a FILE.csv", o->name);
    return laws_run(cli, orbits_option);
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD, 16 << 20); /* large blocks are returned to the system when freed */
    return orr_main(&program, argc, argv, run);
}
