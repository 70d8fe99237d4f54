// CEL text as a tree.
#pragma once

#include "model/cel/node.hpp"

#include <string_view>

namespace millwright::model::cel {

// Invalid where the text is no CEL, or uses what is not known here; the error begins with the place
// ("at character 7: "). Types are looked at only when the expression is evaluated.
base::Result<Node> parse(std::string_view text);

}  // namespace millwright::model::cel
