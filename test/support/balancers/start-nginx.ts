import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CleanUp, createTempDir } from '../create-temp-dir.ts';
import { findFreePort } from '../servers/find-free-port.ts';
import { waitUntil } from '../wait-until.ts';

const CONFIG = 'deploy/nginx/tollgate.conf';

/**
 * The nginx configuration that operators are shown, run by the nginx of the system. It ignores what
 * the gateway tells nginx about buffering, and compresses answers, which shows whether anything is
 * held back.
 */
export async function startNginx(
  ports: readonly [number, number],
  cleanUp: CleanUp,
): Promise<{ readonly url: string }> {
  const dir = createTempDir(cleanUp);
  const port = await findFreePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${dir}/${kind};`,
  );
  const file = join(dir, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${dir}/nginx.pid; worker_processes 1;
    events { worker_connections 1024; }
    http {
      access_log off; ${temporary.join(' ')}
      proxy_ignore_headers X-Accel-Buffering;
      gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;
      ${placeOnPorts(readFileSync(CONFIG, 'utf8'), port, ports)}
    }`,
  );
  const child = spawn('nginx', ['-c', file, '-e', join(dir, 'error.log')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  cleanUp(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(async () => {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`nginx ended: ${stderr}`);
    }
    return fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }, 'nginx reaches a node');
  return { url };
}

function placeOnPorts(config: string, port: number, [one, two]: readonly [number, number]): string {
  const places = [
    ['listen 8080 ', `listen 127.0.0.1:${port} `],
    ['127.0.0.1:8081', `127.0.0.1:${one}`],
    ['127.0.0.1:8082', `127.0.0.1:${two}`],
    ['gzip off;', ''],
  ] as const;
  return places.reduce((text, [shown, actual]) => {
    if (!text.includes(shown)) throw new Error(`${CONFIG} has no ${shown}`);
    return text.replace(shown, actual);
  }, config);
}
