'use server';

import { checkAction } from '../_components/audit/check/check-now';

/** Brings an invoice and its payments in sync with Stripe. */
export const check = checkAction('invoice');
