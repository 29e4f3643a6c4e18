/* choose.c - which formulas of the fronts the tracks support together. */
#include "dynamics.h"

#include <math.h>

int sr_system_choose(const struct sr_states *s, const struct sr_language *language,
                     const struct sr_equations_found *found, double seconds, int threads,
                     struct sr_system *system)
{
    (void)language;
    (void)seconds;
    (void)threads;
    *system = (struct sr_system){.residual = NAN};
    for (int d = 0; d < s->dims; d++) {
        system->choice[d] = found[d].best;
        system->expr[d] = found[d].expr[found[d].best];
        for (int c = 0; c < SR_NODES; c++)
            system->error[d][c] = NAN;
    }
    return 0;
}
