import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { runCheckCommand } from '../../src/cli/commands/check-command.ts';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/source/environment-overrides.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  for (const { variable } of ENVIRONMENT_OVERRIDES) vi.stubEnv(variable, undefined);
  vi.stubEnv('TOLLGATE_CONFIG', undefined);
});

function check(text: string | undefined, json = false) {
  const configPath = text === undefined ? undefined : join(folder, 't.yaml');
  if (configPath !== undefined) writeFileSync(configPath, text ?? '');
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = runCheckCommand({
    configPath,
    json,
    out: (printed) => out.push(printed),
    err: (printed) => err.push(printed),
  });
  return { exitCode, out: out.join('\n'), err };
}

describe('tollgate check', () => {
  it('prints the effective settings and returns 0', () => {
    const { exitCode, out, err } = check('workers: 3\nops: {admin_token: hidden}');
    expect([exitCode, err]).toEqual([0, []]);
    expect(parse(out)).toMatchObject({ workers: 3, ops: { admin_token: '*****' } });
    expect(out).not.toContain('hidden');
  });

  it('prints them as JSON when asked', () => {
    const { exitCode, out } = check('workers: 3', true);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ workers: 3, listen: '0.0.0.0:8080', redis: {} });
  });

  it('needs no file', () => {
    vi.stubEnv('TOLLGATE_WORKERS', '5');
    expect(parse(check(undefined).out)).toMatchObject({ workers: 5 });
  });

  it('prints the problems as JSON too, where a program reads them', () => {
    const { exitCode, out, err } = check('workers: 0\nlisen: 1', true);
    expect([exitCode, err]).toEqual([1, []]);
    const file = join(folder, 't.yaml');
    expect(JSON.parse(out)).toEqual({
      problems: [
        `${file}:1: workers: must be a whole number from 1 to 256`,
        `${file}:2: lisen: unknown key; did you mean listen?`,
      ],
    });
  });

  it('prints every problem and returns 1', () => {
    const { exitCode, out, err } = check('workers: 0\nlisen: 1');
    expect([exitCode, out]).toEqual([1, '']);
    const file = join(folder, 't.yaml');
    expect(err).toEqual([
      `${file}:1: workers: must be a whole number from 1 to 256`,
      `${file}:2: lisen: unknown key; did you mean listen?`,
    ]);
  });
});
