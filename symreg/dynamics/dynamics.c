/* dynamics.c - symreg motion --state, symreg motion --position --general: from tracks to a system
 * of equations. */
#include "dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { FOLDER = SR_TARGET_FOLDER + 16 };

/* The search takes this share of the seconds, of exact tracks a larger one, as these tell formulas
 * apart; the choice by the tracks takes the rest, and at least the other share of all. With
 * categories a search may end later, as it fits the constants of each. */
static const double share_of_search = 0.6, share_of_search_exact = 0.7, least_share = 0.02;
/* of the intervals of constants, at the end */
static const double least_of_profiles = 0.05;
static const double share_with_categories = 0.5, least_with_categories = 0.3;
/* Sums of vectors, which come first, take at most this share. */
static const double share_of_vectors = 0.5;

struct run {
    struct sr_states states, part; /* part: of the states, by which systems are chosen */
    struct sr_equations_found found[SR_STATES], sums; /* sums: of the equation at hand */
    struct sr_language *language; /* of all formulas; NULL until the first is found */
    char *define;
    size_t most;          /* rows by which equations are searched and chosen */
    int d;                /* the equation that is searched for */
    bool allowed[SR_OPS]; /* operators of sums */
    int maxsize;          /* nodes of a sum, at most */
    bool again;           /* with the time, as the equations without it leave too much */
    double start;         /* of the first search (orr_time_s()) */
    bool by_vectors;      /* the equations may be sums of vectors */
    struct sr_system system, vectors;
};

/* ---- what is said of the tracks */

static void tell_tracks(const struct orr_cli *cli, const struct sr_dynamics_options *o,
                        const struct sr_states *s)
{
    char epoch[SR_NUMBER];
    sr_cells_notes(&s->csv, s->file, cli->quiet);
    sr_dropped_note(&s->dropped, s->file, s->csv.rows, cli->quiet);
    sr_fill_note(&s->csv, s->file, o->state ? o->state : o->position, cli->quiet);
    sr_fill_note(&s->csv, s->file, o->input, cli->quiet);
    orr_note(cli->quiet, "symreg: %zu track%s, %zu rows", s->count, s->count == 1 ? "" : "s",
             s->rows);
    sr_number_print(s->epoch, epoch);
    if (s->epoch != 0)
        orr_note(cli->quiet, "symreg: searches count %s from %s", s->name[sr_states_time(s)],
                 epoch);
    for (int d = 0; d < s->dims; d++)
        orr_note(cli->quiet, "symreg: noise of %s, estimated: %.3g%s", s->name[d],
                 s->noise[d] * (s->proportional[d] ? 100 : 1),
                 s->proportional[d] ? "% of its value" : "");
}

/* ---- the search for one equation */

/* Keeps the constants `k` of each category of a row of the front, and returns their node: where
 * there are too many, a number, their mean. Categories are in the order of the states', as all have
 * rows in the table. */
static struct sr_node take_each(struct sr_equations_found *found, int row, int k,
                                const struct sr_category *category)
{
    const double *const value = category->row[row].value + k * category->count;
    if (k < SR_EACH_OWN) {
        memcpy(found->each[row].value[k], value, (size_t)category->count * sizeof *value);
        return sr_feature_node(SR_EACH_FIRST + found->first + k);
    }
    double mean = 0;
    for (int i = 0; i < category->count; i++)
        mean += value[i] / category->count;
    return sr_constant_node(mean);
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
    const struct sr_category *const category = answer->category;
    const int plain = sr_category_features(answer->data, category);
    found->first = SR_EACH_OWN * run->d;
    found->count = front->count;
    found->best = sr_front_select(front, answer->rule);
    for (int i = 0; i < front->count; i++) {
        found->loss[i] = front->loss[i];
        found->expr[i] = front->expr[i];
        for (int k = 0; k < found->expr[i].count; k++) {
            struct sr_node *node = &found->expr[i].node[k];
            if (node->op == SR_FEATURE && node->feature >= plain)
                *node = take_each(found, i, node->feature - plain, category);
            else if (node->op == SR_FEATURE)
                node->feature = (uint8_t)sr_feature_find(answer->names[node->feature], name,
                                                         run->states.names, NULL);
        }
    }
    found->allowed = run->sums.count ? run->allowed : NULL;
    found->maxsize = run->maxsize;
    for (int k = 0; k < run->sums.count; k++) {
        if (category && !sr_each_used(&run->sums.expr[k]))
            continue; /* longer than constants of each category allow */
        found->loss[found->count] = 0;
        found->each[found->count] = run->sums.each[k];
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
        orr_print_quoted(out, s->name[k]);
        any = true;
    }
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

/* Whether a search may begin with sums of products: without constraints that these may break. */
static bool takes_guesses(const struct orr_settings *settings, const struct sr_csv_options *o)
{
    bool sums = false, products = false;
    for (int k = 0; k < settings->symreg.binary.count; k++) {
        sums = sums || !strcmp(settings->symreg.binary.item[k], "+");
        products = products || !strcmp(settings->symreg.binary.item[k], "*");
    }
    return sums && products && !o->guess && !o->units && !o->form && !o->constrain &&
           !o->constrain_constants && !o->nest && !o->maxdepth && !o->complexity && !o->require &&
           !o->monotone && !o->positive && !o->compat && !o->define && !o->log_target;
}

/* Operators that formulas may have. */
static void list_operators(const struct orr_settings *settings, bool allowed[SR_OPS])
{
    const struct orr_name_list *const list[] = {&settings->symreg.unary, &settings->symreg.binary};
    memset(allowed, 0, SR_OPS * sizeof *allowed);
    for (int arity = 1; arity <= 2; arity++)
        for (int k = 0; k < list[arity - 1]->count; k++) {
            enum sr_op op;
            if (!sr_op_find("", list[arity - 1]->item[k], arity, &op))
                allowed[op] = true;
        }
}

/* Fills in sums that the search of equation run->d begins with. */
static int find_sums(struct run *run, const struct orr_settings *settings, char **guess)
{
    list_operators(settings, run->allowed);
    run->maxsize = settings->symreg.maxsize;
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
    int rc = features ? sr_states_table(s, run->d, run->most, &table) : ORR_ENOMEM;
    if (!rc && o.units && strcmp(o.units, "none") != 0) {
        rc = sr_states_units(s, run->d, o.units, &units);
        o.units = units && *units ? units : NULL;
    }
    run->sums.count = 0;
    orr_trace("equation %d has a table", run->d + 1);
    if (!rc && takes_guesses(&cli->settings, given)) {
        rc = find_sums(run, &cli->settings, &guess);
        o.guess = guess && *guess ? guess : NULL;
    }
    orr_trace("equation %d has %d sums", run->d + 1, run->sums.count);
    sr_states_sigma_name(s, run->d, sigma);
    o.target = s->target[run->d];
    o.sigma = sigma;
    o.features = features;
    o.category = s->categories ? s->category : NULL;
    o.made = table;
    o.receiver = &receiver;
    own.settings.symreg.seconds = seconds;
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

/* The folder of the search for equation d, below --out. */
static void name_folder(const struct sr_states *s, int d, bool with_time, char *folder)
{
    const char *name[SR_STATES];
    char all[SR_STATES][SR_TARGET_FOLDER];
    for (int k = 0; k <= d; k++) {
        name[k] = s->name[k];
        sr_target_folder(name, k, all);
    }
    snprintf(folder, FOLDER, "%s%.*s", with_time ? "with_time/" : "", SR_TARGET_FOLDER - 1, all[d]);
}

/* Searches for the equations of the list `wanted`, in `seconds` each; below --out in their folders,
 * of those with the time in with_time/. */
static int search_all(const struct orr_cli *cli, const char *file, struct run *run,
                      const struct sr_csv_options *given, const bool *wanted, double seconds)
{
    char folder[FOLDER];
    for (run->d = 0; run->d < run->states.dims; run->d++) {
        name_folder(&run->states, run->d, run->again, folder);
        if (wanted[run->d])
            TRY(search_equation(cli, file, run, given, seconds, folder));
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

/* Refuses unknown operators before tracks are smoothed and sums of vectors are looked for. */
static int check_operators(const struct orr_settings *settings, const struct sr_csv_options *given)
{
    const struct orr_name_list *const list[] = {&settings->symreg.unary, &settings->symreg.binary};
    enum sr_op op;
    for (int k = 0; k < 2 && !given->define; k++)
        for (int i = 0; i < list[k]->count; i++)
            TRY(sr_op_find(k ? "symreg.binary" : "symreg.unary", list[k]->item[i], k + 1, &op));
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
                                 .equation = system->expr,
                                 .each = &system->each,
                                 .categories = s->categories};
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
    return sr_symmetry_measure(s, language, system);
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
static int check_folder(const struct sr_states *s, const char *file, const char *folder)
{
    char path[4096], below[FOLDER];
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
    for (int d = 0; d < s->dims; d++) {
        name_folder(s, d, true, below);
        TRY(orr_path(path, "%s/%s", folder, below));
        TRY(sr_own_files(path, true));
    }
    return sr_own_kinds(folder, kinds, KINDS, picture, 1);
}

/* An interruption must not leave results of an earlier search beside formulas of this one, which
 * may not need the time. */
static int remove_results(const struct sr_states *s, const char *folder)
{
    char path[4096], below[FOLDER];
    struct stat info;
    for (int k = 0; k <= KINDS; k++) {
        TRY(orr_path(path, "%s/%s", folder, k < KINDS ? kinds[k].name : picture[0]));
        if (!lstat(path, &info) && S_ISREG(info.st_mode))
            TRY(orr_remove(path));
    }
    for (int d = 0; d < s->dims; d++) {
        name_folder(s, d, true, below);
        TRY(orr_path(path, "%s/%s", folder, below));
        TRY(sr_own_remove(path));
    }
    TRY(orr_path(path, "%s/with_time", folder));
    rmdir(path); /* stays where it has other files */
    return 0;
}

/* With the time, solutions have to leave at most so many standard deviations of the noise, and the
 * description has to be shorter by so many nats. */
static const double little = 1.5, enough = 10;

/* Seconds of processor time that are left, of those of all equations, but at least this share of
 * them; 0: there is no limit. */
static double seconds_or(const struct orr_cli *cli, const struct sr_csv_options *given,
                         const struct run *run, double least)
{
    const double all = cli->settings.symreg.seconds * run->states.dims;
    return given->use_seconds ? fmax(all - (orr_time_s() - run->start), least * all) : 0;
}

static double seconds_left(const struct orr_cli *cli, const struct sr_csv_options *given,
                           const struct run *run)
{
    return seconds_or(cli, given, run,
                      run->states.categories ? least_with_categories : least_share);
}

/* Seconds of the search for each equation. */
static double seconds_of_search(const struct orr_cli *cli, const struct sr_csv_options *given,
                                const struct run *run)
{
    const double share = run->states.categories              ? share_with_categories
                         : sr_states_are_exact(&run->states) ? share_of_search_exact
                                                             : share_of_search;
    return share * (given->use_seconds ? seconds_left(cli, given, run) / run->states.dims
                                       : cli->settings.symreg.seconds);
}

/* Whether equations may contain the time. */
static void allow_time(struct run *run, bool allowed)
{
    run->states.explicit_time = run->part.explicit_time = allowed;
}

/* Searches equations again with the time where no formula without it explains a derivative, and
 * chooses among these. timed->by_track stays false where the time explains no tracks, either. */
static int search_with_time(const struct orr_cli *cli, const char *file,
                            const struct sr_csv_options *given, struct run *run,
                            struct sr_system *timed)
{
    const struct sr_states *const s = &run->part;
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
    run->again = true;
    allow_time(run, true);
    int rc = search_all(cli, file, run, given, wanted,
                        given->use_seconds ? part / count : seconds_of_search(cli, given, run));
    if (!rc)
        rc = sr_system_choose(s, run->language, run->found, part, timed);
    if (!rc && !(timed->residual < little))
        timed->by_track = false;
    memcpy(run->found, before, sizeof run->found);
    allow_time(run, false);
    free(before);
    return rc;
}

/* Takes the sum of vectors where the tracks support it. */
static void choose_vectors(struct run *run)
{
    struct sr_system *const vectors = &run->vectors, *const system = &run->system;
    vectors->symmetry.nats = system->symmetry.nats = vectors->nats;
    vectors->symmetry.by_components = system->symmetry.by_components = system->nats;
    if (!sr_vectors_win(vectors, system))
        return;
    *system = *vectors;
    if (sr_form_is_timed(&vectors->symmetry.form))
        allow_time(run, true);
}

/* Chooses a system, without the time unless that makes its description longer. */
static int choose(const struct orr_cli *cli, const char *file, const struct sr_csv_options *given,
                  struct run *run)
{
    const struct sr_states *const s = &run->part;
    struct sr_system *const timed = orr_alloc(1, sizeof *timed), *const system = &run->system;
    int rc = timed ? 0 : ORR_ENOMEM;
    const bool followed = run->by_vectors && run->vectors.residual < little;
    if (!rc && !s->explicit_time && !followed)
        rc = search_with_time(cli, file, given, run, timed);
    const double seconds = seconds_left(cli, given, run);
    if (!rc)
        rc = sr_system_choose(s, run->language, run->found, seconds, system);
    if (!rc && run->by_vectors)
        choose_vectors(run);
    if (!rc && timed->by_track && timed->nats < system->nats - enough) {
        timed->time_gain = isfinite(system->nats) ? system->nats - timed->nats : HUGE_VAL;
        *system = *timed;
        allow_time(run, true);
    } else if (!rc && !s->explicit_time && system->by_track) {
        rc = sr_system_time(s, run->language, seconds, system);
    }
    free(timed);
    rc = rc ? rc : sr_system_still(s, run->language, system);
    return rc || s->rows == run->states.rows ? rc
                                             : sr_system_refit(&run->states, run->language, system);
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
    TRY(check_operators(&cli->settings, given));
    sr_states_count_time(s);
    TRY(*cli->out ? check_folder(s, file, cli->out) : 0);
    TRY(sr_states_smooth(s, cli->threads));
    orr_trace("%zu rows are smoothed", s->rows);
    tell_tracks(cli, dynamics, s);
    TRY(*cli->out && !cli->resume ? remove_results(s, cli->out) : 0);
    run->start = orr_time_s();
    run->most = sr_states_enough(given->use_seconds ? cli->settings.symreg.seconds : 0);
    TRY(sr_states_part(s, run->most, &run->part));
    run->by_vectors = sr_may_be_vectors(s) && takes_guesses(&cli->settings, given);
    if (run->by_vectors)
        TRY(sr_system_vectors(&run->part, NULL, share_of_vectors * seconds_left(cli, given, run),
                              &run->vectors));
    TRY(search_all(cli, file, run, given, each, seconds_of_search(cli, given, run)));
    orr_trace("equations are searched");
    TRY(choose(cli, file, given, run));
    TRY(sr_system_rest(s, run->language, system));
    orr_trace("equations are chosen");
    TRY(sr_system_profile(s, run->language, seconds_or(cli, given, run, least_of_profiles),
                          system));
    orr_trace("constants have intervals");
    sr_system_tidy(s, run->language, system);
    TRY(sr_system_restore_time(s, run->language, system));
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
    sr_states_free(&run->part);
    sr_states_free(&run->states);
    free(run);
    return rc;
}
