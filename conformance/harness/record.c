/* record.c - writes JSON lines. */
#include "record.h"

void record_open(struct record *record, FILE *file)
{
    record->file = file;
    record->fields = 0;
    record->timeless = 0;
}

static void separate(struct record *record)
{
    if (record->fields++)
        fputc(',', record->file);
}

static void quote(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void key_of(struct record *record, const char *key)
{
    separate(record);
    quote(record->file, key);
    fputc(':', record->file);
}

void record_begin(struct record *record, const char *kind)
{
    fputc('{', record->file);
    record->fields = 0;
    record_text(record, "record", kind);
}

void record_text(struct record *record, const char *key, const char *value)
{
    key_of(record, key);
    if (value)
        quote(record->file, value);
    else
        fputs("null", record->file);
}

void record_count(struct record *record, const char *key, uint64_t value)
{
    key_of(record, key);
    fprintf(record->file, "%llu", (unsigned long long)value);
}

void record_number(struct record *record, const char *key, double value)
{
    key_of(record, key);
    fprintf(record->file, "%.6g", value);
}

void record_seconds(struct record *record, const char *key, double value)
{
    if (record->timeless)
        record_null(record, key);
    else
        record_number(record, key, value);
}

void record_hex(struct record *record, const char *key, uint64_t value)
{
    key_of(record, key);
    fprintf(record->file, "\"%016llx\"", (unsigned long long)value);
}

void record_bool(struct record *record, const char *key, int value)
{
    key_of(record, key);
    fputs(value ? "true" : "false", record->file);
}

void record_null(struct record *record, const char *key) { record_text(record, key, NULL); }

void record_object(struct record *record, const char *key)
{
    key_of(record, key);
    fputc('{', record->file);
    record->fields = 0;
}

void record_array(struct record *record, const char *key)
{
    key_of(record, key);
    fputc('[', record->file);
    record->fields = 0;
}

void record_item_object(struct record *record)
{
    separate(record);
    fputc('{', record->file);
    record->fields = 0;
}

void record_item_count(struct record *record, uint64_t value)
{
    separate(record);
    fprintf(record->file, "%llu", (unsigned long long)value);
}

void record_close(struct record *record, char bracket)
{
    fputc(bracket, record->file);
    record->fields = 1;
}

void record_end(struct record *record)
{
    fputs("}\n", record->file);
    fflush(record->file);
    record->fields = 0;
}
