/* tensorboard.c - writes logs and pictures as TensorBoard event files: protobuf messages, each
 * framed by its length and two masked CRC-32C (TensorFlow, tsl/lib/io/record_writer.h). */
#include "report.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

enum { MESSAGE = 1 << 14, DEEPEST = 4 };

/* ---- framing */

static uint32_t masked_crc32c(const uint8_t *data, size_t bytes)
{
    uint32_t crc = ~0U;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U))); /* Castagnoli, reflected */
    }
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

static void little_endian(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static int write_record(struct orr_file *file, const uint8_t *data, size_t bytes)
{
    uint8_t head[12], tail[4];
    little_endian(head, bytes, 8);
    little_endian(head + 8, masked_crc32c(head, 8), 4);
    little_endian(tail, masked_crc32c(data, bytes), 4);
    TRY(orr_file_write(file, head, sizeof head));
    TRY(orr_file_write(file, data, bytes));
    return orr_file_write(file, tail, sizeof tail);
}

/* ---- messages: field numbers of event.proto and summary.proto */

struct message {
    uint8_t data[MESSAGE];
    size_t bytes;
};

static void append_bytes(struct message *m, const void *data, size_t bytes)
{
    if (m->bytes + bytes <= sizeof m->data)
        memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
}

static void put_varint(struct message *m, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        append_bytes(m, &byte, 1);
        value >>= 7;
    } while (value);
}

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void put_bytes(struct message *m, int field, const void *data, size_t bytes)
{
    put_varint(m, (uint64_t)field << 3 | BYTES);
    put_varint(m, bytes);
    append_bytes(m, data, bytes);
}

static void put_fixed(struct message *m, int field, const void *value, enum wire wire)
{
    uint64_t bits = 0;
    uint8_t bytes[8];
    const int count = wire == FIXED64 ? 8 : 4;
    if (wire == FIXED64) {
        memcpy(&bits, value, 8);
    } else {
        uint32_t half;
        memcpy(&half, value, 4);
        bits = half;
    }
    put_varint(m, (uint64_t)field << 3 | wire);
    little_endian(bytes, bits, count);
    append_bytes(m, bytes, (size_t)count);
}

/* Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5 } */
static void begin_event(struct message *event, double wall_time_s)
{
    event->bytes = 0;
    put_fixed(event, 1, &wall_time_s, FIXED64);
}

/* Summary { repeated Value { string tag = 1; float simple_value = 2 } value = 1 } */
static void put_scalar(struct message *summary, const char *tag, double number)
{
    struct message value = {.bytes = 0};
    const float simple = (float)number;
    put_bytes(&value, 1, tag, strlen(tag));
    put_fixed(&value, 2, &simple, FIXED32);
    if (value.bytes <= sizeof value.data)
        put_bytes(summary, 1, value.data, value.bytes);
    else
        summary->bytes = MESSAGE + 1;
}

static int write_event(struct orr_file *file, const struct message *event, const char *log)
{
    if (event->bytes > sizeof event->data)
        return ORR_FAIL(ORR_EFORMAT, "%s: a line has more than %d bytes of numbers", log, MESSAGE);
    return write_record(file, event->data, event->bytes);
}

/* ---- hyperparameters: plugin_data.proto of TensorBoard's plugin hparams */

/* An entry of SessionStartInfo { map<string, Value> hparams = 1 }, where Value { oneof { double
 * number_value = 2; string string_value = 3; bool bool_value = 4 } }. */
static void put_hparam(struct message *session, const char *key, const cJSON *item)
{
    struct message entry = {.bytes = 0}, value = {.bytes = 0};
    if (cJSON_IsNumber(item))
        put_fixed(&value, 2, &item->valuedouble, FIXED64);
    else if (cJSON_IsString(item))
        put_bytes(&value, 3, item->valuestring, strlen(item->valuestring));
    else if (cJSON_IsBool(item)) {
        put_varint(&value, 4 << 3 | VARINT);
        put_varint(&value, cJSON_IsTrue(item) ? 1 : 0);
    }
    if (!value.bytes || value.bytes > sizeof value.data)
        return;
    put_bytes(&entry, 1, key, strlen(key));
    put_bytes(&entry, 2, value.data, value.bytes);
    put_bytes(session, 1, entry.data, entry.bytes);
}

/* Numbers, texts and switches of the settings, under the keys of --set. */
static void put_settings(struct message *session, const cJSON *settings, const char *above)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, settings) {
        char key[2 * ORR_NAME];
        if (!*above && !strcmp(item->string, "about"))
            continue;
        snprintf(key, sizeof key, "%s%s%.60s", above, *above ? "." : "", item->string);
        if (cJSON_IsObject(item) && !*above)
            put_settings(session, item, key);
        else
            put_hparam(session, key, item);
    }
}

/* Writes the event by which TensorBoard lists and sorts a training by its settings: Summary.Value {
 * string tag = 1; TensorProto tensor = 8; SummaryMetadata metadata = 9 }. */
static int write_hparams(struct orr_file *file, const cJSON *settings, const char *name,
                         double wall_time_s, const char *log)
{
    static const uint8_t null_tensor[] = {8, 1, 18, 2, 18, 0}; /* DT_FLOAT of one empty dimension */
    static const char tag[] = "_hparams_/session_start_info";
    struct message session = {.bytes = 0}, content = {.bytes = 0}, plugin = {.bytes = 0},
                   metadata = {.bytes = 0}, value = {.bytes = 0}, summary = {.bytes = 0}, event;
    const size_t source = strcspn(name, "/");
    cJSON attention = {.type = cJSON_String}, stage = {.type = cJSON_String};
    char first[ORR_NAME];
    snprintf(first, sizeof first, "%.*s", (int)source, name);
    attention.valuestring = first;
    char rest[REPORT_PATH];
    snprintf(rest, sizeof rest, "%s", name[source] ? name + source + 1 : name);
    stage.valuestring = rest;
    put_hparam(&session, "attention", &attention);
    put_settings(&session, settings, "");
    put_hparam(&session, "stage", &stage);
    put_fixed(&session, 5, &wall_time_s, FIXED64);
    if (session.bytes + 256 > MESSAGE)
        return ORR_FAIL(ORR_EFORMAT, "%s: more than %d bytes of settings", log, MESSAGE - 256);
    put_bytes(&content, 3, session.data, session.bytes);
    put_bytes(&plugin, 1, "hparams", 7);
    put_bytes(&plugin, 2, content.data, content.bytes);
    put_bytes(&metadata, 1, plugin.data, plugin.bytes);
    put_bytes(&value, 1, tag, sizeof tag - 1);
    put_bytes(&value, 8, null_tensor, sizeof null_tensor);
    put_bytes(&value, 9, metadata.data, metadata.bytes);
    put_bytes(&summary, 1, value.data, value.bytes);
    begin_event(&event, wall_time_s);
    put_bytes(&event, 5, summary.data, summary.bytes);
    return write_event(file, &event, log);
}

/* ---- logs */

static int write_line(struct orr_file *file, const cJSON *line, double wall_time_s, const char *log)
{
    struct message event, summary = {.bytes = 0};
    begin_event(&event, wall_time_s);
    const cJSON *item;
    cJSON_ArrayForEach (item, line) {
        if (cJSON_IsNumber(item) && strcmp(item->string, "step") != 0)
            put_scalar(&summary, item->string, item->valuedouble);
    }
    if (!summary.bytes)
        return 0;
    put_varint(&event, 2 << 3 | VARINT);
    put_varint(&event, (uint64_t)orr_json_number(line, "step"));
    if (summary.bytes <= sizeof summary.data)
        put_bytes(&event, 5, summary.data, summary.bytes);
    else
        event.bytes = MESSAGE + 1;
    return write_event(file, &event, log);
}

/* Adds a line, which replaces those of later steps. */
static int take_line(void *of, cJSON *line, double step, size_t number)
{
    struct report_lines *l = of;
    if (!(step >= 0 && step < 1e18)) {
        cJSON_Delete(line);
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: step: expected a number from 0 to 1e18, found %g",
                        l->path, number, step);
    }
    while (l->count && orr_json_number(l->at[l->count - 1], "step") > step)
        cJSON_Delete(l->at[--l->count]);
    l->at[l->count++] = line;
    return 0;
}

static int write_events(const struct report_lines *lines, const cJSON *settings, const char *name,
                        const char *path)
{
    struct stat info;
    struct message version;
    struct orr_file file = {0};
    const double wall_time_s = stat(lines->path, &info) ? 0 : (double)info.st_mtime;
    TRY(orr_file_create(&file, path));
    begin_event(&version, wall_time_s);
    put_bytes(&version, 3, "brain.Event:2", 13);
    int rc = write_event(&file, &version, lines->path);
    if (settings && !rc)
        rc = write_hparams(&file, settings, name, wall_time_s, lines->path);
    for (size_t i = 0; i < lines->count && !rc; i++)
        rc = write_line(&file, lines->at[i], wall_time_s, lines->path);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* "lssar/pretrain/log.jsonl" becomes <out>/lssar/pretrain/events.out.tfevents.0.orrery. */
static int convert_log(const char *log, const char *name, const cJSON *settings, const char *out)
{
    char folder[REPORT_PATH], path[REPORT_PATH], part[REPORT_PATH];
    struct report_lines lines;
    size_t length = strlen(name) - strlen(".jsonl");
    if (length > 4 && !strncmp(name + length - 4, "/log", 4))
        length -= 4;
    TRY(orr_path(part, "%.*s", (int)length, name));
    TRY(orr_path(folder, "%s/%s", out, part));
    TRY(orr_path(path, "%s/events.out.tfevents.0.orrery", folder));
    int rc = report_lines_read(log, take_line, &lines);
    rc = rc ? rc : orr_mkdir(folder);
    rc = rc ? rc : write_events(&lines, settings, part, path);
    report_lines_free(&lines);
    return rc;
}

/* ---- pictures */

static uint32_t big_endian(const char *from)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | (uint8_t)from[i];
    return value;
}

/* Summary.Value { string tag = 1; Image image = 4 }, where Image { int32 height = 1; int32 width =
 * 2; int32 colorspace = 3, its channels; bytes encoded_image_string = 4 }: all that comes before
 * the bytes of the PNG, of which `bytes` follow. ORR_EFORMAT: it is no PNG. */
static int put_image_head(struct message *event, const char *path, const char *tag, const char *png,
                          size_t bytes)
{
    static const char signature[] = "\211PNG\r\n\032\n\0\0\0\rIHDR";
    static const uint8_t channels[] = {1, 0, 3, 3, 2, 0, 4}; /* by the type of colour of a PNG */
    enum { WIDTH_AT = 16, HEIGHT_AT = 20, COLOUR_AT = 25, HEADER = 26 };
    struct message image = {.bytes = 0}, value = {.bytes = 0}, summary = {.bytes = 0};
    const uint8_t colour = bytes >= HEADER ? (uint8_t)png[COLOUR_AT] : 1;
    if (colour >= sizeof channels || !channels[colour] ||
        memcmp(png, signature, sizeof signature - 1) != 0)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected a PNG, found other bytes", path);
    const uint64_t numbers[] = {big_endian(png + HEIGHT_AT), big_endian(png + WIDTH_AT),
                                channels[colour]};
    for (uint64_t k = 0; k < 3; k++) {
        put_varint(&image, (k + 1) << 3 | VARINT);
        put_varint(&image, numbers[k]);
    }
    put_varint(&image, 4 << 3 | BYTES);
    put_varint(&image, bytes);
    put_bytes(&value, 1, tag, strlen(tag));
    put_varint(&value, 4 << 3 | BYTES);
    put_varint(&value, image.bytes + bytes);
    append_bytes(&value, image.data, image.bytes);
    put_varint(&summary, 1 << 3 | BYTES);
    put_varint(&summary, value.bytes + bytes);
    append_bytes(&summary, value.data, value.bytes);
    put_varint(event, 5 << 3 | BYTES);
    put_varint(event, summary.bytes + bytes);
    append_bytes(event, summary.data, summary.bytes);
    return 0;
}

static int write_picture(struct orr_file *file, const char *path, const char *tag)
{
    struct stat info;
    struct message head;
    char *png = NULL;
    size_t bytes = 0;
    TRY(orr_file_read(path, &png, &bytes));
    begin_event(&head, stat(path, &info) ? 0 : (double)info.st_mtime);
    int rc = put_image_head(&head, path, tag, png, bytes);
    uint8_t *event = rc ? NULL : orr_alloc(head.bytes + bytes, 1);
    if (event) {
        memcpy(event, head.data, head.bytes);
        memcpy(event + head.bytes, png, bytes);
        rc = write_record(file, event, head.bytes + bytes);
    } else
        rc = rc ? rc : ORR_ENOMEM;
    free(event);
    free(png);
    return rc;
}

static bool is_picture(const char *name)
{
    return orr_ends_in(name, ".png");
}

/* The pictures of a folder, by their names, as images of step 0: "figures/losses.png" is the image
 * "losses" of <out>/figures/events.out.tfevents.0.figures. */
static int convert_pictures(const char *run, const char *name, const struct orr_entries *entries,
                            const char *out, size_t *count)
{
    char path[REPORT_PATH], folder[REPORT_PATH], tag[REPORT_PATH];
    struct orr_file file = {0};
    struct message version;
    int rc = 0;
    for (int i = 0; i < entries->count && !rc; i++) {
        struct stat info;
        const char *own = entries->at[i]->d_name;
        rc = orr_path(path, "%s/%s/%s", run, name, own);
        if (rc || !is_picture(own) || lstat(path, &info) || !S_ISREG(info.st_mode))
            continue;
        if (!file.stream) {
            rc = orr_path(folder, "%s/%s", out, name);
            rc = rc ? rc : orr_mkdir(folder);
            rc = rc ? rc : orr_path(tag, "%s/events.out.tfevents.0.figures", folder);
            rc = rc ? rc : orr_file_create(&file, tag);
            begin_event(&version, (double)info.st_mtime);
            put_bytes(&version, 3, "brain.Event:2", 13);
            rc = rc ? rc : write_event(&file, &version, path);
        }
        rc = rc ? rc : orr_path(tag, "%.*s", (int)(strlen(own) - strlen(".png")), own);
        rc = rc ? rc : write_picture(&file, path, tag);
        ++*count;
    }
    if (file.stream && !rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* ---- folders */

struct found {
    size_t logs, pictures;
};

/* Converts the logs and pictures of a folder and its subfolders; name: the folder's path below the
 * run, "": the run. */
static int look_into(const char *run, const char *name, const cJSON *settings, const char *out,
                     int depth, struct found *found)
{
    struct orr_entries entries;
    char path[REPORT_PATH], inside[REPORT_PATH];
    TRY(orr_path(path, "%s/%s", run, name));
    TRY(orr_entries_read(path, &entries));
    int rc = convert_pictures(run, name, &entries, out, &found->pictures);
    for (int i = 0; i < entries.count && !rc; i++) {
        struct stat info;
        const char *own = entries.at[i]->d_name, *dot = strrchr(own, '.');
        rc = orr_path(inside, "%s%s%s", name, *name ? "/" : "", own);
        rc = rc ? rc : orr_path(path, "%s/%s", run, inside);
        if (rc || lstat(path, &info))
            continue;
        if (S_ISDIR(info.st_mode) && depth < DEEPEST) {
            rc = look_into(run, inside, settings, out, depth + 1, found);
        } else if (S_ISREG(info.st_mode) && dot && !strcmp(dot, ".jsonl")) {
            rc = convert_log(path, inside, settings, out);
            found->logs++;
        }
    }
    orr_entries_free(&entries);
    return rc;
}

int report_tensorboard(const char *run, const char *out, bool quiet)
{
    struct found found = {0};
    if (!orr_exists(run))
        return ORR_FAIL(ORR_EMISSING, "%s: no such run directory", run);
    char preset[REPORT_PATH];
    cJSON *settings = NULL;
    TRY(orr_path(preset, "%s/preset.json", run));
    if (orr_exists(preset))
        TRY(orr_json_read(preset, &settings));
    const int rc = look_into(run, "", settings, out, 0, &found);
    cJSON_Delete(settings);
    TRY(rc);
    if (!found.logs)
        return ORR_FAIL(ORR_EMISSING, "%s: no logs (*.jsonl) in this folder", run);
    orr_note(quiet,
             "report: %zu logs and %zu pictures in %s; look at them with: tensorboard "
             "--logdir %s",
             found.logs, found.pictures, out, out);
    return 0;
}
