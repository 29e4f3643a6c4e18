/* length.h - inside probe/: errors of next-state predictions in sequences of any length. */
#ifndef PROBE_LENGTH_H
#define PROBE_LENGTH_H

#include "probe/core/bootstrap.h"
#include "probe/probe.h"

/* Errors of one model, a mean per sequence: of all predicted rows, and of those alone that lie
 * beyond the positions it was trained on (NaN where there are none). Coordinates: distances in AU
 * of body 1 from its true place, from its second place on; tokens and text: cross entropies in
 * nats. */
struct probe_errors {
    double *all, *late; /* (n) */
};
int probe_errors_create(struct probe_arena *arena, struct probe_errors *errors, int n);
/* Of sequences 0 .. probe->sequences - 1 of probe's data, rows 0 .. probe->T - 1; model: that of
 * the probe, or another one of its shape; NULL: bodies that stay where they are, in coordinates.
 * A prediction that is no number: ORR_EDIVERGED. A signal: ORR_EINTR. */
int probe_errors_of(struct probe *probe, struct gpt_model *model, struct probe_errors *errors);
/* Whether errors are distances of positions ("AU"), or cross entropies ("nats"). */
bool probe_errors_of_places(const struct probe *probe);
const char *probe_errors_unit(const struct probe *probe);

#endif
