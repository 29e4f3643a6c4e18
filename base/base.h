/* base.h - includes every header of base/, for the other folders. Files of base/ and stage/ include
 * only the headers that they use. */
#ifndef ORR_BASE_H
#define ORR_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gsl/gsl_rng.h>

#include "csv.h"
#include "data.h"
#include "elementary.h"
#include "error.h"
#include "file.h"
#include "foreign.h"
#include "gnuplot.h"
#include "input.h"
#include "json.h"
#include "log.h"
#include "memory.h"
#include "npy.h"
#include "pieces.h"
#include "random.h"
#include "safetensors.h"
#include "sha256.h"
#include "signals.h"
#include "statistics.h"
#include "system.h"
#include "terminal.h"
#include "text.h"
#include "version.h"

#endif
