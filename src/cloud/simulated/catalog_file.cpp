// Reading a catalog from JSON. The format is that of Karpenter's kwok provider, so that its files
// work here; unlike it, a mistake is an error with a place and not a type nobody can buy.
#include "cloud/simulated/catalog.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <array>
#include <set>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using base::fail;
using base::Result;

// The place of a value in the file, for messages: "types.json: entry 3 (c-4x): offerings[0].Price".
struct Place {
  std::string file;
  std::string entry;

  tl::unexpected<base::Error> error(std::string_view field, std::string_view problem) const {
    std::string text = "catalog file " + file + ": " + entry;
    if (!field.empty()) {
      text.append(": ").append(field);
    }
    return fail(ErrorKind::Invalid, text.append(": ").append(problem));
  }
};

Result<std::string> text_at(const Place& place, const json::object& object, std::string_view key,
                            const std::string& prefix = {}) {
  const auto* value = object.if_contains(key);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr || text->empty()) {
    return place.error(prefix + std::string(key), "must be a non-empty text");
  }
  return std::string(*text);
}

Result<std::vector<std::string>> texts_at(const Place& place, const json::object& object,
                                          std::string_view key, const std::string& prefix = {}) {
  std::vector<std::string> texts;
  const auto* value = object.if_contains(key);
  if (value == nullptr) {
    return texts;
  }
  const auto* array = value->if_array();
  if (array == nullptr) {
    return place.error(prefix + std::string(key), "must be a list of texts");
  }
  for (const auto& item : *array) {
    const auto* text = item.if_string();
    if (text == nullptr) {
      return place.error(prefix + std::string(key), "must be a list of texts");
    }
    texts.emplace_back(*text);
  }
  return texts;
}

Result<model::ResourceList> resources_of(const Place& place, const json::object& entry) {
  model::ResourceList resources;
  const auto* value = entry.if_contains("resources");
  const auto* object = value == nullptr ? nullptr : value->if_object();
  if (object == nullptr) {
    return place.error("resources", "must be an object such as {\"cpu\": \"4\"}");
  }
  for (const auto& [key, amount] : *object) {
    const auto field = "resources." + std::string(key);
    const auto written = amount.is_string() ? std::string(amount.as_string())
                                            : (amount.is_number() ? json::serialize(amount) : "");
    const auto quantity = model::Quantity::parse(written);
    if (!quantity || quantity->milli() < 0) {
      return place.error(field, "must be a quantity such as \"4\" or \"16Gi\", not negative");
    }
    resources[std::string(key)] = *quantity;
  }
  for (const auto key : {model::kCpu, model::kMemory}) {
    if (model::get(resources, key).is_zero()) {
      return place.error("resources." + std::string(key), "is missing or zero");
    }
  }
  resources.try_emplace(std::string(model::kPods), simulated::count(110));
  return resources;
}

Result<scheduling::Requirement> requirement_of(const Place& place, const json::value& value,
                                               const std::string& field) {
  const auto* object = value.if_object();
  if (object == nullptr) {
    return place.error(field, "must be an object {key, operator, values}");
  }
  MW_TRY(key, text_at(place, *object, "key", field + "."));
  MW_TRY(op_text, text_at(place, *object, "operator", field + "."));
  MW_TRY(values, texts_at(place, *object, "values", field + "."));
  const auto op = model::parse_operator(op_text);
  if (!op) {
    return place.error(field + ".operator", "unknown operator \"" + op_text + "\"; use In");
  }
  if (*op == model::Operator::In && values.empty()) {
    return place.error(field + ".values", "In needs at least one value");
  }
  return scheduling::Requirement(key, *op, values);
}

Result<scheduling::Offering> offering_of(const Place& place, const json::value& value,
                                         const std::string& field) {
  const auto* object = value.if_object();
  if (object == nullptr) {
    return place.error(field, "must be an object");
  }
  scheduling::Offering offering;
  const auto* price = object->if_contains("Price");
  if (price == nullptr || !price->is_number() || price->to_number<double>() < 0) {
    return place.error(field + ".Price", "must be a number, not negative");
  }
  offering.price = price->to_number<double>();
  if (const auto* available = object->if_contains("Available")) {
    if (!available->is_bool()) {
      return place.error(field + ".Available", "must be true or false");
    }
    // The field is written by the cloud that was asked; a simulation decides for itself.
  }
  if (const auto* reserved = object->if_contains("ReservationCapacity")) {
    boost::system::error_code problem;
    offering.reservation_capacity = reserved->to_number<int>(problem);
    if (problem || offering.reservation_capacity < 0) {
      return place.error(field + ".ReservationCapacity", "must be a whole number, not negative");
    }
  }
  const auto* requirements = object->if_contains("Requirements");
  if (requirements == nullptr || !requirements->is_array()) {
    return place.error(field + ".Requirements", "must be a list");
  }
  std::size_t index = 0;
  for (const auto& item : requirements->as_array()) {
    MW_TRY(requirement,
           requirement_of(place, item, field + ".Requirements[" + std::to_string(index++) + "]"));
    offering.requirements.add(std::move(requirement));
  }
  for (const auto key : {model::kZoneLabel, model::kCapacityTypeLabel}) {
    const auto* pinned = offering.requirements.find(key);
    if (pinned == nullptr || pinned->is_complement() || pinned->values().size() != 1) {
      return place.error(field + ".Requirements",
                         "must set " + std::string(key) + " to exactly one value");
    }
  }
  return offering;
}

// The kwok labels of a type whose name may be in EC2's "family.size" form.
void add_kwok_labels(scheduling::InstanceType& type) {
  const auto split = type.name.find_first_of(".-");
  const auto cpu = model::get(type.capacity, model::kCpu).to_string();
  const bool dotted = split != std::string::npos && type.name[split] == '.';
  simulated::pin(type.requirements, "karpenter.kwok.sh/instance-size",
                 dotted ? type.name.substr(split + 1) : cpu);
  simulated::pin(type.requirements, "karpenter.kwok.sh/instance-family",
                 split == std::string::npos ? type.name.substr(0, 1) : type.name.substr(0, split));
  simulated::pin(type.requirements, "karpenter.kwok.sh/instance-cpu", cpu);
  simulated::pin(type.requirements, "karpenter.kwok.sh/instance-memory",
                 model::get(type.capacity, model::kMemory).to_string());
}

Result<scheduling::InstanceType> type_of(Place& place, const json::value& value) {
  const auto* entry = value.if_object();
  if (entry == nullptr) {
    return place.error("", "must be an object");
  }
  scheduling::InstanceType type;
  MW_TRY(name, text_at(place, *entry, "name"));
  place.entry += " (" + name + ")";
  type.name = std::move(name);
  MW_TRY(arch, text_at(place, *entry, "architecture"));
  MW_TRY(systems, texts_at(place, *entry, "operatingSystems"));
  if (systems.empty()) {
    return place.error("operatingSystems", "must name at least one, such as [\"linux\"]");
  }
  MW_TRY(capacity, resources_of(place, *entry));
  type.capacity = std::move(capacity);
  type.overhead = {{"cpu", simulated::millicores(100)},
                   {"memory", simulated::bytes(10 * simulated::kMebibyte)}};
  const auto* offerings = entry->if_contains("offerings");
  if (offerings == nullptr || !offerings->is_array() || offerings->as_array().empty()) {
    return place.error("offerings", "must be a list with at least one offering");
  }
  // Whatever the offerings pin, the type has the union of.
  std::map<std::string, std::set<std::string>> values;
  std::size_t index = 0;
  for (const auto& item : offerings->as_array()) {
    MW_TRY(offering, offering_of(place, item, "offerings[" + std::to_string(index++) + "]"));
    for (const auto& requirement : offering.requirements) {
      if (!requirement.is_complement()) {
        values[requirement.key()].insert(requirement.values().begin(), requirement.values().end());
      }
    }
    type.offerings.push_back(std::move(offering));
  }
  simulated::pin(type.requirements, model::kInstanceTypeLabel, type.name);
  simulated::pin(type.requirements, model::kArchLabel, arch);
  simulated::pin(type.requirements, model::kOsLabel, systems);
  for (const auto& [key, set] : values) {
    simulated::pin(type.requirements, key, std::vector<std::string>(set.begin(), set.end()));
  }
  add_kwok_labels(type);
  return type;
}

}  // namespace

Result<std::vector<scheduling::InstanceType>> parse_catalog(std::string_view text,
                                                            std::string_view file) {
  auto parsed = model::parse_json(text);
  if (!parsed) {
    return base::with_context("catalog file " + std::string(file), std::move(parsed).error());
  }
  const auto* entries = parsed->if_array();
  if (entries == nullptr || entries->empty()) {
    return fail(ErrorKind::Invalid, "catalog file " + std::string(file) +
                                        ": must be a list with at least one instance type");
  }
  std::vector<scheduling::InstanceType> types;
  std::set<std::string> names;
  std::size_t index = 0;
  for (const auto& entry : *entries) {
    Place place{std::string(file), "entry " + std::to_string(index++)};
    MW_TRY(type, type_of(place, entry));
    if (!names.insert(type.name).second) {
      return place.error("name", "is used by an earlier entry; names must be unique");
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace millwright::cloud
