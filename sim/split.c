/* split.c - the data sets of a preset: names, sizes, what they hold. */
#include "sim.h"

static const char *const names[SIM_SPLITS] = {
    "train",         "val",           "test",          "two_body_train",
    "two_body_val",  "two_body_test", "solar_system",  "solar_system_two_body",
    "planets_train", "planets_val",   "planets_solar", "planets_test",
};

const char *sim_split_name(enum sim_split split)
{
    return names[split];
}

uint64_t sim_split_count(const struct orr_preset *preset, enum sim_split split)
{
    const struct orr_orbits_preset *o = &preset->orbits;
    const struct orr_planets_preset *p = &preset->planets;
    const bool solar = o->solar_system && o->output == ORR_OUTPUT_TOKENS;
    const long count[SIM_SPLITS] = {
        [SIM_SPLIT_TRAIN] = o->train,
        [SIM_SPLIT_VAL] = o->val,
        [SIM_SPLIT_TEST] = o->test,
        [SIM_SPLIT_TWO_BODY_TRAIN] = o->two_body_train,
        [SIM_SPLIT_TWO_BODY_VAL] = o->two_body_val,
        [SIM_SPLIT_TWO_BODY_TEST] = o->two_body_test,
        [SIM_SPLIT_SOLAR_SYSTEM] = solar ? 1 : 0,
        [SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY] = solar ? SIM_SUN_PLANETS : 0,
        [SIM_SPLIT_PLANETS_TRAIN] = p->enabled ? p->train : 0,
        [SIM_SPLIT_PLANETS_VAL] = p->enabled ? p->val : 0,
        [SIM_SPLIT_PLANETS_SOLAR] = !p->enabled    ? 0
                                    : p->eccentric ? SIM_SUN_BODIES
                                                   : SIM_SUN_PLANETS,
        [SIM_SPLIT_PLANETS_TEST] = p->enabled ? p->test : 0,
    };
    return (uint64_t)count[split];
}

int sim_split_positions(const struct orr_preset *preset, enum sim_split split)
{
    return split >= SIM_SPLIT_PLANETS_TRAIN ? 1 + 2 * preset->planets.steps
                                            : preset->orbits.positions;
}

bool sim_split_labelled(enum sim_split split)
{
    return (split >= SIM_SPLIT_TWO_BODY_TRAIN && split <= SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY) ||
           split == SIM_SPLIT_PLANETS_SOLAR;
}
