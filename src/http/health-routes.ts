import { encodeHybridRefusal } from '../protocol/encode-hybrid-refusal.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './routes.ts';

export interface HealthSource {
  readonly version: string;
  readonly worker: number;
  uptimeMs(): number;
  isDraining(): boolean;
  /** 0 while the store answers. */
  storeOutForMs(): number;
}

/** Shorter outages are bridged by retries; taking every node out of the balancer would make them worse. */
const STORE_OUT_MAX_MS = 5_000;
const TIME_MAX_MS = 10_000;

export function createHealthRoutes(health: HealthSource): Route[] {
  const answer = (exchange: Exchange, httpStatus: number, status: string) =>
    exchange.answerJson(httpStatus, {
      status,
      version: health.version,
      worker: health.worker,
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
        if (health.isDraining()) answer(exchange, 503, 'draining');
        else if (health.storeOutForMs() > STORE_OUT_MAX_MS) answer(exchange, 503, 'unavailable');
        else answer(exchange, 200, 'ok');
      },
    },
    {
      // Some clients look whether the host is there before their first request.
      ...common,
      method: 'HEAD',
      path: '/',
      handle: (exchange) => answer(exchange, 200, 'ok'),
    },
  ];
}
