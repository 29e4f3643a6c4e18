/* call.h - inside api/: what every call of the library does before and after its work. */
#ifndef API_CALL_H
#define API_CALL_H

#include <fenv.h>
#include <locale.h>

#include "base/base.h"
#include "base/stop.h"
#include "orrery.h"

/* The first member of every handle. */
struct api_handle {
    char message[4096]; /* of the last call that failed */
    atomic_bool busy;
    struct orr_stop stop;
};
/* What is put back when the call ends, or while a callback of the caller runs. */
struct api_call {
    struct api_handle *handle;
    locale_t locale;
    fenv_t floating_point;
    const struct orr_stop *stop;
};
/* ORRERY_OK: the work may begin, with numbers written as in the locale "C" and without GSL's
 * abort; api_leave() has to follow. */
int api_enter(struct api_handle *handle, struct api_call *call);
/* Keeps the message of rc in the handle, and returns rc. */
int api_leave(struct api_call *call, int rc);
/* Around a callback: its thread is as the caller left it. */
void api_pause(struct api_call *call);
void api_go_on(struct api_call *call);
/* Whether `interface_` is the library's; creates a handle's memory. */
int api_create(int interface_, size_t bytes, void **handle);
/* What a struct of the caller's holds, or is given, of one of the library's: the first `bytes`. */
int api_take(const char *what, void *to, size_t bytes, size_t least, const void *from);
/* A text of the library's into text[bytes], as orrery_regression_print() says. */
int api_write_text(const char *whole, char *text, size_t bytes, size_t *needed);
int api_threads(int threads, int *count);

#endif
