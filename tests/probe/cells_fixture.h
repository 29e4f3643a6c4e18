/* cells_fixture.h - cells that a probe keeps, read and changed behind its back. */
#ifndef TESTS_PROBE_CELLS_FIXTURE_H
#define TESTS_PROBE_CELLS_FIXTURE_H

#include "base/scratch.h"

#include <cjson/cJSON.h>

#include "probe/core/cells.h"

/* Opens the cells of <folder>/<probe>_cells.jsonl under the key that its first line has; the second
 * one says how many numbers a cell has. */
static inline void cells_open(struct probe_cells *cells, const char *folder, const char *probe,
                              bool resume)
{
    const struct probe_options options = {.resume = resume, .quiet = true};
    char path[4096], *text, key[PROBE_KEY];
    size_t bytes;
    assert_int_equal(orr_path(path, "%s/%s_cells.jsonl", folder, probe), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    cJSON *header = cJSON_Parse(text), *cell = cJSON_Parse(strchr(text, '\n'));
    snprintf(key, sizeof key, "%s", cJSON_GetStringValue(cJSON_GetObjectItem(header, "key")));
    const int numbers = cJSON_GetArraySize(cJSON_GetObjectItem(cell, "value"));
    cJSON_Delete(header);
    cJSON_Delete(cell);
    free(text);
    assert_int_equal(probe_cells_open(cells, &options, folder, probe, key, (size_t)numbers), 0);
}

/* Writes the first `count` cells anew, number `at` of cell `changed`, or with at < 0 all of its
 * numbers, being `value`. */
static inline void cells_keep(const char *folder, const char *probe, int count, int changed, int at,
                              double value)
{
    struct probe_cells was, is;
    cells_open(&was, folder, probe, true);
    assert_true(was.count >= count);
    cells_open(&is, folder, probe, false);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < (int)was.numbers; k++)
            if (i == changed && (at < 0 || k == at))
                was.cell[i].value[k] = value;
        assert_int_equal(probe_cells_add(&is, was.cell[i].value, "%s", was.cell[i].name), 0);
    }
    probe_cells_free(&was);
    probe_cells_free(&is);
}

#endif
