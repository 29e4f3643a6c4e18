/* picture.h - a picture of results by gnuplot. */
#ifndef PROBE_PICTURE_H
#define PROBE_PICTURE_H

#include "session.h"

/* Draws <name>.png of the session's results, whole or not at all. The script gets STEM.dat, their
 * rows, columns between tabs as in <name>.csv (a value without an interval is its own low and
 * high), and STEM.set: model, seed and what `settings` adds, NULL: nothing. */
int probe_session_draw(const struct probe_session *session, const char *name, const char *script,
                       int (*settings)(const void *of, struct orr_file *file), const void *of);

#endif
