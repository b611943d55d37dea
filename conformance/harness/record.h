/* record.h - JSON lines: one per event of the harness, flushed at once, so that a killed process keeps what it had. */
#ifndef RECORD_H_INCLUDED
#define RECORD_H_INCLUDED

#include <stdint.h>
#include <stdio.h>

struct record {
    FILE *file;
    int fields;   /* of the open object */
    int timeless; /* no wall-clock times: on the model the same seed gives the same bytes */
};

void record_open(struct record *record, FILE *file);
void record_begin(struct record *record, const char *kind);
void record_text(struct record *record, const char *key, const char *value); /* NULL: null */
void record_count(struct record *record, const char *key, uint64_t value);
void record_number(struct record *record, const char *key, double value);
void record_seconds(struct record *record, const char *key, double value); /* null if timeless */
void record_hex(struct record *record, const char *key, uint64_t value);
void record_bool(struct record *record, const char *key, int value);
void record_null(struct record *record, const char *key);
void record_object(struct record *record, const char *key);
void record_array(struct record *record, const char *key);
void record_item_object(struct record *record);
void record_item_count(struct record *record, uint64_t value);
void record_close(struct record *record, char bracket); /* '}' or ']' */
void record_end(struct record *record);

#endif
