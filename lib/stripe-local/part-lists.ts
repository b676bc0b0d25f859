import { missing, missingParameter, notFound } from './errors';
import { type Page, slicePage } from './list';
import { parseListQuery } from './query';
import { renderLine } from './render/invoice-line';
import { type Json, shapeOf } from './render/shape';
import { renderItem } from './render/subscription';
import type { World } from './world';

/** All items of a subscription, of which it shows the first. */
export function listItems(
  { world, version }: { world: World; version: string },
  _id: string,
  params: URLSearchParams,
) {
  const query = parseListQuery(params, ['subscription']);
  const id = query.filters.get('subscription');
  if (id === undefined) throw missingParameter('subscription');
  const subscription = world.subscriptions.get(id);
  if (!subscription) throw missing('subscription', id, 'subscription');
  const page = slicePage(subscription.items, query, 'subscription item');
  const data = page.data.map((item) => renderItem(subscription, item, shapeOf(version)));
  return envelope({ ...page, data }, '/v1/subscription_items');
}

/** All lines of an invoice, of which it shows the first. */
export function listLines(
  { world, version }: { world: World; version: string },
  id: string,
  params: URLSearchParams,
) {
  const query = parseListQuery(params, []);
  const invoice = world.invoices.get(id);
  if (!invoice) throw notFound('invoice', id);
  const page = slicePage(invoice.lines, query, 'line item');
  const data = page.data.map((line) => renderLine(invoice, line, shapeOf(version)));
  return envelope({ ...page, data }, `/v1/invoices/${id}/lines`);
}

/** A page as Stripe answers it. */
export function envelope(page: Page<Json>, url: string): Json {
  return { object: 'list', data: page.data, has_more: page.hasMore, url };
}
