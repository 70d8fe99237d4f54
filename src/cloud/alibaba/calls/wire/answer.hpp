// Reads the fields of an answer and remembers the first that is not as documented. What comes from
// the network is not trusted: wrong types, empty ids, numbers out of all proportion and endless
// texts are problems, not values.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

class Answer {
 public:
  // "Instances", "Instance": Alibaba Cloud wraps each list in an object. An absent inner list is
  // empty, an absent outer one a problem.
  const boost::json::array& list(const boost::json::value& in, std::string_view outer,
                                 std::string_view inner);
  // The same where the outer one may be absent, too.
  const boost::json::array& optional_list(const boost::json::value& in, std::string_view outer,
                                          std::string_view inner);
  // Never empty.
  std::string text(const boost::json::value& in, std::string_view key);
  // Empty when absent.
  std::string optional_text(const boost::json::value& in, std::string_view key);
  // The number of an account, which Alibaba Cloud writes as a number or as a text, as a text. Empty
  // when absent.
  std::string account(const boost::json::value& in, std::string_view key);
  // From 0 to 10^9; 0 when absent.
  std::int64_t count(const boost::json::value& in, std::string_view key);
  // Likewise, with a fraction.
  double decimal(const boost::json::value& in, std::string_view key);

  bool is_good() const { return problem_.empty(); }
  // For people: "not as documented: \"InstanceId\" is missing or no text".
  const std::string& problem() const { return problem_; }
  void note(std::string_view key, std::string_view what);

 private:
  std::string problem_;
};

// Items of a list that were left out of what was read, each with an Answer of its own.
struct Unread {
  std::size_t items = 0;
  std::string problem;  // of the first

  void add(const Answer& item) {
    if (items++ == 0) {
      problem = item.problem();
    }
  }
};

}  // namespace millwright::cloud::alibaba
