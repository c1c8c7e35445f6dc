#include "fcvi/endpoint.hpp"

#include "fc2_fabric/node/remote_port.hpp"

namespace fcvi {

bool Endpoint::class_2() const { return options.class_2 && services.port.remote_port(peer_port).supports_class_2(); }

}  // namespace fcvi
