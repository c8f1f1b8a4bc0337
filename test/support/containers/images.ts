/**
 * Every image that deployments and tests pull from a registry. A test compares the files of
 * `deploy/` with it.
 */
export const IMAGES = {
  build: 'node:24-trixie-slim',
  base: 'debian:trixie-slim',
  redis: 'redis:8',
  postgres: 'postgres:17',
  balancer: 'haproxy:lts',
  prometheus: 'prom/prometheus:v3.5.0',
  grafana: 'grafana/grafana:12.1.0',
};

/** The images that must work as Redis. */
export const REDIS_IMAGES = ['redis:7', IMAGES.redis, 'valkey/valkey:8'];
