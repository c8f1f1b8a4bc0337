import { proveRows } from './prove-rows.ts';

// A Cluster, and the way to Redis.
proveRows(8, 12);
