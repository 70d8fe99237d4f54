#include "cloud/aws/node_class/images.hpp"

#include "cloud/aws/calls/services.hpp"
#include "cloud/aws/node_class/filters.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

// A parameter with a version in its name never changes.
constexpr base::Duration kFixedParameterKept = std::chrono::hours(24);
constexpr base::Duration kMovingParameterKept = std::chrono::minutes(5);

struct ImageQuery {
  std::vector<Filter> filters;
  std::vector<std::string> owners;
};

// DescribeImages queries for terms with ids, names and tags.
std::vector<ImageQuery> image_queries(const std::vector<SelectorTerm>& terms) {
  std::vector<ImageQuery> queries;
  std::vector<std::string> ids;
  for (const auto& term : terms) {
    if (!term.id.empty()) {
      ids.push_back(term.id);
      continue;
    }
    ImageQuery query;
    if (!term.name.empty()) {
      query.filters.push_back({"name", {term.name}});
    }
    for (auto& filter : tag_filters(term.tags)) {
      query.filters.push_back(std::move(filter));
    }
    if (query.filters.empty()) {
      continue;  // an alias or a parameter
    }
    if (!term.owner.empty()) {
      query.owners = {term.owner};
    } else if (!term.name.empty()) {
      query.owners = {"self", "amazon"};  // anybody may use any name
    }
    queries.push_back(std::move(query));
  }
  if (!ids.empty()) {
    queries.push_back({{{"image-id", std::move(ids)}}, {}});
  }
  for (auto& query : queries) {
    query.filters.push_back({"state", {"available"}});
  }
  return queries;
}

// Newest first; deprecated ones after all others.
bool is_preferred(const Image& a, const Image& b) {
  if (a.deprecated != b.deprecated) {
    return b.deprecated;
  }
  return a.created != b.created ? a.created > b.created : a.id < b.id;
}

// The best image of each set of requirements.
std::vector<ResolvedImage> best_of(
    std::vector<std::pair<Image, std::vector<model::SelectorRequirement>>> candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return is_preferred(a.first, b.first); });
  std::vector<ResolvedImage> result;
  for (auto& [image, requirements] : candidates) {
    const bool taken = std::any_of(result.begin(), result.end(), [&](const auto& better) {
      return better.requirements == requirements;
    });
    if (!taken) {
      result.push_back({image.id, image.name, image.deprecated, std::move(requirements)});
    }
  }
  return result;
}

// With family Custom an alias still names the images of its own family.
Family family_of_alias(const std::string& alias) {
  model::NodeClass node_class;
  node_class.spec = {{"amiSelectorTerms", json::array{{{"alias", alias}}}}};
  return read_spec(node_class).family;
}

}  // namespace

std::vector<model::SelectorRequirement> requirements_of(const Image& image) {
  std::vector<model::SelectorRequirement> result{
      {.key = std::string(model::kArchLabel), .op = model::Operator::In, .values = {image.arch}}};
  for (const auto& [key, value] : image.tags) {
    if (model::is_well_known_label(key) && key != model::kArchLabel) {
      result.push_back({.key = key, .op = model::Operator::In, .values = {value}});
    }
  }
  return result;
}

base::Task<ApiResult<std::vector<ResolvedImage>>> Images::find(std::vector<SelectorTerm> terms,
                                                               std::string kubernetes) {
  const auto now = api_.loop().now();
  std::erase_if(images_, [now](const auto& item) { return now >= item.second.until; });
  const auto key = std::make_pair(kubernetes, terms);
  if (const auto cached = images_.find(key); cached != images_.end()) {
    co_return cached->second.images;
  }
  MW_CO_TRY(images, co_await look_up(std::move(terms), std::move(kubernetes)));
  if (!images.empty()) {
    images_[key] = {images, now + refresh_};
  }
  co_return images;
}

base::Task<ApiResult<std::vector<ResolvedImage>>> Images::look_up(std::vector<SelectorTerm> terms,
                                                                  std::string kubernetes) {
  std::vector<std::pair<Image, std::vector<model::SelectorRequirement>>> candidates;
  for (const auto& query : image_queries(terms)) {
    MW_CO_TRY(images, co_await ec2_.images(query.filters, query.owners));
    for (auto& image : images) {
      auto requirements = requirements_of(image);
      candidates.emplace_back(std::move(image), std::move(requirements));
    }
  }
  MW_CO_TRY(aliased, co_await find_parameters(std::move(terms), std::move(kubernetes)));
  if (!aliased.empty()) {
    std::vector<std::string> ids;
    for (const auto& each : aliased) {
      ids.push_back(each.parameter);
    }
    std::vector<Filter> filters{{"image-id", ids}, {"state", {"available"}}};
    std::vector<std::string> any_owner;
    MW_CO_TRY(images, co_await ec2_.images(std::move(filters), std::move(any_owner)));
    for (const auto& each : aliased) {
      const auto image = std::find_if(images.begin(), images.end(),
                                      [&](const Image& i) { return i.id == each.parameter; });
      if (image != images.end()) {
        candidates.emplace_back(
            *image, each.requirements.empty() ? requirements_of(*image) : each.requirements);
      }
    }
  }
  co_return best_of(std::move(candidates));
}

base::Task<ApiResult<std::vector<AliasedImage>>> Images::find_parameters(
    std::vector<SelectorTerm> terms, std::string kubernetes) {
  struct Wanted {
    AliasedImage image;
    base::Duration kept_for;
  };
  std::vector<Wanted> wanted;
  for (const auto& term : terms) {
    if (!term.ssm_parameter.empty()) {
      wanted.push_back({{term.ssm_parameter, {}}, kMovingParameterKept});
    }
    if (!term.alias.empty()) {
      const auto version = term.alias.substr(term.alias.find('@') + 1);
      const auto kept_for = version == "latest" ? kMovingParameterKept : kFixedParameterKept;
      for (auto& each : images_of_alias(family_of_alias(term.alias), version, kubernetes)) {
        wanted.push_back({std::move(each), kept_for});
      }
    }
  }
  std::vector<AliasedImage> found;
  for (auto& [image, kept_for] : wanted) {
    MW_CO_TRY(id, co_await parameter(image.parameter, kept_for));
    if (id && !id->empty()) {
      found.push_back({*id, std::move(image.requirements)});
    }
  }
  co_return found;
}

base::Task<ApiResult<std::optional<std::string>>> Images::parameter(std::string name,
                                                                    base::Duration kept_for) {
  const auto now = api_.loop().now();
  const auto cached = parameters_.find(name);
  if (cached != parameters_.end() && now < cached->second.until) {
    co_return std::optional(cached->second.value);
  }
  auto value = co_await get_parameter(api_, name);
  if (!value && value.error().kind == ErrorKind::NotFound) {
    co_return std::optional<std::string>();
  }
  MW_CO_CHECK(value);
  parameters_[name] = {*value, now + kept_for};
  co_return std::optional(*value);
}

}  // namespace millwright::cloud::aws
