/* motion.c - symreg motion: turns tracks into a table of accelerations or forces, and searches it
 * like any other table. */
#include "decide.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- the table */

/* The smallest and the largest of some masses. */
struct range {
    double low, high;
};

static void widen(struct range *range, double mass)
{
    range->low = fmin(range->low, mass);
    range->high = fmax(range->high, mass);
}

/* The masses of the first or second bodies of all rows. Where the paths decide, also those of all
 * pairs of three bodies and more: these are integrated together, with pairs whose rows are left out
 * as noise. */
static struct range range_of_masses(const struct sr_tracks *tracks,
                                    const struct sr_motion_table *table, bool second)
{
    struct range range = {HUGE_VAL, 0};
    const bool together = !table->by_centre && sr_motion_judges(tracks, table);
    for (size_t i = 0; i < table->count; i++)
        widen(&range, second ? table->row[i].m2 : table->row[i].m1);
    for (size_t first = 0, size; first < tracks->count && together; first += size) {
        size = sr_system_size(tracks, first);
        for (size_t k = 0; k + 1 < size && size > 2; k++)
            widen(&range, tracks->track[first + k + second].mass);
    }
    return range;
}

/* Which masses the law may depend on. A mass that is equal in all of them is absorbed by the law's
 * constants and is left out. */
static void choose_features(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                            char features[16])
{
    const bool known = table->row[0].m1 > 0;
    const struct range one = range_of_masses(tracks, table, false),
                       two = range_of_masses(tracks, table, true);
    snprintf(features, 16, "r%s%s", known && one.high / one.low - 1 > 1e-9 ? ",m1" : "",
             known && table->row[0].m2 > 0 && two.high / two.low - 1 > 1e-9 ? ",m2" : "");
}

static void print_name(FILE *out, const char *name)
{
    if (strpbrk(name, ",\"\n\r"))
        orr_print_quoted(out, name);
    else
        fputs(name, out);
}

/* Prints all 17 digits: the number of digits carries no information about the error. */
static void print_table(FILE *out, const struct sr_motion_table *table)
{
    fprintf(out, "system,body,other,t,r,m1,m2,%s,sigma\n", table->force ? "F" : "a");
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        print_name(out, row->track->system);
        putc(',', out);
        print_name(out, row->track->body);
        putc(',', out);
        print_name(out, row->other ? row->other->body : "");
        fprintf(out, ",%.17g,%.17g,", row->t, row->r);
        if (row->m1 > 0)
            fprintf(out, "%.17g", row->m1);
        putc(',', out);
        if (row->m2 > 0)
            fprintf(out, "%.17g", row->m2);
        fprintf(out, ",%.17g,%.17g\n", row->value, row->sigma);
    }
}

static int table_text(const struct sr_motion_table *table, char **text, size_t *bytes)
{
    *text = NULL;
    FILE *out = open_memstream(text, bytes);
    if (!out)
        return ORR_FAIL(ORR_ENOMEM, SR_TABLE_OF_MOTION ": out of memory");
    print_table(out, table);
    const bool bad = ferror(out);
    if (!fclose(out) && !bad)
        return 0;
    free(*text);
    return ORR_FAIL(ORR_ENOMEM, SR_TABLE_OF_MOTION ": out of memory");
}

/* ---- remarks about the tracks */

static void tell_reading(const struct orr_cli *cli, const struct sr_motion_options *o,
                         const struct sr_tracks *tracks)
{
    sr_cells_notes(&tracks->csv, tracks->file, cli->quiet);
    sr_dropped_note(&tracks->dropped, tracks->file, tracks->csv.rows, cli->quiet);
    sr_fill_note(&tracks->csv, tracks->file, o->position, cli->quiet);
}

static void tell_centre(const struct orr_cli *cli, const struct sr_tracks *tracks,
                        const struct sr_motion_table *table)
{
    char text[100] = "";
    for (int d = 0; d < tracks->dims; d++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.6g", d ? ", " : "", table->centre[d]);
    }
    orr_note(cli->quiet, "symreg: --centre fit: %s; standard error of a coordinate %.2g", text,
             table->centre_error);
}

/* Says so if the distances vary by less than twice their errors (rms), as on a circular orbit. */
static void tell_distances(const struct orr_cli *cli, const struct sr_motion_table *table)
{
    const double n = (double)table->count;
    double mean = 0, errors = 0, squares = 0;
    for (size_t i = 0; i < table->count; i++) {
        mean += table->row[i].r / n;
        errors += table->row[i].r_variance / n;
    }
    for (size_t i = 0; i < table->count; i++)
        squares += (table->row[i].r - mean) * (table->row[i].r - mean) / n;
    if (squares < 4 * errors)
        orr_note(cli->quiet,
                 "symreg: r varies by %.2g around %.6g (rms), its errors are %.2g: the tracks show "
                 "the force at this distance, and hardly how it depends on r",
                 sqrt(squares), mean, sqrt(errors));
}

static int print_summary(const struct orr_cli *cli, const struct sr_tracks *tracks,
                         const struct sr_motion_options *o, const struct sr_motion_table *table)
{
    double *noise = orr_alloc(tracks->count, sizeof *noise), low = HUGE_VAL, high = 0;
    if (!noise)
        return ORR_ENOMEM;
    for (size_t k = 0; k < tracks->count; k++) {
        noise[k] = tracks->track[k].noise;
        low = fmin(low, noise[k]);
        high = fmax(high, noise[k]);
    }
    orr_note(cli->quiet,
             "symreg: %zu track%s; noise of a coordinate, estimated: %.3g (median; %.3g to %.3g)",
             tracks->count, tracks->count == 1 ? "" : "s", orr_median(noise, tracks->count), low,
             high);
    free(noise);
    if (o->centre && !strcmp(o->centre, "fit"))
        tell_centre(cli, tracks, table);
    orr_note(cli->quiet, "symreg: %zu rows of %s; %zu left out, as their noise is more than half",
             table->count, table->force ? "force F" : "acceleration a", table->weak);
    tell_distances(cli, table);
    return 0;
}

/* Writes a remark where accelerations have a significant component across the line to the centre,
 * or one that no forces along the lines between the bodies explain: forces of bodies that are in no
 * row, or the acceleration of the centre itself, are then in the component along the line, too. */
static void find_aside(const struct sr_motion_table *table, char *text, size_t bytes)
{
    const double significant = 10, noticeable = 1e-3;
    double *across = orr_alloc(table->count, sizeof *across);
    double squares = 0, aside = 0;
    *text = '\0';
    if (!across)
        return;
    for (size_t i = 0; i < table->count; i++) {
        across[i] = table->row[i].across;
        aside += table->row[i].aside * table->row[i].aside;
        squares += table->row[i].value * table->row[i].value;
    }
    const double times = sqrt(orr_median(across, table->count)), share = sqrt(aside / squares);
    free(across);
    if (times * times < significant || share < noticeable)
        return;
    if (!table->by_centre)
        snprintf(
            text, bytes,
            "a body is missing, or a force is not central: %.2g%% of the bodies' accelerations "
            "(rms), %.2g times its error, is no force along the lines between the bodies of "
            "the table. The law along these lines has an error of about this size, too. Add "
            "the tracks of other bodies that are near or heavy",
            100 * share, times);
    else
        snprintf(
            text, bytes,
            "accelerations do not point to the centre: their component across the line to it is "
            "%.2g%% of their size (rms), %.2g times its error. The centre is itself accelerated, "
            "as the Sun is by Jupiter, or other forces act. The law of the component along the "
            "line has an error of about this size, too. Use positions relative to the barycentre, "
            "or add the tracks of the other bodies",
            100 * share, times);
}

/* ---- the command */

/* What judges the front of a search by the paths, and what it says. */
struct judging {
    const struct orr_cli *cli;
    const struct sr_motion_page *page;
    char *remark; /* (bytes) */
    size_t bytes;
    struct sr_motion_verdict *verdict;
};

/* Appends the constants that the paths give, with as many digits as their errors have. */
static void tell_constants(const struct judging *j, const struct sr_motion_verdict *v)
{
    for (int k = 0; k < v->params; k++) {
        const size_t end = strlen(j->remark);
        const double ratio = fabs(v->value[k]) / v->error[k];
        const int digits = ratio > 1 && ratio < 1e14 ? 3 + (int)(orr_log(ratio) / orr_log(10)) : 3;
        snprintf(j->remark + end, j->bytes - end, "%s %.*g +- %.2g",
                 k ? "," : ". Constants by the paths, with standard errors:", digits, v->value[k],
                 v->error[k]);
    }
}

/* Appends how well the law follows the paths. */
static void tell_verdict(const struct judging *j, const struct sr_motion_verdict *v)
{
    const size_t used = strlen(j->remark);
    const char *const between = used ? ". " : "", *const many = v->paths == 1 ? "" : "s",
                      *const whose = v->together || j->page->table->by_centre ? "" : "relative ";
    if (v->judged)
        snprintf(
            j->remark + used, j->bytes - used,
            "%s%zu %spath%s chose this law, fitted to the positions by integrating: residuals are "
            "%.3g standard deviations of the noise (rms)",
            between, v->paths, whose, many, v->misfit);
    else if (v->misfit > 0)
        snprintf(
            j->remark + used, j->bytes - used,
            "%sno law follows the paths of the bodies, integrated: residuals are at least %.3g "
            "standard deviations of the noise (rms). Forces that are in no row act, or the law "
            "is not on the front, whose order is that of the table",
            between, v->misfit);
    else if (v->paths)
        snprintf(j->remark + used, j->bytes - used, "%s%s, so that the table alone decides",
                 between,
                 v->stopped ? "the search ended before a law was fitted to whole paths (give it "
                              "more --seconds)"
                            : "no law could be integrated along the paths of the bodies");
    if (v->judged)
        tell_constants(j, v);
}

static int judge_front(void *context, const struct sr_problem *p, double seconds,
                       struct sr_fit *fit)
{
    const struct judging *j = context;
    const struct sr_motion_court court = {.tracks = j->page->tracks,
                                          .table = j->page->table,
                                          .settings = &p->setup->settings,
                                          .features = p->table->name,
                                          .seconds = seconds};
    TRY(sr_motion_judge(&court, &p->table->data, &fit->front, j->verdict));
    tell_verdict(j, j->verdict);
    return 0;
}

static int search_table(const struct orr_cli *cli, struct sr_motion_page *page, const char *file,
                        const struct sr_csv_options *given)
{
    const struct sr_motion_table *const table = page->table;
    const struct sr_page_part part = {sr_motion_page, page};
    struct sr_csv_options options = *given;
    char features[16], remark[1024], *text;
    struct sr_motion_verdict *const verdict = orr_alloc(1, sizeof *verdict);
    TRY(verdict ? 0 : ORR_ENOMEM);
    const struct judging judging = {cli, page, remark, sizeof remark, verdict};
    const struct sr_further_judge judge = {judge_front, (void *)(uintptr_t)&judging,
                                           SR_MOTION_JUDGE_SHARE, &verdict->measured};
    size_t bytes;
    options.target = table->force ? "F" : "a";
    options.sigma = "sigma";
    options.variance_factor = table->inflation;
    options.judge = sr_motion_judges(page->tracks, table) ? &judge : NULL;
    options.remark = remark;
    find_aside(table, remark, sizeof remark);
    options.features = features;
    choose_features(page->tracks, table, features);
    int rc = table_text(table, &text, &bytes);
    options.made = text;
    options.part = &part;
    if (!rc)
        rc = sr_csv_run(cli, file, &options);
    free(text);
    free(verdict);
    return rc;
}

static int run_tracks(const struct orr_cli *cli, const char *file, char *text,
                      const struct sr_motion_options *motion, const struct sr_csv_options *given)
{
    struct sr_tracks tracks = {0};
    struct sr_motion_table table = {0};
    int rc =
        text ? sr_tracks_parse(file, text, motion, &tracks) : sr_tracks_read(file, motion, &tracks);
    if (!rc)
        tell_reading(cli, motion, &tracks);
    if (!rc)
        rc = sr_motion_make(&tracks, motion->centre, cli->threads, &table);
    if (!rc)
        rc = print_summary(cli, &tracks, motion, &table);
    struct sr_motion_page page = {&tracks, &table, motion};
    if (!rc)
        rc = search_table(cli, &page, file, given);
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
    return rc;
}

/* The columns of a joined table. One body is drawn to the centre of its file. */
static void take_columns(const struct sr_horizons *made, struct sr_motion_options *o)
{
    o->time = "t";
    o->position = "x,y,z";
    o->body = "body";
    o->mass = made->with_gm && !o->centre ? "GM" : NULL;
    if (!o->centre && made->bodies == 1)
        o->centre = "0,0,0";
}

/* Two bodies need no masses, a centre needs none; forces between more bodies do. */
static int check_masses(const struct orr_cli *cli, const struct sr_horizons *made,
                        const struct sr_motion_options *o)
{
    if (made->lacking && !o->centre && made->bodies > 2)
        return ORR_FAIL(
            ORR_EINVAL,
            "%s: forces between %d bodies need GM of each, expected a line such as \"GM "
            "(km^3/s^2) = 62.6284\" before $$SOE; or give --centre %s",
            made->lacking, made->bodies, *made->centre ? made->centre : "NAME");
    if (made->lacking && !o->centre)
        orr_note(cli->quiet, "symreg: %s: no line \"GM (km^3/s^2) = ...\": no masses are used",
                 made->lacking);
    return 0;
}

int sr_motion_run(const struct orr_cli *cli, const char *const *file, int files,
                  const struct sr_motion_options *motion, const struct sr_csv_options *given)
{
    struct sr_horizons made;
    struct sr_motion_options options = *motion;
    if (files == 1 && motion->time && motion->position)
        return run_tracks(cli, file[0], NULL, motion, given);
    if (files == 1 && (motion->time || motion->position))
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: motion needs --time COLUMN and --position X,Y, or --state X,Y",
                        file[0]);
    if (motion->time || motion->position || motion->body || motion->system || motion->mass)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: motion needs --time COLUMN and --position X,Y of one file, and no "
                        "columns of several files of JPL Horizons",
                        file[0]);
    TRY(sr_horizons_join(file, files, &made));
    take_columns(&made, &options);
    orr_note(cli->quiet, "symreg: %d bod%s of JPL Horizons, from %s, %s: %s, days%s", made.bodies,
             made.bodies == 1 ? "y" : "ies", *made.centre ? made.centre : "an unnamed centre",
             *made.frame ? made.frame : "no frame named", made.length,
             options.mass ? "; masses are GM, with which Newton's law is m1 m2 / r^2" : "");
    int rc = check_masses(cli, &made, &options);
    if (!rc)
        rc = run_tracks(cli, file[0], made.text, &options, given);
    sr_horizons_free(&made);
    return rc;
}
