const NAMES = ['kind', 'account', 'key', 'month', 'model', 'held', 'charged', 'short', 'balance'];

/** The ledger entry of `quota/scripts/lua/money.lua` as texts by name; the usage stays packed. */
export function splitLedgerEntry(fields: readonly string[]): ReadonlyMap<string, string> {
  const [, entry = '', , usage = ''] = fields;
  const parts = entry.split('|');
  const values = new Map(NAMES.map((name, index) => [name, parts[index] ?? '']));
  return values.set('request', parts.slice(NAMES.length).join('|')).set('usage', usage);
}
