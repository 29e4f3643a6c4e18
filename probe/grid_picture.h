/* grid_picture.h - inside probe/: which figure of a grid is drawn, and over what settings. */
#ifndef PROBE_GRID_PICTURE_H
#define PROBE_GRID_PICTURE_H

#include "grid.h"

/* The name of a row: "force, R^2", and of one of several contexts ", context 16" where that is
 * wanted. */
enum { PROBE_ROW_NAME = PROBE_QUANTITY + PROBE_MEASURE + 40 };
void probe_row_name(const struct probe_row *row, bool with_context, char name[PROBE_ROW_NAME]);
/* What is drawn: a figure of the model as a whole, of one context, or over several. */
struct probe_drawn {
    const struct probe_row *row; /* NULL: there is no picture */
    int contexts, context[PROBE_LEVELS];
};
/* Of --figure, or the first one that has a number; without a context in its name it is drawn over
 * all that it has. A name that no row has, and a picture that was asked for and has no room, are
 * ORR_EUSAGE; where nobody asked, a note says why there is none. */
int probe_grid_choose(const struct probe_grid *grid, const struct probe_options *options,
                      const struct probe_file *files, struct probe_drawn *drawn);
/* <out>/<probe>_grid.png, or none: not that of before. */
int probe_grid_picture(const struct probe_grid *grid, const struct probe_file *files,
                       const struct probe_drawn *drawn, const char *out);

/* A picture: numbers (places, seeds), NaN = none. */
struct probe_grid_figure {
    const struct probe_grid *grid;
    const char *title, *subtitle, *y_label;
    const double *value, *upper_bound, *baseline;
};
enum { PROBE_CURVES = 12, PROBE_PANELS = 12 };
/* Whether it can be drawn: no more curves and panels than that. The axis is the setting
 * with the most levels that are numbers, or the first; a curve is a level of the one with the most
 * of the others. */
bool probe_grid_fits(const struct probe_grid *grid);
/* Draws <folder>/<name>.png by gnuplot (figures/grid.gp), whole or not at all. */
int probe_grid_draw(const struct probe_grid_figure *figure, const char *folder, const char *name);

#endif
