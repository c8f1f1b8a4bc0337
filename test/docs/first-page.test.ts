import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPARISONS } from '../../bench/compare/scenarios.ts';
import { type Run, runProgram } from '../cli/use-cli.ts';
import { MUTANTS } from '../proof/mutants.ts';
import { SOURCE_MUTANTS } from '../simulation/source-mutants.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { blockOf, rowsOf, sectionOf } from '../support/read-docs.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const run = promisify(execFile);
const README = readFileSync('README.md', 'utf8');
const BENCHMARKS = readFileSync('bench/README.md', 'utf8');
const PROVIDERS = ['OpenAI', 'Anthropic', 'vLLM'];
const ENVIRONMENT = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic' };

const gateway = useGateway({ config: FAST_CONFIG });

describe('the first page', () => {
  it('has a first request that is answered', async () => {
    const command = blockOf(sectionOf(README, 'The first request'), 'sh')
      .replace('http://127.0.0.1:8080', gateway().url)
      .replace('.tollgate/', `${gateway().dataDir}/`);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: expect.any(String) } }],
    });
  });

  it.each(PROVIDERS)('has settings for %s that tollgate check takes', async (provider) => {
    const text = sectionOf(README, 'Use a real provider').split(`\n${provider}`)[1] ?? '';
    const file = join(createTempDir(), 'tollgate.yaml');
    writeFileSync(file, blockOf(text, 'yaml'));
    const checked: Run = await runProgram(ENVIRONMENT, 'check', '--config', file);
    expect(checked).toMatchObject({ code: 0, err: '' });
    expect(checked.out).toContain(`name: ${provider.toLowerCase()}\n`);
  });

  it('calls the program that was built here with npx, from an empty cache', async () => {
    const HOME = createTempDir();
    const env = { PATH: process.env['PATH'], HOME };
    const { stdout } = await run('npx', ['tollgate', '--version'], { env });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(stdout.trim()).toBe(version);
  });

  it('has figures that stand where they are explained, and commands that exist', () => {
    const rows = rowsOf(sectionOf(README, 'What sets it apart'));
    expect(rows).toHaveLength(5);
    const scenarios = [...COMPARISONS.map(({ name }) => name), 'soak'];
    for (const [, figure = '', command = ''] of rows) {
      if (command === 'npm run test:mutants') {
        expect(figure).toContain(`${MUTANTS.length + SOURCE_MUTANTS.length} ways`);
        continue;
      }
      expect(scenarios).toContain(/^npm run bench -- ([\w-]+)/.exec(command)?.[1]);
      for (const [number] of figure.matchAll(/\d[\d,.]*\d/g)) {
        expect(BENCHMARKS, number).toContain(number);
      }
    }
  });
});
