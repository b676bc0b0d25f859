'use server';

import { checkAction } from '../_components/audit/check-action';

/** Brings an invoice and its payments in sync with Stripe. */
export const check = checkAction('invoice');
