/* cjson.h - calls cJSON through a table of functions. Programs are linked with cJSON; the library
 * opens it when it first reads a safetensors file or results, so that other calls do not need it.
 * Files that are part of the library include this header in place of <cjson/cJSON.h>. */
#ifndef ORR_CJSON_H
#define ORR_CJSON_H

#include <cjson/cJSON.h>

#include "calls.h"

/* Fills the table. ORR_EMISSING, with `what` was to be read, where cJSON is not installed; programs
 * always have it. */
int orr_cjson_open(const char *what);

/* The cJSON functions in the table. */
#define ORR_CJSON(CALL)                                                                            \
    CALL(cJSON_AddArrayToObject)                                                                   \
    CALL(cJSON_AddItemToArray)                                                                     \
    CALL(cJSON_AddItemToObject)                                                                    \
    CALL(cJSON_AddNumberToObject)                                                                  \
    CALL(cJSON_AddObjectToObject)                                                                  \
    CALL(cJSON_AddStringToObject)                                                                  \
    CALL(cJSON_Compare)                                                                            \
    CALL(cJSON_CreateNull)                                                                         \
    CALL(cJSON_CreateNumber)                                                                       \
    CALL(cJSON_CreateObject)                                                                       \
    CALL(cJSON_CreateRaw)                                                                          \
    CALL(cJSON_CreateString)                                                                       \
    CALL(cJSON_Delete)                                                                             \
    CALL(cJSON_DeleteItemFromObjectCaseSensitive)                                                  \
    CALL(cJSON_DetachItemFromObjectCaseSensitive)                                                  \
    CALL(cJSON_Duplicate)                                                                          \
    CALL(cJSON_GetArrayItem)                                                                       \
    CALL(cJSON_GetArraySize)                                                                       \
    CALL(cJSON_GetObjectItemCaseSensitive)                                                         \
    CALL(cJSON_GetStringValue)                                                                     \
    CALL(cJSON_HasObjectItem)                                                                      \
    CALL(cJSON_IsArray)                                                                            \
    CALL(cJSON_IsBool)                                                                             \
    CALL(cJSON_IsFalse)                                                                            \
    CALL(cJSON_IsNull)                                                                             \
    CALL(cJSON_IsNumber)                                                                           \
    CALL(cJSON_IsObject)                                                                           \
    CALL(cJSON_IsString)                                                                           \
    CALL(cJSON_IsTrue)                                                                             \
    CALL(cJSON_Parse)                                                                              \
    CALL(cJSON_ParseWithLengthOpts)                                                                \
    CALL(cJSON_ParseWithOpts)                                                                      \
    CALL(cJSON_Print)                                                                              \
    CALL(cJSON_PrintUnformatted)                                                                   \
    CALL(cJSON_free)
struct orr_cjson {
    ORR_CJSON(ORR_CALLS_MEMBER)
};
extern struct orr_cjson orr_cjson;

#ifndef ORR_CJSON_TABLE /* defined by the file that fills the table */
#define cJSON_AddArrayToObject                  orr_cjson.cJSON_AddArrayToObject_
#define cJSON_AddItemToArray                    orr_cjson.cJSON_AddItemToArray_
#define cJSON_AddItemToObject                   orr_cjson.cJSON_AddItemToObject_
#define cJSON_AddNumberToObject                 orr_cjson.cJSON_AddNumberToObject_
#define cJSON_AddObjectToObject                 orr_cjson.cJSON_AddObjectToObject_
#define cJSON_AddStringToObject                 orr_cjson.cJSON_AddStringToObject_
#define cJSON_Compare                           orr_cjson.cJSON_Compare_
#define cJSON_CreateNull                        orr_cjson.cJSON_CreateNull_
#define cJSON_CreateNumber                      orr_cjson.cJSON_CreateNumber_
#define cJSON_CreateObject                      orr_cjson.cJSON_CreateObject_
#define cJSON_CreateRaw                         orr_cjson.cJSON_CreateRaw_
#define cJSON_CreateString                      orr_cjson.cJSON_CreateString_
#define cJSON_Delete                            orr_cjson.cJSON_Delete_
#define cJSON_DeleteItemFromObjectCaseSensitive orr_cjson.cJSON_DeleteItemFromObjectCaseSensitive_
#define cJSON_DetachItemFromObjectCaseSensitive orr_cjson.cJSON_DetachItemFromObjectCaseSensitive_
#define cJSON_Duplicate                         orr_cjson.cJSON_Duplicate_
#define cJSON_GetArrayItem                      orr_cjson.cJSON_GetArrayItem_
#define cJSON_GetArraySize                      orr_cjson.cJSON_GetArraySize_
#define cJSON_GetObjectItemCaseSensitive        orr_cjson.cJSON_GetObjectItemCaseSensitive_
#define cJSON_GetStringValue                    orr_cjson.cJSON_GetStringValue_
#define cJSON_HasObjectItem                     orr_cjson.cJSON_HasObjectItem_
#define cJSON_IsArray                           orr_cjson.cJSON_IsArray_
#define cJSON_IsBool                            orr_cjson.cJSON_IsBool_
#define cJSON_IsFalse                           orr_cjson.cJSON_IsFalse_
#define cJSON_IsNull                            orr_cjson.cJSON_IsNull_
#define cJSON_IsNumber                          orr_cjson.cJSON_IsNumber_
#define cJSON_IsObject                          orr_cjson.cJSON_IsObject_
#define cJSON_IsString                          orr_cjson.cJSON_IsString_
#define cJSON_IsTrue                            orr_cjson.cJSON_IsTrue_
#define cJSON_Parse                             orr_cjson.cJSON_Parse_
#define cJSON_ParseWithLengthOpts               orr_cjson.cJSON_ParseWithLengthOpts_
#define cJSON_ParseWithOpts                     orr_cjson.cJSON_ParseWithOpts_
#define cJSON_Print                             orr_cjson.cJSON_Print_
#define cJSON_PrintUnformatted                  orr_cjson.cJSON_PrintUnformatted_
#define cJSON_free                              orr_cjson.cJSON_free_
#endif

#endif
