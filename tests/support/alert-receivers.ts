import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { serveHandler } from './serve-handler';

export interface ReceivedAlert {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Receives alerts by webhook. Answers with `status`, which a test can change. */
export async function receiveWebhooks() {
  const receiver = { received: [] as ReceivedAlert[], status: 204 };
  const { url, close } = await serveHandler(async (request, response) => {
    receiver.received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(receiver.status).end();
  });
  return Object.assign(receiver, { url: `${url}/alerts`, close });
}

/** Receives mail over SMTP, without TLS. Each entry of `mails` is one message with its header. */
export async function receiveMails() {
  const mails: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    speakSmtp(socket, (mail) => mails.push(mail));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    mails,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const END = '\r\n.\r\n';

function speakSmtp(socket: Socket, take: (mail: string) => void): void {
  let buffered = '';
  let isData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  say('220 test');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    buffered += chunk;
    for (;;) {
      const end = buffered.indexOf(isData ? END : '\r\n');
      if (end < 0) return;
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + (isData ? END.length : 2));
      if (isData) take(line);
      const isStart = !isData && line === 'DATA';
      say(isStart ? '354 go on' : line === 'QUIT' ? '221 bye' : '250 ok');
      isData = isStart;
    }
  });
}
