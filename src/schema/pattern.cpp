#include "schema/pattern.hpp"

#include <stdexcept>
#include <utility>

namespace millwright::schema {

// Thompson's construction. A fragment is a start state and the dangling exits to be connected.
class PatternCompiler {
 public:
  explicit PatternCompiler(Pattern& pattern) : states_(pattern.states_), text_(pattern.regex_) {}

  int compile() {
    Fragment whole = alternation();
    if (at_ != text_.size()) {
      fail("unexpected character");
    }
    const int done = add({Pattern::Step::Done, {}, -1, -1});
    connect(whole, done);
    return whole.start < 0 ? done : whole.start;
  }

 private:
  struct Exit {
    int state;
    bool other;
  };
  struct Fragment {
    int start = -1;  // -1: matches the empty text
    std::vector<Exit> exits;
  };

  [[noreturn]] void fail(std::string_view why) const {
    throw std::invalid_argument("pattern " + std::string(text_) + ": " + std::string(why) +
                                " at offset " + std::to_string(at_));
  }

  bool more() const { return at_ < text_.size(); }

  bool take(char c) {
    if (more() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  int add(Pattern::State state) {
    states_.push_back(state);
    return static_cast<int>(states_.size()) - 1;
  }

  void connect(const Fragment& fragment, int target) {
    for (const Exit& exit : fragment.exits) {
      Pattern::State& state = states_[static_cast<std::size_t>(exit.state)];
      (exit.other ? state.other : state.next) = target;
    }
  }

  Fragment single(Pattern::Step step, const std::bitset<256>& bytes = {}) {
    const int state = add({step, bytes, -1, -1});
    return {state, {{state, false}}};
  }

  Fragment join(Fragment left, Fragment right) {
    if (left.start < 0) {
      return right;
    }
    if (right.start < 0) {
      return left;
    }
    connect(left, right.start);
    return {left.start, std::move(right.exits)};
  }

  // Either branch; an empty branch leaves its side of the split dangling.
  Fragment either(Fragment left, Fragment right) {
    const int split = add({Pattern::Step::Split, {}, left.start, right.start});
    Fragment result{split, std::move(left.exits)};
    result.exits.insert(result.exits.end(), right.exits.begin(), right.exits.end());
    if (left.start < 0) {
      result.exits.push_back({split, false});
    }
    if (right.start < 0) {
      result.exits.push_back({split, true});
    }
    return result;
  }

  Fragment loop(Fragment body, bool at_least_once) {
    if (body.start < 0) {
      return body;
    }
    const int split = add({Pattern::Step::Split, {}, body.start, -1});
    connect(body, split);
    return {at_least_once ? body.start : split, {{split, true}}};
  }

  Fragment alternation() {
    Fragment result = sequence();
    while (take('|')) {
      result = either(std::move(result), sequence());
    }
    return result;
  }

  Fragment sequence() {
    Fragment result;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      result = join(std::move(result), repetition());
    }
    return result;
  }

  Fragment repetition() {
    const std::size_t atom_at = at_;
    Fragment result = atom();
    if (take('*')) {
      return loop(std::move(result), false);
    }
    if (take('+')) {
      return loop(std::move(result), true);
    }
    if (take('?')) {
      return either(std::move(result), {});
    }
    if (take('{')) {
      const int least = number();
      const int most = take(',') ? number() : least;
      if (!take('}') || most < least || most > kMostRepeats) {
        fail("bad repetition");
      }
      return repeat(atom_at, least, most);
    }
    return result;
  }

  // A counted atom is compiled again for each repetition.
  Fragment repeat(std::size_t atom_at, int least, int most) {
    const std::size_t after = at_;
    Fragment result;
    for (int i = 0; i < most; ++i) {
      at_ = atom_at;
      Fragment once = atom();
      result = join(std::move(result), i < least ? std::move(once) : either(std::move(once), {}));
    }
    at_ = after;
    return result;
  }

  int number() {
    int value = 0;
    const std::size_t from = at_;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9' && value <= kMostRepeats) {
      value = value * 10 + (text_[at_++] - '0');
    }
    if (at_ == from) {
      fail("expected a number");
    }
    return value;
  }

  Fragment atom() {
    if (take('(')) {
      if (take('?') && !take(':')) {
        fail("unsupported group");
      }
      Fragment inner = alternation();
      if (!take(')')) {
        fail("unclosed group");
      }
      return inner;
    }
    if (take('^')) {
      return single(Pattern::Step::Begin);
    }
    if (take('$')) {
      return single(Pattern::Step::End);
    }
    return single(Pattern::Step::Byte, bytes());
  }

  std::bitset<256> bytes() {
    std::bitset<256> result;
    if (take('[')) {
      return byte_class();
    }
    if (take('.')) {
      result.set();
      result.reset('\n');
      return result;
    }
    if (take('\\')) {
      return escape();
    }
    if (!more() || std::string_view("*+?{").find(text_[at_]) != std::string_view::npos) {
      fail("nothing to repeat");
    }
    result.set(byte(text_[at_++]));
    return result;
  }

  std::bitset<256> escape() {
    if (!more()) {
      fail("unfinished escape");
    }
    std::bitset<256> result;
    const char c = text_[at_++];
    if (c == 'd') {
      set_range(result, '0', '9');
    } else if (c == 's') {
      for (const char blank : std::string_view("\t\n\f\r ")) {
        result.set(byte(blank));
      }
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      fail("unsupported escape");
    } else {
      result.set(byte(c));
    }
    return result;
  }

  std::bitset<256> byte_class() {
    std::bitset<256> result;
    const bool negated = take('^');
    bool first = true;
    while (!more() || text_[at_] != ']' || first) {
      if (!more()) {
        fail("unclosed class");
      }
      first = false;
      if (take('\\')) {
        result |= escape();
        continue;
      }
      const char low = text_[at_++];
      const bool range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
      const char high = range ? text_[at_ + 1] : low;
      at_ += range ? 2 : 0;
      set_range(result, low, high);
    }
    ++at_;
    return negated ? ~result : result;
  }

  static std::size_t byte(char c) { return static_cast<unsigned char>(c); }

  static void set_range(std::bitset<256>& bytes, char low, char high) {
    for (std::size_t c = byte(low); c <= byte(high); ++c) {
      bytes.set(c);
    }
  }

  static constexpr int kMostRepeats = 1000;  // RE2's own limit
  std::vector<Pattern::State>& states_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Pattern::Pattern(std::string_view regex, std::string_view accepted)
    : regex_(regex), accepted_(accepted) {
  start_ = PatternCompiler(*this).compile();
}

// The set of states that the text read so far can be in.
struct Pattern::Walk {
  const Pattern& pattern;
  std::size_t length;
  std::vector<std::size_t> seen;  // per state: the position it was last entered at, plus one
  std::vector<int> current;
  std::vector<int> pending;
  bool done = false;

  void enter(std::vector<int>& set, int first, std::size_t at) {
    pending.push_back(first);
    while (!pending.empty()) {
      const auto index = static_cast<std::size_t>(pending.back());
      pending.pop_back();
      if (seen[index] == at + 1) {
        continue;
      }
      seen[index] = at + 1;
      const State& state = pattern.states_[index];
      switch (state.step) {
        case Step::Byte:
          set.push_back(static_cast<int>(index));
          break;
        case Step::Split:
          pending.push_back(state.next);
          pending.push_back(state.other);
          break;
        case Step::Begin:
          if (at == 0) {
            pending.push_back(state.next);
          }
          break;
        case Step::End:
          if (at == length) {
            pending.push_back(state.next);
          }
          break;
        case Step::Done:
          done = true;
          break;
      }
    }
  }
};

bool Pattern::matches(std::string_view text) const {
  Walk walk{*this, text.size(), std::vector<std::size_t>(states_.size(), 0), {}, {}};
  std::vector<int> following;
  for (std::size_t at = 0;; ++at) {
    walk.enter(walk.current, start_, at);
    if (walk.done || at == text.size()) {
      return walk.done;
    }
    following.clear();
    for (const int index : walk.current) {
      const State& state = states_[static_cast<std::size_t>(index)];
      if (state.bytes.test(static_cast<unsigned char>(text[at]))) {
        walk.enter(following, state.next, at + 1);
      }
    }
    std::swap(walk.current, following);
  }
}

}  // namespace millwright::schema
