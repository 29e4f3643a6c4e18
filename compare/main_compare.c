/* main_compare.c - bin/compare: one program for tables over runs and seeds. */
#include "cells.h"
#include "compare.h"
#include "stage/cli.h"

#include <stdlib.h>
#include <string.h>

static const char *figure_option, *size_option, *font_option, *keep_option, *follow_option,
    *every_option;

/* One table over the runs of a folder. */
static int compare_runs(const struct orr_cli *cli)
{
    struct compare_cells cells;
    if (*cli->out)
        return ORR_FAIL(ORR_EUSAGE, "--out: compare runs writes into its folder");
    if (cli->argc_rest != 2)
        return ORR_FAIL(ORR_EUSAGE, "compare runs: expected one folder with runs, found %d",
                        cli->argc_rest - 1);
    if (!*cli->argv_rest[1])
        return ORR_FAIL(ORR_EUSAGE, "compare runs: expected a folder, found \"\"");
    int rc = compare_cells_read(&cells, cli->argv_rest[1]);
    if (!rc)
        rc = compare_cells_write(&cells);
    if (!rc)
        rc = compare_cells_print(&cells);
    for (size_t i = 0; i < cells.left_out.count && !rc; i++)
        orr_note(cli->quiet, "compare: %s: left out: %s", cells.left_out.at[i].what,
                 cells.left_out.at[i].why);
    compare_cells_free(&cells);
    return rc;
}

static struct compare_options options_of(const struct orr_cli *cli)
{
    return (struct compare_options){.out = cli->out,
                                    .figure = figure_option,
                                    .file = cli->argv_rest + 1,
                                    .file_count = cli->argc_rest - 1,
                                    .quiet = cli->quiet};
}

static int over_seeds(const struct orr_cli *cli)
{
    const struct compare_options options = options_of(cli);
    return compare_seeds(&options);
}

static int of_settings(const struct orr_cli *cli)
{
    const struct compare_options options = options_of(cli);
    return compare_effects(&options);
}

/* Shows the losses of trainings that are under way. */
static int follow(const struct orr_cli *cli, const struct report_style *style)
{
    struct report_follow of = {.run = cli->argv_rest + 1,
                               .count = cli->argc_rest - 1,
                               .every_s = 2,
                               .style = style,
                               .keep = keep_option != NULL,
                               .quiet = cli->quiet,
                               .out = cli->out};
    char *end;
    if (every_option)
        of.every_s = strtod(every_option, &end);
    if (every_option && (*end || !(of.every_s >= 0.05 && of.every_s <= 3600)))
        return ORR_FAIL(ORR_EUSAGE, "--every: expected 0.05 to 3600 seconds, found \"%s\"",
                        every_option);
    if (*cli->out)
        TRY(report_single_check("loss", style, cli->out));
    else if (keep_option || size_option || font_option)
        return ORR_FAIL(ORR_EUSAGE, "%s: with --follow it needs --out FILE.png",
                        keep_option   ? "--keep"
                        : size_option ? "--size"
                                      : "--font");
    TRY(orr_gnuplot_check(*cli->out ? "curves.gp" : "follow.gp"));
    return report_follow(&of);
}

static int of_trainings(const struct orr_cli *cli)
{
    struct report_style style;
    char out[REPORT_PATH];
    if (cli->argc_rest < 2)
        return ORR_FAIL(ORR_EUSAGE, "compare losses: expected one run or more, found none");
    TRY(report_style_read(size_option, font_option, &style));
    if (follow_option)
        return follow(cli, &style);
    if (every_option)
        return ORR_FAIL(ORR_EUSAGE, "--every: belongs to --follow");
    TRY(orr_path(out, "%s", *cli->out ? cli->out : "losses.png"));
    TRY(report_single_check("loss", &style, out));
    TRY(orr_gnuplot_check("curves.gp"));
    TRY(report_losses(cli->argv_rest + 1, cli->argc_rest - 1, &style, keep_option != NULL, out));
    orr_note(cli->quiet, "compare: %s", out);
    return 0;
}

static const struct orr_command commands[] = {
    {"runs", "compare runs DIR", "", compare_runs, .alone = true, .words = 2,
     .usage = "compare runs DIR",
     .purpose = "Prints one table over the runs in DIR, up to 3 folders deep: laws, exponents and\n"
                "errors, means over seeds with 95% intervals. Writes DIR/runs.json."},
    {"seeds", "compare seeds FILE.json ...", "", over_seeds, .alone = true,
     .usage = "compare seeds FILE.json ... [--out DIR]",
     .purpose = "Prints means over seeds of what a probe measured of models of several seeds, and\n"
                "their difference from the untrained baseline. Writes OUT/PROBE_seeds.json."},
    {"effects", "compare effects FILE.json ...", "--figure", of_settings, .alone = true,
     .usage = "compare effects FILE.json ... [--out DIR] [--figure NAME]",
     .purpose = "Prints the effects of settings, and of pairs of them, on what a probe measured\n"
                "of a grid, and an analysis of variance. Writes OUT/PROBE_grid.json and a\n"
                "picture."},
    {"losses", "compare losses RUN ...", "--size,--font,--keep,--follow,--every", of_trainings,
     .alone = true, .usage = "compare losses RUN ... [--follow] [--out FILE.png]",
     .purpose = "Prints and draws the losses of the trainings of several runs; with --follow\n"
                "while they are under way."},
    {"grid", "probe grid", "--figure", of_settings, .alone = true, .old = true},
    {.name = NULL},
};

static const struct orr_option options[] = {
    {"--figure", "NAME", "effects: the value to draw, as its table names it (the first)",
     &figure_option, NULL},
    {"--size", "PIXELS", "losses: width of the PNG; everything in it grows alike", &size_option,
     NULL},
    {"--font", "NAME[,POINTS]", "losses: font and size of its text (DejaVu Sans,11)", &font_option,
     NULL},
    {"--keep", NULL, "losses: leaves data (.set, .dat) and gnuplot script (.gp) beside it",
     &keep_option, NULL},
    {"--follow", NULL,
     "losses: shows them anew until the trainings end, in the terminal or --out FILE.png; Ctrl-C "
     "ends",
     &follow_option, NULL},
    {"--every", "SECONDS", "losses --follow: between two looks at the logs (2)", &every_option,
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const struct orr_program program = {
    .name = "compare",
    .purpose = "Compares runs, seeds and settings: one table over many results (docs/compare.md)",
    .usage = "compare runs DIR\n       compare seeds FILE.json ... [--out DIR]\n       compare "
             "effects FILE.json ... [--out DIR] [--figure NAME]\n       compare losses RUN ... "
             "[--follow] [--out FILE.png]",
    .max_rest = 1024,
    .options = options,
    .groups = "",
    .without = "--checkpoint,--device,--attention-impl,--threads,--attention,--preset,--set,--seed,"
               "--run,--resume,--plan",
    .commands = commands,
};

static bool called_probe; /* which hands its old commands over, with its name */

static int run(const struct orr_cli *cli)
{
    if (called_probe && cli->argc_rest)
        orr_note(cli->quiet, "note: `probe %s` is `compare %s` now", cli->argv_rest[0],
                 strcmp(cli->argv_rest[0], "grid") ? cli->argv_rest[0] : "effects");
    if (!cli->argc_rest)
        return ORR_FAIL(ORR_EUSAGE, "expected runs, seeds, effects or losses; see --help");
    return orr_command_run(&program, cli);
}

int main(int argc, char **argv)
{
    called_probe = argc > 0 && orr_ends_in(argv[0], "probe");
    return orr_main(&program, argc, argv, run);
}
