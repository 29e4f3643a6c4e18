/* figure.c - where the gnuplot scripts of the figures are. */
#include "base.h"

#include <stdlib.h>

#include "text.h"

int orr_figure_script(const char *name, char path[4096])
{
    char folder[4096];
    const char *named = getenv("ORRERY_FIGURES");
    if (named && *named && !orr_path(path, "%s/%s", named, name) && orr_exists(path))
        return 0;
    if (!orr_program_folder(folder) && !orr_path(path, "%s/../figures/%s", folder, name) &&
        orr_exists(path))
        return 0;
    if (!orr_path(path, "figures/%s", name) && orr_exists(path))
        return 0;
    return ORR_FAIL(ORR_EMISSING,
                    "%s: not found beside the program nor in ./figures; name its folder in "
                    "$ORRERY_FIGURES",
                    name);
}
