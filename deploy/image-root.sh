#!/bin/sh
# The root of the image: Node, the libraries it is linked with, and the user it runs as. Nothing else, so no shell either.
#   image-root.sh FOLDER
set -eu
root=$1
node=$(readlink -f "$(command -v node)")

install -D "$node" "$root/usr/local/bin/node"
# Under the names that Node asks for, which are links to files with versions in their names.
ldd "$node" | grep -o '/[^ ]*' | while read -r library; do
  install -D "$library" "$root$library"
done

mkdir -p "$root/etc"
echo 'sidegate:x:65532:65532::/data:' > "$root/etc/passwd"
echo 'sidegate:x:65532:' > "$root/etc/group"
# /etc/hosts before DNS, as everywhere else.
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
# The embedded store's folder. Whose it is, the Dockerfile says.
mkdir "$root/data"
