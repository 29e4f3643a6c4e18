/* session.h - what a probe of one model goes through: it opens the model, finds results of before
 * under the same key, measures, writes. */
#ifndef PROBE_SESSION_H
#define PROBE_SESSION_H

#include "bootstrap.h"
#include "probe/results.h"

struct probe_session {
    const struct probe_options *options;
    const char *name; /* of the probe and its files */
    struct probe probe;
    struct probe_arena arena;         /* of all that lives as long as the session */
    struct gpt_model baseline;        /* untrained baseline, where `measure` makes it */
    struct probe_resamples resamples; /* of what intervals are over, where `measure` makes them */
    struct probe_results results;
    struct orr_progress progress;
    uint64_t done; /* steps of the progress */
    bool measured; /* false where results were there already */
    char folder[4096], key[PROBE_KEY];
    char more[PROBE_KEY]; /* of the key: options of the probe's own, by `open` */
};

/* Each function gets `of`, the probe's own struct. */
struct probe_steps {
    const char *name;   /* of the probe and its files */
    int revision;       /* of what is measured: part of the key */
    const char *script; /* of gnuplot, which must be there; NULL: no picture */
    /* Opens session->probe; finds everything that can be wrong before any work. */
    int (*open)(void *of);
    bool (*is_same)(const void *of); /* a condition for results to be kept; NULL: the key alone */
    int (*measure)(void *of);        /* fills session->results */
    /* Pictures and tables beside <name>.csv and <name>.json, whose JSON comes last because --resume
     * looks for it; NULL: none. */
    int (*write)(void *of);
    bool (*is_shown)(const struct probe_row *row); /* on stdout; NULL: every row */
};

/* Goes through the steps and closes what the session holds. session: all zero. */
int probe_session_run(struct probe_session *session, const struct probe_options *options,
                      const struct probe_steps *steps, void *of);
/* One step of the progress is done: ORR_EINTR at a signal. */
int probe_session_tick(struct probe_session *session);

#endif
