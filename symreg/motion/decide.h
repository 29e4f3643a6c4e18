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
    bool judged;   /* the front has laws fitted to the paths, and the rule best selects by these */
    size_t paths;  /* followed */
    double misfit; /* rms residual of the law that is chosen, or would be, in standard deviations of
                       the noise; NAN: none could be followed */
    /* of the chosen law: standard errors of its numbers by the paths, in their order */
    int numbers;
    double error[SR_NODES];
};
/* Whether anything can be judged: tracks of pairs that move as their law alone says, about each
 * other or about a centre. */
bool sr_motion_judges(const struct sr_tracks *tracks, const struct sr_motion_table *table);
/* Judges a finished front of the table `data`. Laws that follow the paths replace or join those of
 * the front; where none follows them, the front stays. ORR_ENOMEM. */
int sr_motion_judge(const struct sr_motion_court *court, const struct sr_data *data,
                    struct sr_front *front, struct sr_motion_verdict *verdict);

#endif
