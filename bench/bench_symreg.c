/* bench_symreg.c - how often, and how soon, the regression engine recovers 30 known laws.
 *
 *     bench_symreg [--problems 1-20] [--noise 0,3] [--seconds 3] [--samples 2] [--restarts 1]
 *                  [--first-sample 0] [--evaluations 0] [--threads 2] [--relative]
 *                  [--ideal] [--full] [--fronts] [--upper-bound]
 *     bench_symreg --held-out       searches 8 other laws, on which the engine was not developed
 *     bench_symreg --export DIR     writes the tables as CSV, for other tools
 *     bench_symreg --judge FILE     judges formulas of another tool
 *
 * Default: all problems at 0 and 3% noise, 2 samples, one restart, 3 s each: about 6 minutes.
 * --full: noise 0, 1, 3, 5, 10%, 5 samples x 3 restarts: 2,250 searches, under 2 hours. Every
 * search ends with the epoch in which its seconds pass, or when an exact front has settled.
 * --evaluations ends a search by formulas evaluated instead (the same result on any machine, busy
 * or not; --seconds still holds); --first-sample 2 takes tables that the engine was not developed
 * on.
 * --relative weighs rows by 1 / y^2 in every problem, as the noise is in proportion to y; without
 * it the loss is the plain squared error, which the largest rows decide.
 * --ideal weighs them by 1 / (the law's y without noise)^2, which nobody has who looks for a law:
 * what the noise in the weights of --relative costs.
 * --upper-bound asks of every run that missed the law whether the law, fitted to the same table,
 * would stand on the front that was found (symreg_upper_bound.h): where not, the table does not
 * identify it. Column and rows "upper bound": runs that recovered, or where it would. Without 0
 * among the noises every table is first searched without noise, to know the law's forms; that is
 * not tallied. symreg_judge.h defines recovery. FILE has lines "problem noise sample run seconds
 * selected formula", the formula with x0, x1, ... or the names of the features:
 * bench/peer_operon.py writes them. With all problems it writes bench/results/symreg.json. */
#include "symreg/solve/solve.h"
#include "symreg_settings.h"
#include "symreg_upper_bound.h"
#include "symreg_tally.h"

enum { MOST_NOISES = 8 };

struct options {
    const struct problem *list;
    int problems, first, last, samples, first_sample, restarts, threads, noises;
    double noise[MOST_NOISES]; /* percent */
    double seconds, evaluations;
    bool fronts, relative, ideal, upper_bound;
    const char *export, *judge;
};

/* ---- options */

static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){.list = problems,
                          .problems = PROBLEMS,
                          .first = 1,
                          .last = PROBLEMS,
                          .samples = 2,
                          .restarts = 1,
                          .threads = 2,
                          .noises = 2,
                          .noise = {0, 3},
                          .seconds = 3};
    int rc = 0;
    for (int i = 1; i < argc && !rc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--full")) {
            rc = bench_noises("0,1,3,5,10", MOST_NOISES, o->noise, &o->noises);
            o->samples = 5;
            o->restarts = 3;
            continue;
        }
        if (!strcmp(name, "--fronts")) {
            o->fronts = true;
            continue;
        }
        if (!strcmp(name, "--upper-bound")) {
            o->upper_bound = true;
            continue;
        }
        if (!strcmp(name, "--relative") || !strcmp(name, "--ideal")) {
            o->relative = true;
            o->ideal = !strcmp(name, "--ideal");
            continue;
        }
        if (!strcmp(name, "--held-out")) {
            o->list = held_out;
            o->last = o->problems = HELD_OUT;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : "";
        if (!strcmp(name, "--problems"))
            bench_range(value, &o->first, &o->last);
        else if (!strcmp(name, "--noise"))
            rc = bench_noises(value, MOST_NOISES, o->noise, &o->noises);
        else if (!strcmp(name, "--seconds"))
            o->seconds = strtod(value, NULL);
        else if (!strcmp(name, "--evaluations"))
            o->evaluations = strtod(value, NULL);
        else if (!strcmp(name, "--first-sample"))
            o->first_sample = atoi(value);
        else if (!strcmp(name, "--samples"))
            o->samples = atoi(value);
        else if (!strcmp(name, "--restarts"))
            o->restarts = atoi(value);
        else if (!strcmp(name, "--threads"))
            o->threads = atoi(value);
        else if (!strcmp(name, "--export"))
            o->export = value;
        else if (!strcmp(name, "--judge"))
            o->judge = value;
        else
            rc = ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", name);
    }
    if (!rc && (o->first < 1 || o->last > o->problems || o->first > o->last || o->samples < 1 ||
                o->first_sample < 0 || o->restarts < 1 || o->threads < 1 || !(o->seconds > 0)))
        rc = ORR_FAIL(ORR_EUSAGE, "options out of range; problems are 1-%d", o->problems);
    return rc;
}

/* ---- searches */

static struct sr_settings settings_of(const struct problem *p, const struct options *o)
{
    struct sr_settings s = {
        TABLE_SETTINGS,
        .maxsize = 20,
        .iterations = 1000000,
        .populations = 16,
        .cycles = 100,
        .max_seconds = o->seconds,
        .max_evaluations = o->evaluations,
    };
    if (p->study_operators) {
        const enum sr_op binary[] = {SR_ADD, SR_MUL};
        const enum sr_op unary[] = {SR_SIN, SR_COS, SR_EXP, SR_INV};
        memcpy(s.binary, binary, sizeof binary);
        memcpy(s.unary, unary, sizeof unary);
        s.binary_count = 2;
        s.unary_count = 4;
    }
    return s;
}

/* When a front first holds the law. */
struct watch {
    struct truth *truth;
    double noise, first_s, smallest;
};

static void observe(void *context, const struct sr_observation *seen)
{
    struct watch *w = context;
    const struct sr_front *front = seen->front;
    if (w->first_s >= 0 || front->count == 0 || front->loss[front->count - 1] >= w->smallest)
        return;
    w->smallest = front->loss[front->count - 1];
    for (int i = front->count - 1; i >= 0 && w->first_s < 0; i--)
        if (recovers(w->truth, &front->expr[i], w->noise))
            w->first_s = seen->seconds;
}

static void print_front(const struct truth *t, const struct sr_front *front)
{
    char text[SR_TEXT];
    for (int i = 0; i < front->count; i++) {
        sr_expr_print(NULL, &front->expr[i], t->problem->feature, text, sizeof text);
        printf("    %2d %11.4g %8.3g  %s\n", front->expr[i].count, front->loss[i], front->score[i],
               text);
    }
}

/* The table at x (features + 1, ROWS), with weights behind it where they are asked for. */
static struct sr_data table_of(const struct options *o, const struct truth *t, double *x)
{
    const int features = t->problem->features;
    double *const weight = x + (features + 1) * ROWS, law[ROWS];
    struct sr_data data = {.rows = ROWS, .features = features, .x = x, .y = x + features * ROWS};
    if (o->ideal)
        truth_values(t, ROWS, x, law);
    if (o->relative && sr_weights_relative(o->ideal ? law : data.y, ROWS, weight))
        data.weight = weight;
    return data;
}

static int run_one(const struct options *o, struct truth *t, double noise, int sample, int restart,
                   double *x, struct sr_fit *fit, struct tally *tally)
{
    struct watch watch = {t, noise, -1, HUGE_VAL};
    struct sr_settings s = settings_of(t->problem, o);
    s.observe = observe;
    s.observer = &watch;
    *fit = (struct sr_fit){.data = table_of(o, t, x),
                           .stream = (uint64_t)(sample * o->restarts + restart)};
    const double start = orr_time_s();
    const int rc = sr_search(&s, fit, 1, o->threads, NULL);
    if (rc)
        return rc;
    const double seconds = orr_time_s() - start;
    bool any = false;
    for (int i = 0; i < fit->front.count && !any; i++)
        any = recovers(t, &fit->front.expr[i], noise);
    tally->runs++;
    tally->on_front += any;
    tally->seconds += seconds;
    tally->evaluations += fit->evaluations;
    tally->first_s += any ? (watch.first_s >= 0 ? watch.first_s : seconds) : 0;
    for (int rule = 0; rule < SR_RULES; rule++) {
        const int row = sr_front_select(&fit->front, (enum sr_rule)rule);
        tally->selected[rule] += row >= 0 && recovers(t, &fit->front.expr[row], noise);
    }
    if (o->fronts)
        print_front(t, &fit->front);
    return 0;
}

/* ---- tables */

static void print_totals(struct bench_results *results, const char *tool, const struct options *o,
                         const struct tally group[2][MOST_NOISES])
{
    const char *const name[2] = {o->list == held_out ? "held out" : "problems 1-20",
                                 "problems 21-30"};
    printf("\n%-16s  noise  runs   front  accuracy score  best   first s  evaluations/s\n", tool);
    for (int g = 0; g < 2; g++)
        for (int n = 0; n < o->noises; n++) {
            const struct tally *t = &group[g][n];
            if (t->runs == 0)
                continue;
            printf("%-16s %5g%%  %4d  %5.1f%%    %5.1f%% %5.1f%% %5.1f%%  %7.2f  %9.0f", name[g],
                   o->noise[n], t->runs, 100.0 * t->on_front / t->runs,
                   100.0 * t->selected[SR_ACCURACY] / t->runs,
                   100.0 * t->selected[SR_SCORE] / t->runs, 100.0 * t->selected[SR_BEST] / t->runs,
                   t->on_front ? t->first_s / t->on_front : 0, t->evaluations / t->seconds);
            if (show_upper_bound)
                printf("   upper bound %.1f%%: missed by the search %d, not identifiable %d",
                       100.0 * t->upper_bound / t->runs, t->upper_bound - t->on_front,
                       t->runs - t->upper_bound);
            printf("\n");
            add_tally(results, name[g], tool, o->noise[n], t);
        }
}

/* Which of the runs that missed the law could have shown it; of all of them, with all forms. */
static int find_upper_bound(const struct options *o, struct truth *t, int key, double noise,
                            struct forms *forms, const struct outcome *outcome, double *x,
                            struct tally *tally)
{
    const struct sr_settings s = settings_of(t->problem, o);
    const int runs = o->samples * o->restarts;
    struct sr_work work = {0};
    int rc = sr_work_init(&work, ROWS, SR_NODES);
    for (int run = 0; run < runs; run++)
        forms_add_front(forms, t, &s, &outcome[run].front, noise);
    for (int run = 0; run < runs && !rc; run++) {
        struct sr_data data;
        struct sr_loss loss = {0};
        if (outcome[run].recovered) {
            tally->upper_bound++;
            continue;
        }
        rc = truth_table(t, key, outcome[run].sample, noise, x);
        data = table_of(o, t, x);
        if (!rc)
            rc = sr_loss_init(&loss, s.loss, &data);
        if (!rc) {
            const struct standing law =
                forms_try(forms, t, noise, &s, &outcome[run].front, &loss, &work);
            tally->upper_bound += law.ratio < 1;
            if (o->fronts && law.ratio < HUGE_VAL)
                print_standing(t, outcome[run].sample, &law);
        }
        sr_loss_free(&loss);
    }
    sr_work_free(&work);
    return rc;
}

/* All runs of one problem at one noise. x, fit and outcome (runs; NULL without an upper bound) are
 * storage. */
static int search_noise(const struct options *o, struct truth *t, int key, double noise, double *x,
                        struct sr_fit *fit, struct forms *forms, struct outcome *outcome,
                        struct tally *tally)
{
    int rc = 0;
    for (int run = 0; run < o->samples * o->restarts && !rc; run++) {
        const int sample = o->first_sample + run / o->restarts, before = tally->on_front;
        rc = truth_table(t, key, sample, noise, x);
        if (!rc)
            rc = run_one(o, t, noise, sample, run % o->restarts, x, fit, tally);
        if (!rc && outcome)
            outcome[run] = (struct outcome){sample, tally->on_front > before, fit->front};
    }
    return rc || !outcome ? rc : find_upper_bound(o, t, key, noise, forms, outcome, x, tally);
}

/* The forms of a law, from searches without noise where the list of noises has none. */
static int find_forms(const struct options *o, struct truth *t, int key, double *x,
                      struct sr_fit *fit, struct forms *forms, struct outcome *outcome)
{
    const struct sr_settings s = settings_of(t->problem, o);
    struct options quiet = *o;
    struct tally none = {0};
    forms_begin(forms, t, &s);
    for (int n = 0; n < o->noises; n++)
        if (o->noise[n] <= 0)
            return 0;
    quiet.fronts = false;
    return search_noise(&quiet, t, key, 0, x, fit, forms, outcome, &none);
}

static int search_problems(const struct options *o, struct bench_results *results)
{
    struct tally group[2][MOST_NOISES] = {0};
    struct forms *forms = orr_alloc(1, sizeof *forms);
    struct outcome *outcome =
        o->upper_bound ? orr_alloc((size_t)(o->samples * o->restarts), sizeof *outcome) : NULL;
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    double *x = orr_alloc((PROBLEM_FEATURES + 2) * ROWS, sizeof *x);
    int rc = fit && x && forms && (outcome || !o->upper_bound)
                 ? 0
                 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    const char *tool = o->ideal      ? "orrery, ideal weights"
                       : o->relative ? "orrery, 1/y^2"
                                     : "orrery";
    show_upper_bound = o->upper_bound;
    print_heads("this engine");
    for (int number = o->first; number <= o->last && !rc; number++) {
        struct truth truth;
        const struct problem *p = &o->list[number - 1];
        const int key = number + (o->list == held_out ? 100 : 0);
        rc = truth_init(&truth, p);
        if (!rc && outcome)
            rc = find_forms(o, &truth, key, x, fit, forms, outcome);
        for (int n = 0; n < o->noises && !rc; n++) {
            struct tally tally = {0};
            rc = search_noise(o, &truth, key, o->noise[n] / 100, x, fit, forms, outcome, &tally);
            print_tally(number, p->name, o->noise[n], &tally);
            add_tally(results, p->name, tool, o->noise[n], &tally);
            sum(&group[number > 20][n], &tally);
        }
        truth_free(&truth);
    }
    if (!rc) {
        print_totals(results, tool, o, (const struct tally(*)[MOST_NOISES])group);
        print_published();
    }
    free(fit);
    free(outcome);
    free(forms);
    free(x);
    return rc;
}

/* ---- other tools */

/* DIR/<problem>_<noise>_<sample>.csv: features, then y. */
static int export_tables(const struct options *o)
{
    double *x = orr_alloc((PROBLEM_FEATURES + 1) * ROWS, sizeof *x);
    int rc = x ? orr_mkdir(o->export) : ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int number = o->first; number <= o->last && !rc; number++) {
        struct truth truth;
        const struct problem *p = &o->list[number - 1];
        rc = truth_init(&truth, p);
        for (int k = 0; k < o->noises * o->samples && !rc; k++) {
            struct orr_file file = {0};
            char path[4096];
            const double percent = o->noise[k / o->samples];
            const int sample = o->first_sample + k % o->samples;
            rc = truth_table(&truth, number + (o->list == held_out ? 100 : 0), sample,
                             percent / 100, x);
            if (!rc)
                rc = orr_path(path, "%s/%d_%g_%d.csv", o->export, number, percent, sample);
            if (!rc)
                rc = orr_file_create(&file, path);
            for (int f = 0; f < p->features && !rc; f++)
                rc = orr_file_printf(&file, "%s,", p->feature[f]);
            if (!rc)
                rc = orr_file_printf(&file, "y\n");
            for (int i = 0; i < ROWS && !rc; i++)
                for (int f = 0; f <= p->features && !rc; f++)
                    rc = orr_file_printf(&file, "%.17g%c", x[f * ROWS + i],
                                         f < p->features ? ',' : '\n');
            if (!rc)
                rc = orr_file_commit(&file);
            orr_file_close(&file);
        }
        truth_free(&truth);
    }
    free(x);
    return rc;
}

/* A run is the lines of equal problem, noise, sample and run; they stand together. */
static int judge_file(const struct options *o, struct bench_results *results)
{
    static struct tally table[PROBLEMS][MOST_NOISES], group[2][MOST_NOISES];
    static char line[2 * SR_TEXT];
    char last[128] = "";
    bool on_front = false, chosen = false;
    FILE *stream = fopen(o->judge, "r");
    if (!stream)
        return ORR_FAIL(ORR_EMISSING, "%s: not found", o->judge);
    int rc = 0, unread = 0;
    while (!rc && fgets(line, sizeof line, stream)) {
        int number, sample, run, selected, at = 0, n = 0;
        double percent, seconds;
        struct truth truth;
        struct sr_expr expr;
        char key[128];
        if (sscanf(line, "%d %lf %d %d %lf %d %n", &number, &percent, &sample, &run, &seconds,
                   &selected, &at) < 6 ||
            number < 1 || number > PROBLEMS) {
            rc = ORR_FAIL(ORR_EFORMAT, "%s: line \"%s\"", o->judge, line);
            break;
        }
        line[strcspn(line, "\n")] = '\0';
        while (n < o->noises && o->noise[n] != percent)
            n++;
        if (n == o->noises)
            continue;
        snprintf(key, sizeof key, "%d %g %d %d", number, percent, sample, run);
        struct tally *t = &table[number - 1][n];
        if (strcmp(key, last)) {
            t->runs++;
            t->seconds += seconds;
            on_front = chosen = false;
        }
        snprintf(last, sizeof last, "%s", key);
        rc = truth_init(&truth, &problems[number - 1]);
        if (!rc && sr_expr_parse(NULL, line + at, problems[number - 1].feature,
                                 problems[number - 1].features, &expr)) {
            unread++;
            orr_error_clear();
        } else if (!rc && recovers(&truth, &expr, percent / 100)) {
            t->on_front += !on_front;
            on_front = true;
            for (int rule = 0; rule < SR_RULES && selected && !chosen; rule++)
                t->selected[rule]++;
            chosen = chosen || selected;
        }
        truth_free(&truth);
    }
    fclose(stream);
    print_heads(o->judge);
    for (int number = 1; number <= PROBLEMS && !rc; number++)
        for (int n = 0; n < o->noises; n++)
            if (table[number - 1][n].runs) {
                print_tally(number, problems[number - 1].name, o->noise[n], &table[number - 1][n]);
                sum(&group[number > 20][n], &table[number - 1][n]);
            }
    if (!rc)
        print_totals(results, "peer", o, (const struct tally(*)[MOST_NOISES])group);
    printf("%d formulas could not be read\n", unread);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    struct bench_results results;
    int rc = read_options(argc, argv, &o);
    if (!rc && o.export)
        return orr_error_exit("bench_symreg", export_tables(&o));
    if (!rc)
        rc = bench_open(&results, o.judge ? "symreg_peer" : "symreg", o.threads);
    if (rc)
        return orr_error_exit("bench_symreg", rc);
    rc = o.judge ? judge_file(&o, &results) : search_problems(&o, &results);
    if (rc || o.list == held_out || o.first > 1 ||
        o.last < PROBLEMS) { /* of a part nothing is written */
        cJSON_Delete(results.json);
        return orr_error_exit("bench_symreg", rc);
    }
    return orr_error_exit("bench_symreg", bench_close(&results, rc));
}
