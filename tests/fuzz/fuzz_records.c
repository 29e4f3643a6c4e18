/* fuzz_records.c - any bytes as a record beside results: the first byte chooses what a table was
 * made from (.made.json), the results of a probe, or a text that holds
 * its own checksum. */
#include <string.h>

#include <cjson/cJSON.h>

#include "stage/provenance.h"
#include "fuzz.h"
#include "stage/rows.h"

static void check_sidecar(const uint8_t *bytes, size_t size)
{
    static const char table[] = "a,b\n1,2\n";
    char path[4096], why[ORR_WHY] = "";
    cJSON *made;
    fuzz_file(path, "t.made.json", bytes, size);
    fuzz_file(path, "t.csv", table, sizeof table - 1);
    FUZZ_EXPECT(orr_sidecar_read(path, &made, why) == 0);
    FUZZ_EXPECT(!made != !*why);
    cJSON_Delete(made);
}

static void check_probe(const uint8_t *bytes, size_t size)
{
    char path[4096];
    cJSON *json = NULL;
    struct orr_table table = {0};
    fuzz_file(path, "p.json", bytes, size);
    const int rc = orr_rows_read(path, &table, &json);
    FUZZ_EXPECT(rc ? !json && *orr_error() : json != NULL);
    orr_table_free(&table);
    cJSON_Delete(json);
}

static void check_sum(const uint8_t *bytes, size_t size)
{
    char path[4096], why[ORR_WHY] = "";
    cJSON *json = NULL;
    fuzz_file(path, "evaluation.json", bytes, size);
    if (orr_json_read(path, &json))
        return;
    (void)orr_json_sum_same(json);
    if (cJSON_IsObject(json)) {
        FUZZ_EXPECT(orr_json_sum_add(json) && orr_json_sum_same(json));
        (void)orr_files_same(fuzz_folder(), cJSON_GetObjectItemCaseSensitive(json, "files"), why);
    }
    cJSON_Delete(json);
}

FUZZ_TARGET(records)
{
    static void (*const check[])(const uint8_t *, size_t) = {check_sidecar, check_probe, check_sum};
    if (size > 0)
        check[bytes[0] % 3](bytes + 1, size - 1);
    return 0;
}
