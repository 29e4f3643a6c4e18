/* file_units.c - the units that a file gives to its columns become those of --units. */
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "base/text.h"

/* The unit of a column by the file; NULL: none. */
static const char *unit_of(const struct orr_csv *csv, const char *name)
{
    const int column = orr_csv_column(csv, name);
    const char *unit = column < 0 ? NULL : csv->units[column];
    return unit && unit[strspn(unit, " \t-")] ? unit : NULL;
}

/* Writes "name"=unit, with a comma before it where others precede. */
static void write_unit(FILE *out, long before, const char *name, const char *unit)
{
    fputs(before ? "," : "", out);
    orr_print_quoted(out, name);
    fprintf(out, "=%s", unit);
}

/* Whether --units takes the text. Otherwise a note says why not. */
static bool is_taken(const struct sr_table *table, const char *file, bool quiet, const char *text)
{
    struct sr_units units;
    if (!sr_units_parse(text, table->name, table->data.features, table->target, &units))
        return true;
    orr_note(quiet, "symreg: %s: the units of the file are not used: %s", file, orr_error());
    orr_error_recover();
    return false;
}

int sr_table_units(const struct sr_table *table, const char *file, bool quiet, char **units)
{
    const int features = table->data.features;
    char text[256];
    size_t bytes;
    *units = NULL;
    if (!table->csv.units)
        return 0;
    FILE *out = open_memstream(units, &bytes);
    for (int f = 0; f <= features && out; f++) {
        const char *name = f < features ? table->name[f] : table->target;
        const char *unit = unit_of(&table->csv, name);
        if (unit && !sr_unit_translate(unit, text, sizeof text))
            orr_note(quiet,
                     "symreg: %s: column \"%s\": the unit \"%s\" is not understood and is left out "
                     "(--units \"%s=UNIT\" gives another)",
                     file, name, unit, name);
        else if (unit && *text)
            write_unit(out, ftell(out), name, text);
    }
    if (!out || fclose(out))
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", file);
    if (**units && is_taken(table, file, quiet, *units)) {
        orr_note(quiet, "symreg: %s: units of the file: %s (--units none: without)", file, *units);
        return 0;
    }
    free(*units);
    *units = NULL;
    return 0;
}
