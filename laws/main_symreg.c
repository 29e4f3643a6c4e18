/* main_symreg.c - bin/symreg: formulas from a CSV table, or the laws of a run directory. */
#include "laws.h"

#include <malloc.h>
#include <string.h>

#include "base/file.h"
#include "symreg/motion/motion.h"

static struct sr_csv_options table;
static struct sr_motion_options motion;
static const char *orbits_option = "", *predict_index, *predict_interval;
/* Options that are not of a table, beside the rows of symreg/solve/options.h. */
static const struct orr_option of_run[] = {
    {"--orbits", "DIR", "of a run: the data sets it was made from, if not those of its settings",
     &orbits_option, NULL},
};
static const struct orr_option of_commands[] = {
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
};
enum {
    OF_RUN = sizeof of_run / sizeof *of_run,
    OF_COMMANDS = sizeof of_commands / sizeof *of_commands
};
static struct orr_option options[OF_RUN + SR_OPTION_COUNT + OF_COMMANDS + 1];

/* All options in the order of --help. */
static void list_options(void)
{
    memcpy(options, of_run, sizeof of_run);
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        options[OF_RUN + i] =
            (struct orr_option){sr_option[i].name, sr_option[i].value_name, sr_option[i].help,
                                sr_option_place(&table, i), sr_option[i].key};
    memcpy(options + OF_RUN + SR_OPTION_COUNT, of_commands, sizeof of_commands);
}

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
    table.use_seconds = (table.seconds || orr_cli_sets(cli, "symreg.seconds")) &&
                        !table.iterations && !orr_cli_sets(cli, "symreg.iterations");
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
        if (*o->value && o->value != &table.compat && o->value != &orbits_option)
            return ORR_FAIL(ORR_EUSAGE, "%s: needs a FILE.csv", o->name);
    return laws_run(cli, orbits_option);
}

int main(int argc, char **argv)
{
    list_options();
    mallopt(M_MMAP_THRESHOLD, 16 << 20); /* large blocks are returned to the system when freed */
    return orr_main(&program, argc, argv, run);
}
