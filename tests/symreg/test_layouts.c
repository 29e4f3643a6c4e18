/* test_layouts.c - tables in the layouts of astronomy: those that other programs write give the
 * values of the CSV file beside them; those of archives are written here by their documents. */
#include <math.h>
#include <string.h>

#include "base/scratch.h"
#include "symreg/layout/layout.h"

#define CASES "tests/cases/layouts/"

static char scratch[64], path[4096];

FIXTURE(setup)
{
    scratch_create(scratch);
    return 0;
}

FIXTURE(teardown)
{
    scratch_remove(scratch);
    return 0;
}

static int read_text(const char *text, struct orr_csv *csv)
{
    scratch_path(path, scratch, "table");
    scratch_text(path, text);
    return sr_cells_read(path, ORR_CSV_KEEP_ODD, csv);
}

/* The text must be refused, with this in the message. */
static void refused(const char *text, const char *message)
{
    struct orr_csv csv;
    assert_int_equal(read_text(text, &csv), ORR_EFORMAT);
    if (!strstr(orr_error(), message))
        fail_msg("expected \"%s\" in \"%s\"", message, orr_error());
}

static double value(const struct orr_csv *csv, const char *name, size_t row)
{
    const int column = orr_csv_column(csv, name);
    if (column < 0 || row >= csv->rows)
        fail_msg("no column \"%s\" or no row %zu", name, row);
    return csv->values[row * csv->cols + (size_t)column];
}

static const char *unit(const struct orr_csv *csv, const char *name)
{
    const int column = orr_csv_column(csv, name);
    assert_true(column >= 0 && csv->units);
    return csv->units[column] ? csv->units[column] : "";
}

/* Whether two tables have the same numbers in the same columns. */
static void same_numbers(const char *file, const struct orr_csv *a, const struct orr_csv *b)
{
    if (a->rows != b->rows || a->cols != b->cols)
        fail_msg("%s: expected %zu rows of %zu columns, found %zu of %zu", file, a->rows, a->cols,
                 b->rows, b->cols);
    for (size_t c = 0; c < a->cols; c++)
        for (size_t r = 0; r < a->rows; r++) {
            const double x = a->values[r * a->cols + c], y = value(b, a->names[c], r);
            if (!(x == y || (isnan(x) && isnan(y))))
                fail_msg("%s: column \"%s\", row %zu: expected %.17g, found %.17g", file,
                         a->names[c], r, x, y);
        }
}

/* Written by astropy 8.0.2, NumPy 2.4.6 and pandas 3.1.1: tests/cases/layouts/make.py. */
TEST(layouts_of_other_programs_have_the_same_values)
{
    static const struct {
        const char *file, *layout;
        bool units;
    } cases[] = {{"planets.ecsv", "ECSV", true},
                 {"planets_commas.ecsv", "ECSV", true},
                 {"planets.ipac", "an IPAC table", true},
                 {"planets.mrt", "columns of a byte-by-byte description (CDS, MRT)", true},
                 {"planets.basic", "cells with blanks between", false},
                 {"planets.commented", "cells with blanks between", false},
                 {"planets.tab", "cells with tabs between", false},
                 {"planets.rdb", "cells with tabs between", false},
                 {"planets.pandas.tsv", "cells with tabs between", false},
                 {"planets.bars", "cells with bars between", false},
                 {"planets.two_line", "columns below a rule", false},
                 {"planets.rst", "columns below a rule", false},
                 {"planets.npy", "an array of NumPy (.npy)", false},
                 {"planets.npz", "arrays of NumPy (.npz)", false},
                 {"planets_deflated.npz", "arrays of NumPy (.npz)", false}};
    struct orr_csv csv, other;
    assert_int_equal(sr_cells_read(CASES "planets.csv", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_null(csv.layout);
    assert_true(csv.rows == 8 && isnan(value(&csv, "M", 3)) && value(&csv, "hot", 3) == 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char file[200];
        snprintf(file, sizeof file, CASES "%s", cases[k].file);
        if (sr_cells_read(file, ORR_CSV_KEEP_ODD, &other))
            fail_msg("%s", orr_error());
        assert_string_equal(other.layout, cases[k].layout);
        same_numbers(file, &csv, &other);
        assert_string_equal(other.cells[other.cols], "HD 1 b");
        assert_true(!other.units == !cases[k].units);
        if (cases[k].units)
            assert_string_equal(unit(&other, "a"), "AU");
        orr_csv_free(&other);
    }
    orr_csv_free(&csv);
}

TEST(every_type_of_numpy_is_read)
{
    struct orr_csv csv;
    assert_int_equal(sr_cells_read(CASES "kinds.npy", ORR_CSV_KEEP_TEXT, &csv), 0);
    assert_true(value(&csv, "half", 1) == -1.25 && fabs(value(&csv, "half", 2) - 6.1e-5) < 1e-7);
    assert_true((float)value(&csv, "single", 0) == 0.1f &&
                (float)value(&csv, "single", 2) == 3e30f);
    assert_true(value(&csv, "byte", 0) == -7 && value(&csv, "word", 0) == 65535);
    assert_true(value(&csv, "long", 0) == -9007199254740992.0);
    assert_true(value(&csv, "long", 2) == 1099511627776.0);
    assert_string_equal(csv.cells[csv.cols + 5], "\"c");
    assert_string_equal(csv.cells[2 * csv.cols + 5], "d,e");
    for (size_t c = 6; c < 8; c++) { /* days and nanoseconds */
        assert_string_equal(csv.cells[c], "2021-01-03T00:00:00");
        assert_string_equal(csv.cells[csv.cols + c], "1969-07-20T00:00:00");
        assert_string_equal(csv.cells[2 * csv.cols + c], "NaT");
    }
    orr_csv_free(&csv);
    assert_int_equal(sr_cells_read(CASES "matrix.npy", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_true(csv.rows == 3 && value(&csv, "c0", 2) == 1 && value(&csv, "c1", 1) == 0.75);
    orr_csv_free(&csv);
    assert_int_equal(sr_cells_read(CASES "matrices.npz", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_true(value(&csv, "x_1", 2) == 5 && value(&csv, "x_0", 1) == 2 &&
                value(&csv, "y", 0) == 7);
    orr_csv_free(&csv);
    assert_int_equal(sr_cells_read(CASES "rows_differ.npz", ORR_CSV_KEEP_ODD, &csv), ORR_EFORMAT);
    assert_non_null(
        strstr(orr_error(), "rows_differ.npz: y: expected 3 rows, as \"x\" has, found 4"));
    assert_int_equal(sr_cells_read(CASES "objects.npy", ORR_CSV_KEEP_ODD, &csv), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "|O (objects of Python)"));
    assert_int_equal(sr_cells_read(CASES "cube.npy", ORR_CSV_KEEP_ODD, &csv), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "found 3 dimensions"));
}

/* horizons_*: astroquery 0.4.11, answers of JPL's service of 2022 and later, shortened. */
TEST(horizons_is_read_from_soe_to_eoe)
{
    struct orr_csv csv;
    assert_int_equal(sr_cells_read(CASES "horizons_vectors.csv.txt", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_true(csv.rows == 3 && value(&csv, "JDTDB", 1) == 2459750.5);
    assert_true(value(&csv, "X", 2) == -1.032442649066608 && csv.line[2] == 19);
    assert_string_equal(unit(&csv, "VX"), "AU/d");
    orr_csv_free(&csv);
    assert_int_equal(sr_cells_read(CASES "horizons_elements.csv.txt", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_true(value(&csv, "PR", 0) == 1680.607784520964);
    assert_string_equal(unit(&csv, "QR"), "AU");
    assert_string_equal(unit(&csv, "EC"), "");
    orr_csv_free(&csv);
    assert_int_equal(sr_cells_read(CASES "horizons_observer.csv.txt", ORR_CSV_KEEP_ODD, &csv), 0);
    assert_true(value(&csv, "DEC_(ICRF)", 1) == 26.59903);
    orr_csv_free(&csv);
}

#define HEAD "**\nOutput units    : KM-S\n**\nJDTDB\n   X     Y\n   VX    VY\n**\n$$SOE\n"

TEST(horizons_text_has_labels_or_names_above)
{
    static const char *const texts[] = {
        HEAD "2451545.0 = A.D. 2000-Jan-01 12:00:00.0000 TDB \n X = 2.5E+00 Y =-1.5E+00\n"
             " VX= 3.0E-01 VY= 4.0E-01\n2451546.0 = A.D. 2000-Jan-02 12:00:00.0000 TDB \n"
             " X = 2.6E+00 Y =-1.6E+00\n VX= 3.1E-01 VY= 4.1E-01\n$$EOE\n Z = 1\n",
        HEAD "2451545.0 = A.D. 2000-Jan-01 12:00:00.0000 TDB \n  2.5E+00 -1.5E+00\n"
             "  3.0E-01  4.0E-01\n2451546.0 = A.D. 2000-Jan-02 12:00:00.0000 TDB \n"
             "  2.6E+00 -1.6E+00\n  3.1E-01  4.1E-01\n$$EOE\n"};
    for (size_t k = 0; k < 2; k++) {
        struct orr_csv csv;
        if (read_text(texts[k], &csv))
            fail_msg("%s", orr_error());
        assert_true(csv.rows == 2 && csv.cols == 6 && value(&csv, "JDTDB", 1) == 2451546);
        assert_true(value(&csv, "Y", 0) == -1.5 && value(&csv, "VY", 1) == 0.41);
        assert_true(csv.line[0] == 9 && csv.line[1] == 12);
        assert_string_equal(unit(&csv, "VY"), "km/s");
        assert_true(sr_cell_is_date(csv.cells[1]));
        orr_csv_free(&csv);
    }
    struct orr_csv elements;
    assert_int_equal(
        read_text(
            "JDTDB\n   EC    QR   IN\n**\n$$SOE\n2451545.0 = A.D. 2000-Jan-01 12:00:00 TDB\n"
            " EC= 2.056E-01 QR= 3.07E-01 IN= 7.0E+00\n OM= 4.8E+01 W = 2.9E+01 Tp=  2451590.3\n"
            "$$EOE\n",
            &elements),
        0);
    assert_true(value(&elements, "Tp", 0) == 2451590.3 && value(&elements, "W", 0) == 29);
    orr_csv_free(&elements);
    refused(HEAD "2451545.0 = A.D. 2000-Jan-01\n X = 2 Y = 1\n", "table:10: no $$EOE behind $$SOE");
    refused(HEAD "2451545.0 = A.D.\n X = 2 Y = 1\n2451546.0 = A.D.\n X = 2 Z = 1\n$$EOE\n",
            "table:12: expected a value of Y, found \"Z\"");
    refused(HEAD "2451545.0 = A.D.\n X = 2 Y = 1\n2451546.0 = A.D.\n X = 2\n$$EOE\n",
            "table:11: the record that begins here: expected 2 values, found 1");
    refused("**\nDate RA DEC\n**\n$$SOE\n 2022-Jun-10 00:00   101.7 26.7\n$$EOE\n",
            "table:5: a Horizons table of observer quantities as text");
}

/* astropy 8.0.2 writes a MaskedColumn with serialize_method='data_mask' as two columns, and the
 * numbers below the mask are those that were masked out. */
TEST(numbers_below_a_mask_of_ecsv_are_missing)
{
    struct orr_csv csv;
    assert_int_equal(read_text("# %ECSV 1.0\n# ---\n# datatype:\n# - {name: m, datatype: float64}\n"
                               "# - {name: m.mask, datatype: bool}\n"
                               "# - {name: hot, datatype: bool}\nm m.mask hot\n"
                               "1.5 False True\n99 True False\n2.5 False True\n",
                               &csv),
                     0);
    assert_true(value(&csv, "m", 0) == 1.5 && value(&csv, "m", 2) == 2.5);
    if (!isnan(value(&csv, "m", 1)))
        fail_msg("a number below a mask is read: %g", value(&csv, "m", 1));
    assert_true(sr_cell_is_missing(csv.cells[csv.cols]));
    assert_true(isnan(value(&csv, "m.mask", 1)));
    assert_true(value(&csv, "hot", 0) == 1 && value(&csv, "hot", 1) == 0);
    orr_csv_free(&csv);
    assert_int_equal(read_text("m,m.mask\n1.5,False\n99,True\n", &csv), 0);
    assert_true(value(&csv, "m", 1) == 99 && value(&csv, "m.mask", 1) == 1);
    orr_csv_free(&csv);
}

/* ECSV: Astropy Proposal for Enhancement 6. */
TEST(ecsv_gives_units_in_every_form_of_yaml)
{
    struct orr_csv csv;
    assert_int_equal(read_text("# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n"
                               "# - {name: 'a, b', unit: m / s2, datatype: float64,\n"
                               "#   description: 'x, unit: kg'}\n"
                               "# - {name: c, datatype: float64, meta: {unit: no}}\n"
                               "# - name: d\n#   datatype: float64\n#   unit: !astropy.units.Unit "
                               "{unit: km}\n# - {name: e, unit: \"deg\", datatype: int64}\n"
                               "# meta: {unit: pc}\n# schema: astropy-2.0\n"
                               "\"a, b\",c,d,e\n1,2,,4\n",
                               &csv),
                     0);
    assert_string_equal(unit(&csv, "a, b"), "m / s2");
    assert_string_equal(unit(&csv, "c"), "");
    assert_string_equal(unit(&csv, "d"), "km");
    assert_string_equal(unit(&csv, "e"), "deg");
    assert_true(csv.header == 14 && csv.line[0] == 15 && sr_cell_is_missing(csv.cells[2]));
    orr_csv_free(&csv);
    assert_int_equal(
        read_text("# %ECSV 1.0\n# ---\n# datatype:\n# - {name: x, unit: m}\n# - {name: "
                  "y}\nx\ty\n1\t2\n3\t4\n",
                  &csv),
        0); /* with tabs */
    assert_true(value(&csv, "y", 1) == 4);
    orr_csv_free(&csv);
    refused("# %ECSV 1.0\n# ---\nx y\n1 2\n3 4 5\n",
            "table:5: expected 2 cells with blanks between, found 3");
    refused("# %ECSV 1.0\n# ---\n", "ECSV without a header row");
}

/* IPAC Table Format Definition: null values in the fourth line, cells between the bars. */
TEST(ipac_has_null_values_and_rows_of_any_width)
{
    struct orr_csv csv;
    assert_int_equal(
        read_text("\\catalog = x\n\\ comment | here\n|name |  a   | b |\n|char |double|int|\n"
                  "|     | km/s |   |\n|null | -99  | ? |\n  p 0   1.5    3  \n"
                  "  p 1  -99.0   ?  \n",
                  &csv),
        0);
    assert_true(csv.rows == 2 && value(&csv, "a", 0) == 1.5 && isnan(value(&csv, "a", 1)));
    assert_string_equal(csv.cells[0], "p 0");
    assert_string_equal(unit(&csv, "a"), "km/s");
    assert_true(csv.header == 3 && csv.line[1] == 8);
    orr_csv_free(&csv);
    assert_int_equal(read_text("|n|a|b|\n|char|double|int|\n p0 1.25 33\n \"p 1\" 7.5 4\n", &csv),
                     0);
    assert_true(value(&csv, "a", 0) == 1.25 && value(&csv, "b", 1) == 4);
    orr_csv_free(&csv);
    refused("|n|a|b|\n|char|double|\n p0 1 2\n",
            "table:2: expected 3 cells between bars, as in the first line of the IPAC header");
    refused("|n|a|b|\n|char|double|int|\n p0 1.25 33\n p1 7.5\n",
            "table:4: expected 3 cells with blanks between, found 2");
}

/* CDS, Standards for Astronomical Catalogues 2.0: "?=" gives the null value, blanks are missing. */
#define DESCRIPTION                                                                                \
    "Title: t\n=======\nByte-by-byte Description of file: t.dat\n-------\n"                        \
    "   Bytes Format Units   Label Explanations\n-------\n"                                        \
    "   1-  3 A3     ---     Name  Name\n   5-  8 F4.1   km/s    v     [0/90]?=-9 Velocity\n"      \
    "      10 I1     ---     n     ?=- Number, at\n                         200 things\n-------\n"

TEST(byte_by_byte_descriptions_are_followed)
{
    struct orr_csv csv;
    assert_int_equal(
        read_text(DESCRIPTION "Note (1): n\n-------\na b  1.5 3\nc   -9.0 -\nd\n", &csv), 0);
    assert_true(csv.rows == 3 && csv.cols == 3 && value(&csv, "v", 0) == 1.5);
    assert_true(isnan(value(&csv, "v", 1)) && isnan(value(&csv, "n", 1)) &&
                isnan(value(&csv, "v", 2)));
    assert_true(value(&csv, "n", 0) == 3 && csv.line[2] == 16);
    assert_string_equal(csv.cells[0], "a b");
    assert_string_equal(unit(&csv, "v"), "km/s");
    orr_csv_free(&csv);
    refused(DESCRIPTION "=======\n(End)   A. Author [CDS] 1-Jan-2020\n",
            "table: describes t.dat and has no rows of it; joined by: python3 -c");
    refused("Byte-by-byte Description of file: t\n-------\nBytes\n-------\n-------\n",
            "table:1: expected lines \"bytes format unit label\"");
}

TEST(separators_are_recognised)
{
    static const char *const texts[] = {
        "x y z\n1 2 3\n4 5 6\n",
        "# made by\n# x y z\n1 2 3\n4 5 6\n",
        "# x, y, z\n1.0 2e0 3\n4 5 6\n",
        "x,y,z\n1 2 3\n4 5 6\n",
        "  x   y  z\n  1   2\t3\n# between\n  4   5\t6\n",
        "x\ty\tz\r\n1\t2\t3\r\n4\t5\t6\r\n",
        "x\ty\tz\n5n\t5N\t4N\n1\t2\t3\t\n4\t5\t6\t\n",
        "| x | y | z |\n|---|:-:|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n",
        " x | y | z \n---+---+---\n 1 | 2 | 3\n 4 | 5 | 6\n",
        ("+---+---+---+\n| x | y | z |\n+===+===+===+\n| 1 | 2 | 3 |\n"
         "+---+---+---+\n| 4 | 5 | 6 |\n+---+---+---+\n"),
        "\xef\xbb\xbfx y z\n1 2 3\n4 5 6\n"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct orr_csv csv;
        if (read_text(texts[k], &csv))
            fail_msg("%s: %s", texts[k], orr_error());
        if (csv.rows != 2 || value(&csv, "x", 0) != 1 || value(&csv, "z", 1) != 6)
            fail_msg("%s: wrong values", texts[k]);
        assert_non_null(csv.layout);
        orr_csv_free(&csv);
    }
    struct orr_csv csv; /* R's write.table, pandas' to_string(): no name above the labels */
    assert_int_equal(read_text("\"x\" \"y\"\n\"1\" 5 6\n\"2\" 7 8\n", &csv), 0);
    assert_true(csv.cols == 3 && value(&csv, "x", 0) == 5 && value(&csv, "y", 1) == 8);
    orr_csv_free(&csv);
    assert_int_equal(read_text("time (s)\ty\n1\t\n3\t4\n", &csv), 0); /* an empty cell */
    assert_true(value(&csv, "time (s)", 1) == 3 && isnan(value(&csv, "y", 0)));
    orr_csv_free(&csv);
    refused("x y\n1 2\n3 \"4\n", "table:3: column 2: a quoted cell is not closed");
    refused("x\ty\n1\t2\n3\n", "table:3: expected 2 cells with tabs between, found 1");
    refused("x   y\n--- ---\n1   2\n1234567\n",
            "table:4: column 2: expected a blank before character 5");
}

TEST(rows_of_units_are_taken)
{
    struct orr_csv csv;
    assert_int_equal(read_text("name,t,v,n\n,d,km/s,\np,1,2,3\nq,4,5,6\n", &csv), 0);
    assert_true(csv.rows == 2 && value(&csv, "v", 1) == 5 && csv.line[0] == 3);
    assert_string_equal(unit(&csv, "v"), "km/s");
    assert_string_equal(unit(&csv, "n"), "");
    orr_csv_free(&csv);
    /* VizieR's TSV: units, then dashes */
    assert_int_equal(read_text("#\nname\tv\n \tkm/s\n----\t----\np\t2.5\n", &csv), 0);
    assert_true(csv.rows == 1 && value(&csv, "v", 0) == 2.5);
    assert_string_equal(unit(&csv, "v"), "km/s");
    orr_csv_free(&csv);
    static const char *const others[] = {"x,y\nNA,NaN\n1,2\n", "x,y\nx,y\n1,2\n",
                                         "x,y\ntwo,3\n1,2\n", "x,y\na,b\nc,d\n",
                                         "x,y\nTrue,False\n1,2\n"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        assert_int_equal(read_text(others[k], &csv), 0);
        assert_true(csv.rows == 2 && !csv.units);
        orr_csv_free(&csv);
    }
}

TEST(units_are_translated)
{
    static const char *const units[][2] = {{"AU", "AU"},
                                           {"solMass", "M_sun"},
                                           {"km / s", "km/s"},
                                           {"km s-1", "km*s^-1"},
                                           {"m.s-2", "m*s^-2"},
                                           {"m.s**-2", "m*s^-2"},
                                           {"1 / yr", "1/yr"},
                                           {"/yr", "1/yr"},
                                           {"erg / (s cm2)", "erg/s/cm^2"},
                                           {"m2", "m^2"},
                                           {"m^(1/2)", "m^(1/2)"},
                                           {"---", ""},
                                           {"", ""},
                                           {"rad", ""},
                                           {"%", ""},
                                           {"#/cc", "1/cc"},
                                           {"(km/s)", "km/s"},
                                           {"kg*m^2/s", "kg*m^2/s"},
                                           {"mW/m2", "mW/m^2"},
                                           {"m2.s", "m^2*s"}};
    static const char *const unknown[] = {"[solMass]", "10-7W", "0.1nm", "mag(AB)",       "km/",
                                          "m^",        "m**(1", "1name", "dd-mm-yyyy:hh", "m;s"};
    char text[64];
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        if (!sr_unit_translate(units[k][0], text, sizeof text) || strcmp(text, units[k][1]) != 0)
            fail_msg("\"%s\": expected \"%s\", found \"%s\"", units[k][0], units[k][1], text);
    }
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        if (sr_unit_translate(unknown[k], text, sizeof text))
            fail_msg("\"%s\" was understood as \"%s\"", unknown[k], text);
}

TEST(words_that_mean_numbers_are_converted)
{
    struct orr_csv csv;
    const char *const text = "ra,dec,t,ok,flag,mixed\n12:34:56.7,-00 30 36,12h30m00s,True,T,True\n"
                             "0:00:36,+41d16m09.5s,01h00m36s,false,F,2\n--,10\xc2\xb0"
                             "30'36\",,NA,T,3\n";
    assert_int_equal(read_text(text, &csv), 0);
    assert_true(fabs(value(&csv, "ra", 0) - (12 + 34 / 60. + 56.7 / 3600)) < 1e-14);
    assert_true(value(&csv, "ra", 1) == 0.01 && isnan(value(&csv, "ra", 2)));
    assert_true(fabs(value(&csv, "dec", 0) + 0.51) < 1e-15);
    assert_true(fabs(value(&csv, "dec", 1) - (41 + 16 / 60. + 9.5 / 3600)) < 1e-13);
    assert_true(fabs(value(&csv, "dec", 2) - 10.51) < 1e-14);
    assert_true(value(&csv, "t", 0) == 12.5 && fabs(value(&csv, "t", 1) - 1.01) < 1e-15);
    assert_true(value(&csv, "ok", 0) == 1 && value(&csv, "ok", 1) == 0 &&
                isnan(value(&csv, "ok", 2)));
    assert_true(value(&csv, "flag", 0) == 1 && value(&csv, "flag", 1) == 0);
    assert_true(isnan(value(&csv, "mixed", 0)) && value(&csv, "mixed", 1) == 2);
    assert_string_equal(csv.cells[3], "True"); /* a label, for --category */
    orr_csv_free(&csv);
    static const char *const none[] = {
        "12:75:00", "12:30", "12h30s",     "1 2",    "12:30:15:10", "12 34",
        "d",        "12:",   "2021-01-03", "1.5:30", "12.5",        ""};
    double angle;
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (sr_cell_is_sexagesimal(none[k], &angle))
            fail_msg("\"%s\" was read as %g", none[k], angle);
    /* Angle.to_string(format='unicode') of astropy 8.0.2: 12h30m36s with raised letters, primes */
    static const char *const some[] = {"12\xca\xb0"
                                       "30\xe1\xb5\x90"
                                       "36\xcb\xa2",
                                       "+12\xc2\xb0"
                                       "30\xe2\x80\xb2"
                                       "36\xe2\x80\xb3"};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        if (!sr_cell_is_sexagesimal(some[k], &angle) || fabs(angle - 12.51) > 1e-14)
            fail_msg("\"%s\" was not read as 12.51", some[k]);
}

TEST(missing_values_and_dates_are_told)
{
    static const char *const missing[] = {
        "",    " ",   "--",   "---", "-",    "...",  ".", "\\nodata",     "null", "NA",
        "n/a", "NaN", "<NA>", "N/A", "None", "n.a.", "?", "\xe2\x80\xa6", "\\N"};
    static const char *const present[] = {"0", "-1", "-.5", "x", "-.", "nodat", "inf", "1e5", "T"};
    static const char *const dates[] = {"2021-01-03",
                                        "2021-01-03T12:00:00Z",
                                        "2021/1/3 5:00",
                                        "03.01.2021",
                                        "A.D. 2000-Jan-01 00:00:00.0000",
                                        "2022-Jun-10 00:00",
                                        "05-11-2025_00:00:00.000.000.000",
                                        "1/3/2021",
                                        "3 Jan 2021",
                                        "2021-03",
                                        "2021 Jan 03.5"};
    static const char *const no_dates[] = {"2451545.5", "12:34:56", "1-2-3",
                                           "2021",      "12 34 56", "2021-01-",
                                           "x",         "1.2.3",    "HD 1-2-2021"};
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        if (!sr_cell_is_missing(missing[k]))
            fail_msg("\"%s\" is a missing value", missing[k]);
    for (size_t k = 0; k < sizeof present / sizeof *present; k++)
        if (sr_cell_is_missing(present[k]))
            fail_msg("\"%s\" is not a missing value", present[k]);
    for (size_t k = 0; k < sizeof dates / sizeof *dates; k++)
        if (!sr_cell_is_date(dates[k]))
            fail_msg("\"%s\" is a date", dates[k]);
    for (size_t k = 0; k < sizeof no_dates / sizeof *no_dates; k++)
        if (sr_cell_is_date(no_dates[k]))
            fail_msg("\"%s\" is not a date", no_dates[k]);
}

TEST(other_formats_are_named)
{
    refused("SIMPLE  =                    T\n",
            "FITS, expected a text file; converted by: python3");
    refused("<?xml version=\"1.0\"?>\n<VOTABLE version=\"1.4\">\n", "VOTable (XML)");
    refused("<html>\n<table>\n", "a page of HTML");
    refused("\\begin{table}\n\\begin{tabular}{cc}\n", "a table of LaTeX");
    refused("\\begin{deluxetable}{cc}\n", "a table of AASTeX");
    refused("{\"x\":{\"0\":1}}", "JSON");
}

/* What the table of a file of several pieces begins with, has in its middle, and ends with. */
static const struct large {
    const char *head, *middle, *end, *error; /* error: what the message ends with; NULL: none */
    bool breaks;                             /* cells with line breaks in every row */
} large_files[] = {
    {"a,b,c\n", "", "1,2,3\n", NULL, false},
    {"a,b,c\n", "", "1,2,3", NULL, false}, /* the last line has no end */
    {"# a table\n\n\"a\",\"b\",\"c\"\r\n", "\n  \n1,nan,\n", "", NULL, false},
    {"\xef\xbb\xbf"
     "a,b,c\n",
     "1,\"two\nlines\",3\n", "1,2,3\n", NULL, false},
    {"# a,b,c\n", "1e3,-0.25,+7\r\n", "# the end\n# of it\n", NULL, false},
    {"a,b,c\n", "", "1,2\n", "expected 3 cells, found 2", false},
    {"a,b,c\n", "1,2,3,4\n", "", "expected 3 cells, found more", false},
    {"a,b,c\n", "", "1,2,3\n", NULL, true},
    {"a,b,a\n", "", "", "column \"a\" stands twice", false},
    {"a,b,c\n", "1,\"2,3\n", "", "a quoted cell is not closed", false},
    {"a,b,c\n", "# 1\n", "4,5,6\n", "expected comments before the header and behind the last row",
     false},
};

/* Files that are read in pieces give what their whole texts give: values, digits, odd cells, lines,
 * and messages. */
TEST(large_files_are_read_as_small_ones)
{
    enum { ROWS = 100000 };
    char *text = malloc(64 * ROWS), *copy = malloc(64 * ROWS);
    assert_true(text && copy);
    scratch_path(path, scratch, "large.csv");
    for (size_t k = 0; k < sizeof large_files / sizeof *large_files; k++) {
        const struct large *large = &large_files[k];
        struct orr_csv pieces, whole;
        size_t n = (size_t)sprintf(text, "%s", large->head);
        for (int i = 0; i < ROWS; i++)
            n += (size_t)sprintf(
                text + n,
                large->breaks ? "%s%d.%07d,\"%d\n\n\n\",%.15g\n" : "%s%d.%07d,-%d.25e-3,%.15g\n",
                i == ROWS * 2 / 3 ? large->middle : "", i, i * 7 % 10000000, i, sin(i));
        n += (size_t)sprintf(text + n, "%s", large->end);
        assert_true(n > 2 * ORR_PIECE);
        scratch_text(path, text);
        memcpy(copy, text, n + 1);
        const int rc = sr_cells_parse(path, copy, n, ORR_CSV_KEEP_ODD, &whole);
        char message[1000];
        snprintf(message, sizeof message, "%s", rc ? orr_error() : "");
        assert_int_equal(sr_cells_read(path, ORR_CSV_KEEP_ODD, &pieces), rc);
        assert_true(!rc == !large->error);
        if (rc) {
            const size_t length = strlen(message), end = strlen(large->error);
            assert_string_equal(orr_error(), message);
            assert_true(length > end && !strcmp(message + length - end, large->error));
            continue;
        }
        assert_true(pieces.rows == whole.rows && pieces.rows >= ROWS && pieces.cols == 3);
        assert_true(pieces.header == whole.header && pieces.comments == whole.comments &&
                    pieces.trailing == whole.trailing);
        assert_memory_equal(pieces.line, whole.line, whole.rows * sizeof *whole.line);
        assert_memory_equal(pieces.values, whole.values, 3 * whole.rows * sizeof *whole.values);
        assert_memory_equal(pieces.digits, whole.digits, 3 * sizeof *whole.digits);
        assert_true(!pieces.cells == !whole.cells);
        for (size_t i = 0; whole.cells && i < 3 * whole.rows; i++)
            assert_true(!whole.cells[i] ? !pieces.cells[i]
                                        : !strcmp(whole.cells[i], pieces.cells[i]));
        orr_csv_free(&pieces);
        orr_csv_free(&whole);
    }
    free(text);
    free(copy);
}

/* Against days that GNU date 9.1 prints: date -u -d DATE +%s, divided by 86400. */
TEST(iso_dates_are_days)
{
    static const struct {
        const char *cell;
        double day;
    } days[] = {{"1970-01-01", 0},
                {"2021-01-03", 18630},
                {" 2000-02-29 ", 11016},
                {"1900-03-01", -25508},
                {"2024-12-31T12:00", 20088.5},
                {"2021-01-03 06:00:00", 18630.25},
                {"2021-01-03T00:00:00.5Z", 18630 + 0.5 / 86400},
                {"2021-01-03T03:00:00+03:00", 18630},
                {"2021-01-02T21:30-0230", 18630}};
    static const char *const none[] = {"2021-02-29",
                                       "2021-13-01",
                                       "2021-00-10",
                                       "2021-1-3",
                                       "3/1/2021",
                                       "2021-01-03T24:00",
                                       "2021-01-03x",
                                       "2021-01",
                                       "18630",
                                       "",
                                       "2021-01-03T12",
                                       "2021-04-31",
                                       "2021-01-03T12:00+24:00",
                                       "2021-01-03T12:00-02:60"};
    char text[SR_DAY_TEXT];
    double day;
    for (size_t k = 0; k < sizeof days / sizeof *days; k++)
        if (!sr_cell_day(days[k].cell, &day) || fabs(day - days[k].day) > 1e-9)
            fail_msg("\"%s\" is day %.9g", days[k].cell, day);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (sr_cell_day(none[k], &day))
            fail_msg("\"%s\" is no date, read as day %.9g", none[k], day);
    for (int k = -800000; k < 800000; k += 97) { /* there and back */
        sr_day_text(k % 2 ? k : k + 0.375, text);
        if (k > -719000 && (!sr_cell_day(text, &day) || fabs(day - (k % 2 ? k : k + 0.375)) > 1e-9))
            fail_msg("day %d is \"%s\", read as %.9g", k, text, day);
    }
    sr_day_text(18630 - 0.3 / 86400, text); /* rounded to the second, which is the next day's */
    assert_string_equal(text, "2021-01-03");
}

TESTS(setup, teardown)
