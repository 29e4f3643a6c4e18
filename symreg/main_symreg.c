/* main_symreg.c - bin/symreg: formulas from a table, laws of motion from tracks, predictions. The
 * laws of a run are those of bin/laws, which takes over where no file is given. */
#include <malloc.h>
#include <string.h>

#include "base/file.h"
#include "base/input.h"
#include "base/text.h"
#include "dynamics/dynamics.h"
#include "dynamics/simulate.h"
#include "motion/motion.h"
#include "orbit/orbit.h"

static struct sr_csv_options table;
static struct sr_motion_options motion;
static struct sr_dynamics_options dynamics;
static struct sr_simulate_options simulation;
static struct sr_orbit_options orbit;
static const char *predict_index, *predict_interval;
/* Options that are not of a table, beside the rows of symreg/solve/options.h. */
static const struct orr_option of_commands[] = {
    {"--time", "COLUMN", "of motion: times, which rise along the rows of a body; of orbit: times",
     &motion.time, NULL},
    {"--position", "X,Y,Z", "of motion: columns of positions, one to three", &motion.position,
     NULL},
    {"--body", "COLUMN", "of motion: which body a row is of", &motion.body, NULL},
    {"--system", "COLUMN", "of motion: bodies of one value pull each other, those of others do not",
     &motion.system, NULL},
    {"--mass", "COLUMN", "of motion: the mass of the body", &motion.mass, NULL},
    {"--centre", "X,Y|NAME|fit", "of motion: what pulls, a point or a body; fit: find the point",
     &motion.centre, NULL},
    {"--state", "X,Y,Z", "of motion: columns of states, dx/dt = f(x): any dynamics",
     &dynamics.state, NULL},
    {"--general", NULL, "of motion: accelerations of any kind, a = f(x, v), of --position",
     &dynamics.general, NULL},
    {"--track", "COLUMN", "of --state, --general: which track of the system a row is of",
     &dynamics.track, NULL},
    {"--input", "U,W|FILE",
     "of --state, --general: columns of known inputs; of simulate: their file", &dynamics.input,
     NULL},
    {"--explicit-time", NULL,
     "of --state, --general: equations may contain the time (default: where it is needed)",
     &dynamics.explicit_time, NULL},
    {"--start", "X=1,Y=0", "of simulate: every state at the first time", &simulation.start, NULL},
    {"--times", "A:B:STEP|FILE", "of simulate: times, or a CSV file with a column of them",
     &simulation.times, NULL},
    {"--velocity", "COLUMN", "of orbit: radial velocities, away from us above 0", &orbit.velocity,
     NULL},
    {"--instrument", "COLUMN", "of orbit: each value has its own offset and jitter",
     &orbit.instrument, NULL},
    {"--planets", "N", "of orbit: 0, 1 or 2; default: what the BIC recommends", &orbit.planets,
     NULL},
    {"--star-mass", "M[,ERROR]",
     "of orbit: solar masses, for m sin i and the semi-major axis (days, m/s)", &orbit.star_mass,
     NULL},
    {"--period", "LOW,HIGH", "of orbit: where periods are looked for", &orbit.periods, NULL},
    {"--index", "N", "of predict: the row of the front, from 1", &predict_index, NULL},
    {"--interval", "PERCENT", "of predict: columns low and high, between which new values lie (95)",
     &predict_interval, NULL},
};
static struct orr_option options[SR_OPTION_COUNT + sizeof of_commands / sizeof *of_commands + 1];

/* All options in the order of --help. */
static void list_options(void)
{
    const int count = sr_options_list(&table, SR_OF_PROGRAMS, options);
    memcpy(options + count, of_commands, sizeof of_commands);
}

/* Runs `symreg predict FRONT FILE`. */
static int run_predict(const struct orr_cli *cli)
{
    if (cli->argc_rest != 3)
        return ORR_FAIL(ORR_EUSAGE,
                        "predict: expected FRONT.json and FILE.csv, found %d argument%s",
                        cli->argc_rest - 1, cli->argc_rest == 2 ? "" : "s");
    if (*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--out: predict writes to standard output");
    const struct sr_predict_options how = {.index = predict_index,
                                           .rule = table.rule,
                                           .missing = table.missing,
                                           .missing_value = table.missing_value,
                                           .interval = predict_interval,
                                           .quiet = cli->quiet};
    return sr_predict_run(cli->argv_rest[1], cli->argv_rest[2], &how);
}

/* Runs `symreg simulate EQUATIONS`. */
static int run_simulate(const struct orr_cli *cli)
{
    if (cli->argc_rest != 2)
        return ORR_FAIL(ORR_EUSAGE, "simulate: expected EQUATIONS.json, found %d arguments",
                        cli->argc_rest - 1);
    simulation.input = dynamics.input;
    simulation.category = table.category;
    simulation.out = cli->out;
    simulation.quiet = cli->quiet;
    return sr_simulate_run(cli->argv_rest[1], &simulation);
}

/* What a search of any table needs. */
static int prepare(const struct orr_cli *cli)
{
    if (table.rule && !*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--rule: needs the --out DIR of the report that shows it");
    table.use_seconds = (table.seconds || orr_cli_sets(cli, "symreg.seconds")) &&
                        !table.iterations && !orr_cli_sets(cli, "symreg.iterations");
    return 0;
}

/* Options of motion that go with one kind of it alone. */
struct owned {
    const char *name, **value;
};
static const struct owned of_bodies[] = {{"--body", &motion.body},
                                         {"--system", &motion.system},
                                         {"--mass", &motion.mass},
                                         {"--centre", &motion.centre}};
static const struct owned of_dynamics[] = {{"--track", &dynamics.track},
                                           {"--category", &table.category},
                                           {"--input", &dynamics.input},
                                           {"--explicit-time", &dynamics.explicit_time}};

/* Runs `symreg motion TRACKS --state X,Y` and `--position X,Y --general`. */
static int run_dynamics(const struct orr_cli *cli, const char *file)
{
    if (dynamics.state && (dynamics.general || motion.position))
        return ORR_FAIL(ORR_EUSAGE, "--state: not with %s",
                        dynamics.general ? "--general" : "--position");
    if (!motion.time || (!dynamics.state && !motion.position))
        return ORR_FAIL(ORR_EUSAGE, "%s: %s needs --time COLUMN%s", file,
                        dynamics.state ? "--state" : "--general",
                        dynamics.state ? "" : " and --position X,Y");
    for (size_t k = 0; k < sizeof of_bodies / sizeof *of_bodies; k++)
        if (*of_bodies[k].value)
            return ORR_FAIL(ORR_EUSAGE, "%s: not with %s", of_bodies[k].name,
                            dynamics.state ? "--state" : "--general");
    TRY(prepare(cli));
    dynamics.time = motion.time;
    dynamics.position = motion.position;
    dynamics.category = table.category;
    dynamics.missing = table.missing;
    dynamics.missing_value = table.missing_value;
    return sr_dynamics_run(cli, file, &dynamics, &table);
}

/* Runs `symreg motion TRACKS`. */
static int run_motion(const struct orr_cli *cli)
{
    const int files = cli->argc_rest - 1;
    const bool any = dynamics.state || dynamics.general;
    if (any && files != 1)
        return ORR_FAIL(ORR_EUSAGE, "motion: expected TRACKS.csv, found %d arguments", files);
    if (files < 1 || files > SR_HORIZONS_FILES)
        return ORR_FAIL(ORR_EUSAGE,
                        "motion: expected TRACKS.csv, or up to %d files of JPL Horizons, found %d "
                        "arguments",
                        SR_HORIZONS_FILES, files);
    if (any)
        return run_dynamics(cli, cli->argv_rest[1]);
    for (size_t k = 0; k < sizeof of_dynamics / sizeof *of_dynamics; k++)
        if (*of_dynamics[k].value)
            return ORR_FAIL(ORR_EUSAGE, "%s: needs --state or --general", of_dynamics[k].name);
    TRY(prepare(cli));
    motion.missing = table.missing;
    motion.missing_value = table.missing_value;
    return sr_motion_run(cli, cli->argv_rest + 1, files, &motion, &table);
}

/* Runs `symreg orbit VELOCITIES`. */
static int run_orbit(const struct orr_cli *cli)
{
    if (cli->argc_rest != 2)
        return ORR_FAIL(ORR_EUSAGE, "orbit: expected VELOCITIES.csv, found %d arguments",
                        cli->argc_rest - 1);
    if (!motion.time || !orbit.velocity)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: orbit needs --time COLUMN and --velocity COLUMN, and --sigma COLUMN "
                        "where errors are known",
                        cli->argv_rest[1]);
    orbit.time = motion.time;
    orbit.sigma = table.sigma;
    orbit.missing = table.missing;
    orbit.missing_value = table.missing_value;
    return sr_orbit_run(cli, cli->argv_rest[1], &orbit);
}

static int run_table(const struct orr_cli *cli)
{
    const char *file = cli->argv_rest[0];
    if (!table.target && !table.target_interval)
        return ORR_FAIL(ORR_EUSAGE,
                        strcmp(file, "-") == 0 || orr_exists(file) || orr_input_is_packed(file)
                            ? "%s: which column is to be explained? Give --target COLUMN"
                            : "%s: no such file; see symreg --help",
                        file);
    TRY(prepare(cli));
    return sr_csv_run_targets(cli, file, &table);
}

/* The options of each command, by the rows of symreg/solve/options.h. */
static char of_laws[1024] = "--run,--attention,--plan", of_table[1024],
            of_motion[1024] = "--time,--position,--body,--system,--mass,--centre,--state,--general,"
                              "--track,--input,--explicit-time",
            of_predict[1024] = "--index,--interval";
static const char of_simulate[] = "--start,--times,--input,--category";
static const struct orr_command commands[] = {
    {.name = "", .what = "the laws of a run", .takes = of_laws, .program = "laws"},
    {.name = "motion",
     .what = "symreg motion TRACKS.csv",
     .takes = of_motion,
     .run = run_motion,
     .usual = "--time,--position,--body,--system,--mass,--centre,--state,--general,--track,--input,"
              "--explicit-time,--category,--missing,--units,--binary,"
              "--unary,--maxsize,--seconds,--rule,--out,--threads,--seed,--help,symreg.binary,"
              "symreg.unary",
     .words = 1 + SR_HORIZONS_FILES},
    {.name = "orbit",
     .what = "symreg orbit VELOCITIES.csv",
     .takes = "--time,--velocity,--sigma,--instrument,--planets,--star-mass,--period,--missing,"
              "--missing-value",
     .run = run_orbit,
     .usual = "--time,--velocity,--sigma,--instrument,--planets,--star-mass,--period,--missing,"
              "--missing-value,--out,--help",
     .alone = true,
     .words = 2},
    {.name = "predict",
     .what = "symreg predict FRONT.json FILE.csv",
     .takes = of_predict,
     .run = run_predict,
     .usual = "--index,--rule,--interval,--missing,--missing-value,--help",
     .alone = true,
     .words = 3},
    {.name = "simulate",
     .what = "symreg simulate EQUATIONS.json",
     .takes = of_simulate,
     .run = run_simulate,
     .usual = "--start,--times,--input,--category,--out,--help",
     .alone = true,
     .words = 2},
    {.name = "*", .what = "a table (FILE.csv)", .takes = of_table, .run = run_table, .words = 1},
    {.name = NULL},
};

static void list_owners(void)
{
    static const struct {
        unsigned of;
        char *list;
    } owner[] = {{SR_OF_RUN, of_laws},
                 {SR_OF_TABLE, of_table},
                 {SR_OF_MOTION, of_motion},
                 {SR_OF_PREDICT, of_predict}};
    for (size_t k = 0; k < sizeof owner / sizeof *owner; k++)
        for (int i = 0; i < SR_OPTION_COUNT; i++)
            if (sr_option[i].of & owner[k].of)
                orr_append(owner[k].list, sizeof of_table, "%s%s", *owner[k].list ? "," : "",
                           sr_option[i].name);
}

static const struct orr_program program = {
    .name = "symreg",
    .purpose = "Finds formulas: in tables, in tracks, in forces of a run; orbits of stars.",
    .usage = "symreg [options]\n"
             "       symreg [options] FILE.csv[.gz] --target COLUMN [--features A,B]\n"
             "       symreg motion [options] TRACKS.csv --time T --position|--state X,Y[,Z]\n"
             "       symreg orbit [options] VELOCITIES.csv --time T --velocity V [--sigma S]\n"
             "       symreg predict FRONT.json FILE.csv[.gz] [--index N] [--interval 95]\n"
             "       symreg simulate EQUATIONS.json --start X=1 --times 0:10:0.1 [--out FILE]",
    .options = options,
    .max_rest = 1 + SR_HORIZONS_FILES,
    .groups = "seed,attention,symreg",
    .rest_preset = "table",
    .rest_ignores = "attention,orbits,planets,text,model,pretrain,pretrain_planets,finetune,"
                    "symreg.constant_tolerance",
    .without = "--checkpoint,--device,--attention-impl",
    .usual = "--target,--features,--weights,--sigma,--missing,--category,--test,--binary,--unary,"
             "--template,--maxsize,--units,--constants,--seconds,--rule,"
             "--preset,--set,--run,--out,--threads,--seed,--resume,--help,symreg.loss",
    .commands = commands,
};

static int run(const struct orr_cli *cli)
{
    return orr_command_run(&program, cli);
}

int main(int argc, char **argv)
{
    list_options();
    list_owners();
    mallopt(M_MMAP_THRESHOLD, 16 << 20); /* large blocks are returned to the system when freed */
    return orr_main(&program, argc, argv, run);
}
