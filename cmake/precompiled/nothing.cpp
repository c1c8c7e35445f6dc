// CMake precompiles a header for targets with a source.
