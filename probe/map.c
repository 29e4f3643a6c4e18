/* map.c - attention maps as pictures: cells for the eye, drawn by gnuplot. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 256 }; /* cells along an axis at most: about the pixels of a panel */

void probe_cells(float *cells, const float *map, int T, int block, int window)
{
    const int n = (T + block - 1) / block;
    for (int k = 0; k < n * n; k++)
        cells[k] = NAN;
    for (int i = 0; i < T; i++)
        for (int j = window > 0 && i >= window ? i - window + 1 : 0; j <= i; j++) {
            float *cell = &cells[(i / block) * n + j / block];
            const float a = map[(size_t)i * (size_t)T + (size_t)j];
            if (isnan(*cell) || fabsf(a) > fabsf(*cell))
                *cell = a;
        }
}

/* ---------------------------------------------------------------------- what gnuplot reads */

static int write_cells(const struct probe_page *page, int block, const char *path)
{
    const size_t n = (size_t)((page->T + block - 1) / block), T = (size_t)page->T;
    float *cells = orr_alloc(n * n, sizeof *cells);
    struct orr_file file = {0};
    int rc = cells ? orr_file_create(&file, path) : ORR_ENOMEM;
    for (int h = 0; h < page->count && !rc; h++) {
        probe_cells(cells, page->map + (size_t)h * T * T, page->T, block, page->window);
        rc = orr_file_write(&file, cells, n * n * sizeof *cells);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(cells);
    return rc;
}

/* Names of variants and numbers only: nothing that gnuplot could take for more than text. */
static int write_settings(const struct probe_page *page, int block, const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file,
                             "title = \"%s\"\npanels = %d\ncells = %d\nblock = %d\n"
                             "positions = %d\nwith_sign = %d\narray label[%d]\narray note[%d]\n",
                             page->title, page->count, (page->T + block - 1) / block, block,
                             page->T, page->has_sign, page->count, page->count);
    for (int h = 0; h < page->count && !rc; h++) {
        const struct probe_means *m = &page->means[h];
        rc = orr_file_printf(&file,
                             "label[%d] = \"head %d\"\n"
                             "note[%d] = \"entropy %.2f, sink %.2f, zeros %.0f%%\"\n",
                             h + 1, page->first + h, h + 1, m->entropy_relative, m->sink,
                             100 * m->zeros);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* -------------------------------------------------------------------------------- gnuplot */

/* Only async-signal-safe calls between fork and exec. */
static _Noreturn void child(const char *messages, char *const argv[])
{
    const int out = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

static int start_gnuplot(const char *script, const char *stem, const char *png,
                         const char *messages, int *status)
{
    char program[] = "gnuplot", flag[] = "-c", form[] = "png";
    char script_copy[4096], stem_copy[4096], png_copy[4096]; /* execvp wants them writable */
    snprintf(script_copy, sizeof script_copy, "%s", script);
    snprintf(stem_copy, sizeof stem_copy, "%s", stem);
    snprintf(png_copy, sizeof png_copy, "%s", png);
    char *const argv[] = {program, flag, script_copy, stem_copy, png_copy, form, NULL};
    const pid_t pid = fork();
    if (pid < 0)
        return ORR_FAIL(ORR_EIO, "gnuplot: cannot start: %s", strerror(errno));
    if (pid == 0)
        child(messages, argv);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return ORR_FAIL(ORR_EIO, "gnuplot: waitpid: %s", strerror(errno));
    return 0;
}

/* cairo does not report a full disk: a whole picture ends as PNG ends. */
static bool is_whole(const char *png)
{
    char *bytes = NULL;
    size_t size = 0;
    if (orr_file_read(png, &bytes, &size)) {
        orr_error_clear();
        return false;
    }
    const bool whole =
        size > 20 && !memcmp(bytes, "\x89PNG", 4) && !memcmp(bytes + size - 8, "IEND", 4);
    free(bytes);
    return whole;
}

static int run_gnuplot(const char *stem, const char *png, const char *messages, const char *name)
{
    char script[4096];
    int status = 0, rc = orr_figure_script("attention_map.gp", script);
    if (!rc)
        rc = start_gnuplot(script, stem, png, messages, &status);
    if (rc)
        return rc;
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; %s.png was not drawn", name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return ORR_FAIL(ORR_EMISSING,
                        "gnuplot: not found in PATH; install it (package gnuplot-nox) or "
                        "run make deps");
    if (!WIFEXITED(status) || WEXITSTATUS(status) || !is_whole(png)) {
        char *text = NULL;
        size_t bytes;
        const int unread = orr_file_read(messages, &text, &bytes);
        rc = ORR_FAIL(ORR_EIO, "gnuplot: failed while drawing %s.png (status %d): %.400s", name,
                      status, unread ? "" : text + strspn(text, "\n"));
        free(text);
    }
    return rc;
}

/* ------------------------------------------------------------------------------- one page */

static void remove_work(const char *work)
{
    static const char *const names[] = {"map.dat", "map.set", "map.png", "messages.txt"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!orr_path(path, "%s/%s", work, names[i]))
            (void)unlink(path);
    (void)rmdir(work);
}

int probe_draw(const struct probe_page *page, const char *folder, const char *name)
{
    char work[4096], data[4096], set[4096], stem[4096], png[4096], messages[4096], final[4096];
    const int block = (page->T + CELLS - 1) / CELLS;
    int rc = orr_path(work, "%s/.probe-XXXXXX", folder);
    if (!rc && !mkdtemp(work))
        return ORR_FAIL(ORR_EIO, "%s: cannot create a working folder: %s", folder, strerror(errno));
    if (rc)
        return rc;
    rc = orr_path(data, "%s/map.dat", work);
    if (!rc)
        rc = orr_path(set, "%s/map.set", work);
    if (!rc)
        rc = orr_path(stem, "%s/map", work);
    if (!rc)
        rc = orr_path(png, "%s/map.png", work);
    if (!rc)
        rc = orr_path(messages, "%s/messages.txt", work);
    if (!rc)
        rc = orr_path(final, "%s/%s.png", folder, name);
    if (!rc)
        rc = write_cells(page, block, data);
    if (!rc)
        rc = write_settings(page, block, set);
    if (!rc)
        rc = run_gnuplot(stem, png, messages, name);
    if (!rc && rename(png, final))
        rc = ORR_FAIL(ORR_EIO, "%s: cannot write: %s", final, strerror(errno));
    remove_work(work);
    return rc;
}
