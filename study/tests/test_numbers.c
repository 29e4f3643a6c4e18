/* test_numbers.c - numbers in pages are those of the study's results; the list of passages is
 * study/tests/numbers.txt. */
#define NUMBERS  "study/tests/numbers.txt"
#define PASSAGES 76
#include "tests/figures/test_numbers.c" /* which says what such a list has */
