#!/bin/sh
# Makes sure that the Node of node_modules starts. It needs libatomic.so.1, which Debian brings with a compiler only. It is
# installed by root on Debian, unless SIDEGATE_TEST_INSTALL=no forbids it. Otherwise one line on stderr says why Node does
# not start, and the exit code is 1. This is no TypeScript, because Node has to start first.
set -u
node=${1:-$(dirname "$0")/../../node_modules/.bin/node}
starts() { "$node" --version >/dev/null 2>&1; }
starts && exit 0
if [ "${SIDEGATE_TEST_INSTALL:-}" != no ] && [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then
  echo 'installing libatomic1 for Node' >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get --quiet=2 update >&2 && apt-get --quiet=2 install --yes --no-install-recommends libatomic1 >&2
  starts && exit 0
fi
reason=$("$node" --version 2>&1 | head -n 1)
echo "Node does not start (${reason:-no reason given}): install it, or Debian's libatomic1, first" >&2
exit 1
