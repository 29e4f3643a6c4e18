/* split.c - the data sets of a preset: names, sizes, contents. */
#include "sim.h"

#include "stage/provenance.h"

#include <string.h>

_Static_assert((int)SIM_SPLITS == (int)ORR_SETS && (int)SIM_SUN_PLANETS == (int)ORR_SUN_PLANETS &&
                   (int)SIM_SUN_BODIES == (int)ORR_SUN_BODIES,
               "splits are the data sets of stage/provenance.h");

const char *sim_split_name(enum sim_split split)
{
    return orr_set_names[split];
}

bool sim_split_find(const char *name, enum sim_split *split, struct orr_nearest *nearest)
{
    *nearest = (struct orr_nearest){0};
    for (int i = 0; i < SIM_SPLITS; i++) {
        *split = (enum sim_split)i;
        if (!strcmp(sim_split_name(*split), name))
            return true;
        orr_nearest_offer(nearest, name, sim_split_name(*split));
    }
    return false;
}

uint64_t sim_split_count(const struct orr_settings *settings, enum sim_split split)
{
    return (uint64_t)orr_set_count_at(settings, (int)split);
}

int sim_split_positions(const struct orr_settings *settings, enum sim_split split)
{
    return split >= SIM_SPLIT_PLANETS_TRAIN ? 1 + 2 * settings->planets.steps
                                            : settings->orbits.positions;
}

bool sim_split_labelled(enum sim_split split)
{
    return (split >= SIM_SPLIT_TWO_BODY_TRAIN && split <= SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY) ||
           split == SIM_SPLIT_PLANETS_SOLAR;
}
