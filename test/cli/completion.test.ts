import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runHere } from './use-cli.ts';

/** The completions that bash offers at the end of this line. */
async function complete(...words: string[]): Promise<string[]> {
  const { out } = await runHere({}, 'completion', 'bash');
  const script = `${out}
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _tollgate
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-uc', script, 'bash', 'tollgate', ...words],
    {
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe('tollgate completion', () => {
  it('offers commands, then their own, then their options', async () => {
    expect(await complete('')).toEqual(
      expect.arrayContaining(['start', 'account', 'key', 'ledger', 'audit', 'completion', 'help']),
    );
    expect(await complete('acc')).toEqual(['account']);
    expect(await complete('key', 'r')).toEqual(['rotate', 'revoke']);
    expect(await complete('key', 'rotate', 'some-id', '--o')).toEqual(['--overlap']);
    expect(await complete('audit', 'export', '--f')).toEqual(['--from']);
    expect(await complete('re')).toEqual(['requests', 'reload']);
    expect(await complete('mod')).toEqual(['models']);
    expect(await complete('key', 'revoke', 'some-id', '--y')).toEqual(['--yes']);
    for (const command of ['reload', 'top']) {
      expect(await complete(command, '--a')).toEqual(['--all']);
    }
    for (const command of ['models', 'nodes', 'reload']) {
      expect(await complete(command, '--j')).toEqual(['--json']);
    }
  });

  it('offers the words that an option or an argument takes', async () => {
    expect(await complete('operator', 'create', '--role', 'b')).toEqual(['billing']);
    expect(await complete('ledger', 'export', '--format', 'c')).toEqual(['csv']);
    expect(await complete('completion', 'z')).toEqual(['zsh']);
  });

  it('leaves what it does not know to the shell, which knows files', async () => {
    expect(await complete('start', '--config', 'x')).toEqual([]);
  });

  it('has every command and option for the other shells too', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { code, out } = await runHere({}, 'completion', shell);
      expect(code).toBe(0);
      for (const word of ['account', 'rotate', 'overlap', 'billing', 'export']) {
        expect(out, shell).toMatch(new RegExp(`\\b${word}\\b`));
      }
    }
  });

  it('refuses a shell that it does not know', async () => {
    expect((await runHere({}, 'completion', 'csh')).code).toBe(2);
  });
});
