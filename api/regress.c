/* regress.c - the library's part "regress": handles and searches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tempdir.h"
#include "regress.h"

int orrery_regression_create(int interface_, struct orrery_regression **regression)
{
    struct api_call call;
    TRY(api_create(interface_, sizeof **regression, regression));
    TRY(api_enter(&(*regression)->handle, &call)); /* settings use numbers of the locale "C" */
    return api_leave(&call, api_default_settings(&(*regression)->settings));
}

void api_forget(struct orrery_regression *r)
{
    sr_csv_setup_free(&r->setup);
    sr_solution_free(&r->solution);
    r->has_front = false;
    sr_table_unweigh(&r->table); /* of weights that the last search chose */
    sr_table_unweigh(&r->second);
    sr_table_restore(&r->table);
    sr_category_forget(&r->table);
    free(r->state);
    r->state = NULL;
}

void orrery_regression_free(struct orrery_regression *r)
{
    if (!r)
        return;
    api_forget(r);
    sr_table_free(&r->table);
    sr_table_free(&r->second);
    for (int i = 0; i < SR_OPTION_COUNT; i++)
        free(r->option[i]);
    free(r->resumed);
    free(r);
}

/* ------------------------------------------------------------------------------- progress */

struct watch {
    struct orrery_regression *r;
    struct api_call *call;
    orrery_progress_call *progress;
    void *context;
};

/* Calls the caller's callback in the caller's locale. */
static void call_observer(void *of, const struct sr_observation *seen)
{
    const struct watch *w = of;
    const struct sr_front *front = seen->front;
    char text[SR_TEXT] = "";
    if (!w->progress)
        return;
    if (front->count)
        sr_expr_print(w->r->setup.language, &front->expr[front->count - 1], w->r->table.name, text,
                      sizeof text);
    const struct orrery_progress now = {.bytes = sizeof now,
                                        .seconds = seen->seconds,
                                        .evaluations = seen->evaluations,
                                        .epoch = seen->epoch,
                                        .rows = front->count,
                                        .loss =
                                            front->count ? front->loss[front->count - 1] : HUGE_VAL,
                                        .best = text};
    api_pause(w->call);
    const int stop = w->progress(&now, w->context);
    api_go_on(w->call);
    if (stop)
        orrery_stop(w->r);
}

/* --------------------------------------------------------------------------------- states */

/* Makes a folder that only this user can read, for the checkpoint of one search. */
static int make_folder(struct orr_tempdir *work, char path[4096])
{
    const char *temporary = getenv("TMPDIR");
    TRY(orr_tempdir_create(work, temporary && *temporary ? temporary : "/tmp", "orrery"));
    return orr_path(path, "%s/state", work->folder);
}

static int write_state(const struct orrery_regression *r, const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_write(&file, r->resumed, r->resumed_bytes);
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* --------------------------------------------------------------------------------- search */

int api_set_up(struct orrery_regression *r)
{
    char roles[API_ROLES];
    api_roles(r, roles);
    if (r->has_table && strcmp(roles, r->roles) != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "weights, category and log-target are read with the table: expected those "
                        "of orrery_regression_data(), %s, found %s; give the table again",
                        r->roles, roles);
    r->solved = r->options;
    r->solved.target = r->table.target;
    r->solved.use_seconds = r->seconds_given && !r->iterations_given;
    TRY(orr_settings_check(&r->settings));
    int rc = sr_csv_setup(&r->settings, &r->solved, &r->table, &r->setup);
    if (!rc && r->has_test)
        rc = sr_targets_check(r->setup.settings.loss, &r->solved, &r->second, "test");
    if (rc)
        sr_csv_setup_free(&r->setup);
    r->table.data.language = r->second.data.language = r->setup.language;
    return rc;
}

struct sr_problem api_problem(struct orrery_regression *r, int threads)
{
    return (struct sr_problem){.file = "table",
                               .options = &r->solved,
                               .table = &r->table,
                               .second = r->has_test ? &r->second : NULL,
                               .second_file = "test",
                               .setup = &r->setup,
                               .stop = &r->handle.stop,
                               .threads = threads};
}

static int run_search(struct orrery_regression *r, int threads, struct watch *watch,
                      struct orr_tempdir *work)
{
    char path[4096];
    int team;
    TRY(api_threads(threads, &team));
    if (!r->has_table)
        return ORR_FAIL(ORR_EMISSING, "search: there is no table yet; orrery_regression_data()");
    api_forget(r);
    TRY(api_set_up(r));
    r->setup.settings.observe = call_observer;
    r->setup.settings.observer = watch;
    if (r->keep_state || r->resumed) {
        TRY(make_folder(work, path));
        r->setup.settings.checkpoint = path;
        r->setup.settings.resume = r->resumed != NULL;
        TRY(r->resumed ? write_state(r, path) : 0);
    }
    const struct sr_problem problem = api_problem(r, team);
    TRY(sr_solve(&problem, &r->solution));
    r->setup.settings.checkpoint = NULL;
    r->setup.settings.observe = NULL;
    r->has_front = true;
    if (*work->folder && orr_exists(path))
        TRY(orr_file_read(path, &r->state, &r->state_bytes));
    return r->solution.stopped
               ? ORR_FAIL(ORR_EINTR, "stopped; the front is what was found until then")
               : 0;
}

int orrery_regression_search(struct orrery_regression *r, int threads,
                             orrery_progress_call *progress, void *context)
{
    struct api_call call;
    struct watch watch = {.r = r, .call = &call, .progress = progress, .context = context};
    struct orr_tempdir work = {.folder = ""};
    TRY(api_enter(r ? &r->handle : NULL, &call));
    const int rc = run_search(r, threads, &watch, &work);
    orr_tempdir_remove(&work);
    free(r->resumed);
    r->resumed = NULL;
    if (rc && rc != ORR_EINTR) {
        char message[sizeof r->handle.message];
        snprintf(message, sizeof message, "%s", orr_error());
        api_forget(r);
        return api_leave(&call, ORR_FAIL(rc, "%s", message));
    }
    return api_leave(&call, rc);
}

int orrery_fit(const struct orrery_table *table, const char *options,
               struct orrery_regression **fit)
{
    struct api_call call;
    TRY(orrery_regression_create(ORRERY_INTERFACE, fit));
    TRY(api_enter(&(*fit)->handle, &call));
    TRY(api_leave(&call, api_read_lines("options", options, api_set, *fit)));
    TRY(orrery_regression_data(*fit, table));
    return orrery_regression_search(*fit, 0, NULL, NULL);
}

int orrery_regression_state(struct orrery_regression *r, const void **state, size_t *bytes)
{
    struct api_call call;
    TRY(api_enter(r ? &r->handle : NULL, &call));
    int rc = !state || !bytes ? ORR_FAIL(ORR_EINVAL, "state: expected two pointers, found NULL")
             : !r->state      ? ORR_FAIL(ORR_EMISSING, "state: no search with "
                                                            "keep-state has ended an epoch")
                              : 0;
    if (!rc) {
        *state = r->state;
        *bytes = r->state_bytes;
    }
    return api_leave(&call, rc);
}

int orrery_regression_resume(struct orrery_regression *r, const void *state, size_t bytes)
{
    struct api_call call;
    TRY(api_enter(r ? &r->handle : NULL, &call));
    if (!state || !bytes)
        return api_leave(&call, ORR_FAIL(ORR_EINVAL, "resume: expected bytes, found none"));
    char *copy = malloc(bytes);
    if (!copy)
        return api_leave(&call, ORR_FAIL(ORR_ENOMEM, "resume: out of memory"));
    memcpy(copy, state, bytes);
    free(r->resumed);
    r->resumed = copy;
    r->resumed_bytes = bytes;
    return api_leave(&call, 0);
}
