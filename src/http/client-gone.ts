/**
 * The client left or was cut off before there was anything to answer. All exchanges share this
 * one error: its stack trace would say nothing, and a stack trace for every request costs 17 us
 * on a busy machine.
 */
export const CLIENT_GONE = new Error('the client is gone');
