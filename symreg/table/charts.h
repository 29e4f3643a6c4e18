/* charts.h - pages of results in the look of a table's: their frame, and charts of numbers that
 * table_page.js draws. */
#ifndef SR_CHARTS_H
#define SR_CHARTS_H

#include <stdbool.h>
#include <stddef.h>

struct orr_file;

/* Whether style and script of a page are there (figures/); else a note, unless quiet. */
bool sr_page_ready(bool quiet);
/* Writes a page up to its title and the header's other lines, which the caller adds; `</header>` is
 * the caller's, too. */
int sr_page_begin(struct orr_file *html, const char *title);
/* Writes the command of this program as a part of the page. */
void sr_page_command(struct orr_file *html);
/* Writes the end of a page behind the last line of <main>. */
int sr_page_end(struct orr_file *html);

enum { SR_CHART_GROUPS = 12, SR_CHART_POINTS = 400 }; /* shown of tracks and of rows, at most */

/* Points (n), and a line through others (curve_n). Points and lines whose numbers are not finite
 * are left out. */
struct sr_chart {
    const char *title, *across; /* above, and below */
    size_t n, curve_n;
    const double *x, *y, *curve_x, *curve_y;
    const double *sigma; /* (n) half the length of bars; NULL: none */
    /* (4, field_n) x, y and a direction there, whose two parts count as in the axes; or NULL */
    const double *field;
    size_t field_n;
    bool residuals; /* y is in standard deviations, around 0 */
    bool decades;   /* x has a logarithmic axis */
};
/* Groups of charts, of which the reader chooses one where there are several. */
struct sr_charts {
    struct orr_file *html;
    const char *what; /* "Track": what is chosen */
    int groups, charts;
};
void sr_charts_begin(struct sr_charts *charts);
void sr_charts_group(struct sr_charts *charts, const char *label);
/* Writes at most SR_CHART_POINTS points, evenly chosen, and as many of the line. */
void sr_charts_add(struct sr_charts *charts, const struct sr_chart *chart);
void sr_charts_end(struct sr_charts *charts);

#endif
