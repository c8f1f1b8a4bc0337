/** EVERY check there is, with what it looks at. src/docs/commands.md lists them from here. */
export const CHECKS = {
  settings: 'the file and the variables: every problem in them',
  'node-version': 'Node.js is new enough, and there are native builds for it',
  'native-build': 'a native build of the HTTP server is known and loads',
  'running-node': 'whether a node uses the data folder now',
  'data-folder': 'it takes files, and has room',
  'listen-port': '`listen` is free, or held by a running node',
  'ops-port': '`ops.listen` is free, or held by a running node',
  'client-addresses': '`guards.trusted_proxies` against the proxies that a running node has seen',
  'accept-queue': 'the system lets as many connections wait as the HTTP server asks for',
  'open-files': '`ulimit -n`, of the running node if there is one, against `max_concurrency`',
  'worker-count': '`workers` against the CPUs',
  'worker-memory': 'the memory for each worker',
  'redis-reachable':
    'Redis and all of its masters answer; without a node its own Redis does not run',
  'redis-topology':
    'what answers is what `redis.url` says, in database 0; Sentinels agree, all slots of a Cluster are served',
  'redis-version': 'Redis 7.0 or newer, or Valkey',
  'redis-persistence':
    'data survive a restart of Redis: the append-only file and how it is written',
  'redis-eviction': 'nothing is evicted: balances would be',
  'redis-memory': 'there is a `maxmemory`, and room below it',
  'redis-connections': 'Redis takes more connections than there are',
  'redis-replicas': 'replicas are connected and follow',
  'redis-writes': 'a script writes, reads and removes a Redis key of its own',
  'redis-rights': 'the user may run every command that is needed, on every Redis key',
  'redis-latency': 'the median of 20 pings',
  'redis-clock': 'the clocks of this machine and of all masters agree',
  'books-reachable': 'the server of the books answers, or the file can be opened',
  'books-latency': 'the median of 20 questions to the server of the books',
  'books-version': 'Postgres 14 or newer; a file is on a disk of this machine, where WAL works',
  'books-rights': 'tables can be made and every table can be written; nothing stays',
  'books-persistence': 'Postgres has each commit on its disk, and survives a crash',
  'books-schema': 'this version knows the tables of the books',
  'books-identity': 'entries go to these books, by what Redis remembers',
  'books-lag': 'a node fills the books, and they are not behind',
  'books-clock': 'the clock of the server of the books and that of this machine agree',
  'books-space': 'how large the books are, and whether a file has room',
  'books-archive':
    'an object of its own can be written, read, listed and removed in `books.archive`',
  'upstream-reachable': 'TCP and TLS stand within `timeouts.connect`, and HTTP is answered',
  'upstream-key': 'the list of models takes the `api_key`',
  'upstream-certificate': 'it has not run out, and does not soon',
} as const;

export type CheckName = keyof typeof CHECKS;
