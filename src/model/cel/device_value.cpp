#include "model/cel/device_value.hpp"

#include <map>

namespace millwright::model::cel {
namespace {

base::Result<Value> attribute_value(const DeviceAttribute& attribute) {
  if (const auto* const flag = std::get_if<bool>(&attribute)) {
    return Value{*flag};
  }
  if (const auto* const number = std::get_if<std::int64_t>(&attribute)) {
    return Value{*number};
  }
  if (const auto* const text = std::get_if<std::string>(&attribute)) {
    return make_text(*text);
  }
  MW_TRY(version, Semver::parse(std::get<DeviceVersion>(attribute).text));
  return make_version(std::move(version));
}

// Values by domain and name.
class Domains {
 public:
  explicit Domains(std::string_view driver) : driver_(driver) {}

  void add(std::string_view qualified, Value value) {
    const std::size_t slash = qualified.find('/');
    const bool has_domain = slash != std::string_view::npos;
    Map& domain = domains_[has_domain ? qualified.substr(0, slash) : driver_];
    domain.entries.emplace_back(
        make_text(std::string(has_domain ? qualified.substr(slash + 1) : qualified)),
        std::move(value));
  }

  Value value() && {
    Map all{.missing_is_empty = true};
    for (auto& [domain, values] : domains_) {
      all.entries.emplace_back(make_text(std::string(domain)), make_map(std::move(values)));
    }
    return make_map(std::move(all));
  }

 private:
  std::string_view driver_;
  std::map<std::string_view, Map> domains_;
};

}  // namespace

base::Result<Value> device_value(std::string_view driver, const Device& device) {
  Domains attributes(driver);
  for (const auto& [name, attribute] : device.attributes) {
    auto value = attribute_value(attribute);
    if (!value) {
      return base::with_context("attribute " + name, std::move(value).error());
    }
    attributes.add(name, *std::move(value));
  }
  Domains capacity(driver);
  for (const auto& [name, quantity] : device.capacity) {
    capacity.add(name, Value{quantity});
  }
  Map fields;
  const auto add = [&fields](std::string_view name, Value value) {
    fields.entries.emplace_back(make_text(std::string(name)), std::move(value));
  };
  add("driver", make_text(std::string(driver)));
  add("attributes", std::move(attributes).value());
  add("capacity", std::move(capacity).value());
  add("allowMultipleAllocations", Value{device.multiple_allocations});
  return make_map(std::move(fields));
}

}  // namespace millwright::model::cel
