/* pack.c - a module as the page of the orbit lab holds it, compressed by zlib, as text of seven
 * bits a byte (base/html.h): pack MODULE.wasm MODULE.txt */
#include "base/error.h"
#include "base/file.h"
#include "base/html.h"

#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

static int pack(const char *module, const char *page)
{
    struct orr_file file = {0};
    char *bytes;
    size_t size;
    TRY(orr_file_read(module, &bytes, &size));
    uLongf room = compressBound((uLong)size);
    unsigned char *packed = malloc(room);
    int rc = packed && compress2(packed, &room, (const Bytef *)bytes, (uLong)size, 9) == Z_OK
                 ? 0
                 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", module);
    rc = rc ? rc : orr_file_create(&file, page);
    rc = rc ? rc : orr_html_sevens(&file, packed, room);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    free(packed);
    free(bytes);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "pack: error: expected MODULE.wasm MODULE.txt, found %d words\n", argc - 1);
        return 2;
    }
    const int rc = pack(argv[1], argv[2]);
    return rc ? orr_error_exit("pack", rc) : 0;
}
