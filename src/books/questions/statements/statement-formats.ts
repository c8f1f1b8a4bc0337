/** The formats in which a statement is printed, besides JSON. */
export const STATEMENT_FORMATS = ['csv', 'html'] as const;
export type StatementFormat = (typeof STATEMENT_FORMATS)[number];
