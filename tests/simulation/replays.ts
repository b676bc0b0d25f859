import { pick } from './pick';
import type { Step } from './plan';
import type { Played } from './played';

/** Which event staff apply once more: often one of what people had their hands in, and then doubt. */
export function eventToReplay(played: Played, { a, b, c }: Step): string | undefined {
  const all = [...played.delivered];
  const touched = touchedHere(played);
  const doubted = b % 4 !== 0 ? all.filter((id) => touched.has(aboutOf(played, id))) : [];
  return pick(doubted.length > 0 ? doubted : all, a * 64 + b * 8 + c);
}

/** By Stripe's ids: invoices whose payments people wrote, subscriptions whose items they linked. */
function touchedHere({ deeds, world }: Played): Set<string | undefined> {
  const linked = [...world.subscriptions.values()].filter(({ items }) =>
    items.some(({ id }) => deeds.linked.has(id)),
  );
  const written = [...deeds.written.values()].map(({ reference }) => reference);
  return new Set([...deeds.deleted, ...deeds.freed, ...written, ...linked.map(({ id }) => id)]);
}

const aboutOf = ({ world, strays }: Played, id: string) =>
  [...world.history, ...strays.map(({ event }) => event)].find((event) => event.id === id)?.about.id;
