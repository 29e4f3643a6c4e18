/* tensors.c - a checkpoint in memory, in place of base/safetensors.c: the page has read the header
 * of the file, whose JSON browsers parse. The checks of values and shapes are those of every
 * checkpoint (model/checkpoint.c). */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/orrery.h"
#include "base/error.h"
#include "base/safetensors.h"

enum { TENSORS_MAX = 8192, KEYS_MAX = 256, NAME = 128 };

struct orr_safetensors {
    char *text;          /* the header, cut into its lines */
    char *key[KEYS_MAX]; /* and the value behind each key's NUL */
    size_t keys, count;
    int uses;                  /* the last orr_safetensors_close() frees it */
    struct orr_tensor *tensor; /* (count) */
    char (*name)[NAME];        /* (count) */
};

static struct orr_safetensors *given; /* the file that is opened next */

/* base/npy.c has these for every kind of number; a checkpoint has three. */
size_t orr_dtype_size(enum orr_dtype dtype)
{
    return dtype == ORR_F32 ? 4 : 2;
}

const char *orr_dtype_descr(enum orr_dtype dtype)
{
    return dtype == ORR_F32 ? "<f4" : dtype == ORR_F16 ? "<f2" : "bf16";
}

static int read_tensor(struct orr_safetensors *file, const char *line, const char *data,
                       size_t bytes)
{
    char dtype[16];
    unsigned long rows, columns, offset;
    if (file->count == TENSORS_MAX)
        return ORR_FAIL(ORR_EFORMAT, "the checkpoint has more than %d tensors", TENSORS_MAX);
    struct orr_tensor *t = &file->tensor[file->count];
    char *name = file->name[file->count];
    if (sscanf(line, "%127s %15s %lu %lu %lu", name, dtype, &rows, &columns, &offset) != 5)
        return ORR_FAIL(ORR_EFORMAT,
                        "the header of the checkpoint: expected a tensor, found "
                        "\"%.60s\"",
                        line);
    t->name = name;
    t->dtype = !strcmp(dtype, "F32") ? ORR_F32 : !strcmp(dtype, "F16") ? ORR_F16 : ORR_BF16;
    t->ndim = columns ? 2 : 1;
    t->shape[0] = rows;
    t->shape[1] = columns ? columns : 1;
    const double size = (double)rows * (double)t->shape[1] * (double)orr_dtype_size(t->dtype);
    if (strcmp(dtype, "F32") && strcmp(dtype, "F16") && strcmp(dtype, "BF16"))
        return ORR_FAIL(ORR_EFORMAT, "tensor \"%s\": expected F32, F16 or BF16, found %s", name,
                        dtype);
    if ((double)offset + size > (double)bytes)
        return ORR_FAIL(ORR_EFORMAT, "tensor \"%s\": the file ends before it does", name);
    t->data = (void *)(uintptr_t)(data + offset);
    file->count++;
    return 0;
}

static int read_lines(struct orr_safetensors *file, const char *data, size_t bytes)
{
    char *rest = NULL, *blank = strstr(file->text, "\n\n"), *lines = blank ? blank + 2 : NULL;
    if (!blank)
        return ORR_FAIL(ORR_EFORMAT, "the header of the checkpoint has no empty line");
    *blank = '\0';
    for (char *line = strtok_r(file->text, "\n", &rest); line && file->keys < KEYS_MAX;
         line = strtok_r(NULL, "\n", &rest)) {
        char *equal = strchr(line, '=');
        if (equal)
            *equal = '\0';
        if (equal)
            file->key[file->keys++] = line;
    }
    int rc = 0;
    for (char *line = strtok_r(lines, "\n", &rest); line && !rc; line = strtok_r(NULL, "\n", &rest))
        rc = read_tensor(file, line, data, bytes);
    return rc;
}

static int read_header(const char *header, const char *data, size_t bytes,
                       struct orr_safetensors **file)
{
    struct orr_safetensors *read = *file = calloc(1, sizeof *read);
    if (!read)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    read->uses = 1;
    read->text = strdup(header);
    read->tensor = calloc(TENSORS_MAX, sizeof *read->tensor);
    read->name = calloc(TENSORS_MAX, sizeof *read->name);
    return read->text && read->tensor && read->name ? read_lines(read, data, bytes)
                                                    : ORR_FAIL(ORR_ENOMEM, "out of memory");
}

int orr_safetensors_open(const char *path, struct orr_safetensors **file)
{
    (void)path;
    *file = given;
    given->uses++;
    return 0;
}

const struct orr_tensor *orr_safetensors_find(const struct orr_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (!strcmp(file->tensor[i].name, name))
            return &file->tensor[i];
    return NULL;
}

const char *orr_safetensors_metadata(const struct orr_safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->keys; i++)
        if (!strcmp(file->key[i], key))
            return file->key[i] + strlen(key) + 1;
    return NULL;
}

void orr_safetensors_close(struct orr_safetensors *file)
{
    if (!file || --file->uses > 0)
        return;
    free(file->text);
    free(file->tensor);
    free(file->name);
    free(file);
}

int lab_model_open(const char *header, const char *data, int bytes, struct orrery_model **model)
{
    int status = ORRERY_EFORMAT;
    *model = NULL;
    if (read_header(header, data, (size_t)bytes, &given)) {
        (void)lab_say(status, orr_error());
    } else {
        status = orrery_model_create(ORRERY_INTERFACE, model);
        if (!status)
            status = orrery_model_open(*model, "model", 1, 0);
        (void)lab_note(status, *model);
    }
    orr_safetensors_close(given);
    if (status) {
        orrery_model_free(*model);
        *model = NULL;
    }
    return status;
}
