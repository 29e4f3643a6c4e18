/* judge.h - inside symreg/dynamics/: a system of equations judged by the tracks. */
#ifndef SR_JUDGE_H
#define SR_JUDGE_H

#include "dynamics.h"
#include "flow.h"

/* By what systems are judged. */
struct sr_judge {
    const struct sr_states *states;
    const struct sr_language *language;
    size_t tracks;
    struct sr_flow_track *track; /* (tracks) */
    double exact;                /* mean squared residual, in variances, that is as good as none */
    double seconds, until_s;     /* the limit, and when it is reached (orr_time_s()); 0: none */
};

/* A system that was fitted. */
struct sr_judged {
    struct sr_expr expr[SR_STATES];
    /* numbers that equations share, as in struct sr_flow, and what the formulas cost without their
     * numbers, as they are written once for all; NULL: each equation has its own */
    const int (*group)[SR_NODES];
    double shared_nats;
    double nats;   /* infinite: no solution follows the tracks */
    double misfit; /* mean squared residual in variances of the noise */
    double spare;  /* numbers compared less numbers fitted */
    size_t starts;
    int constants;
    /* of the constants that were fitted: which equation, which number of it, what it was fitted to,
     * a fraction that it may be (NAN: none), standard error */
    int equation[SR_NODES], number[SR_NODES];
    double value[SR_NODES], simple[SR_NODES], error[SR_NODES];
};

/* Takes all tracks of the states. ORR_ENOMEM. */
int sr_judge_create(const struct sr_states *states, const struct sr_language *language,
                    double seconds, struct sr_judge *judge);
void sr_judge_free(struct sr_judge *judge);
/* Whether the seconds have passed, or a signal was seen. */
bool sr_judge_over(const struct sr_judge *judge);
/* Fits the constants of judged->expr to the tracks and fills in the rest: the only place where
 * systems are integrated. */
int sr_judge_fit(const struct sr_judge *judge, struct sr_judged *judged);

/* What a formula of an equation costs without its constants, in nats, where `names` may be in it
 * (prior.c). */
double sr_equation_nats(const struct sr_expr *expr, int names);

#endif
