#include "millwright/model/device_selector.hpp"

#include "model/cel/device_value.hpp"
#include "model/cel/evaluator.hpp"
#include "model/cel/syntax/parser.hpp"

#include <string>
#include <utility>

namespace millwright::model {
namespace {

// Kubernetes' limit.
constexpr std::size_t kMostExpressionBytes = std::size_t{10} << 10;

}  // namespace

struct DeviceSelector::Expression {
  cel::Node root;
};

DeviceSelector::DeviceSelector(std::shared_ptr<const Expression> expression)
    : expression_(std::move(expression)) {}

base::Result<DeviceSelector> DeviceSelector::parse(std::string_view expression) {
  constexpr std::string_view kContext = "device selector";
  if (expression.size() > kMostExpressionBytes) {
    return base::fail(base::ErrorKind::Invalid,
                      std::string(kContext) + ": the expression has more than " +
                          std::to_string(kMostExpressionBytes) + " bytes");
  }
  auto root = cel::parse(expression);
  if (!root) {
    return base::with_context(kContext, std::move(root).error());
  }
  return DeviceSelector(std::make_shared<const Expression>(Expression{*std::move(root)}));
}

base::Result<bool> DeviceSelector::matches(std::string_view driver, const Device& device) const {
  const auto failed = [&device](std::string_view problem) {
    return base::fail(base::ErrorKind::Invalid,
                      "device selector, for device " + device.name + ": " + std::string(problem));
  };
  auto value = cel::device_value(driver, device);
  if (!value) {
    return failed(value.error().message);
  }
  cel::Evaluator evaluator(*std::move(value));
  const auto result = evaluator.evaluate(expression_->root);
  if (evaluator.is_too_costly()) {
    return failed("the expression costs too much");
  }
  if (!result) {
    return failed(result.error().message);
  }
  const auto* const matches = result->as<bool>();
  if (matches == nullptr) {
    return failed("the result is of type " + std::string(cel::type_name(*result)) + ", not bool");
  }
  return *matches;
}

}  // namespace millwright::model
