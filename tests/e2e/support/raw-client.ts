import { connect, type Socket } from 'node:net';
import { head } from '../../support/raw-connection';

/** A response's status. `none` if the connection failed before a response, `half` if it ended during one. */
export type Outcome = number | 'none' | 'half';

/** Sends requests one after the other on one connection, and detects a response that is cut off at any byte. */
export class RawClient {
  private socket: Socket | undefined;

  constructor(private readonly port: number) {}

  send(request: string, headers: Record<string, string> = {}, body = ''): Promise<Outcome> {
    const socket = this.open();
    return new Promise((resolve) => {
      let text = '';
      const take = (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (isWhole(text)) finish(Number(text.split(' ')[1]));
      };
      const lose = () => finish(text === '' ? 'none' : 'half');
      const finish = (outcome: Outcome) => {
        socket.off('data', take).off('close', lose);
        if (/^connection: close/im.test(text)) socket.destroy();
        resolve(outcome);
      };
      socket.on('data', take).on('close', lose);
      socket.write(head(request, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }) + body);
    });
  }

  private open(): Socket {
    if (this.socket && !this.socket.destroyed) return this.socket;
    this.socket = connect(this.port, '127.0.0.1');
    return this.socket.on('error', () => {}); // The `close` event follows, and `lose` handles it.
  }
}

function isWhole(text: string): boolean {
  const [top = ''] = text.split('\r\n\r\n', 1);
  const length = /^content-length: (\d+)/im.exec(top)?.[1];
  if (length === undefined) return text.endsWith('\r\n0\r\n\r\n'); // A chunked response ends with an empty chunk.
  return text.length === top.length + 4 + Number(length);
}
