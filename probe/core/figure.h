/* figure.h - a picture of results: panels with the value, its interval and what it is scored on. */
#ifndef PROBE_FIGURE_H
#define PROBE_FIGURE_H

#include "session.h"

/* A panel: rows of one quantity and measure, over layers or over contexts. */
struct probe_panel {
    const char *title, *quantity, *measure, *y_label;
    bool by_context; /* the axis is `context`, of this layer; else the layer, of this context */
    int fixed;       /* that layer or context */
    bool log;        /* a logarithmic axis, of values above 0 */
};
struct probe_figure {
    const char *title; /* before ": " and the model's description */
    const char *x_label;
    const char *value, *ceiling, *floor, *raw; /* names of the curves, NULL = not drawn */
    bool doubling;                             /* the axis of x is logarithmic, ticks at 2^k */
    double least;                              /* lowest y that is drawn, where it is finite */
    const struct probe_panel *panel;
    int panels;
};
/* Draws <name>.png of the session's results by gnuplot (figures/probe_panels.gp), whole or not at
 * all. */
int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *name);

#endif
