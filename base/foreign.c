/* foreign.c - names the formats that are no table of text by their first bytes, and what converts
 * them. */
#include "foreign.h"
#include "error.h"

#include <stdbool.h>
#include <string.h>

#define PANDAS(call)                                                                               \
    "converted by: python3 -c \"import pandas; pandas." call ".to_csv('NEW', index=False)\""
#define ASTROPY(call)                                                                              \
    "converted by: python3 -c \"from astropy.table import Table; Table.read(" call                 \
    ").write('NEW', format='ascii.ecsv')\""

/* By the first bytes, of files with a NUL. */
static const struct {
    const char *first, *name, *remedy;
} binary[] = {
    {"\xfd"
     "7zXZ",
     "compressed by xz", "xz -dc FILE >NEW"},
    {"BZh", "compressed by bzip2", "bzip2 -dc FILE >NEW"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc FILE >NEW"},
    {"PK\x03\x04", "a workbook or another zip archive",
     "save the sheet as CSV; " PANDAS("read_excel('FILE')")},
    {"\xd0\xcf\x11\xe0", "a workbook of Excel 97",
     "save the sheet as CSV; " PANDAS("read_excel('FILE')")},
    {"\x89HDF", "HDF5",
     ASTROPY("'FILE', format='hdf5'") "; of pandas: " PANDAS("read_hdf('FILE')")},
    {"PAR1", "Parquet", PANDAS("read_parquet('FILE')")},
    {"ARROW1", "Feather (Arrow)", PANDAS("read_feather('FILE')")},
    {"SQLite format 3", "a database of SQLite",
     "converted by: sqlite3 -header -csv FILE 'SELECT * FROM \"TABLE\"' >NEW"},
    {"MATLAB 5.0", "a file of MATLAB", "in MATLAB: writetable(T, 'NEW')"},
    {"\x80\x04\x95", "a pickle of Python", PANDAS("read_pickle('FILE')")},
    {"\x80\x05\x95", "a pickle of Python", PANDAS("read_pickle('FILE')")},
    {"\xff\xfe", "UTF-16", "save the table as UTF-8"},
    {"\xfe\xff", "UTF-16", "save the table as UTF-8"},
};

/* The last of those that begin a file and whose `inside` is in it is meant. */
static const struct {
    const char *first, *inside, *name, *remedy;
} text_formats[] = {
    {"SIMPLE  =", "", "FITS", ASTROPY("'FILE'")},
    {"<?xml", "", "XML", "expected a table, for example one that a spreadsheet saves as CSV"},
    {"<", "<html", "a page of HTML", ASTROPY("'FILE', format='ascii.html'")},
    {"<", "<HTML", "a page of HTML", ASTROPY("'FILE', format='ascii.html'")},
    {"<", "<VOTABLE", "VOTable (XML)", ASTROPY("'FILE', format='votable'")},
    {"\\begin", "", "a table of LaTeX", ASTROPY("'FILE', format='ascii.latex'")},
    {"\\begin", "\\begin{deluxetable", "a table of AASTeX",
     "the journal's machine-readable table (MRT) is read"},
    {"{", "\":", "JSON", PANDAS("read_json('FILE')")},
    {"[{", "\":", "JSON", PANDAS("read_json('FILE')")},
    {"{", "$$SOE", "JSON of JPL Horizons",
     "converted by: python3 -c \"import json; print(json.load(open('FILE'))['result'])\" >NEW"},
};

int orr_foreign_refuse(const char *path, const char *text, size_t bytes)
{
    const char *const start = text + strspn(text, " \t\r\n"), *name = NULL, *remedy = NULL;
    const size_t formats = sizeof binary / sizeof *binary;
    for (size_t k = 0; k < formats && !name; k++)
        if (bytes >= strlen(binary[k].first) &&
            !memcmp(text, binary[k].first, strlen(binary[k].first)) && memchr(text, '\0', bytes)) {
            name = binary[k].name;
            remedy = binary[k].remedy;
        }
    if (!name && !strchr("S<\\{[", *start))
        return 0;
    for (size_t k = 0; k < sizeof text_formats / sizeof *text_formats; k++)
        if (!strncmp(start, text_formats[k].first, strlen(text_formats[k].first)) &&
            strstr(start, text_formats[k].inside)) {
            name = text_formats[k].name;
            remedy = text_formats[k].remedy;
        }
    return name ? ORR_FAIL(ORR_EFORMAT, "%s: %s, expected a text file; %s", path, name, remedy) : 0;
}
