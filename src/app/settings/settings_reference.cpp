// The settings for people: --help, and docs/settings.md.
#include "millwright/app/settings.hpp"

namespace millwright::app {
namespace {

struct Section {
  SettingGroup group;
  std::string_view title;
  std::string_view text;
};
constexpr Section kSections[] = {
    {SettingGroup::Karpenter, "Karpenter's settings", "The names are those of Karpenter's core."},
    {SettingGroup::Millwright, "Millwright's own settings", ""},
    {SettingGroup::AwsAndAlibaba, "Settings for AWS and Alibaba Cloud",
     "Both providers have this name. With both clouds in one process it counts for both."},
    {SettingGroup::Aws, "Settings for AWS",
     "The names are those of Karpenter's AWS provider, but for the two price files. A setting of "
     "a\n"
     "cloud that `--clouds` does not name has no effect, and is warned of."},
    {SettingGroup::Alibaba, "Settings for Alibaba Cloud",
     "The names are those of CloudPilot's provider, but for the flag of the region and the two "
     "price\n"
     "files. Credentials and endpoints are read from the environment alone: see\n"
     "[alibaba.md](alibaba.md)."},
    {SettingGroup::Huawei, "Settings for Huawei Cloud",
     "The first three variables are those of Karpenter's provider for Huawei Cloud. Credentials "
     "and\n"
     "endpoints are read from the environment alone: see [huawei.md](huawei.md)."},
    {SettingGroup::Simulated, "Settings for simulated clouds",
     "Simulated clouds exist only in memory: see [sandbox.md](sandbox.md)."},
    {SettingGroup::NoEffect, "Settings of Karpenter's without effect",
     "They are taken, so that a manifest of Karpenter's need not change, and warned of."}};

constexpr std::string_view kIntroduction =
    "# Settings of `millwright controller`\n"
    "\n"
    "Generated from the table in `src/app/settings/setting_table.cpp` by `scripts/manifests`. Do "
    "not\n"
    "edit it here.\n"
    "\n"
    "Each setting is a flag and an environment variable; the flag wins. `--flag value` and\n"
    "`--flag=value` are the same. A wrong flag stops the program, and every wrong one is named. A\n"
    "wrong environment variable is warned of and its default counts, as in Karpenter; a wrong\n"
    "`SCHEDULER_CONFIG`, `DRA_CONFIG_FILE` or `SHADOW` stops the program. Durations are Go's: "
    "`90s`,\n"
    "`15m`, `24h`.\n";

std::string code(std::string_view text) {
  return text.empty() ? std::string() : "`" + std::string(text) + "`";
}

}  // namespace

std::string settings_reference() {
  std::string page(kIntroduction);
  for (const auto& section : kSections) {
    const bool no_effect = section.group == SettingGroup::NoEffect;
    page.append("\n## ").append(section.title).append("\n\n");
    if (!section.text.empty()) {
      page.append(section.text).append("\n\n");
    }
    page.append(no_effect
                    ? "| flag | environment variable | why it has no effect |\n|---|---|---|\n"
                    : "| flag | environment variable | default | meaning |\n"
                      "|---|---|---|---|\n");
    for (const auto& setting : setting_table()) {
      if (setting.group != section.group) {
        continue;
      }
      page.append("| `--").append(setting.flag).append("` | ").append(code(setting.environment));
      if (!no_effect) {
        page.append(" | ").append(code(setting.default_text));
      }
      page.append(" | ").append(setting.help).append(" |\n");
    }
  }
  return page;
}

std::string settings_help() {
  std::string text = "Settings (flag, environment variable, default):\n";
  for (const auto& setting : setting_table()) {
    text.append("  --").append(setting.flag).append("  ").append(setting.environment);
    text.append("  [").append(setting.default_text).append("]\n      ");
    text.append(setting.help).append("\n");
  }
  return text;
}

}  // namespace millwright::app
