// Selector terms of EC2NodeClass: ORed lists, each term an AND of what it names.
#include "schema/engine/rules.hpp"
#include "schema/kinds/common.hpp"
#include "schema/kinds/ec2.hpp"

#include <algorithm>

namespace millwright::schema {
namespace {

struct Family {
  std::string_view alias;
  std::string_view family;
};
constexpr Family kFamilies[] = {
    {"al2", "AL2"},
    {"al2023", "AL2023"},
    {"bottlerocket", "Bottlerocket"},
    {"windows2019", "Windows2019"},
    {"windows2022", "Windows2022"},
    {"windows2025", "Windows2025"},
};

const Pattern& subnet_id() {
  static const Pattern kPattern("subnet-[0-9a-z]+", "a subnet id such as \"subnet-0a1b2c3d\"");
  return kPattern;
}
const Pattern& reservation_id() {
  static const Pattern kPattern("^cr-[0-9a-z]+$", "a reservation id such as \"cr-0a1b2c3d\"");
  return kPattern;
}
const Pattern& image_id() {
  static const Pattern kPattern("ami-[0-9a-z]+", "an image id such as \"ami-0a1b2c3d\"");
  return kPattern;
}
const Pattern& account_id() {
  static const Pattern kPattern("^[0-9]{12}$", "an account id of 12 digits");
  return kPattern;
}
const Pattern& image_alias_form() {
  static const Pattern kPattern("^[a-zA-Z0-9]+@.+$",
                                "\"family@version\" such as \"al2023@latest\"");
  return kPattern;
}

Member tag_selector() {
  return optional("tags", selector_tags(rules::no_empty_keys_or_values()));
}

std::string_view family_part(std::string_view alias) {
  return alias.substr(0, alias.find('@'));
}

Rule known_family() {
  return {
      "self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', "
      "'windows2025']",
      "expected a family among \"al2\", \"al2023\", \"bottlerocket\", \"windows2019\", "
      "\"windows2022\", \"windows2025\" before the \"@\"",
      [](const json::value& self) { return !ec2_family_of_alias(as_text(&self)).empty(); },
      {}};
}

Rule windows_is_latest() {
  return {"!self.startsWith('windows') || self.endsWith('@latest')",
          "Windows images have no pinned versions; the only version is \"latest\"",
          [](const json::value& self) {
            const std::string_view alias = as_text(&self);
            return !alias.starts_with("windows") || alias.ends_with("@latest");
          },
          {}};
}

Rule alias_is_only_term() {
  return {"size(self) == 1 || !self.exists(x, has(x.alias))",
          "a term with an alias has to be the only term",
          [](const json::value& self) {
            const json::array& terms = as_list(&self);
            return terms.size() == 1 || std::none_of(terms.begin(), terms.end(),
                                                     [](const auto& x) { return has(x, "alias"); });
          },
          {}};
}

}  // namespace

std::string ec2_family_of_alias(std::string_view alias) {
  for (const Family& known : kFamilies) {
    if (known.alias == family_part(alias)) {
      return std::string(known.family);
    }
  }
  return {};
}

Field ec2_subnet_terms() {
  return list_of(
             "Which subnets instances go to; a subnet has to meet one term.",
             object("A term.", {tag_selector(),
                                optional("id", string("Id of the subnet.").pattern(subnet_id()))})
                 .rule(rules::at_least_one_of({"tags", "id"}))
                 .rule(rules::excludes("id", {"tags"})))
      .size_at_least(1)
      .size_at_most(30);
}

Field ec2_capacity_reservation_terms() {
  return list_of(
             "Which capacity reservations instances may use: all that meet one term.",
             object("A term.",
                    {tag_selector(),
                     optional("id", string("Id of the reservation.").pattern(reservation_id())),
                     optional("ownerID",
                              string("Account that owns the reservation.").pattern(account_id())),
                     optional("instanceMatchCriteria",
                              string("Whether the reservation serves every matching instance or "
                                     "only those that name it.")
                                  .one_of({"open", "targeted"}))})
                 .rule(rules::at_least_one_of({"tags", "id", "instanceMatchCriteria"}))
                 .rule(rules::excludes("id", {"tags", "ownerID", "instanceMatchCriteria"})))
      .size_at_most(30);
}

Field ec2_image_terms() {
  return list_of(
             "Which images instances run: the newest that meets one term.",
             object("A term.",
                    {tag_selector(), optional("id", string("Id of the image.").pattern(image_id())),
                     optional("name", string("Name of the image; * and ? match any text.")),
                     optional("owner", string("Account that owns the image: an id, \"self\" "
                                              "or \"amazon\".")),
                     optional("alias", string("Family and version of a public image, such as "
                                              "\"al2023@latest\".")
                                           .size_at_most(30)
                                           .pattern(image_alias_form())
                                           .rule(known_family())
                                           .rule(windows_is_latest())),
                     optional("ssmParameter",
                              string("SSM parameter that holds the id of the image."))})
                 .rule(rules::at_least_one_of({"tags", "id", "name", "alias", "ssmParameter"}))
                 .rule(rules::excludes("id", {"tags", "name", "owner", "alias"}))
                 .rule(rules::excludes("alias", {"tags", "id", "name", "owner", "ssmParameter"})))
      .size_at_least(1)
      .size_at_most(30)
      .rule(alias_is_only_term());
}

}  // namespace millwright::schema
