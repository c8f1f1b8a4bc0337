/** In which a statement is printed, beside JSON. */
export const STATEMENT_FORMATS = ['csv', 'html'] as const;
export type StatementFormat = (typeof STATEMENT_FORMATS)[number];
