/* data.h - where the files are that programs need beside themselves: presets, figure scripts,
 * plugins.
 *
 * Searched in this order, P being the folder of the program:
 *     P/../share/orrery/KIND/NAME     an installed program, wherever the tree was moved
 *     P/../KIND/NAME                  a program in bin/ of the source
 *     PREFIX/share/orrery/KIND/NAME   of the build (make PREFIX=/usr; default /usr/local)
 *     $ORRERY_DATA/KIND/NAME          a program that was copied away from its data */
#ifndef ORR_DATA_H
#define ORR_DATA_H

/* The path of NAME, or of the folder KIND itself where NAME is "". ORR_EMISSING: in none of them.
 * Callers look first where the user has named a folder for this kind ($ORRERY_PRESETS ...). */
int orr_data_path(const char *kind, const char *name, char path[4096]);
/* Where a plugin is: the path in the environment variable `variable`, else `name` beside the
 * program, in P/../lib/orrery or in PREFIX/lib/orrery. Where there is none, the path beside the
 * program, so that the caller's message names it. */
int orr_plugin_path(const char *variable, const char *name, char path[4096]);

#endif
