/* lab.c - bin/probe lab: the orbit lab with the networks of a run (docs/lab.md), in one page. The
 * page that the source ships is copied; the line that holds its networks is written anew. */
#include "probe.h"
#include "base/data.h"
#include "base/file.h"
#include "base/html.h"
#include "base/tempdir.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/* The page with the run is below this, so that it can be sent by mail. */
enum { PAGE_MOST = 6000000 };
#define NETWORKS "<script type=\"text/plain\" id=\"run\">\n"

struct lab_page {
    const struct probe_options *options;
    struct orr_file html;
    struct orr_tempdir work;
    int networks;
    char listed[(2 * ORR_LIST + 1) * (ORR_NAME + 32)]; /* the networks in JSON */
    size_t rest;                                       /* bytes of the page behind its networks */
    char left_out[512]; /* networks that would make the page too long */
};

/* The page holds weights with 16 significant bits, the nearest: a relative error of at most 2^-16,
 * below what it shows, so that the lowest of their four bytes is 0 and costs nothing. */
static void round_weights(struct gpt_model *model)
{
    for (size_t i = 0; i < model->total; i++) {
        int exponent;
        const double digits = ldexp(frexp((double)model->param[i], &exponent), 16);
        model->param[i] = (real)ldexp(nearbyint(digits), exponent - 16);
    }
}

/* A checkpoint as the page stores it: its header, then the first bytes of all numbers, the second
 * bytes, the third and the fourth, which compress better than numbers do; by zlib. Call free(). */
static int compress_checkpoint(const char *path, char **packed, size_t *packed_size)
{
    char *bytes = NULL;
    uint64_t header = 0;
    size_t size = 0;
    TRY(orr_file_read(path, &bytes, &size));
    memcpy(&header, bytes, sizeof header); /* the format is little-endian, as the programs are */
    const size_t first = sizeof header + (size_t)header, count = (size - first) / 4;
    uLongf room = compressBound((uLong)size);
    unsigned char *planes = malloc(size);
    int rc =
        planes && (*packed = malloc(room)) ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    if (!rc) {
        memcpy(planes, bytes, first);
        for (size_t i = 0; i < 4 * count; i++)
            planes[first + i % 4 * count + i / 4] = (unsigned char)bytes[first + i];
        if (compress2((Bytef *)*packed, &room, planes, (uLong)(first + 4 * count), 9) != Z_OK)
            rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
        *packed_size = room;
    }
    free(planes);
    free(bytes);
    return rc;
}

/* Writes the weights that predict, alone, to a file in memory. Call free(). */
static int pack_network(struct lab_page *page, const char *checkpoint, char **bytes, size_t *size)
{
    char path[4096], stage[ORR_NAME], force[256];
    const char *const extra[] = {"stage", stage, "force", force, NULL};
    struct gpt_model model;
    long step;
    TRY(orr_path(path, "%s/network.safetensors", page->work.folder));
    TRY(gpt_checkpoint_metadata(checkpoint, "stage", stage, sizeof stage));
    TRY(gpt_checkpoint_metadata(checkpoint, "force", force, sizeof force));
    TRY(gpt_load(&model, checkpoint, &k_ref, &step));
    gpt_swap_average(&model);
    gpt_drop_training(&model);
    round_weights(&model);
    int rc = model.config.input == GPT_INPUT_CONTINUOUS
                 ? gpt_save(&model, path, step, false, extra)
                 : ORR_FAIL(ORR_EINVAL,
                            "%s: the page asks networks that read coordinates in the plane, and "
                            "this one reads something else",
                            checkpoint);
    gpt_free(&model);
    return rc ? rc : compress_checkpoint(path, bytes, size);
}

/* Adds a network, if the run has it and the page has room. */
static int add_network(struct lab_page *page, const char *name, bool forces, const char *file)
{
    char path[4096], *bytes = NULL;
    size_t size = 0;
    TRY(orr_path(path, "%s/%s/%s", page->options->run, name, file));
    if (!orr_exists(path))
        return 0;
    TRY(pack_network(page, path, &bytes, &size));
    orr_file_flush(&page->html);
    const long before = ftell(page->html.stream);
    if ((double)before + 8.0 / 7 * (double)size + (double)page->rest + 256 > PAGE_MOST) {
        orr_append(page->left_out, sizeof page->left_out, "%s%s (%s)", *page->left_out ? ", " : "",
                   name, forces ? "forces" : "next positions");
        free(bytes);
        return 0;
    }
    orr_append(page->listed, sizeof page->listed, "%s{\"name\": \"%s\", \"forces\": %s}",
               page->networks++ ? ", " : "", name, forces ? "true" : "false");
    const int rc = orr_html_sevens(&page->html, (const unsigned char *)bytes, size);
    orr_file_printf(&page->html, "\t");
    free(bytes);
    return rc;
}

/* Those that predict first, then the untrained one, and others that were fine-tuned to forces. */
static int add_networks(struct lab_page *page)
{
    const struct orr_settings *p = page->options->settings;
    char file[64];
    snprintf(file, sizeof file, "pretrain/%s", gpt_final_checkpoint(&p->pretrain));
    for (int i = 0; i < p->attention.count; i++)
        TRY(add_network(page, p->attention.item[i], false, file));
    const char *tuned = p->finetune.magnitude.patience > 0 ? "finetune/magnitude_best.safetensors"
                                                           : "finetune/magnitude.safetensors";
    TRY(add_network(page, "untrained", true, tuned));
    for (int i = 0; i < p->attention.count; i++)
        TRY(add_network(page, p->attention.item[i], true, tuned));
    return page->networks ? 0
                          : ORR_FAIL(ORR_EMISSING,
                                     "%s: no pretrained and no fine-tuned network there; make "
                                     "pretrain makes them",
                                     page->options->run);
}

/* The line of the page: the networks, each with a tab behind it, and what they are and were trained
 * on, in JSON. */
static int write_run(struct lab_page *page)
{
    const struct orr_settings *p = page->options->settings;
    char law[ORR_SETTING];
    orr_settings_value(p, "orbits.law", law);
    TRY(add_networks(page));
    orr_file_printf(&page->html, "{\"law\": \"%s\", \"dt_yr\": %.17g, ", law, p->orbits.dt_yr);
    if (p->orbits.protocol == ORR_PROTOCOL_IDENTIFIABLE)
        orr_file_printf(&page->html,
                        "\"m_min\": %.17g, \"m_max\": %.17g, \"a_min_au\": %.17g, "
                        "\"a_max_au\": %.17g, \"e_max\": %.17g, ",
                        p->orbits.m_min, p->orbits.m_max, p->orbits.a_min_au, p->orbits.a_max_au,
                        p->orbits.e_max);
    return orr_file_printf(&page->html, "\"networks\": [%s]}\n", page->listed);
}

/* Writes the shipped page, `text`, with another line for its networks. */
static int write_page(struct lab_page *page, const char *shipped, const char *text, size_t bytes)
{
    const char *at = strstr(text, NETWORKS), *line = at ? at + strlen(NETWORKS) : NULL;
    const char *rest = line ? strchr(line, '\n') : NULL;
    if (!rest)
        return ORR_FAIL(ORR_EFORMAT, "%s: not the page of the orbit lab", shipped);
    page->rest = bytes - (size_t)(rest - text);
    orr_file_write(&page->html, text, (size_t)(line - text));
    TRY(write_run(page));
    orr_file_write(&page->html, rest + 1, page->rest - 1);
    return orr_file_commit(&page->html);
}

int probe_lab(const struct probe_options *options)
{
    struct lab_page page = {.options = options};
    char shipped[4096], out[4096], folder[4096], *text = NULL;
    size_t bytes;
    TRY(*options->out ? orr_path(out, "%s", options->out)
                      : orr_path(out, "%s/lab.html", options->run));
    TRY(orr_data_path("docs", "lab.html", shipped));
    TRY(orr_file_read(shipped, &text, &bytes));
    orr_folder_of(out, folder);
    int rc = orr_mkdir(folder);
    rc = rc ? rc : orr_tempdir_create(&page.work, folder, "lab");
    rc = rc ? rc : orr_file_create(&page.html, out);
    rc = rc ? rc : write_page(&page, shipped, text, bytes);
    if (!rc && !options->quiet)
        printf("lab: %s (%d networks)\n", out, page.networks);
    if (!rc && *page.left_out)
        orr_note(options->quiet, "note: left out, so that the page stays below %d bytes: %s",
                 PAGE_MOST, page.left_out);
    orr_file_close(&page.html);
    orr_tempdir_remove(&page.work);
    free(text);
    return rc;
}
