import type { Readiness } from '../../lib/readiness.ts';
import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpRoute } from './route-table.ts';

export interface HealthSource {
  readonly version: string;
  readonly slot: number;
  uptimeMs(): number;
  isDraining(): boolean;
  readiness(): Readiness;
}

const TIME_MAX_MS = 10_000;

export function createHealthRoutes(health: HealthSource): HttpRoute[] {
  const answer = (exchange: Exchange, httpStatus: number, status: string) =>
    exchange.answerJson(httpStatus, {
      status,
      version: health.version,
      worker: health.slot,
      uptime_seconds: Math.floor(health.uptimeMs() / 1_000),
    });
  const common = { timeMaxMs: TIME_MAX_MS, encodeRefusal: encodeHybridRefusal };
  return [
    {
      ...common,
      method: 'GET',
      path: '/healthz',
      handle: (exchange) => answer(exchange, 200, 'ok'),
    },
    {
      ...common,
      method: 'GET',
      path: '/health',
      handle(exchange) {
        const status = health.isDraining() ? 'draining' : health.readiness();
        const takesRequests = status === 'ok' || status === 'insured';
        answer(exchange, takesRequests ? 200 : 503, status);
      },
    },
    {
      // Some clients check that the host is there before their first request.
      ...common,
      method: 'HEAD',
      path: '/',
      handle: (exchange) => answer(exchange, 200, 'ok'),
    },
  ];
}
