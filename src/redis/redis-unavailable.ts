/** Redis has not been asked, because the breaker is open. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';

  constructor() {
    super('Redis is unavailable: the last calls failed');
  }
}
