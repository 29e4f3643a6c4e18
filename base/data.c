/* data.c - finds data files and plugins (data.h). */
#include "data.h"
#include "error.h"
#include "file.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#ifndef ORR_PREFIX
#define ORR_PREFIX "/usr/local"
#endif

/* Whether folder/below/kind[/name] exists; writes its path. */
static bool find_below(const char *folder, const char *below, const char *kind, const char *name,
                       char path[4096])
{
    const int rc =
        orr_path(path, "%s/%s%s%s%s", folder, below, kind, *name ? "/" : "", *name ? name : "");
    if (rc)
        orr_error_clear();
    return !rc && orr_exists(path);
}

/* Whether the folder is the one that `make install` puts programs into. */
static bool is_libexec(const char *folder)
{
    return orr_ends_in(folder, "/libexec/orrery");
}

int orr_data_path(const char *kind, const char *name, char path[4096])
{
    char program[4096];
    const char *given = getenv("ORRERY_DATA");
    if (!orr_program_folder(program) &&
        (find_below(program, "../share/orrery/", kind, name, path) ||
         (is_libexec(program) && find_below(program, "../../share/orrery/", kind, name, path)) ||
         find_below(program, "../", kind, name, path)))
        return 0;
    if (find_below(ORR_PREFIX, "share/orrery/", kind, name, path) ||
        (given && *given && find_below(given, "", kind, name, path)))
        return 0;
    return ORR_FAIL(ORR_EMISSING,
                    "%s/%s: not found beside the program nor in %s/share/orrery; name the folder "
                    "that has %s/ in $ORRERY_DATA",
                    kind, name, ORR_PREFIX, kind);
}

int orr_plugin_path(const char *variable, const char *name, char path[4096])
{
    char program[4096];
    const char *given = getenv(variable);
    if (given && *given)
        return orr_path(path, "%s", given);
    const bool is_known = !orr_program_folder(program); /* never a plugin of the current folder */
    if ((is_known &&
         (find_below(program, "", name, "", path) ||
          find_below(program, "../lib/orrery/", name, "", path) ||
          (is_libexec(program) && find_below(program, "../../lib/orrery/", name, "", path)))) ||
        find_below(ORR_PREFIX, "lib/orrery/", name, "", path))
        return 0;
    return orr_path(path, "%s/%s", is_known ? program : ORR_PREFIX "/lib/orrery", name);
}
