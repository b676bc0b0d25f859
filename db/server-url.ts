/** Of the client alone: the addresses that providers give name these, and the server would refuse them. */
const OF_CLIENT = /^(channel_binding|pgbouncer)=/;

/** The address of a server as the driver may have it, which hands on to the server what it does not know. */
export function serverUrl(url: string): string {
  const [before = '', after] = url.split(/\?(.*)/s);
  if (after === undefined) return url;
  const kept = after.split('&').filter((parameter) => !OF_CLIENT.test(parameter));
  return kept.length > 0 ? `${before}?${kept.join('&')}` : before;
}
