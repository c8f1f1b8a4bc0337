import type { Aim } from './aim.ts';
import { runAutocannon } from './generators/run-autocannon.ts';
import { runFixedRate } from './generators/run-fixed-rate.ts';
import { runStreams } from './generators/run-streams.ts';
import { runWrk } from './generators/run-wrk.ts';
import type { Drive, Meter, Outcome } from './scenario.ts';

export async function driveLoad(
  aim: Aim,
  load: Drive,
  seconds: number,
  meter: Meter,
): Promise<Outcome> {
  switch (load.kind) {
    case 'closed-loop': {
      const run = load.generator === 'wrk' ? runWrk : runAutocannon;
      return await run(aim, load.connections, seconds, meter);
    }
    case 'open-streams':
      return await runStreams(aim, load, seconds, meter);
    case 'fixed-rate':
      return await runFixedRate(aim, load, seconds, meter);
  }
}
