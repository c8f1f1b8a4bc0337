import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UWS_BUILD_SHA256 } from '../../src/http/uws-builds.ts';
import { METRICS } from '../../src/metrics/metrics.ts';
import { runHere } from '../cli/use-cli.ts';
import { readValues } from './chart/render-chart.ts';
import { HEALTH_PATHS, readText, readYaml, SERIES, settingIn } from './read-deploy-files.ts';

const README = readText('README.md');

/** Every command of the program that the page calls, with the options that the page gives it. */
function readCommands(): Map<string, Set<string>> {
  const commands = new Map<string, Set<string>>();
  for (const [text] of README.matchAll(/\btollgate (?:[a-z]+)\b[^\n`|;]*/g)) {
    const words = text.split(' ').slice(1);
    const path = words.slice(0, GROUPS.has(words[0] ?? '') ? 2 : 1).join(' ');
    const options = commands.get(path) ?? new Set();
    for (const [option] of text.matchAll(/--[a-z][a-z-]*/g)) options.add(option);
    commands.set(path, options);
  }
  return commands;
}

const GROUPS = new Set(['account', 'books', 'key', 'credits', 'ledger', 'completion']);

describe('deploy/README.md', () => {
  it('calls commands and options that the program has', async () => {
    const commands = readCommands();
    expect(commands.size).toBeGreaterThan(5);
    for (const [command, options] of commands) {
      const { code, out } = await runHere({}, ...command.split(' '), '--help');
      expect(code, command).toBe(0);
      for (const option of options) expect(out, `${command} ${option}`).toContain(option);
    }
  });

  it('names files, metrics and paths that exist', () => {
    const files = README.matchAll(/(?<![\w/])(?:deploy|src|test|bench)\/[\w./-]+\w/g);
    for (const [path] of files) {
      // The operator creates these files.
      if (path === 'deploy/.env' || path === 'deploy/gateway.env') continue;
      expect(existsSync(path), path).toBe(true);
    }
    const table = README.matchAll(/^\| (`[^|]+) \|/gm);
    for (const [, cell = ''] of table) {
      for (const [, path = ''] of cell.matchAll(/`([\w./-]+\.[\w./-]+|\w+\/)`/g)) {
        expect(existsSync(`deploy/${path}`), path).toBe(true);
      }
    }
    const names = [...SERIES.keys(), ...Object.values(METRICS).map(({ name }) => name)];
    for (const [name] of README.matchAll(/\btollgate_\w+/g)) {
      expect(names, name).toContain(name);
    }
    for (const [path] of README.matchAll(/(?<=:8080)\/\w+/g)) expect(HEALTH_PATHS).toContain(path);
  });

  it('names services, values and builds that the files beside it have', () => {
    const { services } = readYaml<{ services: object }>('compose.yaml');
    const called = [...README.matchAll(/docker compose .*?\b(gateway-\d+|redis-\w+|postgres)\b/g)];
    expect(called.length).toBeGreaterThan(0);
    for (const [, service = ''] of called) expect(services).toHaveProperty(service);
    const values = readValues();
    const set = [...README.matchAll(/--set ([\w.]+)=/g)];
    expect(set.length).toBeGreaterThan(0);
    const named = README.matchAll(
      /`((?:extra|persistence|ingress|networkPolicy|ledgerVerify|postgres|serviceMonitor)[\w.]*)/g,
    );
    for (const [, path = ''] of [...set, ...named]) expect(values).toHaveProperty(path);
    const { modules } = /_(?<modules>\d+)\.node$/m.exec(README)?.groups ?? {};
    expect(Object.keys(UWS_BUILD_SHA256)).toContain(`uws-modern uws_linux_x64_${modules}`);
    const tag = settingIn(readText('Dockerfile'), /^ARG UWS_TAG=(\S+)$/m);
    expect(README).toContain(`--branch ${tag} `);
    expect(README).toContain(`UWS_TAG=${tag} `);
  });
});
