/** Both print their text as whole lines and end the last one. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}
