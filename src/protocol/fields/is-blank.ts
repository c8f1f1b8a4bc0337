/** Whether a text is nothing but white space. Models refuse such texts. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
