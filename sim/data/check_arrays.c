/* check_arrays.c - checks the contents of a data set's arrays, beyond types and shapes. External
 * sets are read unchanged, and a number that our simulator never writes would stop a program hours
 * later or spoil its results silently. */
#include "sim/data/dataset.h"

#include <math.h>
#include <stdarg.h>

/* An error "<file>: sequence 12: ...", numbered within that file. */
static int fail_at(const struct sim_dataset *set, enum sim_kind kind, size_t i, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
static int fail_at(const struct sim_dataset *set, enum sim_kind kind, size_t i, const char *format,
                   ...)
{
    char name[SIM_NAME], what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    sim_shard_name(name, kind, set->split, i / set->shard_sequences, set->shards);
    return ORR_FAIL(ORR_EFORMAT, "%s/%s: sequence %zu: %s", set->dir, name,
                    i % set->shard_sequences, what);
}

/* --------------------------------------------------------------------------- all splits */

/* Most bodies of a sequence. Sets of two bodies hold two. In other sets a sequence shows the whole
 * first step and one row of the next; our own simulator may cut short sequences within the first
 * step. */
static int most_bodies(const struct sim_dataset *set)
{
    if (set->split >= SIM_SPLIT_PLANETS_TRAIN || set->split == SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY ||
        (set->split >= SIM_SPLIT_TWO_BODY_TRAIN && set->split <= SIM_SPLIT_TWO_BODY_TEST))
        return 2;
    const int whole = set->positions - 2;
    return whole > SIM_PLANETS + 1 ? whole : SIM_PLANETS + 1;
}

int sim_bodies_check(const struct sim_dataset *set)
{
    const int most = most_bodies(set);
    for (size_t i = 0; i < set->n; i++) {
        const int found = set->num_bodies[i];
        if (found < 2 || found > most)
            return most == 2
                       ? fail_at(set, SIM_KIND_NUM_BODIES, i, "expected 2 bodies, found %d", found)
                       : fail_at(set, SIM_KIND_NUM_BODIES, i, "expected 2 to %d bodies, found %d",
                                 most, found);
    }
    return 0;
}

/* Row 0 is a time step; the other rows are positions in bins. */
static int check_tokens(const struct sim_dataset *set, size_t i, const uint16_t *tokens)
{
    const int bins = set->bins;
    for (int c = 0; c < 2; c++)
        if (tokens[c] != bins && tokens[c] != bins + 1)
            return fail_at(set, SIM_KIND_OBS, i, "row 0: expected a time step, %d or %d, found %d",
                           bins, bins + 1, tokens[c]);
    for (size_t k = 2; k < 2 * (size_t)set->positions; k++)
        if (tokens[k] >= bins)
            return fail_at(set, SIM_KIND_OBS, i, "row %zu: expected a bin below %d, found %d",
                           k / 2, bins, tokens[k]);
    return 0;
}

static int check_coords(const struct sim_dataset *set, size_t i, const float *coords)
{
    const size_t axes = (size_t)set->dimensions;
    for (size_t k = 0; k < axes * (size_t)set->positions; k++)
        if (!isfinite(coords[k]))
            return fail_at(set, SIM_KIND_COORDS, i, "row %zu: expected a finite %s, found %g",
                           k / axes, k < axes ? "time step" : "coordinate", (double)coords[k]);
    return 0;
}

int sim_dataset_check_rows(const struct sim_dataset *set, size_t i)
{
    const uint16_t *tokens = sim_dataset_tokens(set, i);
    return tokens ? check_tokens(set, i, tokens) : check_coords(set, i, sim_dataset_coords(set, i));
}

/* ---------------------------------------------------------------------- labelled splits */

static int count_finite(const float *x, int n)
{
    int count = 0;
    for (int c = 0; c < n; c++)
        count += isfinite(x[c]) != 0;
    return count;
}

/* A label is a force above 0, on the row of a body, between two masses above 0 at a nonzero
 * distance. */
static int check_label(const struct sim_dataset *set, size_t i, size_t t)
{
    const int d = set->dimensions, numbers = 2 * d;
    const size_t at = i * (size_t)set->positions + t;
    const double F = (double)set->force_magnitude[at];
    const float *f = set->force_vector + (size_t)d * at;
    const float *full = set->full_state + (size_t)sim_full_columns(d) * at;
    const float *state = set->state + (size_t)sim_state_columns(d) * at;
    const int known = count_finite(f, d);
    const bool magnitude = isfinite(F), vector = known > 0;
    if (!magnitude && !vector)
        return 0;
    const enum sim_kind kind = magnitude ? SIM_KIND_FORCE_MAGNITUDE : SIM_KIND_FORCE_VECTOR;
    if (t == 0)
        return fail_at(set, kind, i, "row 0: expected no label (inf) on the time step, found %g",
                       magnitude ? F : (double)f[0]);
    if (magnitude && !(F > 0))
        return fail_at(set, kind, i, "row %zu: expected a force above 0, or inf, found %g", t, F);
    if (vector && known < d && d == 3)
        return fail_at(set, SIM_KIND_FORCE_VECTOR, i,
                       "row %zu: expected three finite numbers, or three inf, found %g, %g and %g",
                       t, (double)f[0], (double)f[1], (double)f[2]);
    if (vector && known < d)
        return fail_at(set, SIM_KIND_FORCE_VECTOR, i,
                       "row %zu: expected two finite numbers, or inf and inf, found %g and %g", t,
                       (double)f[0], (double)f[1]);
    for (int c = 0; c < numbers + 2; c++)
        if (!isfinite(full[c]) || (c >= numbers && !(full[c] > 0)))
            return fail_at(
                set, SIM_KIND_FULL_STATE, i,
                "row %zu, column %d: expected a %s where the force is labelled, found %g", t, c,
                c < numbers ? "finite number" : "mass above 0", (double)full[c]);
    if (full[0] == 0 && full[1] == 0 && (d == 2 || full[2] == 0))
        return fail_at(set, SIM_KIND_FULL_STATE, i,
                       "row %zu: expected a distance above 0 where the force is labelled, found 0",
                       t);
    for (int c = 0; c < numbers + 1; c++)
        if (!isfinite(state[c]))
            return fail_at(set, SIM_KIND_STATE, i,
                           "row %zu, column %d: expected a finite number where the force is "
                           "labelled, found %g",
                           t, c, (double)state[c]);
    return 0;
}

/* The unit of a sequence's force vectors is its largest force. */
static int check_unit(const struct sim_dataset *set, size_t i)
{
    const size_t numbers = (size_t)set->dimensions * (size_t)set->positions;
    const float *f = set->force_vector + i * numbers;
    bool labelled = false, moves = false;
    for (size_t k = 0; k < numbers; k++) {
        labelled = labelled || isfinite(f[k]);
        moves = moves || (isfinite(f[k]) && f[k] != 0);
    }
    return labelled && !moves
               ? fail_at(set, SIM_KIND_FORCE_VECTOR, i,
                         "expected a force other than 0 on one row at least, found 0")
               : 0;
}

int sim_labels_check(const struct sim_dataset *set)
{
    for (size_t i = 0; i < set->n; i++) {
        TRY(sim_dataset_check_rows(set, i));
        for (size_t t = 0; t < (size_t)set->positions; t++)
            TRY(check_label(set, i, t));
        TRY(check_unit(set, i));
    }
    return 0;
}
