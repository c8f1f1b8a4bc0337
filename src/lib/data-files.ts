/** What a node keeps in its data folder. Processes and commands find each other's files by these. */
export const DATA_FILES = {
  adminToken: 'admin-token',
  books: 'books',
  catalogue: 'catalogue.json',
  demoKey: 'demo-key',
  journal: 'journal',
  lock: 'primary.sock',
  nodeId: 'node-id',
  redis: 'redis',
  redisSocket: 'redis.sock',
} as const;
