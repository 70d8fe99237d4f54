// Replaces the names in an object by their hashes: its own, those of what it refers to, and the
// values of labels that are no common ones, wherever labels are written, asked for or matched. Keys
// of labels, ids of the cloud and uids stay. Pure.
#pragma once

#include "app/recording/name_hash.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

namespace millwright::app {

void hide_names(const NameHash& names, const model::Resource& resource, boost::json::value& object);

}  // namespace millwright::app
