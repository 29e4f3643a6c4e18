/* json.c - orbit.json and orbit.csv. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

/* "key": {"value", "error", "low", "high"} of a value times `unit`, from `since`. */
static void add_value(cJSON *object, const char *key, const struct sr_value *value, double unit,
                      double since)
{
    cJSON *entry = cJSON_AddObjectToObject(object, key);
    orr_json_add_exact(entry, "value", value->value * unit + since);
    orr_json_add_exact(entry, "standard_error", value->error * unit);
    orr_json_add_exact(entry, "low", value->low * unit + since);
    orr_json_add_exact(entry, "high", value->high * unit + since);
}

static void add_planet(const struct sr_orbit_answer *a, int p, cJSON *list)
{
    static const char *const key[SR_ELEMENTS] = {
        "K", "P", "e", "omega_deg", "T_periastron", "T_conjunction", NULL};
    const struct sr_planet *planet = &a->planet[p];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    for (int k = 0; k < SR_ELEMENTS; k++)
        if (key[k])
            add_value(
                object, key[k], &planet->element[k], k == SR_ELEMENT_OMEGA ? SR_ORBIT_DEGREES : 1,
                k == SR_ELEMENT_PERIASTRON || k == SR_ELEMENT_CONJUNCTION ? a->data->middle : 0);
    cJSON_AddBoolToObject(object, "circular_within_95", planet->circular);
    if (a->star_mass > 0) {
        add_value(object, "m_sin_i_jupiter", &planet->mass, 1, 0);
        add_value(object, "a_au", &planet->axis, 1, 0);
    }
    cJSON *aliases = cJSON_AddArrayToObject(object, "aliases");
    for (int k = 0; k < planet->aliases; k++) {
        cJSON *alias = cJSON_CreateObject();
        cJSON_AddItemToArray(aliases, alias);
        cJSON_AddStringToObject(alias, "of", planet->alias[k].of);
        orr_json_add_exact(alias, "P", planet->alias[k].period);
        orr_json_add_exact(alias, "bic_above", planet->alias[k].bic);
    }
}

static void add_models(const struct sr_orbit_answer *a, cJSON *json)
{
    cJSON *models = cJSON_AddArrayToObject(json, "models");
    for (int k = 0; k <= a->found->most; k++) {
        const struct sr_orbit *orbit = &a->found->orbit[k];
        cJSON *model = cJSON_CreateObject();
        cJSON_AddItemToArray(models, model);
        cJSON_AddNumberToObject(model, "planets", k);
        cJSON_AddNumberToObject(model, "parameters", sr_orbit_count(orbit));
        orr_json_add_exact(model, "log_likelihood", orbit->likelihood);
        orr_json_add_exact(model, "chi2", orbit->chi2);
        orr_json_add_exact(model, "bic", a->found->bic[k]);
        if (k == 0)
            continue;
        orr_json_add_exact(model, "periodogram_peak", a->found->peak[k]);
        orr_json_add_exact(model, "chance_in_noise", a->found->chance[k]);
    }
}

/* Another maximum of the likelihood; null without one. */
static void add_rival(const struct sr_orbit_answer *a, cJSON *json)
{
    const struct sr_orbit *rival = &a->found->rival[a->orbit->planets];
    if (!rival->planets) {
        cJSON_AddNullToObject(json, "nearly_as_likely");
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(json, "nearly_as_likely");
    orr_json_add_exact(object, "bic_above", 2 * (a->orbit->likelihood - rival->likelihood));
    cJSON *planets = cJSON_AddArrayToObject(object, "planets");
    for (int p = 0; p < rival->planets; p++) {
        cJSON *planet = cJSON_CreateObject();
        cJSON_AddItemToArray(planets, planet);
        orr_json_add_exact(planet, "P", sr_orbit_element(rival, p, SR_ELEMENT_P));
        orr_json_add_exact(planet, "K", sr_orbit_element(rival, p, SR_ELEMENT_K));
        orr_json_add_exact(planet, "e", sr_orbit_element(rival, p, SR_ELEMENT_E));
    }
}

int sr_orbit_json(const struct sr_orbit_answer *a, const char *path)
{
    cJSON *json = orr_json_create("orrery-orbit-1");
    if (!json)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    cJSON_AddStringToObject(json, "file", a->data->file);
    cJSON_AddNumberToObject(json, "velocities", (double)a->data->n);
    orr_json_add_exact(json, "span", a->data->span);
    cJSON_AddNumberToObject(json, "recommended_planets", a->found->recommended);
    if (a->star_mass > 0)
        orr_json_add_exact(json, "star_mass", a->star_mass);
    add_models(a, json);
    add_rival(a, json);
    cJSON *planets = cJSON_AddArrayToObject(json, "planets");
    for (int p = 0; p < a->orbit->planets; p++)
        add_planet(a, p, planets);
    cJSON *instruments = cJSON_AddArrayToObject(json, "instruments");
    for (int k = 0; k < a->data->instruments; k++) {
        cJSON *instrument = cJSON_CreateObject();
        cJSON_AddItemToArray(instruments, instrument);
        cJSON_AddStringToObject(instrument, "name", a->data->name[k]);
        add_value(instrument, "gamma", &a->gamma[k], 1, 0);
        add_value(instrument, "jitter", &a->jitter[k], 1, 0);
    }
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

int sr_orbit_table(const struct sr_orbit_answer *a, const char *path)
{
    const struct sr_velocities *data = a->data;
    struct orr_file file;
    double *model = orr_alloc(data->n, sizeof *model);
    int rc = model ? orr_file_create(&file, path) : ORR_ENOMEM;
    if (!rc) {
        sr_orbit_model(a->orbit, data->n, data->t, NULL, model, NULL);
        orr_file_printf(&file, "time,instrument,velocity,model,residual,sigma");
        for (int p = 0; p < a->orbit->planets; p++)
            orr_file_printf(&file, ",phase_%d", p + 1);
        orr_file_printf(&file, "\n");
        for (size_t i = 0; i < data->n; i++) {
            const int k = data->instrument[i];
            const double v = data->v[i] - a->gamma[k].value;
            orr_file_printf(&file, "%.17g,", data->t[i] + data->middle);
            orr_csv_write_cell(&file, data->name[k]);
            orr_file_printf(&file, ",%.12g,%.12g,%.12g,%.9g", v, model[i], v - model[i],
                            sqrt(sr_orbit_variance(data, a->orbit, i)));
            for (int p = 0; p < a->orbit->planets; p++)
                orr_file_printf(&file, ",%.9g", sr_orbit_phase(a, p, data->t[i]));
            orr_file_printf(&file, "\n");
        }
        rc = orr_file_commit(&file);
        orr_file_close(&file);
    }
    free(model);
    return rc;
}
