import { type SpawnOptionsWithStdioTuple, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { findFreePort } from './find-free-port.ts';

export interface RunningProxy {
  readonly port: number;
  stop(): Promise<void>;
}

type WriteConfig = (dir: string, port: number, upstreamPort: number) => string;

const nginx =
  (extra: string): WriteConfig =>
  (dir, port, upstreamPort) =>
    `
    daemon off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
    events {}
    http {
      access_log off;
      client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/f;
      uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
      upstream tollgate { server 127.0.0.1:${upstreamPort}; keepalive 16; keepalive_timeout 5s; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://tollgate; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_next_upstream off; ${extra}
        }
      }
    }`;

const haproxy =
  (reuse: string): WriteConfig =>
  (_dir, port, upstreamPort) =>
    `
    defaults
      mode http
      timeout connect 5s
      timeout client 60s
      timeout server 60s
      retries 0
    frontend api
      bind 127.0.0.1:${port}
      http-request deny deny_status 400 unless { req.hdr(host) -m found }
      default_backend tollgate
    backend tollgate
      http-reuse ${reuse}
      server one 127.0.0.1:${upstreamPort} pool-purge-delay 2s
`;

/**
 * The settings that src/docs/http-layer.md recommends, and nothing that would hide their effect.
 */
const CONFIGS = {
  nginx: nginx(''),
  'nginx that passes chunks on': nginx('proxy_request_buffering off;'),
  haproxy: haproxy('always'),
  'haproxy with reuse safe': haproxy('safe'),
};

export type ProxyKind = keyof typeof CONFIGS;

const STDIO: SpawnOptionsWithStdioTuple<'ignore', 'ignore', 'pipe'> = {
  stdio: ['ignore', 'ignore', 'pipe'],
};

/** Runs a real proxy in front of one port, on its own port. */
export async function startProxy(kind: ProxyKind, upstreamPort: number): Promise<RunningProxy> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
  const port = await findFreePort();
  const file = join(dir, 'proxy.conf');
  writeFileSync(file, CONFIGS[kind](dir, port, upstreamPort));
  const child = kind.startsWith('nginx')
    ? spawn('nginx', ['-c', file, '-e', join(dir, 'error.log')], STDIO)
    : spawn('haproxy', ['-db', '-f', file], STDIO);
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  await waitUntil(async () => {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${kind} ended: ${stderr}`);
    }
    return fetch(`http://127.0.0.1:${port}/ok`).then(
      (response) => response.ok,
      () => false,
    );
  }, `${kind} answers`);
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
