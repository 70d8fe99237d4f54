#include "sandbox/apiserver/showing/render.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

namespace {

Json partial_metadata(const Json& object) {
  const auto* meta = find(object, "metadata");
  return boost::json::object{{"kind", "PartialObjectMetadata"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", meta == nullptr ? Json(boost::json::object{}) : *meta}};
}

boost::json::array column_definitions(const ResourceInfo& info) {
  boost::json::array definitions;
  for (const auto& column : columns_of(info)) {
    definitions.push_back(boost::json::object{{"name", column.name},
                                              {"type", column.type},
                                              {"format", column.format},
                                              {"description", column.description},
                                              {"priority", column.priority}});
  }
  return definitions;
}

boost::json::object table_row(const ResourceInfo& info, const Json& object,
                              const RenderOptions& options) {
  boost::json::object row{{"cells", cells_of(info, object, options.now)}};
  if (options.include_object == "Object") {
    row["object"] = object;
  } else if (options.include_object != "None") {
    row["object"] = partial_metadata(object);
  }
  return row;
}

boost::json::object list_meta(const ListMeta& meta) {
  boost::json::object json{{"resourceVersion", meta.resource_version}};
  if (!meta.continue_.empty()) {
    json["continue"] = meta.continue_;
    json["remainingItemCount"] = meta.remaining;
  }
  return json;
}

Json empty_table(const ResourceInfo& info, const RenderOptions& options) {
  return boost::json::object{
      {"kind", "Table"},
      {"apiVersion", "meta.k8s.io/v1"},
      {"metadata", boost::json::object{}},
      {"columnDefinitions",
       options.without_columns ? boost::json::array{} : column_definitions(info)},
      {"rows", boost::json::array{}}};
}

}  // namespace

Json render_object(const ResourceInfo& info, const Json& object, const RenderOptions& options) {
  if (options.form == Form::Whole) {
    return object;
  }
  if (options.form == Form::PartialMetadata) {
    return partial_metadata(object);
  }
  auto table = empty_table(info, options);
  make_object(table, "metadata")["resourceVersion"] = text(object, "metadata.resourceVersion");
  make_array(table, "rows").push_back(table_row(info, object, options));
  return table;
}

std::string render_list(const ResourceInfo& info, const std::vector<Object>& objects,
                        const ListMeta& meta, const RenderOptions& options) {
  if (options.form == Form::Table) {
    auto table = empty_table(info, options);
    make(table, "metadata") = list_meta(meta);
    auto& rows = make_array(table, "rows");
    for (const auto& object : objects) {
      rows.push_back(table_row(info, *object, options));
    }
    return to_text(table);
  }
  const bool partial = options.form == Form::PartialMetadata;
  boost::json::object head{
      {"kind", partial ? "PartialObjectMetadataList" : std::string(info.resource.kind) + "List"},
      {"apiVersion", partial ? "meta.k8s.io/v1" : info.resource.api_version()},
      {"metadata", list_meta(meta)}};
  auto list = to_text(head);
  list.pop_back();
  list += ",\"items\":[";
  bool first = true;
  for (const auto& object : objects) {
    if (!first) {
      list += ',';
    }
    first = false;
    list += to_text(partial ? partial_metadata(*object) : *object);
  }
  list += "]}";
  return list;
}

}  // namespace millwright::sandbox
