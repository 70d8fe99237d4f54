// NodePool requirements' minValues: how many different values the instance types of a claim must
// offer, so that the cloud has a choice.
#pragma once

#include "scheduling/compile/pools/row_set.hpp"
#include "scheduling/compile/pools/type_table.hpp"

#include <string>

namespace millwright::scheduling {

// Counts values that the types list and the requirement admits: of a claim that was narrowed to one
// zone, one. Empty when satisfied, else what falls short, for people.
std::string min_values_shortfall(const Requirements& requirements, const TypeTable& table,
                                 const RowSet& rows);
bool satisfies_min_values(const Requirements& requirements, const TypeTable& table,
                          const RowSet& rows);
// Lowers each unsatisfied minValues to what the rows have (policy BestEffort); true when any was.
bool relax_min_values(Requirements& requirements, const TypeTable& table, const RowSet& rows);
// Lowers each minValues to the number of values that the requirement lists, if it lists any: the
// API server refuses a NodeClaim that lists fewer. True when any was.
bool keep_min_values_listed(Requirements& requirements);
// "lower minValues of KEY to N", to what the rows have, or to drop it where they have none; empty
// when they have enough.
std::string lower_min_values(const Requirements& requirements, const TypeTable& table,
                             const RowSet& rows);

}  // namespace millwright::scheduling
