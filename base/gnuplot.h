/* gnuplot.h - pictures drawn by gnuplot. */
#ifndef ORR_GNUPLOT_H
#define ORR_GNUPLOT_H

#include "file.h"

/* Draws `picture`, whose name ends in .png, .svg, .gif or .txt, by `gnuplot -c SCRIPT INPUT OUTPUT
 * png|svg|gif|txt`. The script is searched in $ORRERY_FIGURES, else in figures/ of the installed
 * data or beside the program's folder (data.h), never in the current folder; `input` is its first
 * argument. Relative paths are given to gnuplot with "./" before them, so that none is a command.
 * gnuplot draws under a temporary name, and the picture gets its own when gnuplot succeeded and the
 * picture is whole: anything else leaves what was there before. ORR_EMISSING: no gnuplot in PATH,
 * or no script; ORR_EINTR: a signal came meanwhile (one that came before does not stop it);
 * ORR_EIO: gnuplot failed, with its words, or the disk is full. */
int orr_gnuplot_draw(const char *script, const char *input, const char *picture);
/* Writes the path of a file of figures/: a script, or a file that the report includes in its page.
 * Searched like the script above. ORR_EMISSING where no folder has it. */
int orr_figures_path(const char *name, char path[4096]);
/* Whether there is a gnuplot in PATH. */
bool orr_gnuplot_is_there(void);
/* ORR_EMISSING where orr_gnuplot_draw() would find no gnuplot or no script. Call it before long
 * work. */
int orr_gnuplot_check(const char *script);
/* Writes a string as a gnuplot literal: "..." with escapes; backquotes become quotes. */
int orr_gnuplot_string(struct orr_file *file, const char *text);
/* Writes the line `variable = "text"`, or `variable[index] = "text"` for index >= 1; NULL is
 * written as "". */
int orr_gnuplot_assign(struct orr_file *file, const char *variable, int index, const char *text);
/* As orr_gnuplot_assign() for the path of a file that gnuplot will open: a relative one gets "./"
 * before it, since gnuplot runs the rest of a name that begins with "<" or "|" as a command. */
int orr_gnuplot_assign_path(struct orr_file *file, const char *variable, int index,
                            const char *path);

/* Draws <folder>/<name>.png by a gnuplot script, atomically. `write` fills a data file and a
 * settings file, <stem>.dat and <stem>.set in a temporary folder; the script's argument is the
 * stem. `write` may ignore the results of write calls, and neither commits nor closes the files.
 * Without gnuplot there is no picture, and an older one is removed. */
int orr_picture_draw(const char *folder, const char *name, const char *script,
                     int (*write)(const void *of, struct orr_file *data, struct orr_file *settings),
                     const void *of);
/* Call it before long work: says that there will be no picture where there is no gnuplot.
 * ORR_EMISSING without the script. */
int orr_picture_check(const char *script);

#endif
