import { proveRows } from './prove-rows.ts';

// A server killed, and the processes of nodes.
proveRows(1, 13);
