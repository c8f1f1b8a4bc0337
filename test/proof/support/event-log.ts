import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RenewReply } from '../../../src/quota/scripts/renew.ts';
import type { SettleReply } from '../../../src/quota/scripts/settle.ts';

/** One call of admit that admitted a request. */
export interface Admitted {
  readonly type: 'admitted';
  readonly requestId: string;
  readonly keyId: string;
  /** By the clock of this machine, which all processes share. */
  readonly askedMs: number;
  readonly repliedMs: number;
  /** By the clock of the scripts. */
  readonly nowMs: number;
  readonly held: number;
  readonly month: string;
  readonly limit: number;
  readonly left: number;
  /** What the request counts in lists of limits; empty if nothing. */
  readonly extras: string;
  /** Whether the request was sent more than once. */
  readonly isRepeated: boolean;
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** A request that may count in lists of limits is about to be sent. */
export interface Asking {
  readonly type: 'asking';
  readonly requestId: string;
  readonly keyId: string;
  readonly tokens: Tokens;
}

export interface Refused {
  readonly type: 'refused';
  readonly kind: string;
  readonly keyId: string;
}

export interface RateRefused {
  readonly type: 'refused';
  readonly kind: 'rate';
  readonly keyId: string;
  readonly nowMs: number;
  readonly limit: number;
  readonly scope: 'key' | 'account';
  readonly waitMs: number;
}

/** What a client did and saw. An intention without an outcome may have been carried out or not. */
export type ProofEvent =
  | Admitted
  | Refused
  | RateRefused
  | Asking
  | { readonly type: 'renewing'; readonly requestId: string; readonly seen: number }
  | { readonly type: 'renewed'; readonly requestId: string; readonly reply: RenewReply }
  | {
      readonly type: 'settling';
      readonly requestId: string;
      readonly actual: number;
      readonly used?: Tokens | undefined;
    }
  | { readonly type: 'settled'; readonly requestId: string; readonly reply: SettleReply }
  /** A call that never got its reply. */
  | { readonly type: 'failed'; readonly text: string }
  | { readonly type: 'violation'; readonly check: string; readonly text: string };

export interface EventLog {
  add(event: ProofEvent): void;
  close(): void;
}

/** The system has each event before the client goes on, so a process that dies loses none. */
export function openEventLog(file: string): EventLog {
  const descriptor = openSync(file, 'a');
  return {
    add(event) {
      writeSync(descriptor, `${JSON.stringify(event)}\n`);
    },
    close: () => closeSync(descriptor),
  };
}

/** A killed process may have left half a line. */
export function readEvents(file: string): ProofEvent[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ProofEvent);
}
