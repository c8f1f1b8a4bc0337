import type { Secret } from '../secret.ts';
import type { Endpoint } from './endpoint.ts';

export interface RedisAuth {
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

type TcpEndpoint = Extract<Endpoint, { kind: 'tcp' }>;

/** Where the shared store is and how it is laid out; `parse-redis-url.ts` reads it from a URL. */
export type RedisTarget =
  | {
      readonly topology: 'standalone';
      readonly endpoint: Endpoint;
      readonly tls: boolean;
      readonly auth: RedisAuth;
      readonly database: number;
    }
  | {
      readonly topology: 'sentinel';
      readonly sentinels: readonly TcpEndpoint[];
      readonly masterName: string;
      readonly tls: boolean;
      readonly auth: RedisAuth;
      readonly database: number;
    }
  | {
      readonly topology: 'cluster';
      readonly nodes: readonly TcpEndpoint[];
      readonly tls: boolean;
      readonly auth: RedisAuth;
    };

/** A server on this machine that only its own user can reach. */
export function unixRedisTarget(path: string): RedisTarget {
  return {
    topology: 'standalone',
    endpoint: { kind: 'unix', path },
    tls: false,
    auth: { username: undefined, password: undefined },
    database: 0,
  };
}
