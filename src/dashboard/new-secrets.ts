import { signal } from '@preact/signals';

export interface NewSecret {
  /** `New key: build server (…x9Kq)`. */
  readonly title: string;
  readonly secret: string;
  readonly kind: 'key' | 'token';
}

/**
 * The secrets that nobody has stored yet, the oldest first. They outlive the page that created
 * them.
 */
export const newSecrets = signal<readonly NewSecret[]>([]);

export function showSecret(shown: NewSecret): void {
  newSecrets.value = [...newSecrets.value, shown];
}

export function forgetSecret(stored: NewSecret): void {
  newSecrets.value = newSecrets.value.filter((each) => each !== stored);
}
