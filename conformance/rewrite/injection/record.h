/* record.h - lines of JSON that an injection library writes */
#ifndef PDL_INJECTION_RECORD_H
#define PDL_INJECTION_RECORD_H

#include <stddef.h>

/* Appends one line to the library's own file. Each library defines it. */
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The text as a string of JSON, cut to the room; its length. Needs room for at least 10 bytes. */
size_t json_text(char *out, size_t room, const char *text);

#endif
