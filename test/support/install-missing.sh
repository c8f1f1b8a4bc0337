#!/usr/bin/env bash
# Installs the real servers and tools that the tests run, where the machine lacks them.
set -euo pipefail

missing=()
for pair in redis-server:redis-server redis-cli:redis-tools nginx:nginx haproxy:haproxy \
  openssl:openssl curl:curl git:git jq:jq prometheus:prometheus wrk:wrk \
  chromium-headless-shell:chromium-headless-shell faketime:faketime ip:iproute2 \
  unshare:util-linux; do
  command -v "${pair%%:*}" >/dev/null || [ -x "/usr/sbin/${pair%%:*}" ] || missing+=("${pair##*:}")
done
# Debian keeps the binaries of a Postgres server out of the path.
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=(postgresql)
((${#missing[@]})) || exit 0

command -v apt-get >/dev/null || { echo "the tests need: ${missing[*]}" >&2; exit 1; }
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
"${as_root[@]}" apt-get update -q
# RUNLEVEL keeps Debian from starting services of these packages.
"${as_root[@]}" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}"
