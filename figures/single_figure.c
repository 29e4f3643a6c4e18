/* single_figure.c - draws a single picture in a given size and font, and optionally keeps its input
 * files. */
#include "base/tempdir.h"
#include "base/text.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

int report_style_read(const char *size, const char *font, struct report_style *style)
{
    *style = (struct report_style){0};
    char *end = NULL;
    if (size) {
        long pixels;
        if (!orr_whole(size, 200, 20000, &pixels))
            return ORR_FAIL(ORR_EUSAGE,
                            "--size: expected a width of 200 to 20000 pixels, found "
                            "\"%s\"",
                            size);
        style->pixels = (int)pixels;
    }
    if (!font)
        return 0;
    const size_t name = strcspn(font, ",");
    style->points = font[name] ? strtod(font + name + 1, &end) : 11;
    if (!name || name >= sizeof style->face ||
        (font[name] && (*end || !(style->points >= 4 && style->points <= 60))))
        return ORR_FAIL(ORR_EUSAGE,
                        "--font: expected NAME or NAME,POINTS with 4 to 60 points, found \"%s\"",
                        font);
    memcpy(style->face, font, name);
    return 0;
}

/* Appends the style to the settings that the script loads. */
static int write_style(const char *folder, const char *name, const struct report_style *style)
{
    char path[REPORT_PATH], *text = NULL;
    size_t bytes;
    struct orr_file file = {0};
    TRY(orr_path(path, "%s/%s.set", folder, name));
    TRY(orr_file_read(path, &text, &bytes));
    int rc = orr_file_create(&file, path);
    if (!rc)
        orr_file_write(&file, text, bytes);
    if (!rc && style->pixels)
        orr_file_printf(&file, "pixels = %d\n", style->pixels);
    if (!rc && *style->face) {
        orr_gnuplot_assign(&file, "face", 0, style->face);
        orr_file_printf(&file, "points = %.6g\n", style->points);
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    free(text);
    return rc;
}

int report_keep(const char *from, const char *name, const char *stem)
{
    static const char *const ending[] = {"set", "dat"};
    char source[REPORT_PATH], target[REPORT_PATH];
    for (int i = 0; i < 2; i++) {
        TRY(orr_path(source, "%s/%s.%s", from, name, ending[i]));
        TRY(orr_path(target, "%s.%s", stem, ending[i]));
        if (orr_exists(source))
            TRY(orr_file_copy(source, target));
    }
    TRY(orr_figures_path(report_script(name), source));
    TRY(orr_path(target, "%s.gp", stem));
    return orr_file_copy(source, target);
}

int report_single_check(const char *figure, const struct report_style *style, const char *out)
{
    const char *dot = strrchr(out, '.');
    if (!report_is_figure(figure))
        return ORR_FAIL(ORR_EUSAGE,
                        "expected a body (mercury, ..., halley), real_mercury, ..., real_neptune, "
                        "exponents, pareto or loss, found \"%s\"",
                        figure);
    if (!dot || (strcmp(dot, ".png") && strcmp(dot, ".svg")))
        return ORR_FAIL(ORR_EUSAGE,
                        "--out: expected a file that ends in .png or .svg, found "
                        "\"%s\"",
                        out);
    if (style->pixels && !strcmp(dot, ".svg"))
        return ORR_FAIL(ORR_EUSAGE, "--size: belongs to a PNG; an SVG has no size of its own");
    return 0;
}

static int draw_figure(const struct report_run *run, const char *figure,
                       const struct report_style *style, bool keep, const char *work,
                       const char *out)
{
    struct report_picture picture = {.name = ""};
    char stem[REPORT_PATH];
    TRY(report_plot_figure(run, figure, work, &picture));
    TRY(write_style(work, picture.name, style));
    TRY(orr_path(stem, "%s/%s", work, picture.name));
    TRY(orr_gnuplot_draw(report_script(picture.name), stem, out));
    TRY(orr_path(stem, "%.*s", (int)(strrchr(out, '.') - out), out));
    return keep ? report_keep(work, picture.name, stem) : 0;
}

int report_single(const struct report_run *run, const char *figure,
                  const struct report_style *style, bool keep, const char *out)
{
    char folder[REPORT_PATH];
    struct orr_tempdir work;
    orr_folder_of(out, folder);
    TRY(orr_mkdir(folder));
    int rc = orr_tempdir_create(&work, folder, "figure");
    rc = rc ? rc : draw_figure(run, figure, style, keep, work.folder, out);
    orr_tempdir_remove(&work);
    return rc;
}
