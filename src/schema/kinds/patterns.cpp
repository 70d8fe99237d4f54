// The patterns that several kinds share, by the names of Karpenter's CRD.
#include "schema/engine/pattern.hpp"

namespace millwright::schema::patterns {

const Pattern& qualified_name() {
  static const Pattern kPattern(
      R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?)"
      R"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$)",
      "a name such as \"team\" or \"example.com/team\": letters, digits, '-', '_' and '.', "
      "starting "
      "and ending with a letter or digit, after an optional lower-case DNS prefix and '/'");
  return kPattern;
}

const Pattern& label_value() {
  static const Pattern kPattern(
      "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
      "a label value: letters, digits, '-', '_' and '.', starting and ending with a letter or "
      "digit, or empty");
  return kPattern;
}

const Pattern& duration() {
  static const Pattern kPattern("^([0-9]+(s|m|h))+$",
                                "a duration in hours, minutes and seconds such as \"30s\" or "
                                "\"1h30m\"");
  return kPattern;
}

const Pattern& duration_or_never() {
  static const Pattern kPattern("^(([0-9]+(s|m|h))+|Never)$",
                                "a duration in hours, minutes and seconds such as \"30s\" or "
                                "\"720h\", or \"Never\"");
  return kPattern;
}

const Pattern& budget_duration() {
  static const Pattern kPattern("^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
                                "a duration in hours and minutes such as \"8h\", \"30m\" or "
                                "\"1h30m\"");
  return kPattern;
}

const Pattern& budget_nodes() {
  static const Pattern kPattern("^((100|[0-9]{1,2})%|[0-9]+)$",
                                "a count such as \"5\" or a percentage from \"0%\" to \"100%\"");
  return kPattern;
}

// The alternation is not grouped, so that each anchor binds one side only, as in Karpenter's CRD:
// what passes here may still be no schedule. Admission warns about those.
const Pattern& cron() {
  static const Pattern kPattern(
      R"(^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)))"
      R"(|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$)",
      "five cron fields in UTC such as \"0 9 * * mon-fri\", or one of @hourly, @daily, @midnight, "
      "@weekly, @monthly, @yearly, @annually");
  return kPattern;
}

const Pattern& quantity() {
  static const Pattern kPattern(
      R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
      R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)",
      "a quantity such as 4, \"500m\" or \"16Gi\"");
  return kPattern;
}

const Pattern& condition_reason() {
  static const Pattern kPattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                                "a CamelCase reason such as \"NodeClassReady\"");
  return kPattern;
}

const Pattern& condition_reason_or_empty() {
  static const Pattern kPattern("^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$",
                                "a CamelCase reason such as \"NodeNotReady\", or nothing");
  return kPattern;
}

const Pattern& disk_size() {
  static const Pattern kPattern(
      "^(([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi"
      "|([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G"
      "|([1-9]|[1-4][0-9]|5[0-8])Ti|([1-9]|[1-5][0-9]|6[0-4])T)$",
      "a whole size of 1Gi to 59000Gi, 1G to 64000G, 1Ti to 58Ti or 1T to 64T");
  return kPattern;
}

const Pattern& group() {
  static const Pattern kPattern("^[^/]*$",
                                "an API group without its version, such as \"karpenter.k8s.aws\"");
  return kPattern;
}

const Pattern& price() {
  static const Pattern kPattern(R"(^\d+(\.\d+)?$)", "a price per hour such as \"0.12\"");
  return kPattern;
}

const Pattern& price_adjustment() {
  static const Pattern kPattern(
      R"(^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$)",
      "a signed amount or percentage such as \"+0.05\", \"-0.05\", \"+10%\" or \"-10%\", at least "
      "\"-100%\"");
  return kPattern;
}

}  // namespace millwright::schema::patterns
