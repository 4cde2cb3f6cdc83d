/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c: any bytes as a .npy file. What is accepted must be readable to its last value. */
#include "data/npy.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    caucus_npy npy;
    caucus_error error;
    if (caucus_npy_parse("input", data, size, &npy, &error) != CAUCUS_OK)
        return 0;
    float *row = malloc((size_t)npy.experts * sizeof *row);
    double *row64 = malloc((size_t)npy.experts * sizeof *row64);
    if (row != NULL && row64 != NULL) {
        caucus_npy_fill(&npy, 0, 0, 1, row);
        caucus_npy_fill64(&npy, npy.clients - 1, npy.rounds - 1, 1, row64);
    }
    free(row);
    free(row64);
    caucus_npy_close(&npy);
    return 0;
}
