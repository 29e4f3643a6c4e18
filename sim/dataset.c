/* dataset.c - reading data sets: mapped .npy files, checked against the preset. */
#include "sim.h"

#include <string.h>

/* Maps <dir>/<kind>_<split>.npy; *data = its array. */
static int map(struct sim_dataset *set, int slot, const char *dir, const char *kind,
               enum sim_split split, enum orr_dtype dtype, int ndim, size_t third,
               const void **data)
{
    char path[4096];
    size_t shape[3] = {set->n, (size_t)set->positions, third};
    int rc = orr_path(path, "%s/%s_%s.npy", dir, kind, sim_split_name(split));
    if (!rc)
        rc = orr_npy_expect(path, &set->file[slot], dtype, ndim, shape);
    if (rc)
        return rc;
    set->n = shape[0];
    *data = set->file[slot].data;
    return 0;
}

int sim_dataset_open(struct sim_dataset *set, const struct orr_preset *preset, const char *dir,
                     enum sim_split split)
{
    memset(set, 0, sizeof *set);
    set->positions = sim_split_positions(preset, split);
    set->bins = preset->orbits.bins;
    const bool tokens = preset->orbits.output == ORR_OUTPUT_TOKENS;
    const void *data[7] = {NULL};
    int rc = tokens ? map(set, 0, dir, "obs", split, ORR_U16, 3, 2, &data[0])
                    : map(set, 0, dir, "coords", split, ORR_F32, 3, 2, &data[0]);
    if (!rc)
        rc = map(set, 1, dir, "num_bodies", split, ORR_U8, 1, 0, &data[1]);
    if (!rc && sim_split_labelled(split)) {
        rc = map(set, 2, dir, "full_state", split, ORR_F32, 3, 6, &data[2]);
        if (!rc)
            rc = map(set, 3, dir, "state", split, ORR_F32, 3, 5, &data[3]);
        if (!rc)
            rc = map(set, 4, dir, "force_magnitude", split, ORR_F32, 3, 1, &data[4]);
        if (!rc)
            rc = map(set, 5, dir, "force_vector", split, ORR_F32, 3, 2, &data[5]);
    }
    if (!rc && split >= SIM_SPLIT_PLANETS_TRAIN)
        rc = map(set, 6, dir, "scale", split, ORR_F32, 1, 0, &data[6]);
    if (!rc && set->n == 0)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: the data set \"%s\" is empty", dir, sim_split_name(split));
    if (rc) {
        sim_dataset_close(set);
        return rc;
    }
    set->tokens = tokens ? data[0] : NULL;
    set->coords = tokens ? NULL : data[0];
    set->num_bodies = data[1];
    set->full_state = data[2];
    set->state = data[3];
    set->force_magnitude = data[4];
    set->force_vector = data[5];
    set->scale = data[6];
    return 0;
}

void sim_dataset_close(struct sim_dataset *set)
{
    for (int i = 0; i < 7; i++)
        orr_npy_close(&set->file[i]);
    memset(set, 0, sizeof *set);
}
