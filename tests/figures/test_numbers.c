/* test_numbers.c - numbers in documents are those of their files of results. */
#define NUMBERS  "tests/figures/numbers.txt"
#define PASSAGES 31
#include "figures/numbers.h"
