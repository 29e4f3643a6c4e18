/* bench_dynamics.c - how often a program finds the equations of motion of random systems, and of
 * textbooks' systems. */
#include <sys/resource.h>
#include <unistd.h>

#include "dynamics_bound.h"
#include "dynamics_textbook.h"

static const char usage[] =
    "usage: bench_dynamics [--list | --told | --write DIR | --judge DIR] [--run COMMAND] [--keep "
    "DIR]\n"
    "                      [--textbook] [--held-out | --set N] [--systems 1-60] [--every N]\n"
    "                      [--noise 0,1,5]\n"
    "                      [--json FILE [--label TEXT]] [--misses] [--nats] [--choose SECONDS\n"
    "                      [--offer] [--without weak,track,errors] | --bound DRAWS]\n"
    "60 systems of one to four equations dx/dt = f(x, t) (dynamics_grammar.h; --textbook: 30 of\n"
    "textbooks and 30 that are held out, dynamics_textbook.h), a track of 150\n"
    "rows of each, columns t,x0,x1 ..., every value multiplied by 1 + noise N(0,1), noise in\n"
    "percent. Answers are files equations.json, {\"equations\": [\"formula\", ...]}; what counts\n"
    "as reproduced, predicted and right stands in dynamics_judge.h and docs/motion.md.\n"
    "--list prints the systems; --told in how many all constants would be within the judge's\n"
    "tolerance if their forms were told, by the noise alone (dynamics_errors.h).\n"
    "--write DIR writes the tables DIR/NUMBER_NOISE.csv and DIR/truth.txt.\n"
    "--judge DIR judges DIR/NUMBER_NOISE/equations.json; a missing or broken one counts as\n"
    "wrong. --run COMMAND first runs the shell command for each table whose answer is not in\n"
    "--keep DIR yet, with $TABLE (the file), $STATES (x0,x1 ...) and $OUT (the folder\n"
    "DIR/NUMBER_NOISE) in its environment; default: bin/symreg motion, 10 s per equation, and the\n"
    "whole set is written to bench/results/dynamics.json (dynamics_held_out.json).\n"
    "--choose SECONDS has the tracks choose anew among the formulas of the fronts in --keep DIR, "
    "in\n"
    "SECONDS for each equation and without a search, and says how many nats the true system and "
    "the\n"
    "chosen one cost; --offer adds the true forms to the fronts: what is missed then, the choice\n"
    "misses, and what was found alone with them, the search lacks. --without leaves out sums in\n"
    "integral form, the choice by the track itself, or the errors of smoothed states and single\n"
    "derivatives.\n"
    "--bound DRAWS: how often a program would be right that knew how often each form is drawn,\n"
    "by so many draws, and tried the most frequent ones and the true one; and one that was told\n"
    "the true form alone (dynamics_bound.h).\n"
    "--json FILE writes the counts and each verdict, and TEXT, else COMMAND, as the program that\n"
    "was judged. --misses prints only systems that are not reproduced, predicted and right;\n"
    "--nats what the true system and the answer cost when both are refitted to the table, and the\n"
    "mean difference of those that are not right, by likelihood, form and constants.\n"
    "Default: the set for development; --held-out: the other set, for a final measurement.\n";
static const char motion[] = "bin/symreg motion \"$TABLE\" --time t --state $STATES --seconds 10 "
                             "--threads 1 --quiet --out \"$OUT\" >/dev/null";

enum { MOST_NOISES = 8 };

struct options {
    int set, first, last, every, noises;
    double noise[MOST_NOISES]; /* percent */
    bool held_out, textbook, list, told, write, judge, misses, nats, offer;
    int choose;  /* seconds of a choice for each equation; 0: none */
    int bound;   /* draws; 0: none */
    int without; /* enum dyn_part */
    const char *run, *folder, *json, *label;
};

/* Systems, but for `equations` and `right_equations`. */
struct tally {
    int systems, answers, reproduced, predicted, right, formed, close, near;
    int equations, right_equations;
    int told; /* right with the true forms told */
    /* systems that are not right and whose true one has a solution; those of them where this costs
     * more; by how much all cost more, in sum */
    int missed, dearer;
    struct dyn_nats more;
    double seconds;
};

/* What was not given: the program of this repository, asked anew, on the whole set. */
static void fill_in(struct options *o)
{
    static char folder[64];
    const bool asks =
        !o->list && !o->told && !o->write && !o->judge && !o->run && !o->choose && !o->bound;
    const bool whole = o->first == 1 && o->last == DYN_SYSTEMS && o->every == 1 && o->noises == 3 &&
                       (o->set == DYN_DEVELOPMENT || o->set == DYN_HELD_OUT);
    if (asks)
        o->run = motion;
    if (asks && whole && !o->json)
        o->json = o->set == DYN_HELD_OUT ? "bench/results/dynamics_held_out.json"
                                         : "bench/results/dynamics.json";
    if (!o->folder) {
        snprintf(folder, sizeof folder, "build/bench/dynamics-%d", (int)getpid());
        o->folder = folder;
    }
}

static int read_parts(const char *list, int *without)
{
    for (const char *name = list; *name;) {
        const size_t length = strcspn(name, ",");
        int part = 0;
        while (part < 3 &&
               (strlen(dyn_parts[part]) != length || strncmp(dyn_parts[part], name, length) != 0))
            part++;
        if (part == 3)
            return ORR_FAIL(ORR_EUSAGE, "--without %s: expected weak, track, errors", list);
        *without |= 1 << part;
        name += length + (name[length] == ',');
    }
    return 0;
}

static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){
        .set = DYN_DEVELOPMENT, .first = 1, .every = 1, .noises = 3, .noise = {0, 1, 5}};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--held-out"))
            o->held_out = true;
        else if (!strcmp(name, "--textbook"))
            o->textbook = true;
        else if (!strcmp(name, "--list"))
            o->list = true;
        else if (!strcmp(name, "--told"))
            o->told = true;
        else if (!strcmp(name, "--misses"))
            o->misses = true;
        else if (!strcmp(name, "--nats"))
            o->nats = true;
        else if (!strcmp(name, "--offer"))
            o->offer = true;
        else {
            const char *value = i + 1 < argc ? argv[++i] : "";
            if (!strcmp(name, "--systems"))
                bench_range(value, &o->first, &o->last);
            else if (!strcmp(name, "--set")) {
                TRY(bench_number(name, value, 1, &o->set));
                if (o->set >= DYN_TEXTBOOK)
                    return ORR_FAIL(ORR_EUSAGE,
                                    "--set: expected a number below %d, --held-out or "
                                    "--textbook",
                                    DYN_TEXTBOOK);
            } else if (!strcmp(name, "--every"))
                TRY(bench_number(name, value, 1, &o->every));
            else if (!strcmp(name, "--noise"))
                TRY(bench_noises(value, MOST_NOISES, o->noise, &o->noises));
            else if (!strcmp(name, "--write") || !strcmp(name, "--judge") ||
                     !strcmp(name, "--keep")) {
                o->folder = value;
                o->write = !strcmp(name, "--write");
                o->judge = !strcmp(name, "--judge");
            } else if (!strcmp(name, "--run"))
                o->run = value;
            else if (!strcmp(name, "--choose"))
                TRY(bench_number(name, value, 1, &o->choose));
            else if (!strcmp(name, "--bound"))
                TRY(bench_number(name, value, 1, &o->bound));
            else if (!strcmp(name, "--without"))
                TRY(read_parts(value, &o->without));
            else if (!strcmp(name, "--json"))
                o->json = value;
            else if (!strcmp(name, "--label"))
                o->label = value;
            else
                return ORR_FAIL(ORR_EUSAGE, "no option \"%s\"; see --help", name);
        }
    }
    if (o->folder && !*o->folder)
        return ORR_FAIL(ORR_EUSAGE, "--write, --judge, --keep: expected a folder; see --help");
    const int systems = o->textbook ? DYN_TEXTBOOK_SYSTEMS : DYN_SYSTEMS;
    if (o->textbook)
        o->set = o->held_out ? DYN_TEXTBOOK_HELD_OUT : DYN_TEXTBOOK;
    else if (o->held_out)
        o->set = DYN_HELD_OUT;
    o->last = o->last ? o->last : systems;
    fill_in(o);
    return o->first >= 1 && o->last <= systems && o->first <= o->last
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--systems: expected 1-%d", systems);
}

/* ---- tables and truth */

/* The system as text. */
static void print_system(const struct dyn_system *s, int number, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%2d  %s%s, t to %g\n", number, s->kind,
                                   s->uneven ? ", uneven" : "", s->t[DYN_ROWS - 1]);
    for (int i = 0; i < s->dims && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "    dx%d/dt = %s   from %g, %g\n", i,
                                 s->text[i], s->start[0][i], s->start[1][i]);
}

static int write_table(const struct options *o, const struct dyn_system *s, int number, int noise,
                       const char *path)
{
    double x[DYN_ROWS * DYN_DIMS];
    struct orr_file file = {0};
    TRY(dyn_table(o->set, number - 1, s, o->noise[noise] / 100, x));
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "t");
    for (int d = 0; d < s->dims; d++)
        orr_file_printf(&file, ",%s", dyn_name[d]);
    for (int row = 0; row < DYN_ROWS; row++) {
        orr_file_printf(&file, "\n%.12g", s->t[row]);
        for (int d = 0; d < s->dims; d++)
            orr_file_printf(&file, ",%.12g", x[row * s->dims + d]);
    }
    orr_file_printf(&file, "\n");
    const int rc = orr_file_commit_changes(&file);
    orr_file_close(&file);
    return rc;
}

/* ---- answers */

/* Processor time of all programs that were run. */
static double children_s(void)
{
    struct rusage spent;
    getrusage(RUSAGE_CHILDREN, &spent);
    return (double)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) +
           1e-6 * (double)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec);
}

/* Runs the command where there is no answer yet; a command that fails leaves none. */
static int ask(const struct options *o, const struct dyn_system *s, const char *table,
               const char *out, const char *answer)
{
    char states[64] = "";
    if (!o->run || orr_exists(answer))
        return 0;
    for (int d = 0; d < s->dims; d++)
        snprintf(states + strlen(states), sizeof states - strlen(states), "%s%s", d ? "," : "",
                 dyn_name[d]);
    if (setenv("TABLE", table, 1) || setenv("STATES", states, 1) || setenv("OUT", out, 1))
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    fflush(stdout);
    if (system(o->run))
        fprintf(stderr, "bench_dynamics: no answer for %s\n", table);
    return 0;
}

static void print_verdict(const struct options *o, const struct dyn_system *s, int number,
                          int noise, const struct dyn_answer *answer, const struct dyn_verdict *v)
{
    if (o->misses && v->reproduced && v->predicted && v->all_right)
        return;
    printf("%2d  %-13s %3g%%  %s %s %s\n", number, s->kind, o->noise[noise],
           v->reproduced ? "reproduced" : "-         ", v->predicted ? "predicted" : "-        ",
           v->all_right ? "right" : "-");
    for (int i = 0; i < s->dims; i++)
        printf("      R2 %8.4f %8.4f  %s  %s\n", v->r2[0][i], v->r2[1][i],
               v->right[i] ? "right" : "wrong", answer->text[i]);
}

static void add_verdict(cJSON *list, const struct options *o, const struct dyn_system *s,
                        int number, int noise, const struct dyn_answer *answer,
                        const struct dyn_verdict *v)
{
    cJSON *item = cJSON_CreateObject(), *right = cJSON_CreateArray();
    cJSON *equations = cJSON_CreateArray();
    cJSON_AddNumberToObject(item, "system", number);
    cJSON_AddStringToObject(item, "kind", s->kind);
    cJSON_AddNumberToObject(item, "noise", o->noise[noise]);
    cJSON_AddBoolToObject(item, "reproduced", v->reproduced);
    cJSON_AddBoolToObject(item, "predicted", v->predicted);
    cJSON_AddBoolToObject(item, "near", v->near);
    for (int i = 0; i < s->dims; i++) {
        cJSON_AddItemToArray(right, cJSON_CreateBool(v->right[i]));
        cJSON_AddItemToArray(equations, cJSON_CreateString(answer->text[i]));
    }
    cJSON_AddItemToObject(item, "right", right);
    cJSON_AddItemToObject(item, "equations", equations);
    cJSON_AddItemToArray(list, item);
}

/* The answer of a program, of the choice alone, or of one that knows the grammar. */
static int find_answer(const struct options *o, const struct dyn_system *s, int noise,
                       const char *table, const char *out, struct tally *tally,
                       struct dyn_answer *answer, struct dyn_nats of_both[2])
{
    static struct dyn_answer told;
    struct dyn_verdict verdict = {0};
    char path[4096];
    TRY(orr_path(path, "%s/equations.json", out));
    if (o->bound) {
        TRY(dyn_bound_choose(s, table, o->bound, answer, &told));
        TRY(dyn_judge(s, &told, o->noise[noise] / 100, &verdict));
        tally->told += verdict.all_right;
        return 0;
    }
    return o->choose ? dyn_choose(s, table, out, o->choose, o->offer, o->without, answer, of_both)
                     : dyn_answer_read(path, s->dims, answer);
}

/* Adds by how much the true system costs more than the answer. */
static void add_nats(const struct dyn_nats of[2], struct tally *tally)
{
    if (!isfinite(of[0].all) || !isfinite(of[1].all))
        return;
    tally->missed++;
    tally->dearer += of[0].all > of[1].all;
    tally->more.all += of[0].all - of[1].all;
    tally->more.likelihood += of[0].likelihood - of[1].likelihood;
    tally->more.form += of[0].form - of[1].form;
    tally->more.constants += of[0].constants - of[1].constants;
}

static int judge_table(const struct options *o, const struct dyn_system *s, int number, int noise,
                       struct tally *tally, cJSON *list)
{
    static struct dyn_answer answer;
    struct dyn_verdict verdict = {0};
    struct dyn_nats of_both[2] = {{0}};
    char table[4096], out[4096], path[4096];
    TRY(orr_path(table, "%s/%d_%g.csv", o->folder, number, o->noise[noise]));
    TRY(orr_path(out, "%s/%d_%g", o->folder, number, o->noise[noise]));
    TRY(orr_path(path, "%s/%d_%g/equations.json", o->folder, number, o->noise[noise]));
    if (!o->judge)
        TRY(write_table(o, s, number, noise, table));
    if (o->write)
        return 0;
    const double before_s = children_s();
    TRY(ask(o, s, table, out, path));
    tally->seconds += children_s() - before_s;
    tally->systems++;
    tally->equations += s->dims;
    answer = (struct dyn_answer){0};
    if (find_answer(o, s, noise, table, out, tally, &answer, of_both)) {
        fprintf(stderr, "bench_dynamics: %s\n", orr_error());
        orr_error_clear();
    } else {
        TRY(dyn_judge(s, &answer, o->noise[noise] / 100, &verdict));
        tally->answers++;
        TRY(o->nats ? dyn_answer_nats(s, table, &answer, of_both) : 0);
        if ((o->nats || o->choose) && !verdict.all_right)
            add_nats(of_both, tally);
    }
    tally->reproduced += verdict.reproduced;
    tally->predicted += verdict.predicted;
    tally->right += verdict.all_right;
    tally->formed += verdict.formed;
    tally->close += verdict.close;
    tally->near += verdict.near;
    for (int i = 0; i < s->dims; i++)
        tally->right_equations += verdict.right[i];
    print_verdict(o, s, number, noise, &answer, &verdict);
    if (list)
        add_verdict(list, o, s, number, noise, &answer, &verdict);
    return 0;
}

/* ---- totals */

static void print_share(struct bench_results *results, double noise, const char *what, int k, int n)
{
    double low, high;
    char name[96], of[64];
    dyn_wilson(k, n, &low, &high);
    printf("  %3d/%-3d %5.1f%% (%.0f-%.0f)", k, n, 100.0 * k / n, 100 * low, 100 * high);
    if (!results->json)
        return;
    snprintf(name, sizeof name, "%s, %g%% noise", what, noise);
    snprintf(of, sizeof of, "%% of %d (95%%: %.1f-%.1f)", n, 100 * low, 100 * high);
    bench_add(results, name, (struct bench_value){100.0 * k / n, NAN}, of, NULL, 0);
}

static void print_totals(const struct options *o, const struct tally *tally,
                         struct bench_results *results)
{
    printf(
        "\nright: of the true forms, with constants within tolerance or three standard errors; "
        "close: within tolerance; near: right-hand sides within 5%% along both tracks\n"
        "noise  reproduced            predicted             right                 true forms "
        "           close                 near                  right equations       answers  cpu "
        "s\n");
    for (int k = 0; k < o->noises; k++) {
        const struct tally *t = &tally[k];
        printf("%4g%%", o->noise[k]);
        print_share(results, o->noise[k], "reproduced", t->reproduced, t->systems);
        print_share(results, o->noise[k], "predicted", t->predicted, t->systems);
        print_share(results, o->noise[k], "right", t->right, t->systems);
        print_share(results, o->noise[k], "true forms", t->formed, t->systems);
        print_share(results, o->noise[k], "close", t->close, t->systems);
        print_share(results, o->noise[k], "near", t->near, t->systems);
        print_share(results, o->noise[k], "right equations", t->right_equations, t->equations);
        printf("  %3d  %.0f\n", t->answers, t->seconds);
        if (t->missed)
            printf(
                "       of %d systems that are not right the true one costs more nats in %d; mean "
                "of all %.1f:\n       likelihood %.1f, form %.1f, constants %.1f\n",
                t->missed, t->dearer, t->more.all / t->missed, t->more.likelihood / t->missed,
                t->more.form / t->missed, t->more.constants / t->missed);
        if (o->bound)
            printf("       right with the true forms told: %d of %d\n", t->told, t->systems);
    }
}

static int open_results(const struct options *o, struct bench_results *results)
{
    if (!o->json)
        return 0;
    TRY(bench_open(results, "dynamics", 1));
    snprintf(results->path, sizeof results->path, "%s", o->json);
    cJSON_AddNumberToObject(results->json, "set", o->set);
    cJSON_AddStringToObject(results->json, "program", o->label ? o->label : o->run ? o->run : "");
    return 0;
}

/* Prints the systems, or what could be expected of each with its forms told. */
static int show(const struct options *o)
{
    static struct dyn_system s;
    static char text[DYN_DIMS * (DYN_TEXT + 64)];
    double expected[MOST_NOISES] = {0};
    int systems = 0;
    for (int number = o->first; number <= o->last; number += o->every, systems++) {
        TRY(dyn_make_any(o->set, number - 1, &s));
        print_system(&s, number, text, sizeof text);
        if (o->list)
            fputs(text, stdout);
        for (int k = 0; k < o->noises && o->told; k++) {
            const double share = dyn_bound(&s, o->noise[k] / 100);
            expected[k] += share;
            if (k == 0)
                printf("%2d  %-13s", number, s.kind);
            printf("  %5.1f%%%s", 100 * share, k + 1 < o->noises ? "" : "\n");
        }
    }
    for (int k = 0; k < o->noises && o->told; k++)
        printf("%g%% noise: %.1f of %d systems\n", o->noise[k], expected[k], systems);
    return 0;
}

static int go_through(const struct options *o, struct bench_results *results)
{
    static struct dyn_system s;
    struct tally tally[MOST_NOISES] = {0};
    struct orr_file truth = {0};
    static char path[4096], text[DYN_DIMS * (DYN_TEXT + 64)];
    cJSON *list = results->json ? cJSON_AddArrayToObject(results->json, "systems") : NULL;
    int rc = orr_mkdir(o->folder);
    if (!rc && o->write && !(rc = orr_path(path, "%s/truth.txt", o->folder)))
        rc = orr_file_create(&truth, path);
    for (int number = o->first; number <= o->last && !rc; number += o->every) {
        rc = dyn_make_any(o->set, number - 1, &s);
        if (!rc)
            print_system(&s, number, text, sizeof text);
        if (!rc && o->write)
            rc = orr_file_printf(&truth, "%s", text);
        for (int k = 0; k < o->noises && !rc; k++)
            rc = judge_table(o, &s, number, k, &tally[k], list);
    }
    if (!rc && o->write)
        rc = orr_file_commit(&truth);
    orr_file_close(&truth);
    if (!rc && !o->write)
        print_totals(o, tally, results);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    struct bench_results results = {0};
    bench_help(argc, argv, usage);
    int rc = read_options(argc, argv, &o);
    if (!rc && (o.list || o.told))
        return orr_error_exit("bench_dynamics", show(&o));
    if (!rc)
        rc = open_results(&o, &results);
    if (!rc)
        rc = go_through(&o, &results);
    if (results.json)
        rc = bench_close(&results, rc);
    return orr_error_exit("bench_dynamics", rc);
}
