/* symmetry.h - inside symreg/dynamics/: what a system of accelerations has of symmetries. */
#ifndef SR_SYMMETRY_H
#define SR_SYMMETRY_H

#include "vectors.h"

struct cJSON;
enum { SR_CENTRAL, SR_STILL, SR_CURL_FREE, SR_SYMMETRIES };
/* A vector that would break a symmetry, added to the form and fitted to the tracks with it. */
struct sr_probe {
    struct sr_vector term;
    double value, error;
};
enum { SR_PROBES = 8 };
struct sr_symmetry {
    bool vectors; /* the equations are the components of the form */
    struct sr_form form;
    double nats, by_components; /* what the best form costs, and the system found without it */
    int probes;
    struct sr_probe probe[SR_PROBES];
    bool measured;
    /* along the tracks, as shares of the rms: of the acceleration, what stands across the position
     * (SR_CENTRAL) and what changes with velocities of other rows (SR_STILL); of its derivatives by
     * the position, the antisymmetric part (SR_CURL_FREE), which no potential has */
    double share[SR_SYMMETRIES];
    double error[SR_SYMMETRIES]; /* of shares, by the standard errors of the constants */
    bool timed;       /* the acceleration changes with the time, too */
    double time_nats; /* of a form with the time: by how much the best one without costs more */
};
/* Measures the shares of the equations that were found, with the constants of each track's
 * category, in system->symmetry. ORR_ENOMEM. */
struct sr_system;
int sr_symmetry_measure(const struct sr_states *states, const struct sr_language *language,
                        struct sr_system *system);
/* Line `number`, from 0, of the symmetries and their evidence; false behind the last one. */
bool sr_symmetry_text(const struct sr_states *states, const struct sr_symmetry *symmetry,
                      int number, char *text, size_t bytes);
/* Adds "symmetry": what was measured, and the form. */
void sr_symmetry_json(const struct sr_states *states, const struct sr_symmetry *symmetry,
                      struct cJSON *json);

#endif
