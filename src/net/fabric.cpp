// What every fabric has, whatever it simulates.
#include "net/fabric.h"

namespace infold::net {

std::string Fabric::name(NodeId node) const {
  return node_name(node, traits_.gpus);
}

}  // namespace infold::net
