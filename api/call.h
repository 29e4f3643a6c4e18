/* call.h - inside api/: what every call of the library does at its beginning and end. */
#ifndef API_CALL_H
#define API_CALL_H

#include <fenv.h>
#include <locale.h>

#include "base/base.h"
#include "base/stop.h"
#include "orrery.h"

/* The first member of every handle. */
struct api_handle {
    char message[4096]; /* of the last failed call */
    atomic_bool busy;
    struct orr_stop stop;
};
/* The caller's state, restored when the call ends or while a callback runs. */
struct api_call {
    struct api_handle *handle;
    locale_t locale;
    fenv_t floating_point;
    const struct orr_stop *stop;
};
/* Begins a call. ORRERY_OK: numbers are printed as in the locale "C" and GSL's abort is off;
 * api_leave() must follow. */
int api_enter(struct api_handle *handle, struct api_call *call);
/* Ends a call: stores the message of rc in the handle, and returns rc. */
int api_leave(struct api_call *call, int rc);
/* Returns what `f` gives, evaluated between the two. h: the caller's pointer, which may be NULL. */
#define API_RETURN(h, f)                                                                           \
    do {                                                                                           \
        struct api_call api_call;                                                                  \
        TRY(api_enter((h) ? &(h)->handle : NULL, &api_call));                                      \
        return api_leave(&api_call, (f));                                                          \
    } while (0)
/* Before and after a callback: restores the caller's state of the thread for its duration. */
void api_pause(struct api_call *call);
void api_go_on(struct api_call *call);
/* Checks that `interface_` is the library's, and allocates a struct of `bytes` bytes, all 0, that
 * begins with a handle. *handle, a pointer to that struct, receives its address, NULL on error. */
int api_create(int interface_, size_t bytes, void *handle);
/* Copies a caller's struct into one of the library's: its first `bytes` bytes, the rest 0.
 * ORR_EINVAL if it has fewer than `least` bytes. */
int api_take(const char *what, void *to, size_t bytes, size_t least, const void *from);
/* Checks the size of a caller's struct that a call fills, whose size in the library is `bytes`. */
int api_filled(const char *what, size_t bytes, const void *to);
/* Reads lines KEY=VALUE; blanks around them, empty lines and comments, after #, are left out. */
int api_read_lines(const char *what, const char *text,
                   int (*set)(void *context, const char *key, const char *value), void *context);
/* Writes a text into text[bytes] as orrery_regression_print() describes. */
int api_write_text(const char *whole, char *text, size_t bytes, size_t *needed);
int api_threads(int threads, int *count);

#endif
