// What the calls of both libraries have in common.
#pragma once
#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

#include <boost/system/system_error.hpp>

/// A call that programs find in the library.
#define VERBS_CALL extern "C" __attribute__((visibility("default")))

namespace verbs {

/// errno of what `call` threw. Nothing else is caught: a cancelled thread ends.
template <class Call>
int errno_of_call(Call call) {
  try {
    return call();
  } catch (const boost::system::system_error& error) {
    return error.code().value();
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::exception&) {
    return ENOMEM;
  }
}

/// For calls that return an object, or nullptr and errno. `call(object)` returns 0, or errno.
template <class Object, class Call>
Object* made_by(Call call) {
  Object* object = nullptr;
  const int error = errno_of_call([&] { return call(object); });
  if (error == 0) return object;
  errno = error;
  return nullptr;
}

/// For calls that return 0, or -1 and errno.
template <class Call>
int minus_one_by(Call call) {
  const int error = errno_of_call(call);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace verbs
