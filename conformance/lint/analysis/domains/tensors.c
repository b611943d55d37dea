/* Which parameter holds a tensor map: a copy of tensors names the map by its address, and maps are passed as parameters. */
#include "domains/transfer.h"
#include "dataflow/dataflow.h"

enum { TENSOR_MAP_BYTES = 128, MOST_NESTED = 4 };

static bool is_choice(expr expression)
{
    return node_of(expression)->tag == TAG_SELECT || node_of(expression)->tag == TAG_ANY;
}

static provenance parameters_at(expr address, unsigned nested);

/* The sum, for each of what its term `chosen` can be. */
static provenance parameters_of_choices(const expr *terms, unsigned count, unsigned chosen, uint32_t constant, unsigned nested)
{
    const struct node *node = node_of(terms[chosen]);
    provenance found = 0;

    for (unsigned kid = node->tag == TAG_SELECT; kid < node->kid_count; kid++) {
        expr sum = sum_of(numbered(constant), node->kids[kid]);
        for (unsigned i = 0; i < count; i++)
            if (i != chosen)
                sum = sum_of(sum, terms[i]);
        found = united(found, parameters_at(sum, nested + 1));
    }
    return found;
}

/* What is added to the place of the parameters says which one is meant; an index that is not known stays in its array. */
static provenance parameters_at(expr address, unsigned nested)
{
    expr terms[MOST_SIZE + 1];
    uint32_t constant;
    unsigned count;
    bool in_parameters = false;

    if (!address || nested > MOST_NESTED)
        return 0;
    if (is_choice(address))
        return parameters_of_choices(&address, 1, 0, 0, nested);
    count = sum_terms(address, terms, &constant);
    for (unsigned i = 0; i < count; i++) {
        if (is_choice(terms[i]))
            return parameters_of_choices(terms, count, i, constant, nested);
        in_parameters = in_parameters || is_parameter_window(terms[i]);
    }
    return in_parameters && constant < now.kernel->parameter_bytes ? provenance_of(origin_of(ORIGIN_PARAMETER, constant)) : 0;
}

/* All parameters that can hold a tensor map. */
static provenance large_parameters(void)
{
    provenance found = 0;

    for (uint32_t i = 0; i < now.kernel->parameter_count; i++)
        if (now.kernel->parameters[i].size >= TENSOR_MAP_BYTES)
            found = united(found, provenance_of(origin_of(ORIGIN_PARAMETER, now.kernel->parameters[i].offset)));
    return found;
}

provenance tensor_map_provenance(const struct value *low)
{
    provenance found = parameters_at(low->expression, 0);

    if (!found && low->provenance && provenance_only_windows(low->provenance))
        found = large_parameters();
    return united(low->provenance, found);
}
