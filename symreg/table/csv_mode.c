/* csv_mode.c - the main program for any table: reads it, searches it, reports a Pareto front. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "program.h"

/* Prints the rules that select a row, after that row. */
static void print_rules(const struct sr_front *front, const struct orr_name_list *rules, int row)
{
    bool first = true;
    for (int k = 0; k < rules->count; k++) {
        enum sr_rule rule;
        if (sr_rule_find("symreg.rules", rules->item[k], &rule) ||
            sr_front_select(front, rule) != row)
            continue;
        printf("%s%s", first ? "   <- " : ", ", rules->item[k]);
        first = false;
    }
    printf("\n");
}

static void print_front(const struct sr_answer *o, const struct orr_name_list *rules)
{
    const struct sr_front *front = o->front;
    const bool paths = sr_answer_has_paths(o);
    char text[SR_TEXT], loss[40], r2[40];
    printf("complexity          loss%s  %8s%s  equation\n", paths ? "  of the paths" : "",
           sr_output_score(o), o->test ? "     test loss     test R2" : "");
    for (int i = 0; i < front->count; i++) {
        sr_expr_print(o->data->language, &front->expr[i], o->names, text, sizeof text);
        printf("%10d  %12.6g", front->complexity[i], front->loss[i]);
        if (paths) {
            sr_test_text(sr_answer_path_loss(o, i), 12, loss, sizeof loss);
            printf("  %s", loss);
        }
        printf("  %8.4g", front->score[i]);
        if (o->test) {
            sr_test_text(o->test->loss[i], 12, loss, sizeof loss);
            sr_test_text(o->test->r2[i], 10, r2, sizeof r2);
            printf("  %s  %s", loss, r2);
        }
        printf("  %s", text);
        if (rules)
            print_rules(front, rules, i);
        else
            printf("\n");
    }
}

static void print_alternatives(const struct sr_answer *o)
{
    printf(o->front->count ? "alternatives, as good as what best selects but other functions:\n"
                           : "alternatives: no other function is as good as what best selects\n");
    if (o->front->count)
        print_front(o, NULL);
}

static void keep_late(struct sr_late *late, int code)
{
    if (!code || late->code)
        return;
    late->code = code;
    snprintf(late->message, sizeof late->message, "%s", orr_error());
    orr_error_recover();
}

/* Files of a search. The report and its pictures (the first OF_REPORT) are removed first and
 * written last. */
enum { RESULTS = 8, OF_REPORT = 4 };
static const char *const results[RESULTS] = {"report.md",     "report.html",     "front.png",
                                             "residuals.png", "front.csv",       "front_full.csv",
                                             "front.json",    "alternatives.csv"};

/* Removes the first `count` result files, as they would describe another front than the new files.
 * Folders of these names are left alone. */
static int remove_results(const char *folder, int count)
{
    char path[4096];
    struct stat info;
    for (int i = 0; i < count; i++) {
        TRY(orr_path(path, "%s/%s", folder, results[i]));
        if (!lstat(path, &info) && !S_ISDIR(info.st_mode))
            TRY(orr_remove(path));
    }
    return 0;
}

/* Refuses an input file that the results would overwrite, whatever its path. */
static int check_table(const char *file, const char *folder, bool made)
{
    static const char *const other[] = {"log.jsonl", "checkpoint.bin", SR_MADE_TABLE};
    char path[4096];
    struct stat table, result;
    for (int i = 0; i < RESULTS + 2 + made; i++) {
        TRY(orr_path(path, "%s/%s", folder, i < RESULTS ? results[i] : other[i - RESULTS]));
        if (!stat(file, &table) && !stat(path, &result) && table.st_dev == result.st_dev &&
            table.st_ino == result.st_ino)
            return ORR_FAIL(ORR_EUSAGE,
                            "--out: %s is the table, and would be replaced by a result; expected "
                            "another folder",
                            path);
    }
    return 0;
}

/* Writes the table that was searched, where it is not the user's own. */
static int keep_table(const char *folder, const char *text)
{
    char path[4096];
    struct orr_file file;
    TRY(orr_path(path, "%s/%s", folder, SR_MADE_TABLE));
    TRY(orr_file_create(&file, path));
    orr_file_write(&file, text, strlen(text));
    const int rc = orr_file_commit_changes(&file);
    orr_file_close(&file);
    return rc;
}

/* A search of the program: its folder, and the first failure of what is written beside. */
struct run {
    const struct orr_cli *cli;
    const char *made;                /* sr_csv_options.made */
    const struct sr_page_part *part; /* sr_csv_options.part */
    struct sr_late late;
};

/* Prints what was decided before the search. */
static void note_rows(const struct orr_cli *cli, const struct sr_problem *p)
{
    if (p->table->by.count)
        orr_note(cli->quiet,
                 "symreg: residuals of a short first search grow with the size of \"%s\": rows get "
                 "the weights 1 / prediction^2 (--weights equal: all rows alike)",
                 p->table->target);
    if (p->setup->tails.rows)
        orr_note(cli->quiet,
                 "symreg: %zu of %zu rows are far from the formulas of a short first search, as "
                 "normal noise has none: the loss is huber (--loss l2: least squares)",
                 p->setup->tails.far, p->setup->tails.rows);
    if (p->setup->batch)
        orr_note(cli->quiet,
                 "symreg: %zu of %zu rows are searched on, drawn by the seed; constants and losses "
                 "come from all (--batch 0: search on all)",
                 p->setup->batch, p->table->data.rows);
}

/* Searches with the live view, and with files that belong to this search alone. */
static int search_live(void *context, const struct sr_problem *p, struct sr_fit *fit)
{
    struct run *run = context;
    const struct orr_cli *cli = run->cli;
    struct sr_settings *s = &p->setup->settings;
    struct sr_live *live;
    char log[4096] = "";
    bool asked;
    int rc = 0;
    note_rows(cli, p);
    if (*cli->out)
        TRY(orr_path(log, "%s/log.jsonl", cli->out));
    TRY(sr_live_start(p, cli->quiet, log, &live));
    s->observe = sr_live_observe;
    s->observer = live;
    if (*cli->out && !s->resume) /* an interruption must not leave files of an earlier search */
        rc = remove_results(cli->out, RESULTS);
    if (*cli->out && !s->resume && run->made && !rc)
        rc = keep_table(cli->out, run->made);
    if (!rc)
        rc = sr_search(s, fit, 1, p->threads, NULL);
    const bool found = !rc || rc == ORR_EINTR;
    if (*cli->out && s->resume && run->made && found)
        keep_late(&run->late, keep_table(cli->out, run->made)); /* it may have been removed */
    const int log_rc = sr_live_end(live, &asked);
    if (found) {
        keep_late(&run->late, log_rc);
        keep_late(&run->late, *fit->unsaved ? ORR_FAIL(ORR_EIO, "%s", fit->unsaved) : 0);
    }
    return rc == ORR_EINTR && asked ? 0 : rc; /* the key q ends a search, and stops nothing */
}

/* Writes every file that can be written; run->late has the first that cannot. */
static int write_all(struct run *run, const struct sr_answer *o, bool stopped)
{
    const struct orr_cli *cli = run->cli;
    struct sr_late *late = &run->late;
    char path[4096];
    TRY(remove_results(cli->out, OF_REPORT)); /* they describe the previous front */
    TRY(orr_path(path, "%s/front.csv", cli->out));
    keep_late(late,
              sr_front_write(o->front, o->data->language, o->names, o->test ? o->test->loss : NULL,
                             o->test ? o->test->r2 : NULL, path));
    TRY(orr_path(path, "%s/front_full.csv", cli->out));
    keep_late(late, sr_output_table(o, path));
    if (o->alternatives) {
        TRY(orr_path(path, "%s/alternatives.csv", cli->out));
        keep_late(late, sr_output_table(o->alternatives, path));
    }
    TRY(orr_path(path, "%s/front.json", cli->out));
    keep_late(late, sr_output_json(o, path));
    TRY(stopped ? 0 : sr_page(o, cli->out, run->part, cli->quiet));
    return stopped ? 0 : sr_report(o, cli->out, cli->quiet);
}

static void print_remarks(const struct sr_answer *output)
{
    for (int k = 0; k < SR_TABLE_REMARKS; k++) {
        char text[512];
        if (sr_table_remark(output, (enum sr_table_remark)k, text, sizeof text))
            printf("remark: %s\n", text);
    }
}

/* Runs the permutation test, after the front was printed. */
static int run_permutations(const struct orr_cli *cli, const struct sr_problem *problem,
                            struct sr_solution *solution)
{
    char text[512], each[ORR_DURATION];
    orr_duration_print(solution->answer.seconds, each);
    fflush(stdout);
    orr_note(cli->quiet, "symreg: %d searches on shuffled targets, each as long as this one (%s)",
             problem->setup->permutations, each);
    TRY(sr_solve_permutations(problem, solution));
    if (!solution->answer.permutations)
        return 0;
    sr_permutations_text(&solution->permutations, text, sizeof text);
    printf("permutations: %s\n", text);
    return 0;
}

/* The answer in a person's words, the last line on the terminal. Control characters of names do not
 * reach it. */
static int print_sentence(const struct sr_answer *answer)
{
    char text[SR_SENTENCE], shown[4 * SR_SENTENCE];
    TRY(sr_answer_sentence(answer, text, sizeof text));
    fflush(stderr);
    if (*text)
        printf("%s\n", orr_shown(shown, sizeof shown, text));
    return 0;
}

/* How the search ended: a note, or the error of a stop. */
static int tell_end(const struct orr_cli *cli, const struct sr_fit *fit, double seconds,
                    const char *checkpoint, int stopped)
{
    if (!stopped) {
        orr_note(cli->quiet, "symreg: %.4g formulas in %.3g s; the search ended: %s",
                 fit->evaluations, seconds, sr_end_text(fit->end));
        return 0;
    }
    return ORR_FAIL(stopped, !*cli->out ? "stopped; this is the front so far"
                             : orr_exists(checkpoint)
                                 ? "stopped; the front so far is saved, "
                                   "the same command with --resume continues"
                                 : "stopped before the first checkpoint; the front so far is "
                                   "saved, the same command starts anew");
}

/* Prints all that is known after the search. */
static void print_answer(const struct sr_answer *answer, const struct orr_name_list *rules)
{
    print_front(answer, rules);
    if (answer->alternatives)
        print_alternatives(answer->alternatives);
    sr_output_parts(answer, SR_TERMINAL, NULL);
    if (answer->category)
        sr_output_categories(answer, SR_PRINTED_CATEGORIES, SR_TERMINAL, NULL);
    print_remarks(answer);
}

static int run_fit(const struct sr_problem *problem, struct run *run, struct sr_solution *solution)
{
    const struct orr_cli *cli = run->cli;
    const struct sr_receiver *const receiver = problem->options->receiver;
    struct sr_settings *s = &problem->setup->settings;
    char checkpoint[4096];
    if (*cli->out) {
        TRY(orr_path(checkpoint, "%s/checkpoint.bin", cli->out));
        s->checkpoint = checkpoint;
        s->resume = cli->resume && orr_exists(checkpoint); /* otherwise the search starts anew */
    } else if (cli->resume) {
        return ORR_FAIL(ORR_EUSAGE, "--resume: needs the --out DIR of the search to continue");
    }
    TRY(sr_solve(problem, solution));
    const struct sr_answer *answer = &solution->answer;
    print_answer(answer, &problem->setup->rules);
    if (problem->setup->permutations && !solution->stopped)
        keep_late(&run->late, run_permutations(cli, problem, solution));
    const int stopped = solution->stopped ? ORR_EINTR : 0;
    if (*cli->out)
        keep_late(&run->late, write_all(run, answer, stopped));
    fflush(stdout);
    const int rc = tell_end(cli, solution->fit, answer->seconds, checkpoint, stopped);
    keep_late(&run->late, print_sentence(answer));
    if (receiver && !rc)
        keep_late(&run->late, receiver->take(receiver->context, problem, solution));
    return run->late.code ? ORR_FAIL(run->late.code, "%s", run->late.message) : rc;
}

/* Reads the table of --test before the search, so that errors in it are reported at once. */
static int read_second(const struct orr_cli *cli, const struct sr_csv_options *options,
                       const struct sr_table *table, const struct sr_csv_setup *setup,
                       struct sr_table *second)
{
    if (*cli->out)
        TRY(check_table(options->test, cli->out, options->made));
    TRY(sr_table_read_like(options->test, options, table, second));
    TRY(sr_targets_check(setup->settings.loss, options, second, orr_input_name(options->test)));
    sr_cells_notes(&second->csv, orr_input_name(options->test), cli->quiet);
    sr_dropped_note(&second->dropped, orr_input_name(options->test), second->data.rows, cli->quiet);
    return 0;
}

/* Prints the named constants as the search uses them, in the units of the columns. */
static void note_constants(const struct sr_csv_setup *setup, bool quiet)
{
    const struct sr_language *language = setup->language;
    char number[SR_NUMBER], unit[256];
    for (int k = 0; k < language->named; k++) {
        sr_number_print(language->constant[k], number);
        sr_units_print(&setup->units, &setup->units.constant[k], unit, sizeof unit);
        orr_note(quiet, "symreg: %s = %s%s%s", language->constant_name[k], number,
                 setup->settings.units ? " " : "", setup->settings.units ? unit : "");
    }
}

/* Prints what the template leaves open, as a misspelt column is taken for a constant. */
static void note_parts(const struct sr_csv_setup *setup, const struct sr_table *table, bool quiet)
{
    char list[2][SR_TEXT] = {"", ""}, head[SR_TEXT];
    const struct sr_template *form = setup->settings.form;
    for (int k = 0; form && k < form->parts; k++) {
        char *const text = list[form->part[k].columns == 0];
        const size_t used = strlen(text);
        sr_template_head(form, k, table->name, head, sizeof head);
        snprintf(text + used, SR_TEXT - used, "%s%.1000s", used ? ", " : "", head);
    }
    if (form)
        orr_note(quiet, "symreg: template: unknown functions %s; constants %s", list[0],
                 *list[1] ? list[1] : "none");
}

/* Fills the table from options->made. */
static int parse_made(const struct sr_csv_options *options, struct sr_table *table)
{
    char *text = strdup(options->made); /* parsing changes it */
    if (!text)
        return ORR_FAIL(ORR_ENOMEM, SR_TABLE_OF_MOTION ": out of memory");
    const int rc =
        orr_csv_parse(SR_TABLE_OF_MOTION, text, strlen(text), ORR_CSV_KEEP_ODD, &table->csv);
    free(text);
    return rc ? rc : sr_table_fill(SR_TABLE_OF_MOTION, options, table);
}

/* The settings of a search with the options, and with the units of the file where there are no
 * others. Where the options do not go with these units, they are not used, and `why` says so. */
static int set_up(const struct orr_cli *cli, const char *file, struct sr_csv_options *options,
                  struct sr_table *table, struct sr_csv_setup *setup, char why[1024])
{
    *why = '\0';
    if (options->units && !strcmp(options->units, "none"))
        options->units = NULL;
    else if (!options->units)
        TRY(sr_table_units(table, file, true, &table->units));
    if (table->units) {
        options->units = table->units;
        const int rc = sr_csv_setup(&cli->settings, options, table, setup);
        if (!rc || rc == ORR_ENOMEM)
            return rc;
        snprintf(why, 1024, "%s", orr_error());
        orr_error_recover();
        sr_csv_setup_free(setup);
        options->units = NULL;
    }
    return sr_csv_setup(&cli->settings, options, table, setup);
}

/* Prints which units of the file are used, and which are not; and units of --units that may be
 * misspelt. */
static int note_units(const struct orr_cli *cli, const char *file,
                      const struct sr_csv_options *given, const struct sr_table *table,
                      const struct sr_units *used, const char *why)
{
    char *units = NULL, meant[128];
    for (int b = 0; b < used->bases && given->units && !given->made; b++) {
        struct orr_nearest nearest = {0};
        if (sr_unit_is_known(used->base[b], &nearest))
            continue;
        orr_nearest_text(&nearest, meant);
        orr_note(cli->quiet,
                 "symreg: --units: \"%s\" is no known unit%s: it counts as one of its own",
                 used->base[b], meant);
    }
    if (*why)
        orr_note(cli->quiet, "symreg: %s: the units of the file are not used: %s", file, why);
    else if (!given->units)
        TRY(sr_table_units(table, file, cli->quiet, &units));
    free(units);
    return 0;
}

/* What one search of the program holds. */
struct search {
    struct sr_table table, second;
    struct sr_csv_setup setup;
    struct sr_csv_options options;
    struct sr_solution solution;
    struct orr_stop stop;
};

/* Locks the folder, as its result files and checkpoint must belong to one search. */
static int run_locked(const struct orr_cli *cli, const char *file,
                      const struct sr_csv_options *given, struct search *search)
{
    int fd;
    char why[1024];
    struct sr_table *table = &search->table, *second = &search->second;
    struct sr_csv_setup *setup = &search->setup;
    struct sr_csv_options *const options = &search->options;
    struct run run = {.cli = cli, .made = given->made, .part = given->part};
    *options = *given;
    if (options->test && !strcmp(file, options->test) && orr_input_is_read_once(file))
        return ORR_FAIL(ORR_EUSAGE, "--test: %s is the table already", orr_input_name(file));
    if (*cli->out) {
        TRY(check_table(file, cli->out, options->made));
        TRY(sr_own_files(cli->out, options->made));
    }
    TRY(options->made ? parse_made(options, table) : sr_table_read(file, options, table));
    file = orr_input_name(file);
    TRY(set_up(cli, file, options, table, setup, why));
    table->data.language = setup->language;
    sr_table_notes(table, file, options, cli->quiet);
    TRY(note_units(cli, file, given, table, &setup->units, why));
    note_constants(setup, cli->quiet);
    note_parts(setup, table, cli->quiet);
    if (options->test)
        TRY(read_second(cli, options, table, setup, second));
    table->line = table->csv.line;
    table->csv.line = NULL;
    orr_csv_free_rows(&table->csv); /* large tables are kept in memory only once */
    if (table->columns > table->data.features)
        orr_note(cli->quiet,
                 "symreg: %d of %d columns are searched with, those most related to the target "
                 "(--features chooses others)",
                 table->data.features, table->columns);
    const struct sr_problem problem = {.file = file,
                                       .options = options,
                                       .table = table,
                                       .second = options->test ? second : NULL,
                                       .second_file =
                                           options->test ? orr_input_name(options->test) : NULL,
                                       .setup = setup,
                                       .stop = &search->stop,
                                       .threads = cli->threads,
                                       .search = search_live,
                                       .context = &run};
    if (!*cli->out)
        return run_fit(&problem, &run, &search->solution);
    TRY(orr_mkdir(cli->out));
    TRY(orr_lock(cli->out, "searching for formulas", ORR_LOCK_WAIT_S, &fd));
    const int rc = run_fit(&problem, &run, &search->solution);
    orr_unlock(fd);
    return rc;
}

int sr_csv_run(const struct orr_cli *cli, const char *file, const struct sr_csv_options *options)
{
    struct search *search = orr_alloc(1, sizeof *search);
    if (!search)
        return ORR_ENOMEM;
    orr_stop_of_call = &search->stop;
    const int rc = run_locked(cli, file, options, search);
    orr_stop_of_call = NULL;
    sr_solution_free(&search->solution);
    sr_csv_setup_free(&search->setup);
    sr_table_free(&search->table);
    sr_table_free(&search->second);
    free(search);
    return rc;
}
