import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../src/protocol/answers/no-usage.ts';
import { raiseUsage } from '../../../../src/protocol/answers/raise-usage.ts';
import { decodeUsage } from '../../../../src/protocol/native/answers/decode-usage.ts';
import {
  encodeFinalUsage,
  encodeUsage,
} from '../../../../src/protocol/native/answers/encode-usage.ts';

const reported = (searches: unknown) => ({ server_tool_use: { web_search_requests: searches } });

describe('the searches in a native usage', () => {
  it('are read as they are written', () => {
    fc.assert(
      fc.property(fc.nat(), (searches) => {
        const usage = { ...NO_USAGE, searches };
        for (const written of [encodeUsage(usage), encodeFinalUsage(usage)]) {
          expect(decodeUsage(written, NO_USAGE)).toEqual(usage);
        }
      }),
    );
  });

  it.each([-1, 1.5, '2', null, {}, undefined])(
    'are none that were reported before for %j',
    (said) => {
      expect(decodeUsage(reported(said), NO_USAGE).searches).toBe(0);
      expect(decodeUsage(reported(said), { ...NO_USAGE, searches: 2 }).searches).toBe(2);
    },
  );

  it('never become fewer', () => {
    const counts = fc.array(fc.nat({ max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(counts, (all) => {
        const raised = all.reduce(
          (usage, searches) => raiseUsage(usage, decodeUsage(reported(searches), usage)),
          NO_USAGE,
        );
        expect(raised.searches).toBe(Math.max(...all));
      }),
    );
  });

  it('are not said where there were none', () => {
    expect(encodeUsage(NO_USAGE)).not.toHaveProperty('server_tool_use');
    expect(encodeFinalUsage(NO_USAGE)).not.toHaveProperty('server_tool_use');
  });
});
