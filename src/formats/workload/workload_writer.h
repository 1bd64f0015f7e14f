// Walks values and makes JSON of them. For files of this room only.
#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "formats/workload/workload_fields.h"

namespace infold::formats {

using WorkJson = nlohmann::ordered_json;

class WorkloadWalkOut {
 public:
  explicit WorkloadWalkOut(WorkJson& json) : json_(json) {}

  template <class T>
  void item(const char* name, const T& value) {
    json_[name] = json_of(value);
  }
  template <class T>
  void field(const char* name, const T& value, const std::type_identity_t<T>& usual = {}) {
    if (!(value == usual)) item(name, value);
  }

  template <class T>
  static WorkJson json_of(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return sim::name_of(value);
    } else if constexpr (std::is_same_v<T, sim::Time>) {
      return value.count_ps();
    } else if constexpr (std::is_same_v<T, sim::Bytes>) {
      return value.count();
    } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
      WorkJson list = WorkJson::array();
      for (const auto& part : value) list.push_back(json_of(part));
      return list;
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      WorkJson map = WorkJson::object();
      WorkloadWalkOut walker(map);
      walk(walker, const_cast<T&>(value));  // walks for reading and writing are the same function
      return map;
    } else {
      return value;
    }
  }

 private:
  WorkJson& json_;
};

/// What an operation does, with "do" first; what all operations have is left out.
WorkJson json_of_what(const work::Operation& op);
WorkJson json_of_operation(const work::Operation& op);

}  // namespace infold::formats
