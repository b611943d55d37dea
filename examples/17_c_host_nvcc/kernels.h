/* What C sees of kernels.cu: their names, to take the address of. Never call one. Licence: 0BSD */
#ifndef KERNELS_H
#define KERNELS_H

void blend(unsigned *out, const unsigned *in, int words, int taps);

#endif
