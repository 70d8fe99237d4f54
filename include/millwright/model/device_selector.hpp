// The CEL expressions by which DeviceClasses and ResourceClaims choose devices: the language of
// CEL (cel-spec), the variable `device` with driver, attributes and capacity, and the functions for
// quantities, semantic versions and text that Kubernetes has beside it.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/devices.hpp"

#include <memory>
#include <string_view>

namespace millwright::model {

class DeviceSelector {
 public:
  // Invalid where the text is no CEL, or has what is not known here: it says what, and where.
  static base::Result<DeviceSelector> parse(std::string_view expression);

  // Invalid where the expression cannot be evaluated for this device, for example because it has no
  // such attribute. kube-scheduler gives up on the pod then.
  base::Result<bool> matches(std::string_view driver, const Device& device) const;

 private:
  struct Expression;
  explicit DeviceSelector(std::shared_ptr<const Expression> expression);
  std::shared_ptr<const Expression> expression_;
};

}  // namespace millwright::model
