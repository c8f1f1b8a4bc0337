/** Embedded mode cannot start. The message says why, and what an operator can do about it. */
export class EmbeddedStartError extends Error {
  override readonly name = 'EmbeddedStartError';
}

/** For a machine that has no Redis server. */
export const INSTALL_BY_HAND = [
  'Install it by hand, with one of',
  '  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install redis-server',
  '  Alpine:          sudo apk add redis',
  '  Fedora, RHEL:    sudo dnf install valkey   (or redis)',
  '  macOS:           brew install redis',
  'or set redis.url to a server that runs elsewhere.',
].join('\n');
