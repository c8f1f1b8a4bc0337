import { connect } from 'node:net';

const REPLY_CHARS_MAX = 65_536;

type SocketReply =
  /** The first line of the reply: `+PONG`, `-LOADING …`. */
  | { readonly kind: 'reply'; readonly line: string }
  /** Accepted, then closed without a reply, as after SHUTDOWN. */
  | { readonly kind: 'closed' }
  /** No server listens on the socket. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'timeout' };

/**
 * Sends one command without arguments to a Redis on a unix socket. It is for servers that are
 * starting, that are loading, or that belong to nobody yet: a client would keep reconnecting to
 * them.
 */
export function askSocket(
  path: string,
  command: 'PING' | 'SHUTDOWN',
  timeoutMs: number,
): Promise<SocketReply> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let text = '';
    let accepted = false;
    const finish = (reply: SocketReply) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reply);
    };
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    socket.on('connect', () => {
      accepted = true;
      socket.write(`${command}\r\n`);
    });
    socket.on('data', (data) => {
      text = (text + String(data)).slice(0, REPLY_CHARS_MAX);
      const end = text.indexOf('\r\n');
      if (end !== -1) finish({ kind: 'reply', line: text.slice(0, end) });
    });
    socket.on('error', () => {});
    socket.on('close', () => finish({ kind: accepted ? 'closed' : 'absent' }));
  });
}
