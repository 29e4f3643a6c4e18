/* figure.h - draws pictures of results by gnuplot. */
#ifndef PROBE_FIGURE_H
#define PROBE_FIGURE_H

#include "session.h"

/* Draws <name>.png of the session's results, atomically. The script reads STEM.dat, the rows as in
 * <name>.csv but separated by tabs (a value without an interval has low = high = value), and
 * STEM.set: model, seed and what `settings` adds (NULL: nothing). The CSV itself cannot be used:
 * strcol() of gnuplot 5.4 splits quoted texts at their commas. */
int probe_session_draw(const struct probe_session *session, const char *script,
                       void (*settings)(const void *of, struct orr_file *file), const void *of);

/* A panel: rows of one quantity and measure, over layers or contexts. */
struct probe_panel {
    const char *quantity, *measure, *y_label;
    bool log;          /* logarithmic axis, for positive values */
    const char *title; /* NULL: the quantity */
};
/* Panels with the value, its interval, upper bound and baselines. */
struct probe_figure {
    const char *x_label;
    const char *value, *upper_bound, *baseline, *raw; /* names of the curves; NULL: not drawn */
    bool doubling;                                    /* logarithmic x axis with ticks at 2^k */
    double least;                                     /* lowest y drawn, if finite */
    /* true: the x axis is `context`, for layer `fixed`; false: the layer, for context `fixed` */
    bool by_context;
    int fixed; /* the fixed layer or context */
    const struct probe_panel *panel;
    int panels;
};
/* Draws <name>.png of the session's results (figures/probe_panels.gp), headed "<title>:
 * <description of the model>". */
int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *title, ...) __attribute__((format(printf, 3, 4)));

#endif
