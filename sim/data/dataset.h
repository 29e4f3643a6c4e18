/* dataset.h - the layout of data sets on disk: kinds of arrays, file names, blocks of sequences,
 * the manifest. Shared inside sim/data only. */
#ifndef SIM_DATA_DATASET_H
#define SIM_DATA_DATASET_H

#include "stage/provenance.h"
#include "sim/sim.h"

struct cJSON;

/* Counts in a manifest: coordinates outside the bins, and systems drawn again ("redrawn_systems",
 * in sets that have it). */
struct sim_tally {
    long clipped, redrawn;
};

/* ----------------------------------------------------------------------- kinds of arrays */

enum sim_kind { /* in the order of files in the manifest */
                SIM_KIND_OBS,
                SIM_KIND_COORDS,
                SIM_KIND_NUM_BODIES,
                SIM_KIND_FULL_STATE,
                SIM_KIND_STATE,
                SIM_KIND_FORCE_MAGNITUDE,
                SIM_KIND_FORCE_VECTOR,
                SIM_KIND_SCALE,
                SIM_KIND_MASS,     /* of imported tracks whose file gives masses */
                SIM_KIND_VELOCITY, /* likewise */
};
/* One sequence of a kind is an array (P, sim_kind_cols()), or one number if that is 0. */
struct sim_array {
    const char *name;
    enum orr_dtype dtype;
    size_t cols, per_axis; /* columns are cols + per_axis d */
};
extern const struct sim_array sim_arrays[SIM_KINDS];
/* Columns of a kind where positions have so many dimensions d. */
size_t sim_kind_cols(enum sim_kind kind, int dimensions);
/* Whether a split must have this kind. tokens: whether the preset's output is tokens. */
bool sim_kind_used(enum sim_kind kind, enum sim_split split, bool tokens);
/* Bytes of one sequence. */
size_t sim_kind_bytes(enum sim_kind kind, int positions, int dimensions);

/* ------------------------------------------------------------------------------ contents */

/* Checks the arrays of an open set. ORR_EFORMAT names file, sequence, what was expected and what
 * was found. Sequences have 2 bodies in sets of two bodies, else from 2 to the number that a
 * sequence can show. */
int sim_bodies_check(const struct sim_dataset *set);
/* Checks the rows of every sequence of a labelled split, and every label with its state. */
int sim_labels_check(const struct sim_dataset *set);

/* ---------------------------------------------------------------------- files and shards */

/* The number of a split's sequences that are written to files. */
uint64_t sim_split_written(const struct orr_settings *settings, enum sim_split split);
/* The number of sequences in a shard of a set of n sequences. */
uint64_t sim_shard_size(const struct orr_settings *settings, uint64_t n, uint64_t shard);
/* Files per kind for n sequences: 1, or as many as orbits.shard_sequences requires. */
uint64_t sim_shard_count(const struct orr_settings *settings, uint64_t n);
/* The name of a file: "obs_train.npy", or with shards > 1 "obs_train-00002-of-00005.npy". */
enum { SIM_NAME = 128 };
void sim_shard_name(char name[SIM_NAME], enum sim_kind kind, enum sim_split split, uint64_t shard,
                    uint64_t shards);
/* Whether the folder has any files of data sets. */
bool sim_folder_has_data(const char *dir);
/* The number of shards of (kind, split) in a folder, by file names: 1 for the plain file or none,
 * else N of "-of-N". ORR_EFORMAT if two sharded sets are mixed. */
int sim_shards_find(const char *dir, enum sim_kind kind, enum sim_split split, uint64_t *shards);
/* A shard of a set: number 0 to count - 1. A set in one file is shard 0 of 1. */
struct sim_shard {
    enum sim_split split;
    uint64_t number, count;
};
/* Parses a file name of data sets into kind and shard; with `partial` temporary names are accepted,
 * too. */
bool sim_name_parse(const char *name, bool partial, enum sim_kind *kind, struct sim_shard *shard);
/* Writes and parses the name of a shard's record, "progress_train-00002-of-00005.json". */
void sim_record_name(char name[SIM_NAME], const struct sim_shard *shard);
bool sim_record_parse(const char *name, bool partial, struct sim_shard *shard);
/* Whether a data file is external: not listed in "sets" of a manifest or progress file, and not
 * part of an unfinished set. */
bool sim_is_unlisted(const char *name, const struct cJSON *sets);
/* The number of shards of a manifest's set, from its file names; 1 if there are none. */
uint64_t sim_set_shards(const struct cJSON *set, enum sim_split split);
/* Whether the set's list lacks a file; `name`: the first one. A finished set has every kind of
 * every shard; an unfinished set has every kind of each shard that it has begun to list. */
bool sim_set_lacks(const struct cJSON *set, enum sim_split split, bool tokens, uint64_t shards,
                   char name[SIM_NAME]);
/* Whether the set's list has every file of a shard. */
bool sim_set_has(const struct cJSON *set, const struct sim_shard *shard, bool tokens);
/* Before sets are made: removes data files whose layout differs from the `plan` for the settings,
 * and records of shards that the sets `there` do not list. */
int sim_outdated_remove(const char *dir, const struct orr_settings *settings,
                        const struct cJSON *plan, const struct cJSON *there);
/* After the manifest is written: removes temporary files and all records. */
int sim_scaffold_remove(const char *dir);

/* -------------------------------------------------------------- manifest and progress file */

/* The beginning of a manifest, with an empty object "sets" at its end. */
struct cJSON *sim_manifest_create(const struct orr_settings *settings);
/* *json: the folder's manifest; NULL if there is none. ORR_EFORMAT if it is damaged. */
int sim_manifest_read(const char *dir, struct cJSON **json);
/* Reads the bins of a manifest, within the ranges of orbits.bins and orbits.extent_au. */
int sim_manifest_bins(const char *dir, const struct cJSON *json, int *bins, double *extent_au);
/* The sets of a folder, compared with the settings: from the manifest or, without one, from the
 * progress file, including shards that have a record. */
struct sim_inventory {
    const struct orr_settings *settings;
    const char *dir;
    bool force;                        /* as sim_inventory_open() takes it */
    struct cJSON *manifest, *progress; /* NULL: none */
    struct cJSON *sets;                /* of the manifest or progress file */
    struct cJSON *merged;              /* owns `sets` if they are of a progress file */
    struct orr_records records;
};
/* ORR_EFORMAT if manifest or progress file is damaged; with force, a damaged one counts as missing,
 * and files are compared with their checksums. Call close also after an error. */
int sim_inventory_open(struct sim_inventory *inventory, const struct orr_settings *settings,
                       const char *dir, bool force);
/* Finds an external data file in the folder (sim_is_unlisted); "" = none. */
int sim_inventory_foreign(const struct sim_inventory *inventory, char foreign[SIM_NAME]);
void sim_inventory_close(struct sim_inventory *inventory);
/* Decides what to do about a set of the settings: ORR_REFUSE, with the reason, where a finished set
 * of other settings exists. */
int sim_inventory_status(struct sim_inventory *inventory, enum sim_split split,
                         struct orr_artefact *status);
/* Whether all sets of the settings are finished. */
int sim_inventory_whole(struct sim_inventory *inventory, bool *whole);
/* *kept: the "sets" that stay: finished ones, unfinished ones to be continued, and those that the
 * settings do not include. ORR_EINVAL names a set that prevents writing, and the reason; with
 * force, this set is left out. cJSON_Delete(*kept), also after an error. */
int sim_inventory_keep(struct sim_inventory *inventory, bool force, struct cJSON **kept);
/* Whether the folder's list already equals the plan: the settings' sets, finished or unfinished. */
bool sim_inventory_follows(const struct sim_inventory *inventory, const struct cJSON *plan);
/* Atomically writes DIR/progress.json: the unfinished sets and those that stay. */
int sim_progress_write(const struct orr_settings *settings, const char *dir,
                       const struct cJSON *plan);
/* Adds the folder's shard records to `sets`, the sets of a progress file with `shard_sequences`
 * sequences per shard. A record counts if its files exist (sums: with their checksums). A set that
 * is then complete is no longer "planned". Records that do not fit the sets are ignored, and their
 * shards are remade. */
int sim_records_merge(const char *dir, struct cJSON *sets, double shard_sequences, bool sums);
/* Adds one file to a set: name, bytes, checksum. */
void sim_manifest_add(struct cJSON *set, const char *name, uint64_t bytes, uint64_t checksum);

/* Whether a listed file exists with its size; sums: and with its checksum. */
bool sim_file_matches(const char *dir, const struct cJSON *file, bool sums);

/* Makes the shards of a part that belong to unfinished sets of the folder and are not listed yet,
 * each with its record. */
int sim_shards_write(const struct orr_settings *settings, const char *dir, const struct cJSON *sets,
                     int part, int parts, int threads, bool quiet);

/* -------------------------------------------------------------------- blocks of sequences */

/* Rows of several sequences, one array per kind; sequences are made in place. */
struct sim_block {
    unsigned char *rows[SIM_KINDS]; /* (capacity, bytes of one sequence); NULL: not used */
    size_t row[SIM_KINDS];          /* bytes of one sequence */
    struct sim_tally *tally;        /* (capacity) */
    uint64_t first;
    int count;
};
int sim_block_create(struct sim_block *block, const struct orr_settings *settings,
                     enum sim_split split, int capacity);
void sim_block_free(struct sim_block *block);
/* Makes sequence `index` as entry k. sequence: storage created for this split, one per thread. */
int sim_block_make(struct sim_block *block, int k, struct sim_sequence *sequence,
                   const struct orr_settings *settings, enum sim_split split, uint64_t index);

/* Streams of blocks (stream.c): block b holds draws b * size .. (b + 1) * size - 1; with `once`
 * only those below the order's count. */
int sim_stream_open_blocks(struct sim_stream **stream, const struct orr_settings *settings,
                           enum sim_split split, const struct sim_stream_order *order, int threads,
                           int size, bool once);
/* Waits for block `number`; valid until the next call. */
int sim_stream_take(struct sim_stream *stream, uint64_t number, const struct sim_block **block);

/* An error from another thread, to be reported by the calling one. */
struct sim_failure {
    int rc;
    char message[1024];
};
/* Stores this thread's last message. */
void sim_failure_keep(struct sim_failure *failure, int rc);
/* Makes the stored error this thread's last message; returns its code. */
int sim_failure_raise(const struct sim_failure *failure);

#endif
