/* simulation.h - inside api/: the handle of simulations and data sets. */
#ifndef API_SIMULATION_H
#define API_SIMULATION_H

#include "call.h"
#include "stage/settings.h"

struct orrery_simulation {
    struct api_handle handle;
    struct orr_settings settings;
};

#endif
