const LEVELS: Readonly<Record<number, string>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
};
/** The part of the timestamp that is shown: hours to milliseconds. */
const CLOCK_FROM = 11;
const CLOCK_TO = 23;
const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'from', 'msg', 'err']);

/**
 * Formats a JSON line of the log for people. The result is printable ASCII, with other characters
 * escaped, so that nothing in it can control the terminal.
 */
export function formatLogLine(json: string): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const clock = String(line['time']).slice(CLOCK_FROM, CLOCK_TO);
  const level = (LEVELS[Number(line['level'])] ?? '').padEnd(5);
  const fields = Object.entries(line)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${name}=${formatValue(value)}`);
  const text = `${clock} ${level} ${String(line['from'])}: ${String(line['msg'])}${fields.join('')}`;
  return [text, ...formatError(line['err'])].map((each) => `${escapeText(each)}\n`).join('');
}

/** Words stay as they are. Texts with blanks, and all other values, are written as JSON. */
function formatValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"={}]+$/.test(value) ? value : JSON.stringify(value);
}

function formatError(err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return [];
  const { stack, message } = err as { readonly stack?: unknown; readonly message?: unknown };
  return String(stack ?? message)
    .split('\n')
    .map((each) => `    ${each}`);
}

function escapeText(text: string): string {
  return text.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
