/* record.c - see record.h */
#include "record.h"

#include <stdio.h>

size_t json_text(char *out, size_t room, const char *text)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *text && n + 8 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 32 || c == 127) {
            n += (size_t)snprintf(out + n, 7, "\\u%04x", c);
        } else {
            out[n++] = (char)c; /* bytes from 128 on are taken for UTF-8; the reader replaces what is not */
        }
    }
    out[n++] = '"';
    out[n] = 0;
    return n;
}
