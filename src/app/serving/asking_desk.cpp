#include "app/serving/asking_desk.hpp"

#include "app/console/console_routes.hpp"

#include <utility>

namespace millwright::app {
namespace {

// How often a stream looks for a caller's lost right, and says that it is alive, in paces.
constexpr int kPacesPerCheck = 5;
constexpr int kPacesPerBeat = 15;

template <class Show>
auto show_engine(Engine& engine, const base::Loop& loop, const Show& show) {
  const auto snapshot = engine.state().latest();
  const auto catalog = engine.catalog();
  return show(ViewParts{.snapshot = *snapshot,
                        .catalog = *catalog,
                        .decisions = engine.decisions().all(),
                        .now = loop.now()});
}

}  // namespace

AskingDesk::AskingDesk(Parts parts)
    : parts_(std::move(parts)),
      feed_({.loop = parts_.loop,
             .compute = compute_,
             .look =
                 [&engine = parts_.engine, &loop = parts_.loop](const ConsoleView* before) {
                   return show_engine(engine, loop, [before](const ViewParts& view) {
                     return console_view(view, before);
                   });
                 },
             .check = parts_.check,
             .leads = parts_.leads,
             .pace = parts_.pace,
             .beat = kPacesPerBeat * parts_.pace,
             .check_again = kPacesPerCheck * parts_.pace}),
      group_(parts_.loop) {}

std::shared_ptr<net::Router> AskingDesk::router() {
  auto router = std::make_shared<net::Router>();
  const AskingParts asking{
      .loop = parts_.loop,
      .compute = compute_,
      .decisions = parts_.engine.decisions(),
      .cluster =
          [&engine = parts_.engine, &loop = parts_.loop] {
            return show_engine(engine, loop, [](const ViewParts& view) { return view_of(view); });
          },
      .check = parts_.check,
      .group = group_,
      .leads = parts_.leads,
      .lease = parts_.lease};
  add_asking_routes(*router, asking);
  if (parts_.console) {
    add_console_routes(*router, asking, feed_);
    group_.spawn(feed_.run(group_.stop_token()));
  }
  return router;
}

}  // namespace millwright::app
