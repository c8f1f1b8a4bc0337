/** The style of a page that is printed on A4. */
export const STATEMENT_STYLE = `
@page { size: A4; margin: 18mm 15mm; }
:root { color-scheme: light; }
body { margin: 0 auto; padding: 2rem; max-width: 60rem; background: #fff; color: #1a1a1a; font: 10pt/1.45 system-ui, sans-serif; }
h1 { margin: 0; font-size: 20pt; }
h2 { margin: 2rem 0 0.5rem; font-size: 12pt; break-after: avoid; }
.month { margin: 0 0 1rem; font-size: 13pt; }
.open { padding: 0.5rem 0.75rem; border: 1px solid #9a6700; color: #7a5200; }
code { font: 9pt ui-monospace, monospace; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3rem 0.5rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead { display: table-header-group; }
tfoot { display: table-row-group; }
thead th, tfoot th, tfoot td { border-bottom: 1px solid #555; font-weight: 600; }
tr { break-inside: avoid; }
.n, .summary td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.summary { width: auto; min-width: 22rem; }
.summary tbody th { font-weight: 400; }
footer { margin-top: 2rem; color: #555; font-size: 9pt; }
@media print { body { padding: 0; max-width: none; } }
`;
