/** Where a spreadsheet would take a text for a formula, also in its full-width forms. */
const FORMULA_START = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

export type CsvValue = string | number | bigint | boolean | null;

/** Without its line end. */
export function encodeCsvLine(values: readonly CsvValue[]): string {
  return values.map(encodeField).join(',');
}

/**
 * Numbers stay as they are. A text that a spreadsheet would take for a formula gets a quote in
 * front, which makes it text.
 */
function encodeField(value: CsvValue): string {
  const isFormula = typeof value === 'string' && FORMULA_START.test(value);
  const text = `${isFormula ? "'" : ''}${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
