// The console's pictures as server-sent events: `whole` first, then `changes` at most once a pace,
// and `beat` when nothing changes. Who was cut off connects again and gets the whole. Pictures are
// made only while somebody looks. Loop thread only.
#pragma once

#include "app/asking/asking_routes.hpp"
#include "app/console/console_view.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace millwright::app {

class ConsoleFeed {
 public:
  static constexpr std::size_t kMostStreams = 16;
  static constexpr std::size_t kMostOfOneToken = 4;
  // The most that a stream may not have read yet; then its connection ends.
  static constexpr std::size_t kQueueLimit = 8U << 20;

  struct Parts {
    base::Loop& loop;
    base::Compute& compute;
    // Any thread; see console_view().
    std::function<ConsoleView(const ConsoleView* before)> look;
    // A stream ends when its caller may not ask any more, or this replica leads no more.
    CheckCaller check;
    std::function<bool()> leads;
    // All in the loop's time.
    base::Duration pace;         // between two pictures
    base::Duration beat;         // how long a stream is silent at most
    base::Duration check_again;  // between two looks at a caller's right
  };
  explicit ConsoleFeed(Parts parts)
      : parts_(std::move(parts)), wake_(parts_.loop), checks_(parts_.loop) {}

  // Of a caller who may ask. Answers 429 when there are too many.
  void open(const Admitted& caller);
  // Makes and tells the pictures until `stop`.
  base::Task<void> run(std::stop_token stop);
  std::size_t streams() const { return streams_.size(); }

 private:
  struct Stream {
    std::string token;
    std::shared_ptr<net::Exchange> exchange;
    bool begun = false;  // has had a whole picture
    std::atomic<bool> closed{false};
  };
  using StreamPtr = std::shared_ptr<Stream>;

  void sweep();
  base::Task<void> look_and_tell();
  base::Task<void> guard(StreamPtr stream);
  static void tell(Stream& stream, std::string_view event, std::string_view data);
  static void end(Stream& stream);

  const Parts parts_;
  std::list<StreamPtr> streams_;
  std::shared_ptr<const ConsoleView> view_;  // the last; nullptr while nobody looks
  base::TimePoint told_{};                   // when something was sent to all
  base::Signal wake_;
  base::TaskGroup checks_;  // last, so that it ends first
};

}  // namespace millwright::app
