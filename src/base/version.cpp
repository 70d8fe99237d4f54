#include "millwright/base/version.hpp"

namespace millwright::base {

const char* version() {
  return MILLWRIGHT_VERSION;
}

}  // namespace millwright::base
