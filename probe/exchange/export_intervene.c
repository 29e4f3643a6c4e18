/* export_intervene.c - what probe intervene asks: activations after the prefix of a rollout, and
 * how a model goes on when vectors are added to them. */
#include "exporter.h"
#include "probe/intervene/intervene.h"

#include <stdlib.h>

#include <cjson/cJSON.h>

static cJSON *ask(struct exporter *e, const char *file, const char *inputs, int count, int rows,
                  int width)
{
    const int shape[] = {count, rows, width};
    cJSON *one = cJSON_AddObjectToObject(e->asked, file);
    cJSON_AddStringToObject(one, "inputs", inputs);
    cJSON_AddItemToObject(one, "shape", cJSON_CreateIntArray(shape, 3));
    return one;
}

static int ask_all(struct exporter *e, const struct probe_intervene *v)
{
    const int last = v->prefix - 1, fit = v->fit.n;
    const size_t trials = probe_trials(v);
    cJSON *activations = ask(e, "activations_intervene_layer<l>.npy", "prefix_intervene.npy",
                             fit + probe_repeats((size_t)fit), 1, 0);
    cJSON_AddItemToObject(activations, "rows", cJSON_CreateIntArray(&last, 1));
    cJSON *continuations =
        ask(e, "continuations_layer<l>.npy", "prefix_intervene_test.npy",
            (int)trials + probe_repeats(trials), v->held_out.n, v->axes * v->horizons);
    cJSON_AddStringToObject(continuations, "additions", "additions_layer<l>.npy");
    cJSON_AddNumberToObject(continuations, "row", last);
    cJSON_AddItemToObject(continuations, "horizons",
                          cJSON_CreateIntArray(probe_horizons, v->horizons));
    TRY(probe_export_rows(e, "prefix_intervene.npy", &v->fit, (size_t)fit, v->prefix, v->prefix));
    return probe_export_set(e, "prefix_intervene_test.npy", &v->held_out, v->held_out.n, v->prefix);
}

int probe_export_intervene(struct exporter *e)
{
    struct probe_intervene *v = orr_alloc(1, sizeof *v);
    if (!v)
        return ORR_ENOMEM;
    v->s.options = e->options;
    int rc = probe_intervene_open(v);
    rc = rc ? rc : probe_intervene_prepare(v);
    if (rc == ORR_EINVAL) { /* another law than Newton's */
        orr_note(e->options->quiet, "export: no interventions: %s", orr_error());
        orr_error_clear();
        rc = 0;
    } else if (!rc)
        rc = ask_all(e, v);
    probe_rewind(&v->s.arena, 0);
    probe_close(&v->s.probe);
    free(v);
    return rc;
}
