/* grid_figure.h - inside probe/: a picture of one figure over the settings of a grid. */
#ifndef PROBE_GRID_FIGURE_H
#define PROBE_GRID_FIGURE_H

#include "grid.h"

/* What is drawn: numbers (places, seeds), NaN = none. */
struct probe_grid_figure {
    const struct probe_grid *grid;
    const char *title, *subtitle, *y_label;
    const double *value, *ceiling, *floor;
};
enum { PROBE_CURVES = 12, PROBE_PANELS = 12 };
/* Whether it can be drawn: no more curves and panels than that. The axis is the setting
 * with the most levels that are numbers, or the first; a curve is a level of the one with the most
 * of the others. */
bool probe_grid_fits(const struct probe_grid *grid);
/* Draws <folder>/<name>.png by gnuplot (figures/grid.gp), whole or not at all. */
int probe_grid_draw(const struct probe_grid_figure *figure, const char *folder, const char *name);

#endif
