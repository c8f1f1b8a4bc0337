import type { Account } from '../../accounts/account.ts';
import type { Group } from '../../accounts/group.ts';
import type { Key } from '../../accounts/key.ts';
import { showLimit } from '../../config/schema/limit-schemas.ts';
import { showTime } from '../../lib/time/show-time.ts';
import { creditsOf } from '../../lib/units/micros.ts';

/** An account as operators see it. */
export function showAccount(account: Account) {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    status: account.status,
    limits: account.limits.map(showLimit),
    balance: creditsOf(account.balanceMicros),
    low_balance: account.lowMicros === undefined ? null : creditsOf(account.lowMicros),
    held: creditsOf(account.heldMicros),
    created_at: showTime(account.createdMs),
    version: account.version,
  };
}

/** A key as operators see it now. It shows only the last four characters of the secret. */
export function showKey(key: Key, nowMs: number) {
  return {
    id: key.id,
    account: key.accountId,
    name: key.name,
    last4: key.last4,
    status: isExpired(key, nowMs) ? 'expired' : key.status,
    rpm: key.rpm ?? null,
    models: key.models ?? null,
    monthly_cap: key.capMicros === undefined ? null : creditsOf(key.capMicros),
    concurrency: key.inFlightMax ?? null,
    group: key.groupId === '' ? null : key.groupId,
    ...showBounds(key),
    expires_at: key.expiresMs === undefined ? null : showTime(key.expiresMs),
    spent_this_month: creditsOf(key.spentMicros),
    held: creditsOf(key.heldMicros),
    created_at: showTime(key.createdMs),
    rotated_at: key.rotatedMs === undefined ? null : showTime(key.rotatedMs),
    version: key.version,
  };
}

/** A group as operators see it. */
export function showGroup(group: Group) {
  const { id, accountId: account, name, createdMs, version } = group;
  return { id, account, name, ...showBounds(group), created_at: showTime(createdMs), version };
}

function showBounds({
  limits,
  userLimits,
  isUserRequired,
}: Pick<Group, 'limits' | 'userLimits' | 'isUserRequired'>) {
  return {
    limits: limits.map(showLimit),
    user_limits: userLimits.map(showLimit),
    require_user: isUserRequired,
  };
}

function isExpired({ status, expiresMs }: Key, nowMs: number): boolean {
  return status === 'active' && expiresMs !== undefined && expiresMs <= nowMs;
}
