/* counts.c - counts of parts as a file: facts about machine code, without the code. */
#include "sass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Numbers of a tally beside the classes, by their names in the file. */
struct amount {
    const char *name;
    double *of;
};
enum { AMOUNTS = 5 };

static void amounts_of(struct predict_tally *t, struct amount a[AMOUNTS])
{
    a[0] = (struct amount){"multiply_adds", &t->multiply_adds[PREDICT_MMA]};
    a[1] = (struct amount){"wgmma_multiply_adds", &t->multiply_adds[PREDICT_WGMMA]};
    a[2] = (struct amount){"shared_bytes", &t->shared_bytes};
    a[3] = (struct amount){"global_bytes", &t->global_bytes};
    a[4] = (struct amount){"local_bytes", &t->local_bytes};
}

static cJSON *json_of_part(const struct predict_part *part)
{
    cJSON *json = cJSON_CreateObject();
    struct predict_tally tally = part->tally;
    struct amount amount[AMOUNTS];
    char address[16];
    amounts_of(&tally, amount);
    cJSON_AddStringToObject(json, "part", part->name);
    cJSON_AddNumberToObject(json, "depth", part->depth);
    snprintf(address, sizeof address, "%04x", part->from);
    cJSON_AddStringToObject(json, "from", address);
    snprintf(address, sizeof address, "%04x", part->to);
    cJSON_AddStringToObject(json, "to", address);
    for (int c = 0; c < PREDICT_CLASSES; c++)
        if (tally.count[c] > 0)
            orr_json_add_exact(json, predict_class_name[c], tally.count[c]);
    for (int i = 0; i < AMOUNTS; i++)
        if (*amount[i].of > 0)
            orr_json_add_exact(json, amount[i].name, *amount[i].of);
    return json;
}

int predict_counts_write(const struct predict_code *code, const char *path, const char *name,
                         const char *source)
{
    cJSON *file = NULL;
    if (orr_exists(path))
        TRY(orr_json_read(path, &file));
    else
        file = cJSON_CreateObject();
    cJSON *kernels = cJSON_GetObjectItemCaseSensitive(file, "kernels");
    if (!kernels)
        kernels = cJSON_AddObjectToObject(file, "kernels");
    cJSON *kernel = cJSON_CreateObject();
    cJSON_AddStringToObject(kernel, "source", source);
    cJSON_AddStringToObject(kernel, "symbol", code->symbol);
    cJSON_AddStringToObject(kernel, "target", code->target);
    if (code->registers)
        cJSON_AddNumberToObject(kernel, "registers", code->registers);
    cJSON *parts = cJSON_AddArrayToObject(kernel, "parts");
    for (int p = 0; p < code->parts; p++)
        cJSON_AddItemToArray(parts, json_of_part(&code->part[p]));
    cJSON_DeleteItemFromObjectCaseSensitive(kernels, name);
    cJSON_AddItemToObject(kernels, name, kernel);
    const int rc = orr_json_write(path, file);
    cJSON_Delete(file);
    return rc;
}

static int read_part(struct predict_part *part, const cJSON *json, const char *path,
                     const char *kernel)
{
    struct amount amount[AMOUNTS];
    amounts_of(&part->tally, amount);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "part"));
    if (!name || !*name || strlen(name) >= sizeof part->name)
        return ORR_FAIL(ORR_EFORMAT, "%s: %s: \"part\" must be a name of up to %d characters", path,
                        kernel, PREDICT_NAME - 1);
    snprintf(part->name, sizeof part->name, "%s", name);
    for (const cJSON *item = json->child; item; item = item->next) {
        double *to = NULL;
        for (int c = 0; c < PREDICT_CLASSES; c++)
            if (!strcmp(item->string, predict_class_name[c]))
                to = &part->tally.count[c];
        for (int i = 0; i < AMOUNTS; i++)
            if (!strcmp(item->string, amount[i].name))
                to = amount[i].of;
        if (!to && strcmp(item->string, "part") && strcmp(item->string, "depth") &&
            strcmp(item->string, "from") && strcmp(item->string, "to"))
            return ORR_FAIL(ORR_EFORMAT, "%s: %s: part %s: unknown key \"%s\"", path, kernel, name,
                            item->string);
        if (to && (!cJSON_IsNumber(item) || !(item->valuedouble >= 0)))
            return ORR_FAIL(ORR_EFORMAT, "%s: %s: part %s: \"%s\" must be a number from 0 on", path,
                            kernel, name, item->string);
        if (to)
            *to = item->valuedouble;
    }
    return 0;
}

int predict_counts_read(const char *path, const char *name, struct predict_part **part, int *parts)
{
    cJSON *file;
    TRY(orr_json_read(path, &file));
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(file, "kernels");
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(kernels, name), "parts");
    int rc = 0;
    *parts = cJSON_GetArraySize(list);
    *part = NULL;
    if (*parts < 1)
        rc = ORR_FAIL(ORR_EMISSING, "%s: expected the parts of a kernel \"%s\"; found none", path,
                      name);
    else if (!(*part = orr_alloc((size_t)*parts, sizeof **part)))
        rc = ORR_ENOMEM;
    for (int i = 0; i < *parts && !rc; i++)
        rc = read_part(&(*part)[i], cJSON_GetArrayItem(list, i), path, name);
    cJSON_Delete(file);
    if (rc) {
        free(*part);
        *part = NULL;
    }
    return rc;
}
