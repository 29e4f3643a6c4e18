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
    sr_fit_free(r->fit);
    r->fit = NULL;
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
    for (int i = 0; i < API_OPTIONS; i++)
        free(r->option[i]);
    free(r->resumed);
    free(r);
}

const char *orrery_regression_message(const struct orrery_regression *r)
{
    return r ? r->handle.message : orrery_status_text(ORRERY_EINVAL);
}

void orrery_regression_stop(struct orrery_regression *r)
{
    if (r)
        atomic_store(&r->handle.stop.asked, true);
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
        orrery_regression_stop(w->r);
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

static int search_rows(struct orrery_regression *r, struct sr_fit *fit, int threads, double started)
{
    struct sr_settings *s = &r->setup.settings;
    struct orr_stop *stop = &r->handle.stop;
    struct sr_table sample = {0};
    const bool categories = r->table.category != NULL;
    fit->data = r->table.data;
    sr_category_give(&r->table, fit);
    int rc = r->setup.batch ? sr_table_sample(&r->table, r->setup.batch, s->seed, &sample) : 0;
    if (!rc && r->setup.batch)
        fit->data = sample.data;
    if (!rc && r->setup.batch)
        sr_category_give(&sample, fit);
    stop->until_s = sr_time_limit(s->max_seconds, SR_LIMIT_OF_SEARCH, started);
    if (!rc)
        rc = sr_search(s, fit, 1, threads, NULL);
    sr_table_free(&sample);
    const bool stopped = atomic_load(&stop->asked);
    if (rc && rc != ORR_EINTR)
        return rc;
    stop->until_s =
        stopped ? orr_time_s() + (categories ? SR_CATEGORIES_AFTER_STOP_S : SR_AFTER_STOP_S)
                : sr_time_limit(s->max_seconds,
                                categories ? SR_LIMIT_OF_CATEGORIES : SR_LIMIT_OF_ALL, started);
    const double forms_until =
        stopped ? orr_time_s() : sr_time_limit(s->max_seconds, SR_LIMIT_OF_ALL, started);
    TRY(categories ? sr_category_finish(s, forms_until, &r->table, fit)
                   : sr_front_finish(s, &r->table.data, r->setup.batch > 0, fit));
    stop->until_s = 0;
    TRY(categories ? 0 : sr_front_judge(s, &r->table.data, &fit->front));
    TRY(categories ? 0 : sr_front_name(s, &r->table.data, &fit->front));
    TRY(sr_front_alternatives(s, &r->table.data, fit));
    TRY(fit->alternatives ? sr_front_name(s, &r->table.data, fit->alternatives) : 0);
    if (!fit->front.count)
        return ORR_FAIL(ORR_EINVAL, "no formula is finite on every row and within the constraints");
    return stopped ? ORR_FAIL(ORR_EINTR, "stopped; the front is what was found until then") : 0;
}

int api_set_up(struct orrery_regression *r)
{
    struct sr_csv_options o = r->options;
    o.target = r->table.target;
    o.use_seconds = r->seconds_given && !r->iterations_given;
    TRY(orr_settings_check(&r->settings));
    const int rc = sr_csv_setup(&r->settings, &o, &r->table, &r->setup);
    if (rc)
        sr_csv_setup_free(&r->setup);
    r->table.data.language = r->setup.language;
    return rc;
}

static int run_search(struct orrery_regression *r, int threads, struct watch *watch,
                      struct orr_tempdir *work)
{
    char path[4096];
    const double started = orr_time_s();
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
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    if (!fit)
        return ORR_ENOMEM;
    const int rc = search_rows(r, fit, team, started);
    r->setup.settings.checkpoint = NULL;
    if (rc && rc != ORR_EINTR) {
        sr_fit_free(fit);
        return rc;
    }
    r->fit = fit;
    if (*work->folder && orr_exists(path))
        TRY(orr_file_read(path, &r->state, &r->state_bytes));
    return rc == ORR_EINTR ? ORR_FAIL(ORR_EINTR, "stopped; the front is what was found until then")
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

int orrery_regression_state(struct orrery_regression *r, const void **state, size_t *bytes)
{
    struct api_call call;
    TRY(api_enter(r ? &r->handle : NULL, &call));
    int rc = !state || !bytes ? ORR_FAIL(ORR_EINVAL, "state: expected two pointers, found NULL")
             : !r->state      ? ORR_FAIL(ORR_EMISSING, "state: no search with "
                                                            "keep-state was done")
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
