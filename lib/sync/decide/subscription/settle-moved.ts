import { isSure } from '../../../customers/sure-link';
import { adoptSold } from '../checkout/adopt-sold';
import { applyCheckout } from '../checkout/checkout';
import { toStoredCheckout } from '../checkout/kept-checkout';
import type { Draft } from '../draft';
import { relinkItems } from './items';
import { dateServices } from './service-dates';

/** Checkouts and items link only what is their own customer's, once that is sure: both look again. */
export function settleMoved(draft: Draft): void {
  // A checkout that is looked at again may move it once more.
  for (let customer = draft.moved.pop(); customer; customer = draft.moved.pop()) {
    reapplyCheckouts(draft, customer);
    const link = draft.links.get(customer);
    if (!link || !isSure({ linkedBy: link.linked_by })) continue;
    dateServices(draft, relinkItems(draft, customer));
    for (const row of draft.subscriptionsOf(customer)) adoptSold(draft, row);
  }
}

function reapplyCheckouts(draft: Draft, customer: string): void {
  const checkouts = draft.events({ checkouts: customer }).flatMap((event) => {
    const checkout = toStoredCheckout(event, customer);
    return checkout ? [{ checkout, at: Number(checkout.completedAt), by: event.id }] : [];
  });
  checkouts.sort((a, b) => a.at - b.at || (a.by < b.by ? -1 : 1));
  for (const { checkout } of checkouts) applyCheckout(draft, checkout);
}
