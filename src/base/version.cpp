#include "millwright/base/version.hpp"

namespace millwright::base {

const char* version() {
  return MILLWRIGHT_VERSION;
}

const char* commit() {
  return MILLWRIGHT_COMMIT;
}

}  // namespace millwright::base
