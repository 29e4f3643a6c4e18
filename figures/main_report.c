/* main_report.c - bin/report: figures and report.html of a run directory. */
#include "base/tempdir.h"
#include "origin.h"
#include "figures/compare/cells.h"

#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

static int move_picture(const char *from, const char *to, const char *name, const char *format)
{
    char source[REPORT_PATH], target[REPORT_PATH];
    TRY(orr_path(source, "%s/%s.%s", from, name, format));
    TRY(orr_path(target, "%s/%s.%s", to, name, format));
    return orr_rename(source, target);
}

/* Everything is drawn and the page written from a working folder beside the final place, then
 * renamed: a failure before that leaves what was there before. */
static int publish(const struct report_run *run, struct report_pictures *pictures,
                   const struct cJSON *verdict, const char *out, const char *work, bool quiet)
{
    char figures[REPORT_PATH], page[REPORT_PATH];
    TRY(orr_path(figures, "%s/figures", out));
    TRY(orr_path(page, "%s/report.html", out));
    TRY(report_plot(run, work, quiet, pictures));
    TRY(report_html(run, pictures, work, verdict, page));
    TRY(orr_mkdir(figures));
    for (size_t i = 0; i < pictures->count; i++) {
        TRY(move_picture(work, figures, pictures->at[i].name, "png"));
        TRY(move_picture(work, figures, pictures->at[i].name, "svg"));
    }
    return 0;
}

/* One process at a time: the record names one setting for the page and all pictures. */
static int make_report(const struct report_run *run, const struct report_origin *origin,
                       const struct cJSON *verdict, const char *out, bool quiet)
{
    struct orr_tempdir work;
    struct report_pictures pictures = {0};
    const bool existed = orr_exists(out);
    int lock, rc = orr_mkdir(out);
    if (!rc)
        rc = orr_lock(out, "making the report", ORR_LOCK_WAIT_S, &lock);
    if (rc)
        return rc;
    rc = orr_tempdir_create(&work, out, "report");
    if (!rc)
        rc = publish(run, &pictures, verdict, out, work.folder, quiet);
    orr_tempdir_remove(&work); /* before the record, with which nothing is left to do */
    if (!rc)
        rc = report_origin_write(origin, out, &pictures);
    if (!rc)
        orr_note(quiet, "report: %zu figures in %s/figures, page %s/report.html", pictures.count,
                 out, out);
    orr_unlock(lock);
    if (rc && !existed)
        rmdir(out); /* as it was: an empty folder helps nobody */
    return rc;
}

static const char *orbits_option = "", *verdict_option = "", *animate_option, *runs_option;

/* Orbits as GIF, of one body or of all. */
static int animate(const struct orr_cli *cli, struct report_origin *origin, const char *out)
{
    static struct report_run run;
    char figures[REPORT_PATH];
    const int asked = report_body_of(animate_option);
    if (asked < 0 && strcmp(animate_option, "all") != 0)
        return ORR_FAIL(ORR_EUSAGE,
                        "--animate: expected all, or a body of the run (mercury, ..., halley), "
                        "found \"%s\"",
                        animate_option);
    int rc = orr_path(figures, "%s/figures", out);
    if (!rc)
        rc = orr_gnuplot_check("player.gp");
    if (!rc)
        rc = report_origin_check(origin, cli->run);
    if (!rc)
        rc = report_read(&run, cli->run, cli->attention);
    if (!rc && (!run.has_vectors || asked >= report_bodies(&run)))
        rc = ORR_FAIL(ORR_EINVAL, "%s: --animate: the run has no force vectors of %s", cli->run,
                      asked < 0 ? "any body" : report_body_title[asked]);
    for (int body = 0; !rc && body < report_bodies(&run); body++)
        if (asked < 0 || asked == body) {
            rc = report_animate(&run, body, figures);
            if (!rc)
                orr_note(cli->quiet, "report: %s/orbit_%s.gif", figures, report_body_name[body]);
        }
    report_free(&run);
    return rc;
}

/* Draws and writes all of it, from artefacts that the settings make. */
static int remake(const struct orr_cli *cli, struct report_origin *origin, const char *out)
{
    static struct report_run run;
    char part[REPORT_PATH];
    cJSON *verdict = NULL;
    int rc = orr_gnuplot_check("forces.gp");
    if (!rc)
        rc = orr_figures_path("report.css", part);
    if (!rc)
        rc = orr_figures_path("player.js", part);
    if (!rc)
        rc = report_origin_check(origin, cli->run);
    if (!rc)
        rc = report_read(&run, cli->run, cli->attention);
    if (!rc && *verdict_option)
        rc = report_verdict_read(verdict_option, &verdict);
    if (!rc)
        rc = make_report(&run, origin, verdict, out, cli->quiet);
    cJSON_Delete(verdict);
    report_free(&run);
    return rc;
}

/* One table over the runs of a folder instead of a report of one. */
static int aggregate(const struct orr_cli *cli)
{
    struct verdict_cells cells;
    const char *other = cli->run_given      ? "--run"
                        : *cli->out         ? "--out"
                        : *cli->attention   ? "--attention"
                        : *orbits_option    ? "--orbits"
                        : *verdict_option   ? "--verdict"
                        : animate_option    ? "--animate"
                        : cli->preset_given ? "--preset"
                        : cli->set_given    ? "--set"
                        : cli->seed_given   ? "--seed"
                        : cli->plan         ? "--plan"
                        : cli->resume       ? "--resume"
                                            : NULL;
    if (other)
        return ORR_FAIL(ORR_EUSAGE, "%s: belongs to the report of one run, not to --runs", other);
    if (!*runs_option)
        return ORR_FAIL(ORR_EUSAGE, "--runs: expected a folder, found \"\"");
    int rc = verdict_cells_read(&cells, runs_option);
    if (!rc)
        rc = verdict_cells_write(&cells);
    if (!rc)
        rc = verdict_cells_print(&cells);
    for (size_t i = 0; i < cells.left_out.count && !rc; i++)
        orr_note(cli->quiet, "report: %s: left out: %s", cells.left_out.at[i].what,
                 cells.left_out.at[i].why);
    verdict_cells_free(&cells);
    return rc;
}

static int report(const struct orr_cli *cli)
{
    if (runs_option)
        return aggregate(cli);
    static struct report_origin origin;
    const char *out = *cli->out ? cli->out : cli->run;
    enum orr_action verdict;
    char why[ORR_WHY], page[REPORT_PATH];
    if (animate_option && (*verdict_option || cli->plan || cli->resume))
        return ORR_FAIL(ORR_EUSAGE, "%s: belongs to the page, not to --animate",
                        cli->plan     ? "--plan"
                        : cli->resume ? "--resume"
                                      : "--verdict");
    if (orr_plan_text(cli, "report"))
        return 0;
    int rc = orr_settings_needs_orbits(&cli->preset, "a report");
    if (!rc)
        rc = orr_path(page, "%s/report.html", out);
    if (!rc)
        rc = report_origin_open(&origin, cli, orbits_option, verdict_option);
    if (!rc && animate_option) {
        rc = animate(cli, &origin, out);
        report_origin_close(&origin);
        return rc;
    }
    if (!rc)
        rc = report_origin_judge(&origin, out, &verdict, why);
    if (!rc)
        orr_plan_trace(verdict, page, why);
    if (!rc && cli->plan)
        orr_plan_print(verdict, page, why);
    else if (!rc && verdict == ORR_KEEP && cli->resume)
        orr_note(cli->quiet, "report: %s is up to date", page);
    else if (!rc)
        rc = remake(cli, &origin, out);
    report_origin_close(&origin);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct orr_option options[] = {
        {"--runs", "DIR",
         "instead: one table over the runs in DIR, up to 3 folders deep; writes DIR/runs.json",
         &runs_option, NULL},
        {"--orbits", "DIR",
         "the data sets that the run was made from, if not those of its settings", &orbits_option,
         NULL},
        {"--verdict", "FILE",
         "verdict.json of a grid (bin/verdict), which the page then begins with", &verdict_option,
         NULL},
        {"--animate", "BODY",
         "instead: OUT/figures/orbit_BODY.gif, truth, rollouts and forces step by step; all: of "
         "every body",
         &animate_option, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static const struct orr_program program = {
        .name = "report",
        .purpose = "draws the figures of a run and writes its self-contained report.html",
        .usage = "report [--run DIR] [--out DIR] [--attention NAME]\n       report --animate BODY "
                 "[--run DIR] [--out DIR]\n       report --runs DIR",
        .options = options,
        .groups = "",
        .without = "--checkpoint,--device,--attention-impl,--threads",
    };
    return orr_main(&program, argc, argv, report);
}
