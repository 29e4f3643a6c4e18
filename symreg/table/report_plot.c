/* report_plot.c - front.png and residuals.png by gnuplot, from figures/symreg_*.gp. */
#include <math.h>
#include <stdlib.h>

#include "program.h"

enum { POINTS = 4000 }; /* rows drawn, at most */

/* Whether the pictures' font, DejaVu Sans, has the character. gnuplot draws a missing character
 * hundreds of times too large. */
static bool is_drawable(uint32_t code)
{
    static const uint32_t range[][2] = {
        {0x20, 0x7e},     {0xa0, 0x2e9},    {0x300, 0x34f},   {0x370, 0x377},   {0x37a, 0x37e},
        {0x384, 0x38a},   {0x38e, 0x3a1},   {0x3a3, 0x525},   {0x531, 0x556},   {0x561, 0x587},
        {0x5d0, 0x5ea},   {0x621, 0x63a},   {0x641, 0x64a},   {0x1d62, 0x1d6a}, {0x1e00, 0x1efb},
        {0x2010, 0x2027}, {0x2030, 0x205e}, {0x2070, 0x2071}, {0x2074, 0x208e}, {0x2090, 0x209c},
        {0x20a0, 0x20b5}, {0x2100, 0x2109}, {0x210b, 0x2149}, {0x2190, 0x2311}, {0x2500, 0x269c}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (code >= range[i][0] && code <= range[i][1])
            return true;
    return false;
}

/* Writes a gnuplot string of at most `most` characters; characters that cannot be drawn become
 * boxes. */
static void write_string(struct orr_file *file, const char *key, const char *text, size_t most)
{
    orr_file_printf(file, "%s = \"", key);
    size_t n = 0, bytes;
    uint32_t code;
    for (const char *c = text; *c; c += bytes) {
        bytes = orr_character(c, &code);
        if (++n > most) {
            orr_file_printf(file, "...");
            break;
        }
        if (*c == '"' || *c == '\\')
            orr_file_printf(file, "\\%c", *c);
        else if (*c == '`' || (unsigned char)*c < ' ')
            orr_file_write(file, "'", 1);
        else if (is_drawable(code))
            orr_file_write(file, c, bytes);
        else
            orr_file_printf(file, "\xe2\x96\xa1");
    }
    orr_file_printf(file, "\"\n");
}

/* Writes complexity, loss, and for each rule whether it selects the row. A loss of 0 is drawn one
 * decade below the others. */
static void write_front(const struct sr_answer *o, struct orr_file *file)
{
    const struct sr_front *front = o->front;
    double least = HUGE_VAL;
    for (int i = 0; i < front->count; i++)
        least = front->loss[i] > 0 ? fmin(least, front->loss[i]) : least;
    if (!isfinite(least))
        least = 1;
    write_string(file, "target", o->target, 40);
    orr_file_printf(file, "exact = %d\n$front << END\n", !(front->loss[front->count - 1] > 0));
    for (int i = 0; i < front->count; i++) {
        orr_file_printf(file, "%d %.9g", front->complexity[i],
                        front->loss[i] > 0 ? front->loss[i] : least / 10);
        for (int rule = 0; rule < SR_RULES; rule++)
            orr_file_printf(file, " %d", sr_front_select(front, (enum sr_rule)rule) == i);
        orr_file_printf(file, "\n");
    }
    orr_file_printf(file, "END\n");
}

double sr_row_sigma(const struct sr_answer *o, size_t row)
{
    return o->variance > 0 ? sqrt(o->variance / sr_row_weight(o->data, row)) : 0;
}

static void write_residuals(const struct sr_answer *o, int row, const double *value,
                            struct orr_file *file)
{
    const struct sr_data *data = o->data;
    char text[SR_TEXT], title[SR_TEXT + 64];
    sr_expr_print(data->language, &o->front->expr[row], o->names, text, sizeof text);
    snprintf(title, sizeof title, "%s: %s", sr_rule_name[o->rule], text);
    write_string(file, "title_text", title, 120);
    write_string(file, "target", o->target, 28);
    orr_file_printf(file, "$points << END\n");
    for (size_t i = 0; i < data->rows; i += data->rows / POINTS + 1) {
        double nearest = data->y[i], low = nearest, high = nearest;
        if (data->low) { /* an open end is drawn as far as the prediction */
            sr_interval_nearest(data, i, 1, &value[i], 1, &nearest);
            low = isinf(data->low[i]) ? fmin(nearest, value[i]) : data->low[i];
            high = isinf(data->high[i]) ? fmax(nearest, value[i]) : data->high[i];
        }
        if (sr_row_weight(data, i) > 0)
            orr_file_printf(file, "%.12g %.12g %.6g %.6g %.12g %.12g\n", data->y[i], value[i],
                            nearest - value[i], sr_row_sigma(o, i), low, high);
    }
    orr_file_printf(file, "END\nsigmas = %d\nintervals = %d\n", o->variance > 0, data->low != NULL);
}

/* Draws the front, or with `value` (rows) the residuals of one row. gnuplot reads the data from a
 * temporary file. */
static int draw_picture(const struct sr_answer *o, const char *folder, const char *name, int row,
                        const double *value)
{
    struct orr_file data;
    char path[4096], output[4096], script[64];
    snprintf(script, sizeof script, "symreg_%s.gp", name);
    TRY(orr_path(path, "%s/.%s.gpdata", folder, name));
    TRY(orr_path(output, "%s/%s.png", folder, name));
    TRY(orr_file_create(&data, path));
    if (value)
        write_residuals(o, row, value, &data);
    else
        write_front(o, &data);
    int rc = orr_file_flush(&data);
    if (!rc)
        rc = orr_gnuplot_draw(script, data.temporary, output);
    orr_file_close(&data);
    return rc;
}

int sr_report_pictures(const struct sr_answer *o, const char *folder)
{
    const int row = sr_front_select(o->front, o->rule);
    TRY(draw_picture(o, folder, "front", -1, NULL));
    if (row < 0)
        return 0;
    double *value = orr_alloc(o->data->rows, sizeof *value);
    int rc = value ? 0 : ORR_ENOMEM;
    if (!rc && !sr_eval(&o->front->expr[row], sr_answer_data(o, row), value))
        rc = ORR_FAIL(ORR_EDOM, "the selected formula is not finite on every row");
    if (!rc)
        rc = draw_picture(o, folder, "residuals", row, value);
    free(value);
    return rc;
}
