#!/usr/bin/env bash
# Installs Pinocchio with pip under target/, compiles bench.cpp and times both trees, or those given as arguments.
#
# Needs python3 with venv, and g++ (C++17). CXX and CXXFLAGS choose another compiler or other flags.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build="$here/../../target/pinocchio"
trees="$here/../../crates/validation/data/pinocchio"
cxx=${CXX:-g++}
read -ra flags <<<"${CXXFLAGS:--O3 -march=native -DNDEBUG}"

# The versions measured; `pin` comes without the headers of Eigen.
if [ ! -e "$build/venv/installed" ]; then
    python3 -m venv --clear "$build/venv"
    "$build/venv/bin/pip" install --quiet --disable-pip-version-check pin==4.1.0 cmeel-eigen==3.4.1
    touch "$build/venv/installed"
fi
prefix=$("$build/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/cmeel.prefix

# Headers only: the library in the wheel is compiled for any x86-64, and -march changes the alignment of Eigen's types.
# The definitions are those of the package's own build files. GCC warns inside the headers, at length: hence -w.
command="$cxx -std=c++17 ${flags[*]}"
if [ ! -x "$build/bench" ] || [ "$here/bench.cpp" -nt "$build/bench" ] || [ "$command" != "$(cat "$build/command" 2>/dev/null)" ]; then
    echo "compiling, one or two minutes" >&2
    "$cxx" -std=c++17 "${flags[@]}" -w -isystem "$prefix/include" -isystem "$prefix/include/eigen3" \
        -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS \
        -DBOOST_FUSION_INVOKE_MAX_ARITY=12 \
        "$here/bench.cpp" -o "$build/bench" -L "$prefix/lib" -lboost_serialization -Wl,-rpath,"$prefix/lib"
    echo "$command" >"$build/command"
fi

echo "command $command"
if [ $# -eq 0 ]; then set -- "$trees/arm7.txt" "$trees/tree36.txt"; fi
exec "$build/bench" "$@"
