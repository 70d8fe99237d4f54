#include "app/whatif/request.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace millwright::app {
namespace {

using base::ErrorKind;

// "deploy" and the like, as kubectl takes them.
std::string scalable_resource(std::string_view kind) {
  static const std::map<std::string_view, std::string_view> kResources{
      {"deployment", "deployments"},   {"deployments", "deployments"},   {"deploy", "deployments"},
      {"statefulset", "statefulsets"}, {"statefulsets", "statefulsets"}, {"sts", "statefulsets"},
      {"replicaset", "replicasets"},   {"replicasets", "replicasets"},   {"rs", "replicasets"}};
  const auto found = kResources.find(kind);
  return std::string(found == kResources.end() ? std::string_view() : found->second);
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  return parts;
}

base::Result<SetPrice> parse_price(std::string_view word) {
  const auto equals = word.find('=');
  double price = 0;
  const auto digits = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, price);
  const auto parts = split_at(word.substr(0, equals), '/');
  if (digits.empty() || read.ec != std::errc() || read.ptr != end || !std::isfinite(price) ||
      price < 0 || parts.size() > 3 || parts.front().empty()) {
    return base::fail(
        ErrorKind::Invalid,
        "price: \"" + std::string(word) +
            "\" must be like m5.large=0.096 or m5.large/us-west-2a/spot=0.03: dollars "
            "per hour");
  }
  SetPrice change{.offerings = {.instance_type = parts.front(), .zone = {}, .capacity_type = {}},
                  .price = price};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool is_capacity =
        parts[i] == model::kSpot || parts[i] == model::kOnDemand || parts[i] == model::kReserved;
    (is_capacity ? change.offerings.capacity_type : change.offerings.zone) = parts[i];
  }
  return change;
}

base::Result<ScaleWorkload> parse_scale(std::string_view word) {
  const auto slash = word.find('/');
  const auto equals = word.find('=', slash == std::string_view::npos ? 0 : slash);
  ScaleWorkload change;
  bool good = slash != std::string_view::npos && equals != std::string_view::npos;
  if (good) {
    change.resource = scalable_resource(word.substr(0, slash));
    change.name = word.substr(slash + 1, equals - slash - 1);
    const auto digits = word.substr(equals + 1);
    const auto end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, change.replicas);
    good = !change.resource.empty() && !change.name.empty() && read.ec == std::errc() &&
           read.ptr == end && change.replicas >= 0;
  }
  if (!good) {
    return base::fail(ErrorKind::Invalid,
                      "scale: \"" + std::string(word) +
                          "\" must be like deployment/web=500, with deployment, statefulset or "
                          "replicaset; its namespace is -n NAMESPACE");
  }
  return change;
}

enum class Verb : std::uint8_t { None, Apply, Drain, Price, Scale, ZoneOut };

struct VerbName {
  std::string_view name;
  Verb verb;
  std::string_view wants;
};
constexpr std::array kVerbs{
    VerbName{"apply", Verb::Apply, "apply -f FILE"},
    VerbName{"drain", Verb::Drain, "drain NODE..."},
    VerbName{"price", Verb::Price, "price TYPE[/ZONE][/CAPACITY-TYPE]=DOLLARS-PER-HOUR"},
    VerbName{"scale", Verb::Scale, "scale deployment/NAME=REPLICAS [-n NAMESPACE]"},
    VerbName{"zone-out", Verb::ZoneOut, "zone-out ZONE"}};

class WordReader {
 public:
  explicit WordReader(std::span<const std::string> words) : words_(words) {}

  base::Result<WhatIfRequest> read() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      auto taken = word.starts_with('-') && word != "-" ? take_option(word) : take_word(word);
      if (!taken) {
        return tl::unexpected(std::move(taken).error());
      }
    }
    if (auto ended = end_verb(); !ended) {
      return tl::unexpected(std::move(ended).error());
    }
    if (request_.files.empty()) {
      return base::fail(ErrorKind::Invalid, "-f: say which cluster: a file with what `" +
                                                std::string(kSnapshot) + "` printed");
    }
    return std::move(request_);
  }

  static constexpr std::string_view kSnapshot =
      "kubectl get nodes,nodepools,nodeclaims,ec2nodeclasses,pods,deployments,replicasets,"
      "statefulsets,daemonsets,jobs,pdb,pv,pvc,storageclasses,priorityclasses -A -o json";

 private:
  base::Result<> end_verb() {
    if (verb_ != nullptr && taken_ == 0) {
      return base::fail(ErrorKind::Invalid,
                        std::string(verb_->name) + ": write " + std::string(verb_->wants));
    }
    return {};
  }

  base::Result<> take_word(const std::string& word) {
    for (const auto& verb : kVerbs) {
      if (word == verb.name) {
        if (auto ended = end_verb(); !ended) {
          return ended;
        }
        verb_ = &verb;
        taken_ = 0;
        first_change_ = request_.changes.size();
        return {};
      }
    }
    ++taken_;
    switch (verb_ == nullptr ? Verb::None : verb_->verb) {
      case Verb::Apply:
        return base::fail(ErrorKind::Invalid, "apply: \"" + word + "\": write apply -f " + word);
      case Verb::Drain:
        request_.changes.emplace_back(DrainNode{word});
        return {};
      case Verb::Price: {
        MW_TRY(price, parse_price(word));
        request_.changes.emplace_back(std::move(price));
        return {};
      }
      case Verb::Scale: {
        MW_TRY(scale, parse_scale(word));
        request_.changes.emplace_back(std::move(scale));
        return {};
      }
      case Verb::ZoneOut:
        request_.changes.emplace_back(ZoneOut{word});
        return {};
      case Verb::None:
        break;
    }
    return base::fail(ErrorKind::Invalid, "\"" + word +
                                              "\" is no change; there are apply, drain, "
                                              "price, scale and zone-out");
  }

  base::Result<std::string> value_of(const std::string& option,
                                     std::optional<std::string> inlined) {
    if (inlined) {
      return *std::move(inlined);
    }
    if (next_ == words_.size()) {
      return base::fail(ErrorKind::Invalid, option + ": a value is missing");
    }
    return words_[next_++];
  }

  base::Result<> take_option(const std::string& word) {
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string option = word.substr(0, equals);
    std::optional<std::string> inlined;
    if (equals != std::string::npos) {
      inlined = word.substr(equals + 1);
    }
    MW_TRY(value, value_of(option, std::move(inlined)));
    if (option == "-f" || option == "--filename" || option == "--file") {
      if (verb_ != nullptr && verb_->verb == Verb::Apply) {
        ++taken_;
        request_.changes.emplace_back(ApplyFile{value});
      } else {
        request_.files.push_back(value);
      }
      return {};
    }
    if (option == "-n" || option == "--namespace") {
      return take_namespace(value);
    }
    if (option == "-o" || option == "--output") {
      request_.json = value == "json";
      return value == "json" || value == "text"
                 ? base::Result<>()
                 : base::fail(ErrorKind::Invalid, "-o: \"" + value + "\" must be text or json");
    }
    if (option == "--horizon") {
      const auto horizon = base::parse_go_duration(value);
      if (!horizon || *horizon < std::chrono::seconds(1) || *horizon > std::chrono::hours(24)) {
        return base::fail(ErrorKind::Invalid,
                          "--horizon: \"" + value + "\" must be from 1s to 24h, such as 90m");
      }
      request_.horizon = *horizon;
      return {};
    }
    if (option == "--at") {
      request_.at = base::parse_rfc3339(value);
      return request_.at ? base::Result<>()
                         : base::fail(ErrorKind::Invalid, "--at: \"" + value +
                                                              "\" must be like "
                                                              "2026-01-02T03:04:05Z");
    }
    if (option == "--simulated-clouds") {
      return take_clouds(value);
    }
    if (option == "--instance-types-file-path") {
      request_.instance_types_file = value;
      return {};
    }
    return base::fail(ErrorKind::Invalid, option + " is no option; see millwright what-if --help");
  }

  base::Result<> take_clouds(const std::string& value) {
    request_.clouds = split_at(value, ',');
    for (const auto& name : request_.clouds) {
      if (!cloud::parse_profile(name)) {
        return base::fail(ErrorKind::Invalid, "--simulated-clouds: there is no \"" + name +
                                                  "\"; there are kwok, aws, alibaba and huawei");
      }
    }
    return {};
  }

  // Of all that this `scale` names.
  base::Result<> take_namespace(const std::string& value) {
    if (verb_ == nullptr || verb_->verb != Verb::Scale || taken_ == 0) {
      return base::fail(ErrorKind::Invalid,
                        "-n: it stands after what is scaled: scale deployment/web=5 -n shop");
    }
    for (std::size_t i = first_change_; i < request_.changes.size(); ++i) {
      std::get<ScaleWorkload>(request_.changes[i]).namespace_ = value;
    }
    return {};
  }

  std::span<const std::string> words_;
  std::size_t next_ = 0;
  WhatIfRequest request_;
  const VerbName* verb_ = nullptr;
  std::size_t taken_ = 0;         // words that belong to the verb
  std::size_t first_change_ = 0;  // of the verb
};

}  // namespace

base::Result<WhatIfRequest> parse_what_if(std::span<const std::string> words) {
  return WordReader(words).read();
}

std::string what_if_usage() {
  std::string text =
      "millwright what-if -f CLUSTER... [OPTIONS] CHANGE...\n\n"
      "Changes, made in the order in which they stand:\n";
  for (const auto& verb : kVerbs) {
    text.append("  ").append(verb.wants).append("\n");
  }
  return text +
         "\nOptions:\n"
         "  -f FILE                          the cluster, YAML or JSON; - for standard input:\n"
         "    " +
         std::string(WordReader::kSnapshot) +
         "\n"
         "  -o text|json                     how to print the answer\n"
         "  --horizon 1h                     how far to look ahead at most\n"
         "  --at TIME                        when it begins; default: the newest time in the "
         "files\n"
         "  --simulated-clouds LIST          kwok, aws, alibaba, huawei: whose catalogs; default:\n"
         "                                   those of the NodeClasses in the files\n"
         "  --instance-types-file-path FILE  catalog in place of kwok's own\n";
}

}  // namespace millwright::app
