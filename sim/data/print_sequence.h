/* print_sequence.h - prints and draws one sequence. Shared inside sim/data only. */
#ifndef SIM_DATA_PRINT_SEQUENCE_H
#define SIM_DATA_PRINT_SEQUENCE_H

#include "sim/data/dataset.h"

struct sim_shown {
    const struct orr_settings *settings;
    enum sim_split split;
    uint64_t index;
    const char *unknown; /* why the elements are not known; NULL: they are */
    const char *dir;     /* folder of the rows; NULL: made from settings */
    bool tracks;         /* imported: without a star, in any units */
    struct sim_system system;
    struct sim_sequence sequence;
};

/* Whether the bodies stay on the ellipses of their elements. */
bool sim_shown_kepler(const struct sim_shown *shown);
/* A remark "law yukawa: a, e and period are those of Newton's law at the start"; "" if they hold
 * throughout. */
void sim_shown_law(const struct sim_shown *shown, char text[160]);
double sim_shown_period_yr(const struct sim_shown *shown, int planet);

/* ORR_EUSAGE unless it is FILE.png or FILE.svg. */
int sim_picture_check(const char *picture);
/* Draws the orbits and the samples of the sequence by figures/orbit.gp; errors as
 * orr_gnuplot_draw(). */
int sim_picture_draw(const struct sim_shown *shown, const char *picture);

#endif
