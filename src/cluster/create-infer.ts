import { estimateTokens } from '../catalogue/estimate-tokens.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Infer } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { createSimulatedUpstream } from '../upstream/simulated/create-simulated-upstream.ts';

/** Each model on the first of its routes that can be served. */
export function createInfer(config: Config, instance: string, clock: Clock): Infer {
  const upstreams = new Map<string, Infer>();
  for (const { name, simulated } of config.upstreams) {
    if (simulated === undefined) continue;
    const countTokens: Parameters<typeof createSimulatedUpstream>[0]['countTokens'] = (request) =>
      estimateTokens(request, config.estimate.bytesPerToken).likely;
    upstreams.set(name, createSimulatedUpstream({ ...simulated, instance, clock, countTokens }));
  }
  const byModel = new Map(
    config.models.map(({ id, routes }) => {
      const names = routes.map(({ upstream }) => upstream);
      return [id, names.map((name) => upstreams.get(name)).find((infer) => infer !== undefined)];
    }),
  );
  return (call) => {
    const infer = byModel.get(call.model);
    if (infer === undefined) {
      throw new Refusal('unavailable', `No upstream of ${call.model} can be reached.`, {
        headers: { 'retry-after': '5' },
      });
    }
    return infer(call);
  };
}
