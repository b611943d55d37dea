/* opcodes.c - what each machine instruction means for lint. An opcode that is in no table here is reported, never skipped.
 *
 * The tables were checked against the code of the CUDA 13.0 libraries for sm_90, sm_100 and sm_120, and against all that nvdisasm
 * 13.5 prints for random instructions of sm_90 to sm_121: of these only some of graphics shaders are unknown. */
#include "analysis.h"

#include <string.h>

const char *const kind_names[KINDS] = {
    "PLAIN", "LOAD", "STORE", "ATOMIC", "ASYNC_LOAD", "ASYNC_STORE", "TEXTURE", "GENERIC_LOAD", "GENERIC_STORE",
    "GENERIC_ATOMIC", "PREFETCH", "WAIT", "TRIGGER", "BARRIER", "CLUSTER_BARRIER", "MBARRIER", "FENCE", "BRANCH",
    "INDEXED_BRANCH", "CALL", "RETURN", "EXIT", "TRAP", "RECONVERGE", "COLLECTIVE", "BARRIER_ARRIVE", "UNKNOWN", "SIGNAL",
    "CLUSTER_ARRIVE", "WARP_BARRIER",
};

static const struct {
    uint8_t kind;
    const char *bases;
} bases_of_kind[] = {
    {KIND_LOAD, "LDG LDGMC"},
    {KIND_GENERIC_LOAD, "LD"},
    {KIND_STORE, "STG STGMC SUST USTGR"},
    {KIND_GENERIC_STORE, "ST"},
    {KIND_ATOMIC, "ATOMG REDG RED REDGMC SUATOM SURED UREDGR"},
    {KIND_GENERIC_ATOMIC, "ATOM"},
    {KIND_ASYNC_LOAD, "LDGSTS UTMALDG"},
    {KIND_ASYNC_STORE, "UTMASTG UTMAREDG"},
    {KIND_TEXTURE, "TEX TLD TLD4 TXD TTU SULD"},
    {KIND_PLAIN, "TMML FOOTPRINT SUQ SUQUERY TXQ SULEA UCGABAR_GET UCGABAR_SET"},
    {KIND_SIGNAL, "ARRIVES UTCBAR STAS REDAS SYNCSU"},
    {KIND_PREFETCH, "UTMAPF UBLKPF"},
    {KIND_WAIT, "ACQBULK"},
    {KIND_TRIGGER, "PREEXIT"},
    {KIND_FENCE, "MEMBAR FENCE"},
    {KIND_CLUSTER_BARRIER, "UCGABAR_WAIT"},
    {KIND_CLUSTER_ARRIVE, "UCGABAR_ARV"},
    {KIND_BRANCH, "BRA JMP"},
    {KIND_INDEXED_BRANCH, "BRX BRXU JMX JMXU"},
    {KIND_CALL, "CALL"},
    {KIND_RETURN, "RET"},
    {KIND_EXIT, "EXIT KILL"},
    {KIND_RECONVERGE, "BSYNC"},
    /* floating point */
    {KIND_PLAIN, "FADD FADD32I FADD2 FCHK FFMA FFMA32I FFMA2 FMNMX FMNMX3 FMUL FMUL32I FMUL2 FSEL FSET FSETP FSWZADD MUFU "
                 "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 HFMA2_MMA DADD DFMA DMUL DSETP FHADD "
                 "FHFMA FHADD2 FHFMA2 FHMUL2 FRND QADD4 QFMA4 QMUL4"},
    /* integer, moves, conversions, predicates */
    {KIND_PLAIN, "BMSK BREV FLO IABS IADD IADD3 IADD32I IADD2 IDP IDP4A IMAD IMMA IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP "
                 "LEA LOP LOP3 LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 VHMNMX VIADD2 "
                 "VIMNMX2 F2F F2I I2F I2I I2IP I2FP F2FP F2IP MOV MOV32I MOVM PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P CS2R "
                 "S2R S2UR B2R R2B BMOV R2UR UR2UP CS2UR LEPC VOTE VOTEU MATCH REDUX CREDUX NOP PMTRIG NANOSLEEP DEPBAR "
                 "YIELD WARPSYNC_ ERRBAR CGAERRBAR GETLMEMBASE SETLMEMBASE SETCTAID SETSMEMSIZE ELECT CSMTEST AL2P ISBERD "
                 "OUT IPA LDTRAM CLMAD MOV64IUR VISET"},
    /* matrix units and tensor memory */
    {KIND_PLAIN, "BMMA HMMA DMMA QMMA OMMA HGMMA BGMMA IGMMA QGMMA WARPGROUP WARPGROUPSET WARPGROUPDEP LDSM STSM UTCHMMA "
                 "UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA UTCCP UTCSHIFT UTCATOMSWS UTCLDSWS UTCSTSWS LDT LDTM STT STTM"},
    /* shared, local, constant and tensor memory; descriptors; cache control of other kinds */
    {KIND_PLAIN, "LDS STS ATOMS ATOMS_ LDL STL LDC LDCU ULDC LDGDEPBAR QSPC USTS UREDS ULDS UTMACCTL UTMACMDFLUSH "
                 "UTMACMDLFLUSH UTMALST FENCE_ UCPRN CCTLL CCTLT MEMSET"},
    /* uniform datapath */
    {KIND_PLAIN, "UBMSK UBREV UCLEA UF2FP UF2F UF2I UI2F UI2FP UI2I UI2IP UFADD UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET "
                 "UFSETP UFMNMX3 UIABS UIADD3 UIADD UIMAD UIMNMX UISETP ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UMOV32I UP2UR "
                 "UPLOP3 UPOPC UPRMT UPSETP UR2UR USEL USETMAXREG USETSHMSZ USGXT USHF USHL USHR UVIADD UVIADDMNMX UVIMNMX "
                 "UVIMNMX3 UVIRTCOUNT UGETNEXTWORKID UMEMSETS UMUFU UCGABAR UIDP UIDP4A UGEMINI UP2R R2UP "
                 "UVOTE UREDUX UNOT UIADD2 UFHADD UFHFMA UF2IP"},
    /* control that stays in line */
    {KIND_PLAIN, "BSSY BREAK BPT_INT BPT_DRAIN WARPSYNC_INLINE ENDCOLLECTIVE RTT RPCMOV KILL_ ACQSHMINIT ACQCGASHM "
                 "RELCGASHM"},
};

/* One of the words between separators: a text up to `separators` or its end. */
static bool has_word(const char *text, const char *separators, const char *word)
{
    size_t wanted = strlen(word);

    for (;;) {
        size_t length = strcspn(text, separators);

        if (length == wanted && !memcmp(text, word, length))
            return true;
        if (!text[length])
            return false;
        text += length + 1;
    }
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static enum kind cache_control(const char *rest)
{
    if (contains(rest, "PF"))
        return KIND_PREFETCH;
    return contains(rest, "RML2") ? KIND_STORE : KIND_PLAIN; /* discard: the line's content is lost */
}

/* UBLKCP destination.source: only copies from global memory read it (shared to shared stays in the cluster). */
static enum kind bulk_copy(const char *rest)
{
    if (starts_with(rest, "G."))
        return KIND_ASYNC_STORE;
    return has_word(rest, ".", "G") ? KIND_ASYNC_LOAD : KIND_PLAIN;
}

static enum kind object_in_shared(const char *rest)
{
    if (starts_with(rest, "PHASECHK"))
        return KIND_MBARRIER;
    return starts_with(rest, "ARRIVE") ? KIND_SIGNAL : KIND_PLAIN;
}

/* `rest`: what follows the first dot. */
static enum kind kind_of(const char *base, const char *rest)
{
    if (!strcmp(base, "CCTL"))
        return cache_control(rest);
    if (!strcmp(base, "BAR"))
        return starts_with(rest, "ARV") ? KIND_BARRIER_ARRIVE : KIND_BARRIER;
    if (!strcmp(base, "BPT"))
        return starts_with(rest, "TRAP") ? KIND_TRAP : KIND_PLAIN;
    if (!strcmp(base, "WARPSYNC"))
        return contains(rest, "COLLECTIVE") ? KIND_COLLECTIVE : KIND_WARP_BARRIER;
    if (!strcmp(base, "SYNCS"))
        return object_in_shared(rest);
    if (!strcmp(base, "UBLKCP"))
        return bulk_copy(rest);
    if (!strcmp(base, "UBLKRED")) /* UBLKRED.S.S: in the shared memory of the cluster */
        return starts_with(rest, "S.") ? KIND_PLAIN : KIND_ASYNC_STORE;
    for (size_t i = 0; i < sizeof(bases_of_kind) / sizeof(*bases_of_kind); i++) {
        if (has_word(bases_of_kind[i].bases, " ", base))
            return bases_of_kind[i].kind;
    }
    return KIND_UNKNOWN;
}

static uint8_t words_of(const char *rest)
{
    if (has_word(rest, ".", "256"))
        return 8;
    if (has_word(rest, ".", "128"))
        return 4;
    return has_word(rest, ".", "64") ? 2 : 1;
}

static uint8_t bytes_of(const char *text, uint8_t words)
{
    if (has_word(text, ".", "U8") || has_word(text, ".", "S8"))
        return 1;
    return has_word(text, ".", "U16") || has_word(text, ".", "S16") ? 2 : (uint8_t)(4 * words);
}

static enum comparison comparison_of(const char *rest)
{
    static const char *const words[] = {"", "EQ", "NE", "LT", "LE", "GT", "GE"};
    size_t length = strcspn(rest, ".");

    for (unsigned i = COMPARES_EQ; i <= COMPARES_GE; i++) {
        if (length == 2 && !memcmp(rest, words[i], 2))
            return (enum comparison)i;
    }
    return COMPARES_NOT;
}

static uint32_t parts_of(const char *text)
{
    static const struct {
        const char *text;
        uint32_t part;
    } anywhere[] = {
        {".64", PART_64}, {".X", PART_X}, {".HI", PART_HI}, {".WIDE", PART_WIDE}, {".L", PART_L}, {".R", PART_R},
        {".U32", PART_U32}, {".SX32", PART_SX32}, {".EX", PART_EX}, {".AND", PART_AND}, {".OR", PART_OR},
        {".XOR", PART_XOR}, {".U8", PART_NARROW}, {".S8", PART_NARROW}, {".U16", PART_NARROW}, {".S16", PART_NARROW},
        {".32", PART_32}, {".DIV", PART_DIV}, {".CONV", PART_CONV}, {".ANY", PART_ANY}, {".ALL", PART_ALL},
    }, between_dots[] = {
        {"EX", PART_WIDE_COMPARE}, {"64", PART_WIDE_COMPARE}, {"U64", PART_WIDE_COMPARE | PART_UNSIGNED},
        {"S64", PART_WIDE_COMPARE}, {"U32", PART_UNSIGNED},
    };
    uint32_t parts = 0;

    for (size_t i = 0; i < sizeof(anywhere) / sizeof(*anywhere); i++)
        parts |= contains(text, anywhere[i].text) ? anywhere[i].part : 0;
    for (size_t i = 0; i < sizeof(between_dots) / sizeof(*between_dots); i++)
        parts |= has_word(text, ".", between_dots[i].text) ? between_dots[i].part : 0;
    return parts;
}

static struct opcode *described(name text_name)
{
    struct opcode *opcode = allocate(sizeof(*opcode));
    const char *text = text_of(text_name), *base;
    size_t base_length = strcspn(text, ".");
    const char *rest = text[base_length] ? text + base_length + 1 : "";

    opcode->text = text_name;
    opcode->base = name_of(text, base_length);
    base = text_of(opcode->base);
    opcode->kind = (uint8_t)kind_of(base, rest);
    opcode->words = words_of(rest);
    opcode->bytes = bytes_of(text, opcode->words);
    opcode->comparison = (uint8_t)comparison_of(rest);
    opcode->parts = parts_of(text);
    opcode->readonly = has_word(rest, ".", "CONSTANT");
    opcode->changes_shared = has_word("ATOMS ATOMS_ LDGSTS STSM USTS UREDS UMEMSETS", " ", base);
    opcode->scatters = !strcmp(base, "STSM") || !strcmp(base, "UMEMSETS");
    opcode->compute = computes(base);
    return opcode;
}

const struct opcode *opcode_of(const char *text, size_t length)
{
    static struct map known;
    static struct opcode **opcodes;
    static size_t count, capacity;
    name text_name = name_of(text, length);
    uint32_t index;

    if (map_get(&known, text_name, &index))
        return opcodes[index];
    opcodes = grown(opcodes, &capacity, count + 1, sizeof(struct opcode *));
    opcodes[count] = described(text_name);
    map_put(&known, text_name, (uint32_t)count);
    return opcodes[count++];
}
