/** What a node keeps in its data folder, by the names that processes and commands share. */
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
