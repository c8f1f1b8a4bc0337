import { formatByteSize } from '../../lib/units/parse-byte-size.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';
import type { ServerFacts } from './server-facts.ts';

const MAJOR_VERSION_MIN = 7;
const FULL_SHARE_WARN = 0.75;
const FULL_SHARE_MAX = 0.95;
const UNKNOWN = skipCheck('unknown: the user may not run INFO; grant +info');

type Info = ReadonlyMap<string, string>;

export function judgeVersion({ info }: ServerFacts): Finding {
  if (info === undefined) return UNKNOWN;
  const valkey = info.get('valkey_version');
  if (valkey !== undefined) return passCheck(`Valkey ${valkey}`);
  const version = info.get('redis_version') ?? 'unknown';
  return Number.parseInt(version, 10) >= MAJOR_VERSION_MIN
    ? passCheck(`Redis ${version}`)
    : failCheck(
        `Redis ${version}`,
        `Run Redis ${MAJOR_VERSION_MIN}.0 or newer, or Valkey: the scripts need it.`,
      );
}

export function judgePersistence({ info, config }: ServerFacts): Finding {
  if (info === undefined) return UNKNOWN;
  if (info.get('aof_enabled') === '1') return judgeAppendOnly(info, config?.get('appendfsync'));
  const save = config?.get('save');
  // If the user may not read the settings of Redis, a past snapshot shows that there are some.
  const hasSnapshots =
    save === undefined ? Number(info.get('rdb_last_bgsave_time_sec') ?? -1) >= 0 : save !== '';
  return hasSnapshots
    ? warnCheck(
        'snapshots only: a crash loses what was charged and paid since the last one',
        'Set appendonly yes.',
      )
    : failCheck(
        'none: a restart of Redis loses all accounts and balances',
        'Set appendonly yes and appendfsync everysec or always.',
      );
}

function judgeAppendOnly(info: Info, fsync: string | undefined): Finding {
  const status = info.get('aof_last_write_status');
  if (status !== undefined && status !== 'ok') {
    return failCheck(
      `the append-only file cannot be written: ${status}`,
      'Check the log and the disk of Redis.',
    );
  }
  if (fsync === 'no') {
    return warnCheck(
      'append-only file, written to the disk whenever the system decides',
      'Set appendfsync everysec or always.',
    );
  }
  const when = { always: ', written before each answer', everysec: ', written each second' };
  return passCheck(`append-only file${when[fsync as keyof typeof when] ?? ''}`);
}

export function judgeEviction({ info, config }: ServerFacts): Finding {
  const policy = config?.get('maxmemory-policy') ?? info?.get('maxmemory_policy');
  if (policy === undefined) return UNKNOWN;
  return policy === 'noeviction'
    ? passCheck(policy)
    : failCheck(
        `${policy}: with its memory full, Redis removes balances, keys and holds`,
        'Set maxmemory-policy noeviction.',
      );
}

export function judgeMemory({ info, config }: ServerFacts, isEmbedded: boolean): Finding {
  if (info === undefined) return UNKNOWN;
  const used = Number(info.get('used_memory') ?? 0);
  const limit = Number(config?.get('maxmemory') ?? info.get('maxmemory') ?? 0);
  if (limit === 0) {
    const found = `${formatRoughly(used)} in use, no limit`;
    return isEmbedded
      ? passCheck(found)
      : warnCheck(
          found,
          'Set maxmemory below the memory of its machine, else the system ends Redis when that is full.',
        );
  }
  const share = used / limit;
  const found = `${formatRoughly(used)} of ${formatRoughly(limit)} in use (${Math.floor(share * 100)} %)`;
  if (share >= FULL_SHARE_MAX) {
    return failCheck(found, 'Raise maxmemory now: requests are refused when it is reached.');
  }
  return share >= FULL_SHARE_WARN
    ? warnCheck(found, 'Raise maxmemory before it is reached: requests are refused then.')
    : passCheck(found);
}

export function judgeConnections({ info }: ServerFacts): Finding {
  if (info === undefined) return UNKNOWN;
  const [open, max] = [Number(info.get('connected_clients')), Number(info.get('maxclients'))];
  const share = open / max;
  const found = `${open} of ${max} in use (${Math.floor(share * 100)} %)`;
  if (share >= FULL_SHARE_MAX) {
    return failCheck(found, 'Raise maxclients now: further workers get no connection.');
  }
  return share >= FULL_SHARE_WARN
    ? warnCheck(found, 'Raise maxclients, and the open files that Redis may have.')
    : passCheck(found);
}

function formatRoughly(bytes: number): string {
  const mebibyte = 1024 ** 2;
  return formatByteSize(Math.max(1, Math.round(bytes / mebibyte)) * mebibyte);
}
