/* inductive_cells.c - inductive_cells.safetensors (docs/formats.md). */
#include "inductive_cells.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT "orrery-inductive-cells-1"

const char *const probe_inductive_arm[PROBE_MODELS] = {"pretrained", "untrained"};

static int take(struct probe_guesses *g, int arm, int set, const float *value)
{
    if (g->count == g->room) {
        const int room = g->room ? 2 * g->room : 64;
        struct probe_guess *more = realloc(g->cell, (size_t)room * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "cells of the inductive-bias probe: out of memory");
        g->cell = more;
        g->room = room;
    }
    float *own = orr_alloc(g->numbers, sizeof *own);
    if (!own)
        return ORR_ENOMEM;
    memcpy(own, value, g->numbers * sizeof *own);
    g->cell[g->count++] = (struct probe_guess){.arm = arm, .set = set, .value = own};
    return 0;
}

/* "untrained.7"; false where the name is no cell's. */
static bool parse(const char *name, int *arm, int *set)
{
    for (*arm = 0; *arm < PROBE_MODELS; ++*arm) {
        const size_t length = strlen(probe_inductive_arm[*arm]);
        if (strncmp(name, probe_inductive_arm[*arm], length) != 0 || name[length] != '.')
            continue;
        const char *number = name + length + 1;
        const size_t digits = strspn(number, "0123456789");
        *set = digits > 0 && digits < 8 && !number[digits] ? atoi(number) : -1;
        return *set >= 0;
    }
    return false;
}

/* What cannot be read is measured again. */
static int read_cells(struct probe_guesses *g)
{
    struct orr_safetensors *file = NULL;
    int rc = 0;
    if (orr_safetensors_open(g->path, &file)) {
        orr_error_clear();
        return 0;
    }
    const char *format = orr_safetensors_metadata(file, "format");
    const char *key = orr_safetensors_metadata(file, "key");
    const bool same = format && !strcmp(format, FORMAT) && key && !strcmp(key, g->key);
    for (size_t i = 0; same && i < orr_safetensors_count(file) && !rc; i++) {
        const struct orr_tensor *t = orr_safetensors_at(file, i);
        int arm, set;
        if (parse(t->name, &arm, &set) && t->dtype == ORR_F32 && t->ndim == 1 &&
            t->shape[0] == g->numbers)
            rc = take(g, arm, set, t->data);
    }
    orr_safetensors_close(file);
    return rc;
}

int probe_guesses_open(struct probe_guesses *g, const char *folder, const char key[PROBE_KEY],
                       size_t numbers, bool resume)
{
    *g = (struct probe_guesses){.numbers = numbers};
    snprintf(g->key, sizeof g->key, "%s", key);
    TRY(orr_path(g->path, "%s/inductive_cells.safetensors", folder));
    return resume && orr_exists(g->path) ? read_cells(g) : 0;
}

void probe_guesses_free(struct probe_guesses *g)
{
    for (int i = 0; i < g->count; i++)
        free(g->cell[i].value);
    free(g->cell);
    *g = (struct probe_guesses){0};
}

const float *probe_guesses_find(const struct probe_guesses *g, int arm, int set)
{
    for (int i = 0; i < g->count; i++)
        if (g->cell[i].arm == arm && g->cell[i].set == set)
            return g->cell[i].value;
    return NULL;
}

static int write_cells(const struct probe_guesses *g)
{
    enum { NAME = 32 };
    const char *const metadata[] = {"format", FORMAT, "version", ORR_VERSION, "key", g->key, NULL};
    struct orr_tensor *tensor = orr_alloc((size_t)g->count, sizeof *tensor);
    char(*name)[NAME] = orr_alloc((size_t)g->count, sizeof *name);
    int rc = tensor && name ? 0 : ORR_ENOMEM;
    for (int i = 0; i < g->count && !rc; i++) {
        snprintf(name[i], NAME, "%s.%d", probe_inductive_arm[g->cell[i].arm], g->cell[i].set);
        tensor[i] = (struct orr_tensor){.name = name[i],
                                        .dtype = ORR_F32,
                                        .ndim = 1,
                                        .shape = {g->numbers},
                                        .data = g->cell[i].value};
    }
    if (!rc)
        rc = orr_safetensors_write(g->path, tensor, (size_t)g->count, metadata);
    free(tensor);
    free(name);
    return rc;
}

int probe_guesses_add(struct probe_guesses *g, int arm, int set, const float *value)
{
    TRY(take(g, arm, set, value));
    return write_cells(g);
}
