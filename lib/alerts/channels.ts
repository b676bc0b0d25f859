import { createHmac } from 'node:crypto';
import type { Env } from '../env';
import type { AlertState } from './alert-state';
import { adviceFor } from './alert-state';

/** A way to notify people of an alert. */
export interface Channel {
  name: 'webhook' | 'mail';
  /** Destination for display, without secrets: a host, or e-mail addresses. */
  target: string;
  /**
   * Sends the message about the start or the end of an alert.
   *
   * @throws DeliveryError if the receiver cannot be reached or does not accept the alert
   */
  send(alert: AlertState, now: Date): Promise<void>;
}

/** Thrown if an alert could not be delivered. The message contains neither secrets nor text from the receiver. */
export class DeliveryError extends Error {}

const PATIENCE_MS = 10_000;

/** Returns the channels that the environment configures. */
export function channelsOf({
  alertChannels: { webhook, mail },
  publicUrl,
}: Pick<Env, 'alertChannels' | 'publicUrl'>): Channel[] {
  const channels: Channel[] = [];
  if (webhook) {
    channels.push({
      name: 'webhook',
      target: new URL(webhook.url).host,
      send: (alert, now) => postSigned(webhook, alert, { now, publicUrl }),
    });
  }
  if (mail) {
    channels.push({
      name: 'mail',
      target: mail.to.join(', '),
      send: (alert) => sendMail(mail, alert, publicUrl),
    });
  }
  return channels;
}

function kindOf({ cause, ended_at }: AlertState): 'alert.started' | 'alert.resolved' | 'alert.test' {
  if (cause === 'test') return 'alert.test';
  return ended_at ? 'alert.resolved' : 'alert.started';
}

/**
 * Posts an alert, signed as Standard Webhooks specifies. A repeated delivery has the same `webhook-id`.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
async function postSigned(
  { url, secret }: { url: string; secret: string },
  alert: AlertState,
  { now, publicUrl }: { now: Date; publicUrl: string },
): Promise<void> {
  const type = kindOf(alert);
  const id = `${type}-${alert.cause}-${(alert.ended_at ?? alert.started_at).getTime()}`;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const { cause, message, started_at, ended_at } = alert;
  const body = JSON.stringify({
    type,
    timestamp: (ended_at ?? started_at).toISOString(),
    data: { cause, message, action: adviceFor(cause), started_at, ended_at, service: publicUrl },
  });
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body,
    redirect: 'manual', // A redirect would send the alert to a URL that is not configured.
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error: unknown) => {
    throw new DeliveryError(reasonOf(error));
  });
  await response.body?.cancel();
  if (!response.ok) throw new DeliveryError(`the receiver answered ${response.status}`);
}

async function sendMail(
  { smtpUrl, from, to }: { smtpUrl: string; from: string; to: string[] },
  alert: AlertState,
  publicUrl: string,
): Promise<void> {
  // Load nodemailer only when needed, because few processes send mail.
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    secure: protocol === 'smtps:',
    ...(port && { port: Number(port) }),
    ...(username && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  });
  const label = { 'alert.started': 'Alert', 'alert.resolved': 'Resolved', 'alert.test': 'Test' }[
    kindOf(alert)
  ];
  const { message, started_at, ended_at } = alert;
  const lines = [
    message,
    '',
    `Since: ${started_at.toISOString()}`,
    ended_at ? `Resolved: ${ended_at.toISOString()}` : `What to do: ${adviceFor(alert.cause)}`,
    '',
    `${publicUrl}/admin/settings/alerts`,
  ];
  try {
    await transport.sendMail({ from, to, subject: `[W5T] ${label}: ${message}`, text: lines.join('\n') });
  } catch (error) {
    throw new DeliveryError(reasonOf(error));
  } finally {
    transport.close();
  }
}

/** Returns a short reason without text from the receiver, which might contain e-mail addresses or secrets. */
function reasonOf(error: unknown): string {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e.name === 'TimeoutError') return 'no answer within 10 seconds';
    if ('code' in e && typeof e.code === 'string') return e.code;
  }
  return error instanceof Error ? error.name : 'unknown error';
}
