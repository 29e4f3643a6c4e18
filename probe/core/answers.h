/* answers.h - models of other programs: what `probe export` asks of them (docs/exchange.md), and
 * their answers, which stand for a checkpoint.
 *
 * A folder of answers holds a copy of the export.json that it answers. Every file is checked
 * against the export before anything is measured: name, shape, finite numbers, order of the
 * sequences, and that no row depends on later ones. */
#ifndef PROBE_ANSWERS_H
#define PROBE_ANSWERS_H

#include "probe/results.h"

/* The settings that an export depends on, and results with it. */
#define PROBE_SETTINGS "seed,orbits,planets,finetune,text"
enum { PROBE_SUM = 17 };
/* Their checksum, 16 hexadecimal digits. */
void probe_settings_sum(const struct orr_settings *settings, char text[PROBE_SUM]);
#define PROBE_EXCHANGE      "exchange" /* the folder of a run's export */
#define PROBE_EXPORT_FORMAT "orrery-export-1"

struct probe_answers {
    char folder[4096], name[ORR_NAME]; /* name: the last part of the folder's path */
    uint64_t content;                  /* of the names and bytes of all files but the card */
    struct cJSON *exported;            /* export.json */
    int sequences,
        draws;         /* options of the export, of which numbers of sequences follow; 0: default */
    const char *sizes; /* "" : default */
};
/* Opens a folder of answers of a run. ORR_EMISSING, ORR_EFORMAT or ORR_EINVAL, naming the file and
 * what is expected: without export.json, or where it was changed or is of other settings. Close
 * after an error, too. */
int probe_answers_open(struct probe_answers *answers, const char *folder,
                       const struct orr_settings *settings);
void probe_answers_close(struct probe_answers *answers);
/* ORR_EINVAL where the twin is the model itself, or answers another export. */
int probe_answers_check_twin(const struct probe_answers *answers, const struct probe_answers *twin);
/* Whether the folder holds this file. */
bool probe_answers_has(const struct probe_answers *answers, const char *file);

/* An array of the answers, in float32 or float64. */
struct probe_array {
    char path[4096];
    struct orr_npy npy;
    size_t rows, width; /* of a sequence */
};
double probe_array_at(const struct probe_array *array, size_t sequence, size_t row, size_t column);
/* Opens FILE, of the export's `sequences` sequences and the repeated ones after them, `rows` rows
 * each, and `width` numbers in a row (0: any). The first `same` rows of a repeated sequence have to
 * be those of the sequence that it repeats. Close after an error, too. */
int probe_array_open(struct probe_array *array, const struct probe_answers *answers,
                     const char *file, size_t sequences, size_t rows, size_t width, size_t same);
void probe_array_close(struct probe_array *array);
/* Copies the rows of all sequences but the repeated ones: to (sequences, rows, width). */
void probe_array_copy(const struct probe_array *array, size_t sequences, double *to);

/* XXH64 (seed 0) of the coordinates of the rows that are fed, (sequences, T, d). */
int probe_rows_checksum(struct probe *probe, uint64_t *checksum);

/* ---- repeated sequences
 *
 * Every array of inputs ends with up to PROBE_REPEATS sequences that repeat earlier ones up to the
 * prefix of a rollout and go on as another sequence. Outputs of the repeated rows must be equal:
 * then the sequences are in their order, and no output depends on rows that come later. */
enum { PROBE_REPEATS = 8 };
int probe_repeats(size_t sequences);
/* Repeated sequence k repeats sequence *of and goes on as *as. */
void probe_repeat(size_t sequences, int k, size_t *of, size_t *as);
/* The largest difference of outputs that rounding explains, as a share of their root mean
 * square. */
#define PROBE_REPEAT_SAME 1e-3

#endif
