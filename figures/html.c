/* html.c - report.html: one self-contained file that needs no network. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int report_html_base64(struct orr_file *html, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    TRY(orr_file_read(path, &text, &bytes));
    const int rc = orr_html_base64(html, (const unsigned char *)text, bytes);
    free(text);
    return rc;
}

/* Adds hints to captions of tables wider than the page (.scrolls of report.css). On phones: shows a
 * picture's panels one a row (data-panels: left, top, width and height of each, as shares), and
 * closes the pictures of most bodies. */
static const char page_script[] =
    "\nconst phone = matchMedia('(max-width: 600px)');\n"
    "function split(figure) {\n"
    "  const image = figure.querySelector('img');\n"
    "  if (!phone.matches || figure.querySelector('.strips') || !image.naturalWidth) return;\n"
    "  const strips = document.createElement('div');\n"
    "  strips.className = 'strips';\n"
    "  strips.setAttribute('role', 'img');\n"
    "  strips.setAttribute('aria-label', image.alt);\n"
    "  for (const panel of figure.dataset.panels.trim().split(';')) {\n"
    "    const [x, y, w, h] = panel.split(' ').map(Number);\n"
    "    const strip = document.createElement('div');\n"
    "    const shape = (w * image.naturalWidth) / (h * image.naturalHeight);\n"
    "    strip.style.aspectRatio = shape;\n"
    "    const part = new Image();\n"
    "    part.alt = '';\n"
    "    part.src = image.src;\n"
    "    part.style.width = 100 / w + '%';\n"
    "    part.style.left = (-100 * x) / w + '%';\n"
    "    part.style.top = (-100 * y) / h + '%';\n"
    "    strip.append(part);\n"
    "    strips.append(strip);\n"
    "  }\n"
    "  image.closest('.wide').after(strips);\n"
    "  figure.classList.add('split');\n"
    "}\n"
    "for (const figure of document.querySelectorAll('figure[data-panels]')) {\n"
    "  const image = figure.querySelector('img');\n"
    "  image.addEventListener('load', () => split(figure));\n"
    "  phone.addEventListener('change', () => split(figure));\n"
    "  split(figure);\n"
    "}\n"
    "const losses = document.getElementById('loss-data');\n"
    "if (losses) {\n"
    "  const curves = JSON.parse(losses.textContent);\n"
    "  const figure = document.getElementById('loss');\n"
    "  const image = figure.querySelector('img');\n"
    "  const boxes = figure.dataset.panels.split(';').map((box) => box.split(' ').map(Number));\n"
    "  const say = (curve, step) => {\n"
    "    const off = curve.step.map((at) => Math.abs(at - step));\n"
    "    return curve.title + ' ' + curve.loss[off.indexOf(Math.min(...off))];\n"
    "  };\n"
    "  image.addEventListener('pointermove', (event) => {\n"
    "    const area = image.getBoundingClientRect();\n"
    "    const x = (event.clientX - area.left) / area.width;\n"
    "    const y = (event.clientY - area.top) / area.height;\n"
    "    const panel = boxes.findIndex(([, top, , high, left, wide]) =>\n"
    "      x >= left && x <= left + wide && y >= top && y <= top + high);\n"
    "    if (panel < 0) return;\n"
    "    const [, , , , left, wide, first, last] = boxes[panel];\n"
    "    const step = first + ((last - first) * (x - left)) / wide;\n"
    "    document.getElementById('loss-values').textContent = 'Near step ' + step.toFixed(0) + ': "
    "' +\n"
    "      curves.filter((curve) => curve.panel === panel + 1).map((curve) => say(curve, step))\n"
    "        .join(', ') + '.';\n"
    "  });\n"
    "}\n"
    "const lab = document.getElementById('lab-frame');\n"
    "if (lab) {\n"
    "  let shown = false;\n"
    "  addEventListener('message', (event) => {\n"
    "    if (event.source === lab.contentWindow && event.data === 'orrery lab') shown = true;\n"
    "  });\n"
    "  lab.addEventListener('load', () => setTimeout(() => {\n"
    "    if (shown) return;\n"
    "    lab.remove();\n"
    "    document.getElementById('lab-beside').textContent = 'The page lab.html, which this "
    "panel shows, is not beside this page, or the browser shows no file in a frame.';\n"
    "  }, 2000));\n"
    "}\n"
    "for (const rest of document.querySelectorAll('details.rest')) rest.open = !phone.matches;\n"
    "for (const box of document.querySelectorAll('.wide:has(> table)')) {\n"
    "  const caption = document.getElementById(box.getAttribute('aria-labelledby'));\n"
    "  new ResizeObserver(() => caption.classList.toggle(\n"
    "    'scrolls', box.scrollWidth > box.clientWidth + 1)).observe(box);\n"
    "}\n";

static int write_head(const struct report_run *run, struct orr_file *html)
{
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    orr_file_printf(html,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    TRY(orr_html_policy(html, "player.js", page_script, true));
    orr_file_printf(html, "<meta name=\"viewport\" "
                          "content=\"width=device-width, initial-scale=1\">\n<title>Orrery: ");
    orr_html_text(html, run->name);
    orr_file_printf(html, "</title>\n<style>\n");
    TRY(orr_html_part(html, "report.css"));
    orr_file_printf(html,
                    "</style>\n</head>\n<body>\n<header>\n<h1>Orrery: %s</h1>\n"
                    "<p class=\"meta\">Run <strong>",
                    *run->settings.tracks ? "continued tracks" : "recovered force laws");
    orr_html_text(html, run->name);
    orr_file_printf(html, "</strong>, seed %llu, Orrery %s, %s",
                    (unsigned long long)run->settings.seed, ORR_VERSION, date);
    orr_file_printf(html, "</p>\n");
    if (*run->settings.about) {
        orr_file_printf(html, "<p>");
        orr_html_text(html, run->settings.about);
        orr_file_printf(html, "</p>\n");
    }
    if (*run->settings.tracks) {
        report_html_tracks_head(run, html);
        return 0;
    }
    return orr_file_printf(
        html,
        "<p>Sequence models were trained on simulated orbits and fine-tuned to predict forces. "
        "Symbolic regression then searched for a law in their predictions. Models see positions "
        "and the time step only. Three controls go through the same steps: the true forces (upper "
        "bound), an oracle (nearest neighbours on the true state) and an untrained model (random "
        "weights, fine-tuned the same way).</p>\n</header>\n<main>\n");
}

static int write_answers(const struct report_run *run, struct orr_file *html)
{
    struct report_answer answer[REPORT_ANSWERS];
    TRY(report_answers(run, answer));
    orr_file_printf(html, "<section class=\"boxed\" id=\"answers\">\n<h2>In short</h2>\n<dl>\n");
    for (int i = 0; i < REPORT_ANSWERS; i++) {
        orr_file_printf(html, "<dt>%s</dt><dd>", answer[i].question);
        for (const char *line = answer[i].text; *line;) {
            const size_t bytes = strcspn(line, "\n");
            orr_html_bytes(html, line, bytes);
            line += bytes + (line[bytes] == '\n');
            orr_file_printf(html, *line ? "<br>\n" : "</dd>\n");
        }
    }
    return orr_file_printf(
        html,
        "</dl>\n<p class=\"note\">This is one run with one seed: another seed moves each of "
        "these values. <code>compare runs</code> has means over the runs of several seeds, with "
        "intervals. An error counts as better when it is at most 0.8 of the other one.</p>\n"
        "</section>\n");
}

/* Writes data-panels from the lines of <folder>/<name>.box, where the script wrote them. */
static int write_panels(const char *folder, const char *name, struct orr_file *html)
{
    char path[REPORT_PATH], *text = NULL;
    size_t bytes;
    TRY(orr_path(path, "%s/%s.box", folder, name));
    if (!orr_exists(path))
        return 0;
    TRY(orr_file_read(path, &text, &bytes));
    while (bytes && text[bytes - 1] == '\n')
        bytes--;
    for (size_t i = 0; i < bytes; i++)
        text[i] = text[i] == '\n' ? ';' : text[i];
    orr_file_printf(html, " data-panels=\"");
    orr_html_bytes(html, text, bytes);
    free(text);
    return orr_file_printf(html, "\"");
}

static int write_picture(const struct report_pictures *pictures, const char *folder,
                         const char *name, struct orr_file *html)
{
    for (size_t i = 0; i < pictures->count; i++) {
        const struct report_picture *picture = &pictures->at[i];
        if (strcmp(picture->name, name))
            continue;
        char path[REPORT_PATH];
        TRY(orr_path(path, "%s/%s.png", folder, name));
        orr_file_printf(html, "<figure id=\"%s\"", name);
        TRY(write_panels(folder, name, html));
        orr_file_printf(html,
                        ">\n<div class=\"wide\" role=\"region\" aria-labelledby=\"%s-caption\" "
                        "tabindex=\"0\"><a href=\"#%s\"><img alt=\"",
                        name, name);
        orr_html_text(html, picture->caption);
        orr_file_printf(html, "\" src=\"data:image/png;base64,");
        TRY(report_html_base64(html, path));
        orr_file_printf(html, "\"></a></div>\n<figcaption id=\"%s-caption\">", name);
        /* small pictures show only the title */
        const size_t title = strcspn(picture->caption, ":");
        orr_html_bytes(html, picture->caption, title);
        orr_file_printf(html, "<span>");
        orr_html_text(html, picture->caption + title);
        orr_file_printf(html, "</span></figcaption>\n</figure>\n");
    }
    return 0;
}

static int write_field(const struct report_pictures *pictures, const char *folder, int body,
                       struct orr_file *html)
{
    char name[64];
    snprintf(name, sizeof name, "forces_%s", report_body_name[body]);
    TRY(write_picture(pictures, folder, name, html));
    snprintf(name, sizeof name, "forces_%s_xz", report_body_name[body]);
    return write_picture(pictures, folder, name, html); /* where there is one */
}

/* The body on which the models' forces are nearer to the truth than the untrained model's by most,
 * in the mean cosine; the third without an untrained model. */
static int find_telling(const struct report_run *run, int *telling)
{
    const int untrained = report_find(run, "untrained");
    double most = -INFINITY;
    *telling = 2;
    for (int body = 0; body < report_bodies(run); body++) {
        struct report_agreement a;
        double sum = 0, models = 0;
        if (untrained < 0 || !run->source[untrained].has_vectors)
            continue;
        for (int s = 0; s < run->source_count; s++) {
            if (!run->source[s].has_vectors || run->source[s].role != REPORT_ATTENTION)
                continue;
            TRY(report_agree(&run->source[s].orbit[body], 1, REPORT_EVEN_IN_TIME,
                             REPORT_NO_BASELINE, &a));
            sum += a.cosine;
            models++;
        }
        TRY(report_agree(&run->source[untrained].orbit[body], 1, REPORT_EVEN_IN_TIME,
                         REPORT_NO_BASELINE, &a));
        if (sum / models - a.cosine > most + 1e-6) { /* of equals the first */
            most = sum / models - a.cosine;
            *telling = body;
        }
    }
    return 0;
}

/* The player, and the picture of one body: what a reader sees first. */
static int write_first(const struct report_run *run, const struct report_pictures *pictures,
                       const char *folder, int telling, struct orr_file *html)
{
    if (!run->has_vectors)
        return 0;
    TRY(report_html_player(run, html));
    orr_file_printf(html,
                    "<p>On %s the models differ from the untrained one by most; <a "
                    "href=\"#fields\">the other bodies</a> are below.</p>\n",
                    report_body_title[telling]);
    return write_field(pictures, folder, telling, html);
}

/* Force fields of all bodies but one: two, and the rest in a part that phones close. */
static int write_fields(const struct report_run *run, const struct report_pictures *pictures,
                        const char *folder, int telling, struct orr_file *html)
{
    int written = 0;
    orr_file_printf(html,
                    "<h2 id=\"fields\">Forces along the orbits</h2>\n<p>A click on a picture shows "
                    "it in full width. <a href=\"#forces_%s\">%s</a> is above.</p>\n<div "
                    "class=\"multiples\">\n",
                    report_body_name[telling], report_body_title[telling]);
    for (int body = 0; body < report_bodies(run); body++) {
        if (body == telling)
            continue;
        if (written++ == 2)
            orr_file_printf(html, "</div>\n<details class=\"rest\" open>\n<summary>The other "
                                  "bodies</summary>\n<div class=\"multiples\">\n");
        TRY(write_field(pictures, folder, body, html));
    }
    return orr_file_printf(html, written > 2 ? "</div>\n</details>\n" : "</div>\n");
}

static int write_vectors(const struct report_run *run, const struct report_pictures *pictures,
                         const char *folder, int telling, struct orr_file *html)
{
    orr_file_printf(html, "<h2 id=\"vectors\">Force vectors of the planets</h2>\n");
    if (!run->has_vectors)
        return orr_file_printf(html, "<p>This preset has no force-vector task.</p>\n");
    orr_file_printf(
        html,
        "<p>A few positions of each body are labelled and trained on. Tables are over the others. "
        "Near-circular orbits make the direction easy: compare each row with the untrained model "
        "and with <em>exact direction</em>, which knows only the direction of the Sun and the "
        "labelled forces. Figures draw forces in units of each body&rsquo;s %s.</p>\n",
        report_force_unit(run));
    TRY(report_html_vectors(run, html));
    return write_fields(run, pictures, folder, telling, html);
}

static void write_contents(const struct report_run *run, struct orr_file *html)
{
    const bool tracks = *run->settings.tracks;
    const struct {
        const char *id, *title;
        bool there;
    } parts[] = {{"answers", "In short", !tracks},
                 {"orbits", "Orbits", run->has_vectors},
                 {"continued", "Next positions", tracks},
                 {"recovered", "Laws", !tracks},
                 {"vectors", "Force vectors", !tracks},
                 {"fields", "All bodies", run->has_vectors},
                 {"measured", "Probes", report_has_probes(run)},
                 {"lab", "Orbit lab", report_has_lab(run)},
                 {"training", "Training", true},
                 {"commands", "Commands", true},
                 {"settings", "Settings", true}};
    orr_file_printf(html, "<nav aria-label=\"Contents\">");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].there)
            orr_file_printf(html, "<a href=\"#%s\">%s</a>\n", parts[i].id, parts[i].title);
    orr_file_printf(html, "</nav>\n");
}

/* Writes the law that the tables compare with. */
static void write_true_law(const struct report_run *run, struct orr_file *html)
{
    const struct report_true_law *law = &run->true_law;
    const struct orr_orbits_settings *o = &run->settings.orbits;
    orr_file_printf(html, "<h2 id=\"recovered\">Recovered laws</h2>\n<p>");
    if (law->newton) {
        orr_file_printf(html, "Newton: ");
        report_html_formula(html, "k * m1 * m2 / r^2");
        orr_file_printf(html, " with <i>k</i> = 4&pi;<sup>2</sup> = 39.478 (AU, "
                              "years, solar masses).");
    } else {
        orr_file_printf(html, "The law of the orbits of this run: ");
        orr_html_text(html, law->formula);
        orr_file_printf(html,
                        " (AU, years, solar masses). Tables and figures ask for this law; "
                        "k = %.5g is the law itself.",
                        law->k[0]);
    }
    if (o->jump_step > 0 && o->jump_factor != 1) {
        orr_file_printf(html, " G is multiplied by %g from step %ld on", o->jump_factor,
                        o->jump_step);
        if (law->constants == 2)
            orr_file_printf(html,
                            ", and labels are of both sides: k = %.5g before, %.5g after. No one "
                            "formula of r, m<sub>1</sub>, m<sub>2</sub> is right for both",
                            law->k[0], law->k[1]);
        else if (law->constants == 1)
            orr_file_printf(html, ": at the steps with labels k = %.5g", law->k[0]);
        orr_file_printf(html, ".");
    }
    orr_file_printf(html, "</p>\n");
}

static int write_laws(const struct report_run *run, const struct report_pictures *pictures,
                      const char *folder, struct orr_file *html)
{
    if (!run->has_laws)
        return orr_file_printf(
            html, "<h2 id=\"recovered\">Recovered laws</h2>\n<p>This preset has no force-"
                  "magnitude task.</p>\n");
    write_true_law(run, html);
    TRY(report_html_laws(run, html));
    report_html_choices(run, html);
    orr_file_printf(html, "<h2>Exponents</h2>\n");
    report_html_exponents(run, html);
    TRY(write_picture(pictures, folder, "exponents", html));
    orr_file_printf(html, "<h2>Pareto fronts</h2>\n");
    return write_picture(pictures, folder, "pareto", html);
}

static int write_probes(const struct report_run *run, const struct report_pictures *pictures,
                        const char *folder, struct orr_file *html)
{
    if (!report_has_probes(run))
        return 0;
    TRY(report_html_probes(run, html));
    return write_picture(pictures, folder, "probes", html);
}

static int write_end(struct orr_file *html)
{
    return orr_file_printf(html, "<script>%s</script>\n</body>\n</html>\n", page_script);
}

static int write_page(const struct report_run *run, const struct report_pictures *pictures,
                      const char *folder, bool lab, struct orr_file *html)
{
    int telling;
    TRY(find_telling(run, &telling));
    TRY(write_head(run, html));
    write_contents(run, html);
    if (*run->settings.tracks) {
        TRY(report_html_tracks(run, html));
    } else {
        TRY(write_answers(run, html));
        TRY(write_first(run, pictures, folder, telling, html));
        TRY(write_laws(run, pictures, folder, html));
        TRY(write_vectors(run, pictures, folder, telling, html));
        TRY(write_probes(run, pictures, folder, html));
    }
    TRY(report_html_lab(run, lab, html));
    orr_file_printf(html, "<h2 id=\"training\">Training</h2>\n");
    TRY(write_picture(pictures, folder, "loss", html));
    TRY(report_html_losses(run, html));
    TRY(report_html_commands(run, html));
    orr_file_printf(
        html,
        "<h2 id=\"settings\">Settings</h2>\n<p class=\"note\">Saved as preset.json in the run "
        "directory; <code>--preset FILE</code> repeats the run.</p>\n<details>"
        "<summary>All settings</summary>\n<pre tabindex=\"0\">");
    orr_html_text(html, run->preset_text);
    orr_file_printf(html, "</pre>\n</details>\n</main>\n");
    return write_end(html);
}

int report_html(const struct report_run *run, const struct report_pictures *pictures,
                const char *folder, bool lab, const char *path)
{
    struct orr_file html = {0};
    int rc = orr_file_create(&html, path);
    if (!rc)
        rc = write_page(run, pictures, folder, lab, &html);
    if (!rc)
        rc = orr_file_commit(&html);
    orr_file_close(&html);
    return rc;
}
