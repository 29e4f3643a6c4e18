/* call.c - entry to and exit from the library: one message per handle; the state of thread and
 * process is restored. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

_Static_assert((int)ORRERY_EUSAGE == (int)ORR_EUSAGE && (int)ORRERY_EINVAL == (int)ORR_EINVAL &&
                   (int)ORRERY_EDOM == (int)ORR_EDOM && (int)ORRERY_EIO == (int)ORR_EIO &&
                   (int)ORRERY_EFORMAT == (int)ORR_EFORMAT &&
                   (int)ORRERY_EMISSING == (int)ORR_EMISSING &&
                   (int)ORRERY_ENOMEM == (int)ORR_ENOMEM && (int)ORRERY_STOPPED == (int)ORR_EINTR,
               "the statuses of orrery.h are those of base/error.h");

const char *orrery_version(void)
{
    return ORR_VERSION;
}

const char *orrery_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } all[] = {{ORRERY_OK, "no error"},
               {ORRERY_EUSAGE, "a name, key or setting that is unknown or out of range"},
               {ORRERY_EINVAL, "an argument that is not as expected"},
               {ORRERY_EDOM, "outside the mathematical domain"},
               {ORRERY_EIO, "the operating system refused"},
               {ORRERY_EFORMAT, "bytes that are truncated, foreign or damaged"},
               {ORRERY_EMISSING, "something that should be there is not"},
               {ORRERY_ENOMEM, "out of memory"},
               {ORRERY_STOPPED, "stopped"},
               {ORRERY_EBUSY, "the handle is in use by another thread or by a callback"},
               {ORRERY_EVERSION, "the program was compiled with the orrery.h of another interface "
                                 "than the library's; compile it again with that of the library"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].status == status)
            return all[i].text;
    return "unknown status";
}

_Static_assert(ORR_VERSION_NUMBER == ORRERY_VERSION_NUMBER, "base/version.h has the same version");

const char *orrery_message(const void *handle)
{
    return handle ? ((const struct api_handle *)handle)->message
                  : orrery_status_text(ORRERY_EINVAL);
}

void orrery_stop(void *handle)
{
    if (handle)
        atomic_store(&((struct api_handle *)handle)->stop.asked, true);
}

/* GSL has one error handler per process. It is off while any call runs, and then the caller's
 * handler is restored. */
static pthread_mutex_t handlers = PTHREAD_MUTEX_INITIALIZER;
static int calls;
static gsl_error_handler_t *callers;

static void take_handler(void)
{
    pthread_mutex_lock(&handlers);
    if (calls++ == 0)
        callers = gsl_set_error_handler_off();
    pthread_mutex_unlock(&handlers);
}

static void give_handler(void)
{
    pthread_mutex_lock(&handlers);
    if (--calls == 0)
        (void)gsl_set_error_handler(callers);
    pthread_mutex_unlock(&handlers);
}

static locale_t plain; /* "C", made once */
static void make_locale(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void api_go_on(struct api_call *call)
{
    call->locale = uselocale(plain);
    call->stop = orr_stop_of_call;
    orr_stop_of_call = &call->handle->stop;
}

void api_pause(struct api_call *call)
{
    (void)uselocale(call->locale);
    orr_stop_of_call = call->stop;
}

int api_enter(struct api_handle *handle, struct api_call *call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!handle)
        return ORRERY_EINVAL;
    (void)pthread_once(&once, make_locale);
    if (!plain)
        return ORRERY_ENOMEM;
    if (atomic_exchange(&handle->busy, true))
        return ORRERY_EBUSY;
    *handle->message = '\0';
    call->handle = handle;
    (void)fegetenv(&call->floating_point);
    take_handler();
    api_go_on(call);
    orr_error_recover();
    return ORRERY_OK;
}

int api_leave(struct api_call *call, int rc)
{
    struct api_handle *handle = call->handle;
    if (rc)
        snprintf(handle->message, sizeof handle->message, "%s",
                 *orr_error() ? orr_error() : orrery_status_text(rc));
    orr_error_recover();
    api_pause(call);
    give_handler();
    (void)fesetenv(&call->floating_point);
    atomic_store(&handle->stop.asked, false);
    handle->stop.until_s = 0;
    atomic_store(&handle->busy, false);
    return rc;
}

int api_create(int interface_, size_t bytes, void *handle)
{
    void *memory = NULL;
    if (!handle)
        return ORRERY_EINVAL;
    memcpy(handle, &memory, sizeof memory);
    if (interface_ != ORRERY_INTERFACE)
        return ORRERY_EVERSION;
    memory = orr_alloc(1, bytes);
    memcpy(handle, &memory, sizeof memory);
    orr_error_recover();
    return memory ? ORRERY_OK : ORRERY_ENOMEM;
}

/* Reads the size of a caller's struct: at least `least` bytes of the `bytes` that it has here. */
static int read_size(const char *what, size_t bytes, size_t least, const void *from, size_t *given)
{
    *given = 0;
    if (!from)
        return ORR_FAIL(ORR_EINVAL, "%s: expected a struct, found NULL", what);
    memcpy(given, from, sizeof *given);
    return *given >= least && *given <= 65536
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: bytes: expected sizeof of the struct, %zu, found %zu",
                          what, bytes, *given);
}

int api_take(const char *what, void *to, size_t bytes, size_t least, const void *from)
{
    size_t given;
    TRY(read_size(what, bytes, least, from, &given));
    memset(to, 0, bytes);
    memcpy(to, from, given < bytes ? given : bytes);
    return 0;
}

int api_filled(const char *what, size_t bytes, const void *to)
{
    size_t given;
    return read_size(what, bytes, bytes, to, &given);
}

int api_read_lines(const char *what, const char *text,
                   int (*set)(void *context, const char *key, const char *value), void *context)
{
    char line[4096];
    while (text && *text) {
        const char *begin = text + strspn(text, " \t\r\n"), *end = begin + strcspn(begin, "\n");
        text = end;
        while (end > begin && strchr(" \t\r", end[-1]))
            end--;
        const size_t length = (size_t)(end - begin);
        if (!length || *begin == '#')
            continue;
        if (length >= sizeof line)
            return ORR_FAIL(ORR_EUSAGE, "%s: expected lines of at most %zu bytes, found %zu", what,
                            sizeof line - 1, length);
        memcpy(line, begin, length);
        line[length] = '\0';
        char *value = strchr(line, '=');
        if (!value)
            return ORR_FAIL(ORR_EUSAGE, "%s: expected lines KEY=VALUE, found \"%.100s\"", what,
                            line);
        *value = '\0';
        TRY(set(context, line, value + 1));
    }
    return 0;
}

int api_write_text(const char *whole, char *text, size_t bytes, size_t *needed)
{
    const size_t length = strlen(whole) + 1;
    if (needed)
        *needed = length;
    if (!text && !bytes)
        return needed ? 0 : ORR_FAIL(ORR_EINVAL, "text: expected a pointer, found NULL");
    if (!text || bytes < length)
        return ORR_FAIL(ORR_EINVAL, "text: expected a capacity of %zu bytes, found %zu", length,
                        text ? bytes : 0);
    memcpy(text, whole, length);
    return 0;
}

int api_threads(int threads, int *count)
{
    if (threads < 0 || threads > 4096)
        return ORR_FAIL(ORR_EINVAL, "threads: expected 0 to 4096, found %d", threads);
    *count = threads ? threads : orr_cores();
    return 0;
}
