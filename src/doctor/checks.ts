/** EVERY check there is, with what it examines. src/docs/commands.md lists them from here. */
export const CHECKS = {
  settings: 'the file and the variables: every problem in them',
  'node-version': 'Node.js is new enough, and there are native builds for it',
  'native-build': 'a native build of the HTTP server is known and loads',
  'running-node': 'whether a node uses the data folder now',
  'data-folder': 'it is writable and has free space',
  'listen-port': '`listen` is free, or held by a running node',
  'ops-port': '`ops.listen` is free, or held by a running node',
  'client-addresses': '`guards.trusted_proxies` fits the proxies that a running node has seen',
  'admin-token': '`ops.admin_token` is too long to be guessed',
  'accept-queue': 'the system allows the accept queue that the HTTP server requests',
  'open-files':
    '`ulimit -n` is enough for `max_concurrency`; checks the running node if there is one',
  'worker-count': '`workers` fits the number of CPUs',
  'worker-memory': 'there is enough memory for each worker',
  'redis-reachable':
    'Redis and all of its masters respond; an embedded Redis runs only while its node does',
  'redis-topology':
    'Redis has the topology in `redis.url`, in database 0; Sentinels agree; all slots of a Cluster are served',
  'redis-version': 'Redis 7.0 or newer, or Valkey',
  'redis-persistence':
    'data survives a restart of Redis: the append-only file and how it is written',
  'redis-eviction': 'Redis evicts nothing, because it could evict balances',
  'redis-memory': 'there is a `maxmemory`, and usage is well below it',
  'redis-connections': 'Redis has room for more connections',
  'redis-replicas': 'replicas are connected and up to date',
  'redis-writes': 'a script writes, reads and removes a Redis key of its own',
  'redis-rights': 'the user may run every command that nodes need, on every Redis key',
  'redis-latency': 'the median of 20 pings',
  'redis-clock': 'the clocks of this machine and of all masters agree',
  'books-reachable': 'the server of the books responds, or the file can be opened',
  'books-latency': 'the median of 20 queries to the server of the books',
  'books-version': 'Postgres 14 or newer; a file is on a local disk, where WAL works',
  'books-rights': 'tables can be created and every table can be written; nothing is kept',
  'books-persistence': 'Postgres writes each commit to disk, and survives a crash',
  'books-schema': 'this version supports the tables of the books',
  'books-identity': 'these are the books that Redis remembers as the ones in use',
  'books-lag': 'a node fills the books, and they are up to date',
  'books-clock': 'the clocks of this machine and of the server of the books agree',
  'books-space': 'how large the books are, and whether a file has room',
  'books-archive': 'a test object can be written, read, listed and removed in `books.archive`',
  'upstream-reachable': 'TCP and TLS connect within `timeouts.connect`, and HTTP gets a response',
  'upstream-key': 'the list of models accepts the `api_key`',
  'upstream-certificate': 'it has not expired, and will not soon',
} as const;

export type CheckName = keyof typeof CHECKS;
