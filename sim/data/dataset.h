/* dataset.h - how data sets lie on disk: kinds of arrays, names of files, blocks of sequences,
 * the manifest. Shared inside sim/data only. */
#ifndef SIM_DATA_DATASET_H
#define SIM_DATA_DATASET_H

#include "stage/provenance.h"
#include "sim/sim.h"

struct cJSON;

/* What a manifest counts: coordinates outside the bins, systems drawn again (of sets that have
 * "redrawn_systems"). */
struct sim_tally {
    long clipped, redrawn;
};

/* ----------------------------------------------------------------------- kinds of arrays */

enum sim_kind { /* the order of files in the manifest */
                SIM_KIND_OBS,
                SIM_KIND_COORDS,
                SIM_KIND_NUM_BODIES,
                SIM_KIND_FULL_STATE,
                SIM_KIND_STATE,
                SIM_KIND_FORCE_MAGNITUDE,
                SIM_KIND_FORCE_VECTOR,
                SIM_KIND_SCALE,
};
struct sim_array { /* one sequence of a kind: (P, cols), or one number when cols is 0 */
    const char *name;
    enum orr_dtype dtype;
    size_t cols;
};
extern const struct sim_array sim_arrays[SIM_KINDS];
/* Whether a split has this kind; tokens: of a preset whose output is tokens. */
bool sim_kind_used(enum sim_kind kind, enum sim_split split, bool tokens);
/* Bytes of one sequence. */
size_t sim_kind_bytes(enum sim_kind kind, int positions);

/* ------------------------------------------------------------------------------ contents */

/* What the arrays of an open set hold: ORR_EFORMAT names file, sequence, what was expected and what
 * was found. Bodies: 2 in sets of two bodies, else 2 to what a sequence shows. */
int sim_bodies_check(const struct sim_dataset *set);
/* Of a labelled split: the rows of every sequence, and every label with its state. */
int sim_labels_check(const struct sim_dataset *set);

/* ---------------------------------------------------------------------- files and shards */

/* Sequences of a split that go to files. */
uint64_t sim_split_written(const struct orr_settings *preset, enum sim_split split);
/* Sequences of a shard of n sequences. */
uint64_t sim_shard_size(const struct orr_settings *preset, uint64_t n, uint64_t shard);
/* Files per kind for n sequences: 1, or as many as shard_sequences asks for. */
uint64_t sim_shard_count(const struct orr_settings *preset, uint64_t n);
/* "obs_train.npy", or with shards > 1 "obs_train-00002-of-00005.npy". */
enum { SIM_NAME = 128 };
void sim_shard_name(char name[SIM_NAME], enum sim_kind kind, enum sim_split split, uint64_t shard,
                    uint64_t shards);
/* Whether the folder has files of data sets at all. */
bool sim_folder_has_data(const char *dir);
/* How many shards of (kind, split) a folder says it has: 1 when there is the plain file or
 * nothing, else N of "-of-N" (ORR_EFORMAT when two sharded sets are mixed). */
int sim_shards_find(const char *dir, enum sim_kind kind, enum sim_split split, uint64_t *shards);
/* A shard of a set: number 0 to count - 1; a set in one file is shard 0 of 1. */
struct sim_shard {
    enum sim_split split;
    uint64_t number, count;
};
/* Kind and shard of a file name of data sets, with `partial` also of its temporary names. */
bool sim_name_parse(const char *name, bool partial, enum sim_kind *kind, struct sim_shard *shard);
/* The same of a shard's record, "progress_train-00002-of-00005.json". */
void sim_record_name(char name[SIM_NAME], const struct sim_shard *shard);
bool sim_record_parse(const char *name, bool partial, struct sim_shard *shard);
/* A data file that "sets" of a manifest or progress file do not list, and that is not of a set in
 * the making: somebody else's. */
bool sim_is_unlisted(const char *name, const struct cJSON *sets);
/* Shards of a set of a manifest, by the names of its files (1: or there are none). */
uint64_t sim_set_shards(const struct cJSON *set, enum sim_split split);
/* Whether the set's list lacks a file, and which: it has every kind of every shard, or, unfinished,
 * of every shard of which it has any. */
bool sim_set_lacks(const struct cJSON *set, enum sim_split split, bool tokens, uint64_t shards,
                   char name[SIM_NAME]);
/* Whether the set's list has every file of a shard. */
bool sim_set_has(const struct cJSON *set, const struct sim_shard *shard, bool tokens);
/* Before sets are made: removes data files of another layout than the `plan` has for the settings,
 * and records of shards that the sets `there` do not list. */
int sim_outdated_remove(const char *dir, const struct orr_settings *preset,
                        const struct cJSON *plan, const struct cJSON *there);
/* After the manifest is written: removes temporary files and all records. */
int sim_scaffold_remove(const char *dir);

/* -------------------------------------------------------------- manifest and progress file */

/* What a manifest begins with, and an empty object "sets" at its end. */
struct cJSON *sim_manifest_create(const struct orr_settings *preset);
/* *json = the folder's manifest, NULL: none. ORR_EFORMAT when it is damaged. */
int sim_manifest_read(const char *dir, struct cJSON **json);
/* What a manifest says of bins, within the ranges of orbits.bins and orbits.extent_au. */
int sim_manifest_bins(const char *dir, const struct cJSON *json, int *bins, double *extent_au);
/* The sets of a folder held against the settings: those of the manifest or, where there is none,
 * of the progress file, with the shards that have a record. */
struct sim_inventory {
    const struct orr_settings *preset;
    const char *dir;
    bool force;                        /* see below */
    struct cJSON *manifest, *progress; /* NULL: none */
    struct cJSON *sets;                /* of one of them, those of progress with its records */
    struct cJSON *merged;              /* owns `sets` of a progress file */
    struct orr_records records;
};
/* ORR_EFORMAT when manifest or progress file is damaged, unless force: it is then as none, and
 * files are held against their checksums. Close also after an error. */
int sim_inventory_open(struct sim_inventory *inventory, const struct orr_settings *preset,
                       const char *dir, bool force);
/* A data file of the folder that is somebody else's (sim_is_unlisted), "" = none. */
int sim_inventory_foreign(const struct sim_inventory *inventory, char foreign[SIM_NAME]);
void sim_inventory_close(struct sim_inventory *inventory);
/* What is to be done about a set that the settings ask for: ORR_REFUSE where a finished one of
 * other settings is in the way, with the reason. */
int sim_inventory_status(struct sim_inventory *inventory, enum sim_split split,
                         struct orr_artefact *status);
/* Whether every set that the settings ask for is finished. */
int sim_inventory_whole(struct sim_inventory *inventory, bool *whole);
/* *kept = the "sets" that stay: whole ones, unfinished ones that go on, and those that the settings
 * do not ask for. ORR_EINVAL naming set and reason where one is in the way, unless force: it is
 * then left out. cJSON_Delete(*kept), also after an error. */
int sim_inventory_keep(struct sim_inventory *inventory, bool force, struct cJSON **kept);
/* Whether the folder's list is the plan already: the settings' sets, finished or in the making. */
bool sim_inventory_follows(const struct sim_inventory *inventory, const struct cJSON *plan);
/* Atomically writes DIR/progress.json: the sets in the making, and those that stay. */
int sim_progress_write(const struct orr_settings *preset, const char *dir,
                       const struct cJSON *plan);
/* Adds to `sets`, those of a progress file with so many sequences in a shard, what the folder's
 * records say, of shards whose files are there (sums: with their bytes). A set that is whole then
 * is no longer "planned". Records that do not fit the sets are ignored: their shards are made
 * again. */
int sim_records_merge(const char *dir, struct cJSON *sets, double shard_sequences, bool sums);
/* One line of a set: name, bytes, checksum. */
void sim_manifest_add(struct cJSON *set, const char *name, uint64_t bytes, uint64_t checksum);

/* Whether a file of a list is there, and as long as it should be; sums: and has its bytes. */
bool sim_file_matches(const char *dir, const struct cJSON *file, bool sums);

/* Makes the shards of a part that the folder's `sets` have in the making and do not list, each with
 * its record. */
int sim_shards_write(const struct orr_settings *preset, const char *dir, const struct cJSON *sets,
                     int part, int parts, int threads, bool quiet);

/* -------------------------------------------------------------------- blocks of sequences */

/* Rows of several sequences, one array per kind; sequences are made in place. */
struct sim_block {
    unsigned char *rows[SIM_KINDS]; /* (capacity, bytes of the kind); NULL: not in this split */
    size_t row[SIM_KINDS];          /* bytes of one sequence */
    struct sim_tally *tally;        /* (capacity) */
    uint64_t first;
    int count;
};
int sim_block_create(struct sim_block *block, const struct orr_settings *preset,
                     enum sim_split split, int capacity);
void sim_block_free(struct sim_block *block);
/* Makes sequence `index` as entry k; sequence: made for this split, one per thread. */
int sim_block_make(struct sim_block *block, int k, struct sim_sequence *sequence,
                   const struct orr_settings *preset, enum sim_split split, uint64_t index);

/* Streams of blocks (stream.c): number b holds draws b * size .. (b + 1) * size - 1, with `once`
 * those below the order's count. */
int sim_stream_open_blocks(struct sim_stream **stream, const struct orr_settings *preset,
                           enum sim_split split, const struct sim_stream_order *order, int threads,
                           int size, bool once);
/* Block `number`, made; valid until the next call. */
int sim_stream_take(struct sim_stream *stream, uint64_t number, const struct sim_block **block);

/* An error that happened in another thread, for the one that reports it. */
struct sim_failure {
    int rc;
    char message[1024];
};
/* Keeps this thread's last message. */
void sim_failure_keep(struct sim_failure *failure, int rc);
/* Makes it this thread's last message; returns its code. */
int sim_failure_raise(const struct sim_failure *failure);

#endif
