/** Throws a message without the text, which may be a password. */
export function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Error('a % must begin a percent-encoded character, such as %25 for % itself', {
      cause,
    });
  }
}
