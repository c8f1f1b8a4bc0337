/** Every image that deployments and tests take from a registry; a test holds the files of `deploy/` against it. */
export const IMAGES = {
  build: 'node:24-trixie-slim',
  base: 'debian:trixie-slim',
  redis: 'redis:8',
  balancer: 'haproxy:lts',
  prometheus: 'prom/prometheus:v3.5.0',
  grafana: 'grafana/grafana:12.1.0',
};

/** Each of these has to serve as Redis. */
export const REDIS_IMAGES = ['redis:7', IMAGES.redis, 'valkey/valkey:8'];
