/* gnuplot.h - pictures drawn by gnuplot. */
#ifndef ORR_GNUPLOT_H
#define ORR_GNUPLOT_H

#include "file.h"

/* Draws `picture`, whose name ends in .png, .svg or .gif, by
 * `gnuplot -c SCRIPT INPUT OUTPUT png|svg|gif`.
 * The script is of this name, in $ORRERY_FIGURES, else in figures/ of the installed data or beside
 * the program's folder (data.h), else in ./figures; `input` is what the script takes as its first
 * argument. gnuplot draws under a temporary name, and the picture gets its own when gnuplot
 * succeeded and the picture is whole: anything else leaves what was there before. ORR_EMISSING: no
 * gnuplot in PATH, or no script; ORR_EINTR: a signal came meanwhile (one that came before does not
 * stop it); ORR_EIO: gnuplot failed, with its words, or the disk is full. */
int orr_gnuplot_draw(const char *script, const char *input, const char *picture);
/* Where a file of figures/ is: a script, or what the report takes into its page (searched as
 * above). ORR_EMISSING: nowhere. */
int orr_figures_path(const char *name, char path[4096]);
/* ORR_EMISSING when orr_gnuplot_draw would find no gnuplot or no script, before work is done. */
int orr_gnuplot_check(const char *script);
/* Writes a string as a gnuplot literal: "..." with escapes, backquotes made quotes. */
int orr_gnuplot_string(struct orr_file *file, const char *text);
/* A line `variable = "text"`, or `variable[index] = "text"` for an index from 1 on; NULL is "". */
int orr_gnuplot_assign(struct orr_file *file, const char *variable, int index, const char *text);

#endif
