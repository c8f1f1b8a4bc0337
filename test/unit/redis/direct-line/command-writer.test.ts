import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type CommandArg,
  CommandWriter,
} from '../../../../src/redis/direct-line/command-writer.ts';

const arg: fc.Arbitrary<CommandArg> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.maxSafeInteger(),
  fc.constantFrom(0, 9, 10, 99, 100, 999_999_999_999, Number.MAX_SAFE_INTEGER),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(20_000).map((length) => 'x'.repeat(length)),
);

function encode(name: string, args: readonly CommandArg[]): Buffer {
  const parts = [name, ...args].map((each) => {
    const bytes = Buffer.isBuffer(each) ? each : Buffer.from(String(each));
    return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')]);
  });
  return Buffer.concat([Buffer.from(`*${args.length + 1}\r\n`), ...parts]);
}

it('commands are written one behind the other, whatever their arguments', () => {
  const writer = new CommandWriter();
  fc.assert(
    fc.property(fc.array(fc.array(arg, { maxLength: 12 }), { maxLength: 4 }), (commands) => {
      for (const args of commands) writer.write('evalsha', args);
      expect(writer.isEmpty).toBe(commands.length === 0);
      const expected = Buffer.concat(commands.map((args) => encode('evalsha', args)));
      expect(writer.take().equals(expected)).toBe(true);
      expect(writer.isEmpty).toBe(true);
    }),
  );
});

it('what was taken stays as it is when more is written', () => {
  const writer = new CommandWriter();
  writer.write('echo', ['first']);
  const first = writer.take();
  writer.write('echo', ['other']);
  expect(String(first)).toContain('first');
});
