/**
 * Files by any other URL are refused: servers of models read those of their own disk by `file:`,
 * and some vendors those of the operator's account by a scheme of their own.
 */
export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
