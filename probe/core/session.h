/* session.h - the steps that every probe of one model takes: open the model, look for earlier
 * results under the same key, measure, write. */
#ifndef PROBE_SESSION_H
#define PROBE_SESSION_H

#include "bootstrap.h"
#include "probe/results.h"

struct probe_session {
    const struct probe_options *options;
    const char *name; /* name of the probe and its files */
    struct probe probe;
    struct probe_arena arena;         /* memory that lives as long as the session */
    struct gpt_model baseline;        /* untrained baseline, if `measure` creates it */
    struct probe_resamples resamples; /* resamples for intervals, if `measure` creates them */
    struct probe_results results;
    struct orr_progress progress;
    uint64_t done; /* completed steps of the progress */
    bool measured; /* false where earlier results were kept */
    char folder[4096], key[PROBE_KEY];
    char more[PROBE_KEY]; /* the probe's own options for the key, set by `open` */
};

/* The steps of a probe. Each function receives `of`, the probe's own struct. */
struct probe_steps {
    const char *name;   /* name of the probe and its files */
    int revision;       /* revision of the measurement, part of the key */
    const char *script; /* gnuplot script, which must exist; NULL: no picture */
    /* Opens session->probe and reports all errors that can be found before any work. */
    int (*open)(void *of);
    /* additional condition for keeping earlier results; NULL: the key alone decides */
    bool (*is_same)(const void *of);
    int (*measure)(void *of); /* fills session->results */
    /* Writes pictures and tables next to <name>.csv and <name>.json; NULL: none. The JSON is
     * written last, as --resume looks for it. */
    int (*write)(void *of);
    bool (*is_shown)(const struct orr_row *row); /* whether a row is printed; NULL: every row */
};

/* Runs the steps and closes everything that the session holds. session: zero-initialised. */
int probe_session_run(struct probe_session *session, const struct probe_options *options,
                      const struct probe_steps *steps, void *of);
/* Completes one step of the progress. ORR_EINTR after a signal. */
int probe_session_tick(struct probe_session *session);

#endif
