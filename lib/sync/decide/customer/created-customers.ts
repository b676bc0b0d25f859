import type { NotedDetail } from '@/db/schema';
import { CREATED_COLUMNS, toCreatedColumns } from '../../../customers/created-columns';
import { toIso } from '../../../dates';
import type { ProviderDetail } from '../../../stripe/provider';
import type { StoredLink } from '../../store/rows';
import type { Draft } from '../draft';
import { takesPrecedence } from './claims';

/** The customer's own object wins, then the earliest event. Returns `noted` unchanged if nothing is new. */
export function noteDetails(noted: NotedDetail[], reported: ProviderDetail[]): NotedDetail[] {
  return reported.reduce((details, one) => {
    const before = details.find(({ field }) => field === one.field);
    const now = { ...one, at: toIso(one.at) };
    const isNews = !before || isStronger(one, before);
    return isNews ? [...details.filter((other) => other !== before), now] : details;
  }, noted);
}

/** From all Stripe customers that it was created for, or that came to it by its e-mail address. */
export function detailsOfCreated(draft: Draft, customerId: number): NotedDetail[] {
  const links = draft.linksOf(customerId).filter(isMadeOf);
  if (!links.some((link) => link.linked_by === 'created')) return [];
  const all = links.flatMap(({ details }) => details);
  return all.sort((a, b) => Number(isFirst(b, a)) - Number(isFirst(a, b)));
}

/** Leaves alone what staff have changed since. @param before what it was made of */
export function completeCreated(draft: Draft, customerId: number, before: NotedDetail[]): void {
  const after = detailsOfCreated(draft, customerId);
  const row = draft.customers.get(customerId);
  if (after.length === 0 || !row) return;
  const [were, made] = [toCreatedColumns(before), toCreatedColumns(after)];
  const values = CREATED_COLUMNS.filter(
    (group) =>
      group.some((column) => were[column] !== made[column]) &&
      group.every((column) => row[column] === were[column]),
  ).flatMap((group) => group.map((column) => [column, made[column]]));
  if (values.length > 0) draft.customers.put({ ...row, ...Object.fromEntries(values) });
}

const isMadeOf = ({ linked_by }: StoredLink) => linked_by === 'created' || linked_by === 'email';

function isStronger(one: ProviderDetail, other: NotedDetail): boolean {
  const isOwn = one.source === 'customer';
  if (isOwn && other.source === 'customer') return !isSameValue(one.value, other.value);
  return isOwn || takesPrecedence(one, toOrigin(other));
}

/** jsonb gives keys back in an order of its own. */
function isSameValue(one: NotedDetail['value'], other: NotedDetail['value']): boolean {
  return Object.keys({ ...one, ...other }).every((part) => one[part] === other[part]);
}

function isFirst(one: NotedDetail, other: NotedDetail): boolean {
  return takesPrecedence(toOrigin(one), toOrigin(other));
}

const toOrigin = ({ source, at, by }: NotedDetail) => ({ source, by, at: at === null ? null : new Date(at) });
