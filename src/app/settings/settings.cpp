#include "millwright/app/settings.hpp"

#include "app/settings/real_clouds.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace millwright::app {
namespace {

// The gates of Karpenter's core and of its AWS provider. Those without effect may be switched on,
// as a manifest of Karpenter's may do, and draw a warning.
struct Gate {
  std::string_view name;
  bool has_effect = true;
};
constexpr Gate kGates[] = {{"NodeRepair"},     {"ReservedCapacity"}, {"NodeOverlay"},
                           {"StaticCapacity"}, {"CapacityBuffer"},   {"SpotToSpotConsolidation"}};
constexpr Gate kAwsGates[] = {{"NodeClassCEL", false}};

// What is of no use to a shadow, which buys, writes and answers nothing.
struct NotForShadow {
  std::string_view flag;
  std::string_view why;
};
constexpr std::string_view kNobodyLeads = "nothing is written, so nobody has to lead";
constexpr std::string_view kServesNobody = "neither scheduler nor API server calls it";
constexpr std::string_view kNobodyAsks = "it answers no questions; --decision-log tells";
constexpr std::string_view kNoCertificate = "it needs no certificate";
constexpr NotForShadow kNotForShadow[] = {
    {"clouds", "no cloud is asked; --simulated-clouds names the catalogs with the prices"},
    {"simulated-cloud-url", "its machines exist in its own process only"},
    {"disable-leader-election", kNobodyLeads},
    {"leader-election-name", kNobodyLeads},
    {"leader-election-namespace", kNobodyLeads},
    {"pod-ip", kServesNobody},
    {"serving-port", kServesNobody},
    {"extender-port", kServesNobody},
    {"extender-bind", kServesNobody},
    {"extender-full-nodes", kServesNobody},
    {"asking-port", kNobodyAsks},
    {"console", kNobodyAsks},
    {"certificate-names", kNoCertificate},
    {"certificate-overlap", kNoCertificate},
    {"certificate-check", kNoCertificate},
    {"supplied-certificates", kNoCertificate}};

// The clouds that the settings of a group are for; none: they count whatever the clouds.
std::vector<cloud::Profile> clouds_of(SettingGroup group) {
  switch (group) {
    case SettingGroup::AwsAndAlibaba:
      return {cloud::Profile::Aws, cloud::Profile::Alibaba};
    case SettingGroup::Aws:
      return {cloud::Profile::Aws};
    case SettingGroup::Alibaba:
      return {cloud::Profile::Alibaba};
    case SettingGroup::Huawei:
      return {cloud::Profile::Huawei};
    case SettingGroup::Karpenter:
    case SettingGroup::Millwright:
    case SettingGroup::Simulated:
    case SettingGroup::NoEffect:
      break;
  }
  return {};
}

void warn_of_gates(std::string_view flag, const std::map<std::string, bool>& switched,
                   std::span<const Gate> gates, std::vector<std::string>& warnings) {
  for (const auto& [name, on] : switched) {
    const auto gate = std::find_if(gates.begin(), gates.end(),
                                   [&](const Gate& known) { return known.name == name; });
    if (gate == gates.end()) {
      warnings.push_back("--" + std::string(flag) + " names " + name +
                         ", which is not known here: it has no effect");
    } else if (on && !gate->has_effect) {
      warnings.push_back("--" + std::string(flag) + " switches " + name +
                         " on, which has no effect yet");
    }
  }
}

class Loading {
 public:
  Loading(const std::map<std::string, std::string>& flags, const Environment& environment)
      : flags_(flags), environment_(environment) {}

  LoadedSettings run() {
    for (const auto& setting : setting_table()) {
      load(setting);
    }
    for (const auto& [name, value] : flags_) {
      if (find_setting(name) == nullptr) {
        loaded_.problems.push_back("--" + name + " is not known; see --help");
      }
    }
    check_together();
    return std::move(loaded_);
  }

 private:
  static const Setting* find_setting(std::string_view flag) {
    const auto table = setting_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [flag](const auto& setting) { return setting.flag == flag; });
    return found == table.end() ? nullptr : &*found;
  }

  void load(const Setting& setting) {
    apply(setting, setting.default_text);
    if (const auto flag = flags_.find(std::string(setting.flag)); flag != flags_.end()) {
      given(setting, "--" + flag->first);
      if (const auto problem = apply(setting, flag->second); !problem.empty()) {
        loaded_.problems.push_back("--" + flag->first + " " + problem);
      }
      return;
    }
    const std::string name(setting.environment);
    const auto value = environment_(name);
    if (!value || value->empty()) {
      return;
    }
    given(setting, name);
    if (const auto problem = apply(setting, *value); !problem.empty()) {
      if (setting.must_be_right) {
        loaded_.problems.push_back(name + " " + problem);
      } else {
        loaded_.warnings.push_back(name + " " + problem + "; the default counts");
      }
      apply(setting, setting.default_text);
    }
  }

  std::string apply(const Setting& setting, std::string_view text) {
    return setting.apply(text, loaded_.settings);
  }

  // Somebody set it: by the flag or the variable `name`.
  void given(const Setting& setting, const std::string& name) {
    given_.emplace(setting.flag, name);
    if (setting.group == SettingGroup::NoEffect) {
      loaded_.warnings.push_back(name + " has no effect here: " + std::string(setting.help));
    } else if (auto clouds = clouds_of(setting.group); !clouds.empty()) {
      of_clouds_.emplace_back(name, std::move(clouds));
    }
  }

  void warn_of_absent_clouds() {
    const auto& served = loaded_.settings.clouds;
    for (const auto& [name, clouds] : of_clouds_) {
      if (std::find_first_of(served.begin(), served.end(), clouds.begin(), clouds.end()) ==
          served.end()) {
        loaded_.warnings.push_back(name + " has no effect without --clouds " +
                                   cloud_list(clouds, " or "));
      }
    }
  }

  void check_shadow() {
    auto& settings = loaded_.settings;
    if (!settings.shadow) {
      if (const auto interval = given_.find("shadow-report-interval"); interval != given_.end()) {
        loaded_.warnings.push_back(interval->second + " has no effect without --shadow");
      }
      return;
    }
    for (const auto& each : kNotForShadow) {
      if (const auto found = given_.find(each.flag); found != given_.end()) {
        loaded_.problems.push_back(found->second +
                                   " makes no sense with --shadow: " + std::string(each.why));
      }
    }
    if (!given_.contains("simulated-clouds")) {
      settings.simulated_clouds.clear();
    }
  }

  void check_devices() {
    const auto config = given_.find("dra-config-file");
    if (config != given_.end() && !loaded_.settings.controllers.solve.resource_claims) {
      loaded_.warnings.push_back(config->second +
                                 " has no effect without --ignore-dra-requests=false");
    }
  }

  void check_together() {
    auto& settings = loaded_.settings;
    settings.aws_settings.cluster_name = settings.cluster_name;
    settings.controllers.extender_called = settings.scheduler_wiring != controllers::Wiring::Alone;
    warn_of_gates("feature-gates", settings.feature_gates, kGates, loaded_.warnings);
    warn_of_gates("aws-feature-gates", settings.aws_feature_gates, kAwsGates, loaded_.warnings);
    warn_of_absent_clouds();
    check_shadow();
    check_devices();
    if (settings.console && settings.asking_port == 0) {
      loaded_.problems.emplace_back("--console needs --asking-port, which it is served on");
    }
    for (auto& problem : named_twice(settings.clouds, settings.simulated_clouds)) {
      loaded_.problems.push_back(std::move(problem));
    }
  }

  const std::map<std::string, std::string>& flags_;
  const Environment& environment_;
  LoadedSettings loaded_;
  std::map<std::string_view, std::string> given_;  // by flag, the names that set them
  // The settings of clouds that somebody set, with those clouds.
  std::vector<std::pair<std::string, std::vector<cloud::Profile>>> of_clouds_;
};

}  // namespace

LoadedSettings load_settings(const std::map<std::string, std::string>& flags,
                             const Environment& environment) {
  return Loading(flags, environment).run();
}

}  // namespace millwright::app
