/* test_numbers.c - numbers in pages are those of the study's results. */
#define NUMBERS  "study/tests/numbers.txt"
#define PASSAGES 75
#include "figures/numbers.h" /* of the tests of the product */
