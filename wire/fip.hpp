// FIP, the FCoE Initialization Protocol: all of it.
#pragma once
#include "wire/fip/descriptors.hpp"
#include "wire/fip/header.hpp"
#include "wire/fip/message.hpp"
