// How sentences write prices. Tables have four digits behind the point instead.
#pragma once

#include <string>

namespace millwright::base {

// "$0.217/h", "$8.33/h", "$1234/h": three digits that count, and all of those before the point.
std::string format_price(double per_hour);

}  // namespace millwright::base
