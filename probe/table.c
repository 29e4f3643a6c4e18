/* table.c - the probes of bin/probe: one line each. */
#include "probe.h"

#include <string.h>

const struct probe_command probe_table[] = {
    {"attention", "maps, entropy, sink mass, zeros of every layer and head", probe_attention, true,
     false, false},
    {"evaluate", "next-state errors (text: loss), as trained and as changed", probe_evaluate, false,
     false, false},
    {"outputs", "inputs and head outputs as arrays, in fp32", probe_outputs, false, true, false},
    {"labels", "R^2 of forces against labelled sequences, label saving", probe_labels, false, false,
     true},
    {"extrapolate", "forces outside the range of r, or m1 m2, of the labels", probe_extrapolate,
     false, false, true},
    {NULL, NULL, NULL, false, false, false},
};

int probe_find(const char *name, const struct probe_command **command)
{
    char known[256] = "";
    for (*command = probe_table; (*command)->name; ++*command) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", (*command)->name);
        if (name && !strcmp(name, (*command)->name))
            return 0;
    }
    return name ? ORR_FAIL(ORR_EUSAGE, "unknown probe \"%s\"; expected one of %s", name, known)
                : ORR_FAIL(ORR_EUSAGE, "which probe? expected one of %s", known);
}
