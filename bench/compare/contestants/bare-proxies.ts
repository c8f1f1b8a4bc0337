import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMAT_PATHS } from '../../../src/protocol/format-names.ts';
import { findFreePort } from '../../../test/support/servers/find-free-port.ts';
import type { ApiFormat, Contestant, Place, Route } from '../scenario.ts';
import { runContestant } from './run-contestant.ts';

const UWS_PROXY = 'dist/bench/compare/contestants/uws-proxy-main.js';
const CONNECTIONS_MAX = 16_000;

/** What a client sends to a proxy that does not look at requests. */
export function plainRoute(format: ApiFormat): Route {
  return { path: FORMAT_PATHS[format], headers: { 'x-api-key': 'any' }, model: 'm-1' };
}

const nginxSettings = (port: number, { dir, upstreamPort }: Place) => `
worker_processes 1; daemon off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections ${2 * CONNECTIONS_MAX}; }
http {
  access_log off; keepalive_requests 100000000;
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
  client_max_body_size 0; client_body_buffer_size 2m;
  upstream model { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_read_timeout 300s;
    }
  }
}`;

const haproxySettings = (port: number, { upstreamPort }: Place) => `
global
  nbthread 1
  maxconn ${CONNECTIONS_MAX / 2}
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  option http-no-delay
  http-reuse always
frontend clients
  bind 127.0.0.1:${port} backlog 4096
  default_backend models
backend models
  server model 127.0.0.1:${upstreamPort}
`;

const caddySettings = (port: number, { upstreamPort }: Place) => `
{
  admin off
  auto_https off
  log {
    output discard
  }
}
http://127.0.0.1:${port} {
  reverse_proxy 127.0.0.1:${upstreamPort} {
    flush_interval -1
    transport http {
      keepalive_idle_conns_per_host 512
    }
  }
}
`;

export const nginx: Contestant = {
  name: 'nginx',
  isPeer: false,
  isCompiled: true,
  async start(place) {
    const port = await findFreePort();
    const file = join(place.dir, 'nginx.conf');
    writeFileSync(file, nginxSettings(port, place));
    return await runContestant(
      ['nginx', '-c', file, '-e', join(place.dir, 'error.log')],
      port,
      plainRoute,
    );
  },
};

export const haproxy: Contestant = {
  name: 'haproxy',
  isPeer: false,
  isCompiled: true,
  async start(place) {
    const port = await findFreePort();
    const file = join(place.dir, 'haproxy.cfg');
    writeFileSync(file, haproxySettings(port, place));
    return await runContestant(['haproxy', '-db', '-f', file], port, plainRoute);
  },
};

export const caddy: Contestant = {
  name: 'caddy',
  isPeer: false,
  isCompiled: true,
  async start(place) {
    const port = await findFreePort();
    const file = join(place.dir, 'Caddyfile');
    writeFileSync(file, caddySettings(port, place));
    const command = ['caddy', 'run', '--adapter', 'caddyfile', '--config', file];
    const folders = { XDG_DATA_HOME: place.dir, XDG_CONFIG_HOME: place.dir };
    return await runContestant(command, port, plainRoute, { env: { ...folders, GOMAXPROCS: '1' } });
  },
};

/** Tollgate's own HTTP server and HTTP client with nothing between them. */
export const uwsProxy: Contestant = {
  name: 'uws-proxy',
  isPeer: false,
  async start({ upstreamPort }) {
    const port = await findFreePort();
    const args = [String(port), String(upstreamPort)];
    return await runContestant([process.execPath, UWS_PROXY, ...args], port, plainRoute);
  },
};
