import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/source/environment-overrides.ts';
import { IMAGES } from '../support/containers/images.ts';
import { readPage } from '../support/read-docs.ts';
import { HEALTH_PATHS, PROGRAM, parseSeconds, readText, settingIn } from './read-deploy-files.ts';

const defaults = parseConfig({ path: undefined, text: '', env: {} });
const KNOWN_VARIABLES = ENVIRONMENT_OVERRIDES.map(({ variable }) => variable);

const portOf = ({ listen }: { readonly listen: typeof defaults.listen }) =>
  listen.kind === 'tcp' ? listen.port : 0;

describe('the Dockerfile', () => {
  const text = readText('Dockerfile');

  it('takes the Node.js that the tests on Debian 13 run on, and Debian 13', () => {
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual([
      IMAGES.build,
      IMAGES.base,
    ]);
    const script = readFileSync('test/platforms/run-in-debian-13.sh', 'utf8');
    const tested = settingIn(script, /node_version=\$\{NODE_VERSION:-(\d+)/);
    expect(settingIn(IMAGES.build, /^node:(\d+)-trixie-slim$/)).toBe(tested);
  });

  it('names the release of uWebSockets.js that the documents name', () => {
    const tag = settingIn(text, /^ARG UWS_TAG=(\S+)$/m);
    expect(readPage('http-server-builds')).toContain(`uWebSockets.js#${tag}`);
  });

  it('copies files that exist and that reach the build', () => {
    const allowed = readText('Dockerfile.dockerignore').match(/^!(.+)$/gm) ?? [];
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    );
    expect(new Set(copied)).toEqual(new Set(allowed.map((line) => line.slice(1))));
    const tracked = execFileSync('git', ['ls-files', '--', ...copied], { encoding: 'utf8' });
    for (const file of copied) expect(tracked, file).toContain(file);
  });

  it('runs the program of the package as somebody who is not root, and as process 1', () => {
    const entry = JSON.parse(settingIn(text, /^ENTRYPOINT (\[.*\])$/m)) as string[];
    expect(entry).toEqual(['/usr/local/bin/node', `/opt/tollgate/${PROGRAM.path}`]);
    expect(text).toContain(`ln -s /opt/tollgate/${PROGRAM.path} /usr/local/bin/tollgate`);
    const user = settingIn(text, /^USER (\d+):\d+$/m);
    expect(Number(user)).toBeGreaterThan(0);
    expect(text).toContain(`useradd --uid ${user} `);
    expect(settingIn(text, /^STOPSIGNAL (\w+)$/m)).toBe('SIGTERM');
  });

  it('takes as little memory for the primary as the service of systemd does', () => {
    const [saving = ''] = /MALLOC_ARENA_MAX=.*/.exec(text) ?? [];
    expect(saving).toContain('NODE_OPTIONS=--max-semi-space-size=');
    expect(readFileSync('deploy/systemd/tollgate.service', 'utf8')).toContain(`=${saving}\n`);
  });

  it('has the ports, the paths and the variables of the program', () => {
    expect(settingIn(text, /^EXPOSE (.+)$/m)).toBe(`${portOf(defaults)} ${portOf(defaults.ops)}`);
    const [, port, path] = /fetch\('http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'\)/.exec(text) ?? [];
    expect(Number(port)).toBe(portOf(defaults));
    expect(HEALTH_PATHS).toContain(path);
    // An upgrade waits for it, node by node. /healthz answers also while Redis is out.
    expect(path).toBe('/health');
    for (const [, name] of settingIn(text, /^ENV (.+)$/m).matchAll(/(\w+)=/g)) {
      expect(KNOWN_VARIABLES).toContain(name);
    }
    expect(text).toContain(`VOLUME ${settingIn(text, /TOLLGATE_DATA_DIR=(\S+)/)}\n`);
  });

  it('looks for the native build where the program does', () => {
    const code = readFileSync('src/http/load-uws.ts', 'utf8');
    const file = /`(uws_\$\{.*\.node)`/.exec(code)?.[1] ?? '';
    const inShell = file
      .replace(/\$\{process\.platform\}/, 'linux')
      .replaceAll(/\$\{([\w.]+)\}/g, '$(node -p $1)');
    expect(text).toContain(`native="${inShell}"`);
    for (const name of text.match(/(?<=node_modules\/)[\w.-]+/g) ?? []) {
      expect(code).toContain(`'${name}'`);
    }
    expect(code).toContain('export function loadUws(');
    expect(text).toContain("'/opt/tollgate/dist/src/http/load-uws.js'");
  });
});

describe('the configurations of balancers', () => {
  const haproxy = readText('haproxy/haproxy.cfg');
  const nginx = readText('nginx/tollgate.conf');
  const longestSeconds = Math.max(
    ...defaults.upstreams.map(({ timeouts }) => timeouts.totalMs / 1_000),
  );

  it('wait longer than the gateway does', () => {
    for (const time of [
      settingIn(haproxy, /timeout server (\S+)/),
      settingIn(haproxy, /timeout client (\S+)/),
      settingIn(nginx, /proxy_read_timeout (\S+);/),
    ]) {
      expect(parseSeconds(time)).toBeGreaterThan(longestSeconds);
    }
  });

  it('close idle connections before the gateway does, after 8 s', () => {
    for (const time of [
      settingIn(haproxy, /pool-purge-delay (\S+)/),
      settingIn(nginx, /keepalive_timeout (\S+);/),
    ]) {
      expect(parseSeconds(time)).toBeLessThan(8);
    }
  });

  it('ask for a path of the gateway, and leave it to the gateway to refuse bodies', () => {
    expect(HEALTH_PATHS).toContain(settingIn(haproxy, /meth GET uri (\S+)/));
    const megabytes = Number(settingIn(nginx, /client_max_body_size (\d+)m;/));
    expect(megabytes * 1024 ** 2).toBeGreaterThan(defaults.limits.bodyBytesMax);
  });
});
