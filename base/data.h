/* data.h - finds the data files of programs: presets, figure scripts, plugins.
 *
 * Searched in this order, where P is the folder of the program:
 *     P/../share/orrery/KIND/NAME     an installed bin/orrery, wherever the tree was moved
 *     P/../../share/orrery/KIND/NAME  one of its programs, where P is .../libexec/orrery
 *     P/../KIND/NAME                  a program in bin/ of the source
 *     PREFIX/share/orrery/KIND/NAME   of the build (make PREFIX=/usr; default /usr/local)
 *     $ORRERY_DATA/KIND/NAME          a program that was copied away from its data */
#ifndef ORR_DATA_H
#define ORR_DATA_H

/* Writes the path of NAME, or of the folder KIND if NAME is "". ORR_EMISSING where none of the
 * folders has it. Before this, callers search the folder that the user named for this kind
 * ($ORRERY_PRESETS ...). */
int orr_data_path(const char *kind, const char *name, char path[4096]);
/* Writes the path of a plugin: the environment variable `variable`, else `name` beside the program,
 * in P/../lib/orrery, in P/../../lib/orrery of .../libexec/orrery, or in PREFIX/lib/orrery. If
 * there is none, writes the path beside the program, for the caller's message. */
int orr_plugin_path(const char *variable, const char *name, char path[4096]);

#endif
