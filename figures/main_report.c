/* main_report.c - bin/report: pictures and report.html of a run directory. */
#include "base/tempdir.h"
#include "origin.h"
#include "stage/engine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

static int move_file(const char *from, const char *to, const char *name, const char *format)
{
    char source[REPORT_PATH], target[REPORT_PATH];
    TRY(orr_path(source, "%s/%s.%s", from, name, format));
    TRY(orr_path(target, "%s/%s.%s", to, name, format));
    return orr_rename(source, target);
}

/* Draws and writes everything in a temporary folder next to the destination, then renames it, so
 * that a failure leaves existing files unchanged. */
static int publish_report(const struct report_run *run, struct report_pictures *pictures,
                          const char *out, const char *work, bool keep, bool quiet, bool *lab,
                          bool *lab_failed)
{
    char figures[REPORT_PATH], page[REPORT_PATH];
    TRY(orr_path(figures, "%s/figures", out));
    TRY(orr_path(page, "%s/report.html", out));
    TRY(report_plot(run, work, quiet, pictures));
    TRY(report_lab_make(run, work, lab, lab_failed));
    TRY(report_html(run, pictures, work, *lab, page));
    TRY(*lab ? move_file(work, out, "lab", "html") : 0);
    TRY(orr_mkdir(figures));
    for (size_t i = 0; i < pictures->count; i++) {
        const char *name = pictures->at[i].name;
        TRY(move_file(work, figures, name, "png"));
        TRY(move_file(work, figures, name, "svg"));
        if (keep) {
            TRY(orr_path(page, "%s/%s", figures, name));
            TRY(report_keep(work, name, page));
        }
    }
    return 0;
}

static const char *orbits_option = "", *answers_option = "", *verdict_option, *animate_option,
                  *runs_option, *losses_option, *body_option, *figure_option, *size_option,
                  *font_option, *keep_option, *follow_option, *every_option;

struct call {
    char out[4096];
    const struct orr_cli *cli;
    struct report_origin origin;
    struct orr_answers answers;
    struct report_run run;
    bool has_read;
};

static int read_run(struct call *call)
{
    call->has_read = true;
    TRY(report_origin_check(&call->origin, call->cli->run));
    return report_read(&call->run, call->cli->run, call->cli->attention, &call->answers);
}

/* What is written into a folder refuses --out of a file, which would become a folder's name. */
static int refuse_file(const char *out, const char *expected)
{
    static const char *const ends[] = {".gif", ".png", ".svg", ".html", ".mp4", ".pdf"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (orr_ends_in(out, ends[i]))
            return ORR_FAIL(ORR_EUSAGE, "--out: %s, found \"%s\"", expected, out);
    return 0;
}

/* Draws orbits as GIF, of one body or all. */
static int animate_orbits(struct call *call)
{
    const struct orr_cli *cli = call->cli;
    struct report_run *run = &call->run;
    char picture[REPORT_PATH];
    const int asked = report_body_of(animate_option);
    if (asked < 0 && strcmp(animate_option, "all") != 0)
        return ORR_FAIL(ORR_EUSAGE,
                        "--animate: expected all, or a body of the run (mercury, ..., halley), "
                        "found \"%s\"",
                        animate_option);
    const bool one_file = orr_ends_in(cli->out, ".gif");
    if (one_file && asked < 0)
        return ORR_FAIL(ORR_EUSAGE, "--out: --animate all: expected a folder, found \"%s\"",
                        cli->out);
    if (!one_file)
        TRY(refuse_file(cli->out, "--animate: expected a folder or a file that ends in .gif"));
    TRY(orr_gnuplot_check("player.gp"));
    TRY(read_run(call));
    if (!run->has_vectors || asked >= report_bodies(run))
        return ORR_FAIL(ORR_EINVAL, "%s: --animate: the run has no force vectors of %s", cli->run,
                        asked < 0 ? "any body" : report_body_title[asked]);
    for (int body = 0; body < report_bodies(run); body++) {
        if (asked >= 0 && asked != body)
            continue;
        for (int view = 0; view < report_views(run); view++) {
            const char *end = view == REPORT_XZ ? "_xz" : "";
            TRY(one_file ? orr_path(picture, "%.*s%s.gif", (int)strlen(cli->out) - 4, cli->out, end)
                         : orr_path(picture, "%s/figures/orbit_%s%s.gif", call->out,
                                    report_body_name[body], end));
            TRY(report_animate(run, body, (enum report_view)view, picture));
            orr_note(cli->quiet, "report: %s", picture);
        }
    }
    return 0;
}

/* Says how the kept data are drawn again; gnuplot takes no name that begins with "<", "|" or
 * "-". */
static int note_drawing(const char *out, bool quiet)
{
    char file[REPORT_PATH + 8], stem[4 * REPORT_PATH], script[4 * REPORT_PATH];
    const char *here = *out == '/' || isalnum((unsigned char)*out) ? "" : "./";
    const int length = (int)(strrchr(out, '.') - out);
    snprintf(file, sizeof file, "%s%.*s", here, length, out);
    TRY(orr_shell_word(stem, sizeof stem, file));
    snprintf(file, sizeof file, "%s%.*s.gp", here, length, out);
    TRY(orr_shell_word(script, sizeof script, file));
    orr_note(quiet, "report: drawn again by: gnuplot -c %s %s OUTPUT.png png", script, stem);
    return 0;
}

static int draw_single(struct call *call, const char *figure)
{
    struct report_style style;
    char out[REPORT_PATH];
    TRY(report_style_read(size_option, font_option, &style));
    TRY(orr_path(out, "%s", *call->cli->out ? call->cli->out : figure));
    if (!*call->cli->out)
        TRY(orr_path(out, "%s.png", figure));
    TRY(report_single_check(figure, &style, out));
    TRY(orr_gnuplot_check("forces.gp"));
    TRY(read_run(call));
    TRY(report_single(&call->run, figure, &style, keep_option != NULL, out));
    orr_note(call->cli->quiet, "report: %s", out);
    return keep_option ? note_drawing(out, call->cli->quiet) : 0;
}

/* ---- the stage: the page with all pictures */

static int page_status(void *of, struct orr_stage_output *output)
{
    const struct call *call = of;
    output->files = 1;
    TRY(report_origin_status(&call->origin, call->out, output->file));
    orr_artefact_resume(call->cli, output->file);
    return 0;
}

/* Checks that the tools exist and that artefacts match the settings. */
static int check_page(void *of, const struct orr_stage_output *output)
{
    struct call *call = of;
    char part[REPORT_PATH];
    (void)output;
    TRY(orr_gnuplot_check("forces.gp"));
    TRY(orr_figures_path("report.css", part));
    TRY(orr_figures_path("player.js", part));
    return read_run(call);
}

static int keep_page(void *of)
{
    const struct call *call = of;
    orr_note(call->cli->quiet, "report: %s/report.html is up to date", call->out);
    return 0;
}

static int make_page(void *of, const struct orr_stage_output *output)
{
    struct call *call = of;
    struct orr_tempdir work;
    struct report_pictures pictures = {0};
    bool lab = false, lab_failed = false;
    TRY(call->has_read ? 0 : check_page(call, output));
    int rc = orr_tempdir_create(&work, call->out, "report");
    if (!rc)
        rc = publish_report(&call->run, &pictures, call->out, work.folder, keep_option != NULL,
                            call->cli->quiet, &lab, &lab_failed);
    orr_tempdir_remove(&work); /* before the record, which marks the stage as complete */
    /* without a lab that it should have, a page is written and is not up to date */
    TRY(rc || lab_failed ? rc : report_origin_write(&call->origin, call->out, &pictures, lab));
    orr_note(call->cli->quiet, "report: %zu figures in %s/figures, page %s/report.html",
             pictures.count, call->out, call->out);
    return 0;
}

static int make_wanted(struct call *call)
{
    static const struct orr_stage_row stage = {.doing = "making the report",
                                               .status = page_status,
                                               .check = check_page,
                                               .keep = keep_page,
                                               .make = make_page};
    const struct orr_cli *cli = call->cli;
    TRY(orr_answers_parse(&call->answers, answers_option, &cli->settings));
    TRY(report_origin_open(&call->origin, cli, orbits_option, &call->answers));
    if (animate_option)
        return animate_orbits(call);
    if (body_option || figure_option)
        return draw_single(call, body_option ? body_option : figure_option);
    TRY(refuse_file(cli->out, "expected the folder of report.html and its figures"));
    if (cli->plan)
        return orr_stage_plan(&stage, call);
    TRY(orr_stage_check(&stage, call));
    const bool existed = orr_exists(call->out);
    const int rc = orr_stage_make(&stage, call);
    if (rc && !existed)
        rmdir(call->out); /* removes the empty folder that was created */
    return rc;
}

/* ---- several runs */

/* Runs `compare`, to which tables over runs have moved. */
static int compare(const struct orr_cli *cli, const char *command, const char *const *file,
                   int count)
{
    const char *const option[] = {"--size",  size_option,  "--font", font_option,
                                  "--every", every_option, "--out",  *cli->out ? cli->out : NULL};
    const char *argv[80] = {command};
    int argc = 1;
    for (int i = 0; i < count && argc < 66; i++)
        argv[argc++] = file[i];
    for (int i = 0; i < 8; i += 2)
        if (option[i + 1]) {
            argv[argc++] = option[i];
            argv[argc++] = option[i + 1];
        }
    if (keep_option)
        argv[argc++] = "--keep";
    if (follow_option)
        argv[argc++] = "--follow";
    if (cli->quiet)
        argv[argc++] = "--quiet";
    orr_note(cli->quiet, "note: `report --%s` is `compare %s` now", command, command);
    return orr_program_become("compare", argv);
}

static int draw_losses(const struct orr_cli *cli)
{
    const char *const here[] = {cli->run};
    return cli->argc_rest ? compare(cli, "losses", cli->argv_rest, cli->argc_rest)
                          : compare(cli, "losses", here, 1);
}

static int print_aggregate(const struct orr_cli *cli)
{
    const char *const folder[] = {runs_option};
    return compare(cli, "runs", folder, 1);
}

/* A verdict has a page of its own, which its program writes. */
static int refuse_verdict(const struct orr_cli *cli)
{
    (void)cli;
    return ORR_FAIL(ORR_EUSAGE, "--verdict: bin/verdict writes verdict.html itself now");
}

/* ---- what --help calls "instead", and the page */

static int make_report(const struct orr_cli *cli)
{
    if (orr_plan_text(cli, "report"))
        return 0;
    TRY(orr_settings_needs_orbits(&cli->settings, "a report"));
    struct call *call = orr_alloc(1, sizeof *call);
    if (!call)
        return ORR_ENOMEM;
    call->cli = cli;
    strcpy(call->out, *cli->out ? cli->out : cli->run);
    const int rc = make_wanted(call);
    report_free(&call->run);
    report_origin_close(&call->origin);
    free(call);
    return rc;
}

#define OF_RUN "--run,--preset,--set,--seed,--attention,--orbits,--answers,"
static const struct orr_command commands[] = {
    {"--runs", "report --runs", "--runs", print_aggregate, .words = ORR_NO_WORDS},
    {"--losses", "report --losses", OF_RUN "--losses,--size,--font,--keep,--follow,--every",
     draw_losses, .words = 0},
    {"--animate", "report --animate", OF_RUN "--animate", make_report, .words = ORR_NO_WORDS},
    {"--body", "report --body", OF_RUN "--body,--size,--font,--keep", make_report,
     .words = ORR_NO_WORDS},
    {"--figure", "report --figure", OF_RUN "--figure,--size,--font,--keep", make_report,
     .words = ORR_NO_WORDS},
    {"--verdict", "report --verdict", OF_RUN "--verdict,--keep,--plan,--resume", refuse_verdict,
     .words = ORR_NO_WORDS, .old = true},
    {"", "the page", OF_RUN "--keep,--plan,--resume", make_report, .words = 0},
    {.name = NULL},
};

static const struct orr_option options[] = {
    {"--runs", "DIR",
     "instead: one table over the runs in DIR, up to 3 folders deep; writes DIR/runs.json",
     &runs_option, NULL},
    {"--orbits", "DIR", "data sets that the run was made from, if elsewhere", &orbits_option, NULL},
    {"--answers", "DIR,DIR", "also models of other programs (docs/exchange.md)", &answers_option,
     NULL},
    {"--verdict", "[FILE]", "now: the page that bin/verdict writes", &verdict_option, NULL},
    {"--animate", "BODY",
     "instead: OUT/figures/orbit_BODY.gif, or --out FILE.gif: rollouts and forces step by step; "
     "all: of every body",
     &animate_option, NULL},
    {"--body", "NAME",
     "instead: the forces on one body (mercury, ..., halley) as one picture, --out FILE.png or "
     "FILE.svg (NAME.png)",
     &body_option, NULL},
    {"--figure", "NAME",
     "instead: exponents, pareto, loss, probes (with --answers), or real_mars (after probe "
     "planets)",
     &figure_option, NULL},
    {"--size", "PIXELS", "width of that PNG; everything in it grows alike", &size_option, NULL},
    {"--font", "NAME[,POINTS]", "font and size of its text (DejaVu Sans,11)", &font_option, NULL},
    {"--keep", NULL, "leaves each figure's data (.set, .dat) and gnuplot script (.gp) beside it",
     &keep_option, NULL},
    {"--losses", NULL,
     "instead: training losses of all attention variants of the runs given, as a table and a "
     "picture, --out FILE.png (losses.png)",
     &losses_option, NULL},
    {"--follow", NULL, "losses: again and again until the trainings end (`compare losses --help`)",
     &follow_option, NULL},
    {"--every", "SECONDS", "losses --follow: between two looks at the logs (2)", &every_option,
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static const struct orr_program program = {
    .name = "report",
    .purpose = "Draws the figures of a run and writes its self-contained report.html",
    .usage = "report [--run DIR] [--out DIR] [--attention NAME]\n       report --animate BODY "
             "[--run DIR] [--out DIR|FILE.gif]\n       report --body NAME [--run DIR] [--out "
             "FILE]\n       report --losses [RUN...] [--follow] [--out FILE]\n       report "
             "--runs DIR",
    .max_rest = 64,
    .options = options,
    .groups = "",
    .without = "--checkpoint,--device,--attention-impl,--threads",
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
