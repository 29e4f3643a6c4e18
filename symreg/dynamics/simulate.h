/* simulate.h - `symreg simulate`: the solution of a system of equations as a table. */
#ifndef SR_SIMULATE_H
#define SR_SIMULATE_H

#include <stdbool.h>

/* Options as given; NULL where absent. */
struct sr_simulate_options {
    const char *start;    /* "x=1,y=0": every state */
    const char *times;    /* "begin:end:step", or a CSV file with a column of the time's name */
    const char *category; /* whose constants the equations have; where they have some */
    const char *input;    /* a CSV file with columns of the time and of all inputs */
    const char *out;      /* a file in place of standard output; "": none */
    bool quiet;
};
/* Reads equations.json (docs/formats.md), solves it and writes CSV: the time, the states, and with
 * equations of order 2 their velocities. Where the solution ends before the last time, the rows up
 * to there are written, and the error, ORR_EINVAL, names the time. Other errors write nothing. */
int sr_simulate_run(const char *path, const struct sr_simulate_options *options);

#endif
