/* dynamics.c - symreg motion --state, symreg motion --position --general: from tracks to a system
 * of equations. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"

/* The search takes this share of the seconds, of exact tracks a larger one, as these tell formulas
 * apart; the choice by the tracks takes the rest. */
static const double share_of_search = 0.6, share_of_search_exact = 0.7;
/* ... of which sums of vectors take this share. */
static const double share_of_vectors = 0.5;

struct run {
    struct sr_states states;
    struct sr_equations_found found[SR_STATES], sums; /* sums: of the equation at hand */
    struct sr_language *language; /* of all formulas; NULL until the first is found */
    char *define;
    int d;                /* the equation that is searched for */
    bool allowed[SR_OPS]; /* operators of sums */
    int maxsize;          /* nodes of a sum, at most */
    bool again;           /* with the time, as the equations without it leave too much */
    double start;         /* of the first search (orr_time_s()) */
    struct sr_system system;
};

/* ---- what is said of the tracks */

static void tell_tracks(const struct orr_cli *cli, const struct sr_states *s)
{
    sr_cells_notes(&s->csv, s->file, cli->quiet);
    sr_dropped_note(&s->dropped, s->file, s->csv.rows, cli->quiet);
    orr_note(cli->quiet, "symreg: %zu track%s, %zu rows", s->count, s->count == 1 ? "" : "s",
             s->rows);
    for (int d = 0; d < s->dims; d++)
        orr_note(cli->quiet, "symreg: noise of %s, estimated: %.3g%s", s->name[d],
                 s->noise[d] * (s->proportional[d] ? 100 : 1),
                 s->proportional[d] ? "% of its value" : "");
}

/* ---- the search for one equation */

static double search_seconds(const struct orr_cli *cli, const struct sr_states *s)
{
    return (sr_states_are_exact(s) ? share_of_search_exact : share_of_search) *
           cli->preset.symreg.seconds;
}

/* Keeps a front, its features by the names of the states. */
static int take_front(void *context, const struct sr_problem *problem,
                      const struct sr_solution *solution)
{
    struct run *run = context;
    const struct sr_answer *answer = &solution->answer;
    const struct sr_front *front = answer->front;
    struct sr_equations_found *found = &run->found[run->d];
    const char *name[SR_STATE_NAMES];
    (void)problem;
    for (int k = 0; k < run->states.names; k++)
        name[k] = run->states.name[k];
    if (!run->language) {
        run->language = sr_language_create();
        TRY(run->language ? 0 : ORR_ENOMEM);
        run->define = answer->define ? strdup(answer->define) : NULL;
        if (run->define)
            TRY(sr_custom_define(run->language, run->define));
    }
    found->count = front->count;
    found->best = sr_front_select(front, answer->rule);
    for (int i = 0; i < front->count; i++) {
        found->loss[i] = front->loss[i];
        found->expr[i] = front->expr[i];
        for (int k = 0; k < found->expr[i].count; k++) {
            struct sr_node *node = &found->expr[i].node[k];
            if (node->op == SR_FEATURE)
                node->feature = (uint8_t)sr_feature_find(answer->names[node->feature], name,
                                                         run->states.names, NULL);
        }
    }
    found->allowed = run->sums.count ? run->allowed : NULL;
    found->maxsize = run->maxsize;
    for (int k = 0; k < run->sums.count; k++) {
        found->loss[found->count] = 0;
        found->expr[found->count++] = run->sums.expr[k];
    }
    return 0;
}

/* The names that an equation may contain, in quotes. The caller frees the list. */
static char *list_features(const struct sr_states *s)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    bool any = false;
    for (int k = 0; k < s->names && out; k++) {
        if (k == sr_states_time(s) && !s->explicit_time)
            continue;
        fputs(any ? "," : "", out);
        sr_print_quoted(out, s->name[k]);
        any = true;
    }
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

/* Whether a search may begin with sums of products: without constraints that these may break. */
static bool takes_guesses(const struct orr_settings *preset, const struct sr_csv_options *o)
{
    bool sums = false, products = false;
    for (int k = 0; k < preset->symreg.binary.count; k++) {
        sums = sums || !strcmp(preset->symreg.binary.item[k], "+");
        products = products || !strcmp(preset->symreg.binary.item[k], "*");
    }
    return sums && products && !o->guess && !o->units && !o->form && !o->constrain &&
           !o->constrain_constants && !o->nest && !o->maxdepth && !o->complexity && !o->require &&
           !o->monotone && !o->positive && !o->compat && !o->define && !o->log_target;
}

/* Operators that formulas may have. */
static void list_operators(const struct orr_settings *preset, bool allowed[SR_OPS])
{
    const struct orr_name_list *const list[] = {&preset->symreg.unary, &preset->symreg.binary};
    memset(allowed, 0, SR_OPS * sizeof *allowed);
    for (int arity = 1; arity <= 2; arity++)
        for (int k = 0; k < list[arity - 1]->count; k++) {
            enum sr_op op;
            if (!sr_op_find("", list[arity - 1]->item[k], arity, &op))
                allowed[op] = true;
        }
}

/* Fills in sums that the search of equation run->d begins with. */
static int find_sums(struct run *run, const struct orr_settings *preset, char **guess)
{
    list_operators(preset, run->allowed);
    run->maxsize = preset->symreg.maxsize;
    TRY(sr_states_sums(&run->states, run->d, run->maxsize, &run->sums));
    TRY(sr_states_weak(&run->states, run->d, run->allowed, run->maxsize, &run->sums));
    return sr_sums_text(&run->states, &run->sums, guess);
}

/* Searches for equation run->d in `seconds`, where these limit it. */
static int search_equation(const struct orr_cli *cli, const char *file, struct run *run,
                           const struct sr_csv_options *given, double seconds, const char *folder)
{
    const struct sr_states *s = &run->states;
    const struct sr_receiver receiver = {take_front, run};
    struct orr_cli own = *cli;
    struct sr_csv_options o = *given;
    char sigma[3 * SR_STATE_NAME], *table = NULL, *units = NULL, *guess = NULL;
    char *const features = list_features(s);
    int rc = features ? sr_states_table(s, run->d, &table) : ORR_ENOMEM;
    if (!rc && o.units && strcmp(o.units, "none") != 0) {
        rc = sr_states_units(s, run->d, o.units, &units);
        o.units = units && *units ? units : NULL;
    }
    run->sums.count = 0;
    if (!rc && takes_guesses(&cli->preset, given)) {
        rc = find_sums(run, &cli->preset, &guess);
        o.guess = guess && *guess ? guess : NULL;
    }
    sr_states_sigma_name(s, run->d, sigma);
    o.target = s->target[run->d];
    o.sigma = sigma;
    o.features = features;
    o.made = table;
    o.receiver = &receiver;
    own.preset.symreg.seconds = seconds;
    if (!rc && *cli->out)
        rc = orr_path(own.out, "%s/%s", cli->out, folder);
    if (!rc) {
        char shown[2 * SR_STATE_NAME];
        printf("%sequation of %s%s\n", run->language ? "\n" : "",
               orr_shown(shown, sizeof shown, o.target), run->again ? ", with the time" : "");
        fflush(stdout);
        rc = sr_csv_run(&own, file, &o);
    }
    free(features);
    free(table);
    free(units);
    free(guess);
    return rc;
}

/* Searches for the equations of the list `wanted`, in `seconds` each; below --out in their folders,
 * of those with the time in with_time/. */
static int search_all(const struct orr_cli *cli, const char *file, struct run *run,
                      const struct sr_csv_options *given, const bool *wanted, double seconds)
{
    const struct sr_states *s = &run->states;
    const char *name[SR_STATES];
    char folder[SR_STATES][SR_TARGET_FOLDER], below[SR_TARGET_FOLDER + 16];
    for (run->d = 0; run->d < s->dims; run->d++) {
        name[run->d] = s->name[run->d];
        sr_target_folder(name, run->d, folder);
        snprintf(below, sizeof below, "%s%s", run->again ? "with_time/" : "", folder[run->d]);
        if (wanted[run->d])
            TRY(search_equation(cli, file, run, given, seconds, below));
    }
    return 0;
}

/* Refuses wrong units before anything is said. */
static int check_units(const struct sr_states *s, const char *units)
{
    char *text = NULL;
    if (units && strcmp(units, "none") != 0)
        TRY(sr_states_units(s, 0, units, &text));
    free(text);
    return 0;
}

/* What the equations conserve. */
static int find_conserved(const struct sr_states *s, const struct sr_language *language,
                          struct sr_system *system)
{
    const struct sr_flow flow = {.dims = s->dims,
                                 .order = s->order,
                                 .inputs = s->inputs,
                                 .language = language,
                                 .equation = system->expr};
    struct sr_flow_track *const track = orr_alloc(s->count, sizeof *track);
    if (!track)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        track[k] = (struct sr_flow_track){.n = s->track[k].n, .guess = s->track[k].smooth};
    const int rc = sr_conserved_find(&flow, s->count, track, &system->conserved);
    free(track);
    return rc;
}

/* What the equations conserve, and their symmetries; nothing where one of them describes noise. */
static int find_properties(const struct sr_states *s, const struct sr_language *language,
                           struct sr_system *system)
{
    for (int d = 0; d < s->dims; d++)
        if (system->still[d]) {
            system->symmetry = (struct sr_symmetry){0};
            return 0;
        }
    TRY(find_conserved(s, language, system));
    return sr_symmetry_measure(s, language, system->expr, &system->symmetry);
}

/* Files of a system's results, and how they begin; searches have folders of their own. */
static const struct sr_own_kind kinds[] = {
    {"report.md", "# Equations of motion", ", Orrery "},
    {"report.html", "<!DOCTYPE html>", "<title>Equations of motion - symreg</title>"},
    {"equations.json", "{", "\"version\":"},
    {"equations.py", "# The right-hand side of the equations", NULL},
    {"equations.c", "/* The right-hand side of the equations", NULL},
    {"solutions.csv", "track,", " residual in sigmas"}};
static const char *const picture[] = {"solutions.png"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Refuses a folder with files of others of these names, or with the tracks themselves. */
static int check_folder(const char *file, const char *folder)
{
    char path[4096];
    struct stat tracks, result;
    for (int k = 0; k < KINDS; k++) {
        TRY(orr_path(path, "%s/%s", folder, kinds[k].name));
        if (!stat(file, &tracks) && !stat(path, &result) && tracks.st_dev == result.st_dev &&
            tracks.st_ino == result.st_ino)
            return ORR_FAIL(ORR_EUSAGE,
                            "--out: %s has the tracks, and would be replaced by a result; expected "
                            "another folder",
                            path);
    }
    return sr_own_kinds(folder, kinds, KINDS, picture, 1);
}

/* An interruption must not leave results of an earlier search beside formulas of this one. */
static int remove_results(const char *folder)
{
    char path[4096];
    struct stat info;
    for (int k = 0; k <= KINDS; k++) {
        TRY(orr_path(path, "%s/%s", folder, k < KINDS ? kinds[k].name : picture[0]));
        if (!lstat(path, &info) && S_ISREG(info.st_mode))
            TRY(orr_remove(path));
    }
    return 0;
}

/* With the time, solutions have to leave at most so many standard deviations of the noise, and the
 * description has to be shorter by so many nats. */
static const double little = 1.5, enough = 10;

/* Seconds of processor time that are left, of those of all equations; 0: there is no limit. */
static double seconds_left(const struct orr_cli *cli, const struct sr_csv_options *given,
                           const struct run *run)
{
    const double all = cli->preset.symreg.seconds * run->states.dims;
    return given->use_seconds ? fmax(all - (orr_time_s() - run->start), 0.02 * all) : 0;
}

/* Searches equations again with the time where no formula without it explains a derivative, and
 * chooses among these. timed->by_track stays false where the time explains no tracks, either. */
static int search_with_time(const struct orr_cli *cli, const char *file,
                            const struct sr_csv_options *given, struct run *run,
                            struct sr_system *timed)
{
    struct sr_states *const s = &run->states;
    bool wanted[SR_STATES];
    int count = 0;
    for (int d = 0; d < s->dims; d++) {
        TRY(sr_states_lack(s, run->language, d, &run->found[d], &wanted[d]));
        count += wanted[d];
    }
    if (!count)
        return 0;
    /* half of what is left is for the choice without the time */
    const double part = 0.25 * seconds_left(cli, given, run);
    struct sr_equations_found *const before = orr_alloc(SR_STATES, sizeof *before);
    if (!before)
        return ORR_ENOMEM;
    memcpy(before, run->found, sizeof run->found);
    s->explicit_time = run->again = true;
    int rc = search_all(cli, file, run, given, wanted,
                        given->use_seconds ? part / count : search_seconds(cli, &run->states));
    if (!rc)
        rc = sr_system_choose(s, run->language, run->found, part, timed);
    if (!rc && !(timed->residual < little))
        timed->by_track = false;
    memcpy(run->found, before, sizeof run->found);
    s->explicit_time = false;
    free(before);
    return rc;
}

/* Chooses a system, without the time unless that makes its description longer. */
static int choose(const struct orr_cli *cli, const char *file, const struct sr_csv_options *given,
                  struct run *run)
{
    struct sr_states *const s = &run->states;
    struct sr_system *const timed = orr_alloc(1, sizeof *timed), *const system = &run->system;
    int rc = timed ? 0 : ORR_ENOMEM;
    if (!rc && !s->explicit_time)
        rc = search_with_time(cli, file, given, run, timed);
    const double seconds = seconds_left(cli, given, run);
    const bool vectors = sr_may_be_vectors(s) && takes_guesses(&cli->preset, given);
    const double by_vectors = vectors ? share_of_vectors * seconds : 0;
    if (!rc)
        rc = sr_system_choose(s, run->language, run->found, seconds - by_vectors, system);
    if (!rc && vectors)
        rc = sr_system_vectors(s, run->language, by_vectors, system);
    if (!rc && timed->by_track && timed->nats < system->nats - enough) {
        timed->time_gain = isfinite(system->nats) ? system->nats - timed->nats : HUGE_VAL;
        *system = *timed;
        s->explicit_time = true;
    } else if (!rc && !s->explicit_time && system->by_track) {
        rc = sr_system_time(s, run->language, seconds, system);
    }
    free(timed);
    return rc ? rc : sr_system_still(s, run->language, system);
}

static int run_all(const struct orr_cli *cli, const char *file,
                   const struct sr_dynamics_options *dynamics, const struct sr_csv_options *given,
                   struct run *run)
{
    static const bool each[SR_STATES] = {true, true, true, true, true, true, true, true};
    struct sr_states *s = &run->states;
    struct sr_system *system = &run->system;
    TRY(sr_states_read(file, dynamics, s));
    TRY(check_units(s, given->units));
    TRY(*cli->out ? check_folder(file, cli->out) : 0);
    TRY(sr_states_smooth(s, cli->threads));
    tell_tracks(cli, s);
    TRY(*cli->out && !cli->resume ? remove_results(cli->out) : 0);
    run->start = orr_time_s();
    TRY(search_all(cli, file, run, given, each, search_seconds(cli, &run->states)));
    TRY(choose(cli, file, given, run));
    TRY(find_properties(s, run->language, system));
    TRY(*cli->out ? sr_system_write(s, run->language, system, run->define, cli->out) : 0);
    TRY(*cli->out ? sr_system_tracks(s, run->language, system, cli->out, cli->quiet) : 0);
    return sr_system_print(s, run->language, system);
}

int sr_dynamics_run(const struct orr_cli *cli, const char *file,
                    const struct sr_dynamics_options *dynamics, const struct sr_csv_options *given)
{
    struct run *run = orr_alloc(1, sizeof *run);
    if (!run)
        return ORR_ENOMEM;
    const int rc = run_all(cli, file, dynamics, given, run);
    sr_language_free(run->language);
    free(run->define);
    sr_states_free(&run->states);
    free(run);
    return rc;
}
