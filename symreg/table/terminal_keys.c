/* terminal_keys.c - the key q on a terminal.
 *
 * While a search runs, keys are read without Enter and without echo. A thread waits for q and sends
 * SIGINT, so that the search stops wherever it is. The terminal is restored however the process
 * ends or stops: a second Ctrl-C, SIGHUP, SIGQUIT, or Ctrl-Z. After Ctrl-Z keys are read again once
 * the process is in the foreground. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "program.h"

enum { KEY_WAIT_MS = 50 };

static struct termios saved;
static pthread_t thread;
static atomic_bool *asked;
static bool running;
static atomic_bool over;
/* Only the thread makes the terminal raw, and sets `making` while it does so. Code that restores
 * the terminal first sets `leaving`, which forbids that, and waits. The thread blocks all signals,
 * so a handler never waits for the thread that it interrupted. */
static atomic_bool raw, making, leaving;

static bool in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void make_raw(void)
{
    struct termios mode = saved;
    mode.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    atomic_store(&making, true);
    if (!atomic_load(&leaving) && !tcsetattr(STDIN_FILENO, TCSANOW, &mode))
        atomic_store(&raw, true);
    atomic_store(&making, false);
}

/* Restores the terminal. Async-signal-safe. A process in the background leaves the terminal to the
 * foreground process. */
static void give_back(void)
{
    atomic_store(&leaving, true);
    while (atomic_load(&making))
        continue;
    if (atomic_exchange(&raw, false) && in_foreground())
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* Handles Ctrl-Z: the process stops inside this function. */
static void on_stop(int number)
{
    sigset_t stop;
    struct sigaction own, normal;
    memset(&normal, 0, sizeof normal);
    normal.sa_handler = SIG_DFL;
    sigemptyset(&normal.sa_mask);
    sigemptyset(&stop);
    sigaddset(&stop, number);
    give_back();
    sigaction(number, &normal, &own);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    sigaction(number, &own, NULL);
    atomic_store(&leaving, false);
}

static void *wait_for_q(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        char key;
        if (!in_foreground()) {
            poll(NULL, 0, KEY_WAIT_MS); /* reading in the background would stop the process */
            continue;
        }
        if (!atomic_load(&raw))
            make_raw();
        if (poll(&in, 1, KEY_WAIT_MS) <= 0)
            continue;
        if (read(STDIN_FILENO, &key, 1) != 1)
            break; /* the terminal was closed */
        if ((key == 'q' || key == 'Q') && !atomic_exchange(asked, true))
            kill(getpid(), SIGINT);
    }
    return NULL;
}

/* Handles SIGTSTP, unless it is ignored. */
static void catch_stop(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    if (!sigaction(SIGTSTP, NULL, &before) && before.sa_handler == SIG_DFL)
        sigaction(SIGTSTP, &action, NULL);
}

bool sr_keys_start(atomic_bool *q)
{
    if (!in_foreground() || tcgetattr(STDIN_FILENO, &saved))
        return false;
    asked = q;
    atomic_store(&over, false);
    atomic_store(&leaving, false);
    catch_stop();
    orr_signals_at_end(give_back);
    running = orr_thread_start(&thread, wait_for_q, NULL) == 0;
    if (!running)
        sr_keys_end();
    return running;
}

void sr_keys_end(void)
{
    struct sigaction action;
    atomic_store(&over, true);
    if (running)
        pthread_join(thread, NULL);
    running = false;
    give_back();
    orr_signals_at_end(NULL);
    if (!sigaction(SIGTSTP, NULL, &action) && action.sa_handler == on_stop)
        signal(SIGTSTP, SIG_DFL);
}
