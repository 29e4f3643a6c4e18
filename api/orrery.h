/** @file orrery.h
 * The C library of Orrery: orbits under any force law, formulas from tables, models from
 * checkpoints, attention, results of runs.
 *
 * Link with `pkg-config --cflags --libs orrery`; C11, and C++ from C++11 on.
 *
 * Handles are opaque. Every call returns one of enum orrery_status; ORRERY_OK is 0. After any other
 * status, the handle's message says in one line what was expected and what was found. A handle is
 * used by one thread at a time (else ORRERY_EBUSY); any number of threads may use different handles
 * at once. The library prints nothing, never ends the process, installs no signal handler and
 * changes neither the environment nor the locale. GSL's error handler and the floating-point
 * environment are restored when a call returns.
 *
 * Structs that the caller passes begin with their size in bytes, which tells the library how many
 * members the caller knows: later versions add members at the end. Arrays belong to the caller
 * unless stated otherwise. Units: AU, Gaussian years (G = 4 pi^2), solar masses, radians. */
#ifndef ORRERY_H
#define ORRERY_H

#include "orrery/attention.h"
#include "orrery/base.h"
#include "orrery/formula.h"
#include "orrery/model.h"
#include "orrery/regression.h"
#include "orrery/results.h"
#include "orrery/simulation.h"

#endif
