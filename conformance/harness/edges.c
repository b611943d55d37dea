/* edges.c - the edge of which no document says whether it is legal, as this device takes it. */
#include "edges.h"

static int completion_is_refused;

void edges_refuse_completion(int refused) { completion_is_refused = refused; }

cudaGraphEdgeData edges_completion(void) { return edges_data(2, 0, completion_is_refused ? 1 : 0); }
