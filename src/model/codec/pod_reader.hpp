// Reading of pod parts that other kinds embed.
#pragma once

#include "millwright/model/core.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model::detail {

void read(const Reader& reader, PodSpec& out);
void read(const Reader& reader, PodTemplate& out);

}  // namespace millwright::model::detail
