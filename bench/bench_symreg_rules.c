/* bench_symreg_rules.c - rules of choice compared on fronts that were searched once
 * (bench_symreg_laws --keep).
 *
 * How a rule of choice is judged, written before one was tried and before CHOICE_SET was searched.
 * Fronts are searched once, by the build in which the rule is absent, with 10 s of processor time,
 * one thread, one table of 1,000 rows for each law, and --alternatives 6, so that formulas beside
 * the front can be chosen as well. A choice is right if it is the law in form and agrees with it
 * (symreg_judge.h); the law with wrong digits is counted beside and decides nothing. On
 * DEVELOPMENT_SET and other sets that were named as such, a rule is compared with `best` table by
 * table: with noise of 1 and 10% it must gain more tables than it loses, significantly (sign test,
 * one-sided 5%), and without noise it must lose none. If it does, it is judged once on CHOICE_SET,
 * at 0, 1 and 10%, and taken if it gains at 1 and 10% together more than it loses and loses none
 * without noise. Otherwise `best` stays as it is, and the numbers are recorded.
 *
 * Changed after the first 26 fronts of DEVELOPMENT_SET at 10%, where the machine was too busy for
 * more, and before any other front was seen: development continues on sets 9002 to 9005, with
 * searches of 3 s, which is enough for most fronts to have the law. Changed again after 9002 and
 * 9003 (two gained, none lost), before the other sets were searched: 9004 and 9005 have tables of
 * 100 rows, where more fronts have the law and are judged wrongly. Changed a third time after 203
 * tables with 10% noise, before a front of CHOICE_SET was judged: evidence had gained three and
 * lost none, and no rule could have gained more than seven, as the law is seldom on a front and not
 * chosen. So fronts to which the law is added (--told) decide as well: what a rule chooses after a
 * better search. There evidence had gained ten of 206 and lost none (p = 0.001). */
#include <unistd.h>

#include "symreg/solve/solve.h"
#include "symreg_front.h"
#include "symreg_grammar.h"
#include "symreg_settings.h"

static const char usage[] =
    "usage: bench_symreg_rules DIR --set N [--noise 0,1,10] [--samples 1] [--rows 1000]\n"
    "                          [--told] [--candidates]\n"
    "Reads the tables and fronts that bench_symreg_laws --set N --keep DIR wrote, judges the "
    "fronts "
    "as\n"
    "bin/symreg does, and counts the laws that each rule chooses: with all rows, and with the "
    "rows\n"
    "that smooth errors leave (sr_front_count_independent()). \"digits\" counts choices that are "
    "the "
    "law\n"
    "but for the digits of its constants. --candidates prints every formula of the fronts, of "
    "their\n"
    "alternatives and the law itself, with constants fitted.\n";

enum { MOST_NOISES = 8, LINE = 2 * SR_TEXT };

struct options {
    int set, noises, samples, rows;
    double noise[MOST_NOISES]; /* percent */
    bool candidates, told;
    const char *folder;
};

/* One table with its front. */
struct task {
    int number;
    double noise;
    struct law law;
    struct truth truth;
    struct sr_data data;
    struct sr_loss loss;
    struct sr_work work;
    struct sr_hall_of_fame hall;
    struct sr_front front;
    int others, marked; /* marked: complexity of what best chose when the front was printed */
    struct sr_expr other[SR_NODES + 1];
    double *x; /* (features + 1, rows) the table, y last */
};

static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){
        .set = DEVELOPMENT_SET, .noises = 3, .noise = {0, 1, 10}, .samples = 1, .rows = ROWS};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--candidates")) {
            o->candidates = true;
            continue;
        }
        if (!strcmp(name, "--told")) {
            o->told = true;
            continue;
        }
        if (*name != '-') {
            o->folder = name;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : "";
        if (!strcmp(name, "--set"))
            TRY(bench_number(name, value, 1, &o->set));
        else if (!strcmp(name, "--samples"))
            TRY(bench_number(name, value, 1, &o->samples));
        else if (!strcmp(name, "--rows"))
            TRY(bench_number(name, value, 2, &o->rows));
        else if (!strcmp(name, "--noise"))
            TRY(bench_noises(value, MOST_NOISES, o->noise, &o->noises));
        else
            return ORR_FAIL(ORR_EUSAGE, "no option \"%s\"; see --help", name);
    }
    return o->folder ? 0 : ORR_FAIL(ORR_EUSAGE, "expected a folder; see --help");
}

/* ---- what was stored */

static int read_table(const struct options *o, const char *path, struct task *t)
{
    const int columns = t->law.problem.features + 1;
    static char line[LINE];
    FILE *file = fopen(path, "r");
    if (!file)
        return ORR_FAIL(ORR_EIO, "%s: cannot be read", path);
    bool fine = fgets(line, sizeof line, file);
    for (int i = 0; i < o->rows && fine; i++) {
        fine = fgets(line, sizeof line, file);
        char *at = line;
        for (int f = 0; f < columns && fine; f++, at += *at == ',')
            t->x[f * o->rows + i] = strtod(at, &at);
    }
    fclose(file);
    return fine ? 0 : ORR_FAIL(ORR_EFORMAT, "%s: expected %d rows", path, o->rows);
}

static double loss_of(struct task *t, const struct sr_expr *expr)
{
    return sr_eval_plain(expr, &t->loss, &t->work);
}

/* A line of the front or of the alternatives. */
static void read_line(struct task *t, char *line, bool beside)
{
    const struct problem *problem = &t->law.problem;
    struct sr_expr expr;
    int at = 0, complexity = 0;
    char *mark = strstr(line, "   <- ");
    const bool best = mark && strstr(mark, default_rule);
    line[strcspn(line, "\n")] = '\0';
    sscanf(line, "%d %*s %*s %n", &complexity, &at);
    if (mark)
        *mark = '\0';
    if (!at || complexity < 1 || complexity > SR_NODES ||
        sr_expr_parse(NULL, line + at, problem->feature, problem->features, &expr)) {
        orr_error_clear();
        return;
    }
    if (best)
        t->marked = complexity;
    if (beside && t->others < SR_NODES)
        t->other[t->others++] = expr;
    if (beside)
        return;
    t->hall.loss[complexity] = loss_of(t, &expr);
    t->hall.expr[complexity] = expr;
}

static int read_front(const char *path, struct task *t)
{
    static char line[LINE];
    FILE *file = fopen(path, "r");
    bool beside = false;
    if (!file)
        return ORR_FAIL(ORR_EIO, "%s: cannot be read", path);
    sr_hall_of_fame_clear(&t->hall);
    while (fgets(line, sizeof line, file)) {
        beside = beside || !strncmp(line, "alternatives", 12);
        if (line[0] == ' ')
            read_line(t, line, beside);
    }
    fclose(file);
    sr_front_make(&t->hall, &t->front);
    return t->front.count ? 0 : ORR_FAIL(ORR_EFORMAT, "%s: no front", path);
}

/* The law as the search would write it: with its operators, and constants fitted and rounded. */
static void write_law(struct task *t, struct sr_expr *expr)
{
    static const struct sr_settings table = {TABLE_SETTINGS};
    *expr = t->truth.expr;
    sr_expr_rewrite(NULL, expr, sr_settings_operators(&table));
    sr_constants_fit(&t->loss, expr, false, 100, 0, NULL, &t->work);
    sr_constants_round(&t->loss, expr, SR_ROUND_LIKELY, &t->work);
    sr_drop_ones(NULL, false, expr);
}

/* Adds the law to the front. */
static void tell(struct task *t)
{
    struct sr_expr law;
    write_law(t, &law);
    sr_hall_of_fame_offer(&t->hall, NULL, &law, loss_of(t, &law));
    sr_front_make(&t->hall, &t->front);
}

static int read_task(const struct options *o, int number, int noise, int sample, struct task *t)
{
    char table[4096], front[4096];
    t->number = number;
    t->noise = o->noise[noise];
    TRY(law_make(o->set, number - 1, &t->law));
    TRY(truth_init(&t->truth, &t->law.problem));
    TRY(orr_path(table, "%s/%d_%g_%d.csv", o->folder, number, t->noise, sample));
    TRY(orr_path(front, "%s.front", table));
    const int features = t->law.problem.features;
    t->x = orr_alloc((size_t)(features + 1) * (size_t)o->rows, sizeof *t->x);
    TRY(t->x ? 0 : ORR_ENOMEM);
    TRY(read_table(o, table, t));
    t->data = (struct sr_data){.rows = (size_t)o->rows,
                               .features = features,
                               .x = t->x,
                               .y = t->x + (size_t)features * (size_t)o->rows};
    TRY(sr_loss_init(&t->loss, ORR_SR_L2, &t->data));
    TRY(sr_work_init(&t->work, (size_t)o->rows, SR_NODES));
    TRY(read_front(front, t));
    if (o->told)
        tell(t);
    return 0;
}

static void task_free(struct task *t)
{
    sr_loss_free(&t->loss);
    sr_work_free(&t->work);
    truth_free(&t->truth);
    free(t->x);
}

/* ---- candidates */

static const char *verdict(struct task *t, const struct sr_expr *expr)
{
    return recovers(&t->truth, expr, t->noise / 100) ? "law"
           : has_form(&t->truth, expr)               ? "digits"
                                                     : "-";
}

static int print_candidate(struct task *t, const char *kind, const struct sr_expr *expr)
{
    char text[SR_TEXT];
    double constants[SR_NODES], error[SR_NODES], cost;
    struct sr_front one = {.count = 1, .expr[0] = *expr};
    TRY(sr_front_describe(&one, &t->data));
    cost = one.cost[0];
    if (sr_constants_errors(expr, &t->data, 0, error))
        orr_error_clear();
    sr_expr_print(NULL, expr, t->law.problem.feature, text, sizeof text);
    printf("%d\t%g\t%s\t%d\t%.12g\t%.6f\t%.6f\t%s\t%d\t%s\t", t->number, t->noise, kind,
           sr_expr_complexity(NULL, expr), loss_of(t, expr), one.mdl[0], cost, verdict(t, expr),
           expr->count, text);
    double nats, simple[SR_NODES];
    const int count = sr_expr_constants(expr, constants);
    if (sr_constants_evidence(expr, false, &t->data, 0, &nats, simple)) {
        orr_error_clear();
        nats = NAN;
    }
    printf("%.5f\t", nats);
    for (int c = 0; c < count; c++)
        printf("%s%.10g:%.4g=%.4g", c ? " " : "", constants[c], error[c], simple[c]);
    printf("\n");
    return 0;
}

static int print_candidates(struct task *t)
{
    int rc = 0;
    struct sr_expr law;
    write_law(t, &law);
    for (int i = 0; i < t->front.count && !rc; i++)
        rc = print_candidate(t, t->front.complexity[i] == t->marked ? "best" : "front",
                             &t->front.expr[i]);
    for (int i = 0; i < t->others && !rc; i++)
        rc = print_candidate(t, "other", &t->other[i]);
    return rc ? rc : print_candidate(t, "told", &law);
}

/* ---- counts */

/* How a front is judged: as bin/symreg does; without evidence; and this with every row by itself,
 * whatever sr_front_count_independent() finds. */
enum way { EVIDENCE, LENGTH, ALL_ROWS, WAYS };
static const char *const way_name[WAYS] = {"evidence", "length", "all rows"};

struct counts {
    int runs, front, independent, same, law[WAYS][SR_RULES], digits[WAYS];
    int gained[WAYS], lost[WAYS]; /* by best, against LENGTH */
};

static int judge(struct task *t, enum way way, struct sr_front *front)
{
    const struct sr_settings settings = {.loss = ORR_SR_L2, .algorithm = &sr_algorithm_orrery};
    *front = t->front;
    TRY(sr_front_judge(&settings, &t->data, front));
    if (way == EVIDENCE)
        return 0;
    if (way == ALL_ROWS) {
        front->independent = 0;
        TRY(sr_front_describe(front, &t->data));
        TRY(sr_front_weigh_rows(front, &t->data));
    }
    for (int i = 0; i < front->count; i++)
        front->evidence[i] = 0;
    sr_front_correct(front, &t->loss);
    return 0;
}

static int count_task(struct task *t, struct counts *c)
{
    struct sr_front *front = orr_alloc(1, sizeof *front);
    bool best[WAYS] = {false};
    int rc = front ? 0 : ORR_ENOMEM;
    c->runs++;
    for (int way = 0; way < WAYS && !rc; way++) {
        rc = judge(t, (enum way)way, front);
        c->independent += way == LENGTH && front->independent > 0;
        for (int rule = 0; rule < SR_RULES && !rc; rule++) {
            const int row = sr_front_select(front, (enum sr_rule)rule);
            const char *is = row < 0 ? "-" : verdict(t, &front->expr[row]);
            const bool law = !strcmp(is, "law");
            c->law[way][rule] += law;
            if (rule != SR_BEST)
                continue;
            best[way] = law;
            c->digits[way] += !strcmp(is, "digits");
            c->same += way == LENGTH && row >= 0 && front->complexity[row] == t->marked;
        }
    }
    for (int way = 0; way < WAYS; way++) {
        c->gained[way] += best[way] && !best[LENGTH];
        c->lost[way] += !best[way] && best[LENGTH];
    }
    bool found = false;
    for (int i = 0; i < t->front.count && !found; i++)
        found = recovers(&t->truth, &t->front.expr[i], t->noise / 100);
    c->front += found;
    free(front);
    return rc;
}

static void print_counts(double noise, const struct counts *c)
{
    printf(
        "\nnoise %g%%: %d fronts, the law on %d; smooth errors seen on %d; %d choices of best as "
        "printed\n",
        noise, c->runs, c->front, c->independent, c->same);
    printf("%-10s", "");
    for (int rule = 0; rule < SR_RULES; rule++)
        printf("  %8s", sr_rule_name[rule]);
    printf("  best but for digits  gained  lost\n");
    for (int way = 0; way < WAYS; way++) {
        printf("%-10s", way_name[way]);
        for (int rule = 0; rule < SR_RULES; rule++)
            printf("  %8d", c->law[way][rule]);
        printf("  %19d  %6d  %4d\n", c->digits[way], c->gained[way], c->lost[way]);
    }
}

int main(int argc, char **argv)
{
    static struct counts counts[MOST_NOISES];
    struct options o;
    struct task *t = orr_alloc(1, sizeof *t);
    bench_help(argc, argv, usage);
    int rc = t ? read_options(argc, argv, &o) : ORR_ENOMEM;
    for (int number = 1; number <= LAWS && !rc; number++)
        for (int k = 0; k < o.noises && !rc; k++)
            for (int sample = 0; sample < o.samples && !rc; sample++) {
                char path[4096];
                TRY(orr_path(path, "%s/%d_%g_%d.csv.front", o.folder, number, o.noise[k], sample));
                if (access(path, R_OK))
                    continue;
                *t = (struct task){0};
                rc = read_task(&o, number, k, sample, t);
                rc = rc ? rc : o.candidates ? print_candidates(t) : count_task(t, &counts[k]);
                task_free(t);
            }
    for (int k = 0; k < o.noises && !rc && !o.candidates; k++)
        print_counts(o.noise[k], &counts[k]);
    free(t);
    return orr_error_exit("bench_symreg_rules", rc);
}
