// Names under which a recording hides those of the cluster: the same name gives the same hash all
// through a recording, and nobody without its key can tell which name it was. Pure.
#pragma once

#include <string>
#include <string_view>

namespace millwright::app {

class NameHash {
 public:
  // `key` is secret and never written anywhere: with it names could be guessed and tried.
  explicit NameHash(std::string key) : key_(std::move(key)) {}
  // With a key from the operating system's generator for secrets.
  static NameHash make();

  // A name as Kubernetes takes it as an object's name and as a label's value, of 63 characters at
  // most. What stands between '-' and '.' is hashed part by part, since controllers build names of
  // others ("web-0" of StatefulSet "web"); a number at the end stays.
  std::string name(std::string_view name) const;
  // The same but for what Kubernetes itself names in every cluster ("default", "kube-system",
  // "system-node-critical"), and what is no name: numbers, "true", "false" and the empty text.
  std::string unless_common(std::string_view text) const;

 private:
  std::string part(std::string_view text, std::size_t length) const;

  std::string key_;
};

}  // namespace millwright::app
