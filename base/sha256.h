/* sha256.h - SHA-256 (FIPS 180-4), for hashes that other programs compare; files of Orrery have
 * XXH64. */
#ifndef ORR_SHA256_H
#define ORR_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { ORR_SHA256 = 32 };
/* Writes the hash of a text of `bytes` bytes. */
void orr_sha256(const void *data, size_t bytes, unsigned char hash[ORR_SHA256]);

#endif
