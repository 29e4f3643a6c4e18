/* decide.h - laws of force judged by the paths of bodies (decide.c). */
#ifndef SR_MOTION_DECIDE_H
#define SR_MOTION_DECIDE_H

#include "motion.h"

/* The share of a search's seconds that is kept for the judgement. */
#define SR_MOTION_JUDGE_SHARE 0.4
struct sr_motion_court {
    const struct sr_tracks *tracks;
    const struct sr_motion_table *table;
    const struct sr_settings *settings; /* operators and size of laws */
    const char *const *features;        /* names of the table's columns: r, m1, m2 */
    double seconds;                     /* 0: no limit */
};
struct sr_motion_verdict {
    struct sr_measured measured; /* of the front's laws that were fitted to whole paths */
    bool judged;   /* the front has laws fitted to the paths, and the rule best selects by these */
    bool stopped;  /* the time, or a signal, ended the judgement */
    size_t paths;  /* of bodies that were followed */
    bool together; /* some are those of three bodies and more of a system */
    double misfit; /* rms residual of the chosen law in standard deviations of the noise; where none
                      is chosen the smallest; NAN: none was followed along whole paths */
    /* of the chosen law: its constants, in their order, and their standard errors by the paths */
    int params;
    double value[SR_NODES], error[SR_NODES];
};
/* Whether anything can be judged: tracks of bodies about a centre, or of all bodies of systems, at
 * common times. */
bool sr_motion_judges(const struct sr_tracks *tracks, const struct sr_motion_table *table);
/* Judges a finished front of the table `data`. Laws that follow the paths replace or join those of
 * the front; where none follows them, the front stays. ORR_ENOMEM. */
int sr_motion_judge(const struct sr_motion_court *court, const struct sr_data *data,
                    struct sr_front *front, struct sr_motion_verdict *verdict);

#endif
