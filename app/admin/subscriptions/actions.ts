'use server';

import { z } from 'zod';
import { rowId } from '@/lib/fields';
import { confirmLinks, linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { adoptReferenced, declineReference, linkItem } from '@/lib/sync/staff/link-subscription';
import { syncDeps } from '@/lib/sync/sync-deps';
import { checkAction } from '../_components/audit/check-action';
import type { FormState } from '../_components/forms/form';
import { refreshPages, staffAction, staffFormAction } from '../_components/page/staff-action';

/** Syncs a subscription with Stripe immediately. */
export const check = checkAction('subscription');

/** Saves the service that a subscription item pays for, and redirects to the subscription. */
export const saveLink = staffFormAction({
  role: 'staff',
  input: [rowId, rowId],
  form: ['service_number'],
  run: ({ runtime, actor }, _subscriptionId, itemId, { service_number }) =>
    linkItem(syncDeps(runtime), actor, itemId, service_number.trim() || null),
  done: (_linked, subscriptionId, itemId) => `/admin/subscriptions/${subscriptionId}?saved=${itemId}`,
  refused: ({ problem }, _subscriptionId, _itemId, typed): FormState => ({
    typed,
    problems: { service_number: problem },
  }),
});

/** Merges a Stripe subscription into the subscription that was sold here and that its checkout refers to. */
export const adopt = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime, actor }, id) => adoptReferenced(syncDeps(runtime), actor, id),
  done: (became) => `/admin/subscriptions/${became}`,
  refused: ({ code }, id) => `/admin/subscriptions/${id}?notice=${code}`,
});

/** Records that a Stripe subscription is not the subscription sold here that its checkout refers to. */
export const decline = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime, actor }, id) => declineReference(syncDeps(runtime), actor, id),
  done: (_declined, id) => `/admin/subscriptions/${id}`,
  refused: ({ code }, id) => `/admin/subscriptions/${id}?notice=${code}`,
});

const pageOfStripeCustomer = (id: string, notice: string) =>
  `/admin/subscriptions/stripe-customers/${encodeURIComponent(id)}?notice=${notice}`;

/** Links a Stripe customer to a customer, and redirects to the page of the Stripe customer. */
export const linkTo = staffAction({
  role: 'staff',
  input: [z.string(), z.object({ from: rowId, to: rowId })],
  run: ({ runtime, actor }, id, link) => linkStripeCustomer(syncDeps(runtime), actor, id, link),
  done: (_linked, id) => pageOfStripeCustomer(id, 'linked'),
  refused: ({ code }, id) => pageOfStripeCustomer(id, code),
});

export interface ConfirmState {
  done: number;
  refused: { stripeCustomerId: string; refusal: string }[];
}

/** Confirms the selected links. Each link names a Stripe customer and, as the page showed, its old and new customer. */
export const confirmChosen = staffFormAction({
  role: 'staff',
  input: [],
  form: { link: 'texts' },
  run: ({ runtime, actor }, { link }) => confirmLinks(syncDeps(runtime), actor, link.flatMap(toChosen)),
  done: (results): ConfirmState => {
    refreshPages();
    const refused = results.flatMap(({ stripeCustomerId, refusal }) =>
      refusal === null ? [] : [{ stripeCustomerId, refusal }],
    );
    return { done: results.length - refused.length, refused };
  },
});

function toChosen(text: string) {
  const [, stripeCustomerId, from, to] = /^([\w-]{1,255}) (\d{1,10}) (\d{1,10})$/.exec(text) ?? [];
  return stripeCustomerId ? [{ stripeCustomerId, from: Number(from), to: Number(to) }] : [];
}
