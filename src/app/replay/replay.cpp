#include "app/replay/replay.hpp"

#include "app/replay/replay_run.hpp"
#include "millwright/model/codec.hpp"

namespace millwright::app {
namespace {

base::Result<AppliedObjects> read_node_pools(const ReplayRequest& request, const ReadFile& read) {
  AppliedObjects applied;
  if (request.node_pools.empty()) {
    return applied;
  }
  MW_TRY(text, read(request.node_pools));
  MW_TRY(objects, read_objects(text, request.node_pools));
  for (const auto& object : objects) {
    const auto* resource =
        model::find_by_kind(model::text_at(object, "apiVersion"), model::text_at(object, "kind"));
    if (resource == nullptr || (*resource != model::kNodePoolResource && !cloud_of(*resource))) {
      return base::fail(base::ErrorKind::Invalid,
                        request.node_pools + ": \"" +
                            std::string(model::text_at(object, "kind").substr(0, 80)) +
                            "\": --nodepools takes NodePools and NodeClasses");
    }
  }
  applied[request.node_pools] = std::move(objects);
  return applied;
}

}  // namespace

base::Result<ReplayReport> replay_day(const ReplayRequest& request, const ReadFile& read) {
  MW_TRY(text, read(request.recording));
  MW_TRY(day, read_day(text, request.recording));
  text = {};
  MW_TRY(applied, read_node_pools(request, read));
  auto stock = take_stock(std::move(day.first));
  if (!stock) {
    return base::with_context(request.recording, std::move(stock).error());
  }
  const ReplaySetup setup{.day = day,
                          .files = *stock,
                          .clouds = clouds_of(request.clouds, *stock, applied),
                          .applied = applied,
                          .seed = request.seed,
                          .instance_types_file = request.instance_types_file,
                          .pace = pace_of(day, stock->objects),
                          .write_decision = request.write_decision};
  if (setup.clouds.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      request.recording +
                          ": there is no NodeClass in it, so nothing can be bought; give NodePools "
                          "and NodeClasses with --nodepools");
  }
  ReplayRun run(setup);
  if (auto ran = run.run(); !ran) {
    return tl::unexpected(std::move(ran).error());
  }
  const DayBounds bounds{
      .start = day.start, .end = day.end, .moments = moments_of(day.end - day.start)};
  const auto& replayed = run.replayed();
  const auto price = [&replayed](const model::StringMap& labels) { return replayed.price(labels); };
  ReplayReport report{.start = day.start,
                      .end = day.end,
                      .seed = request.seed,
                      .pace = setup.pace,
                      .recorded = figures_of(*day.recorded, bounds, price),
                      .replayed = figures_of(replayed.recorder(), bounds, price),
                      .notes = day.notes};
  for (auto&& note : run.notes()) {
    report.notes.push_back(std::move(note));
  }
  return report;
}

}  // namespace millwright::app
