import { putInOrder } from '../collections/put-in-order.ts';

/**
 * Makes the methods of texts as fast as they are in an empty program. Any class that extends String - the Redis client
 * has one - leaves `String.prototype` as a table: each character that is read costs 11 ns instead of 2 to 3.
 */
export function quickenStrings(): void {
  putInOrder(String.prototype, 'at');
}
