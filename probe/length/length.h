/* length.h - inside probe/: errors of next-state predictions in sequences of any length. */
#ifndef PROBE_LENGTH_H
#define PROBE_LENGTH_H

#include "probe/core/bootstrap.h"
#include "probe/probe.h"

/* Mean errors of one model per sequence: over all predicted rows, and over rows beyond the trained
 * positions (NaN where there are none). Coordinates: distances in AU of body 1 from its true
 * position, from its second position on. Tokens and text: cross entropies in nats. */
struct probe_errors {
    double *all, *late; /* (n) */
};
int probe_errors_create(struct probe_arena *arena, struct probe_errors *errors, int n);
/* Measures sequences 0 .. probe->sequences - 1 of the probe's data, rows 0 .. probe->T - 1. model:
 * the probe's or another one of its shape; NULL: persistence, for coordinates. ORR_EDIVERGED where
 * a prediction is NaN. ORR_EINTR after a signal. */
int probe_errors_of(struct probe *probe, struct gpt_model *model, struct probe_errors *errors);
/* Whether errors are distances ("AU") or cross entropies ("nats"). */
bool probe_errors_of_places(const struct probe *probe);
const char *probe_errors_unit(const struct probe *probe);

#endif
