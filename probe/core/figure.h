/* figure.h - pictures of results by gnuplot, from their rows. */
#ifndef PROBE_FIGURE_H
#define PROBE_FIGURE_H

#include "session.h"

/* Draws <name>.png of the session's results, whole or not at all. The script gets STEM.dat, their
 * rows, columns between tabs as in <name>.csv (a value without an interval is its own low and
 * high), and STEM.set: model, seed and what `settings` adds, NULL: nothing. The CSV itself does not
 * do: texts hold commas, which strcol() of gnuplot 5.4 takes for their ends even in quotes. */
int probe_session_draw(const struct probe_session *session, const char *script,
                       void (*settings)(const void *of, struct orr_file *file), const void *of);

/* A panel: rows of one quantity and measure, over layers or over contexts. */
struct probe_panel {
    const char *quantity, *measure, *y_label;
    bool log;          /* a logarithmic axis, of values above 0 */
    const char *title; /* NULL: the quantity */
};
/* Panels with the value, its interval and what it is scored on. */
struct probe_figure {
    const char *x_label;
    const char *value, *upper_bound, *baseline, *raw; /* names of the curves, NULL = not drawn */
    bool doubling;   /* the axis of x is logarithmic, ticks at 2^k */
    double least;    /* lowest y that is drawn, where it is finite */
    bool by_context; /* the axis is `context`, of this layer; else the layer, of this context */
    int fixed;       /* that layer or context */
    const struct probe_panel *panel;
    int panels;
};
/* Draws <name>.png of the session's results (figures/probe_panels.gp). The title stands before ": "
 * and the model's description. */
int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *title, ...) __attribute__((format(printf, 3, 4)));

#endif
