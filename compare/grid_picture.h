/* grid_picture.h - inside compare/: chooses the value of a grid to be drawn and the settings over
 * which it is drawn. */
#ifndef COMPARE_GRID_PICTURE_H
#define COMPARE_GRID_PICTURE_H

#include "grid.h"

/* The name of a row: "force, R^2"; with_context appends ", context 16". */
enum { COMPARE_ROW_NAME = ORR_QUANTITY + ORR_MEASURE + 40 };
void compare_row_name(const struct orr_row *row, bool with_context, char name[COMPARE_ROW_NAME]);
/* The drawn value: of the model as a whole, of one context, or over several contexts. */
struct compare_drawn {
    const struct orr_row *row; /* NULL: no picture */
    int contexts, context[COMPARE_LEVELS];
};
/* Chooses the value given by --figure, or the first one with a number. A name without a context is
 * drawn over all contexts. ORR_EUSAGE where no row has the name, or where a requested picture has
 * too many panels or curves; where none was requested, a note gives the reason. */
int compare_grid_choose(const struct compare_grid *grid, const struct compare_options *options,
                        const struct compare_files *files, struct compare_drawn *drawn);
/* Draws <out>/<probe>_grid.png, or removes an older one if there is none to draw. */
int compare_grid_picture(const struct compare_grid *grid, const struct compare_files *files,
                         const struct compare_drawn *drawn, const char *out);

/* A picture of the rows of a grid, see compare_grid_rows(). */
struct compare_grid_figure {
    const struct compare_grid *grid;
    const char *title, *subtitle, *y_label;
    const struct orr_table *rows; /* (places, seeds) */
};
enum { COMPARE_CURVES = 12, COMPARE_PANELS = 12 };
/* Whether the numbers of curves and panels are within the limits. The axis is the setting with the
 * most numeric levels, or else the first; the curves are the levels of the remaining setting with
 * the most levels. */
bool compare_grid_fits(const struct compare_grid *grid);
/* Draws <folder>/<name>.png by gnuplot (figures/grid.gp), atomically. */
int compare_grid_draw(const struct compare_grid_figure *figure, const char *folder,
                      const char *name);

#endif
