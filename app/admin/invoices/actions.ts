'use server';

import { checkAction } from '../_components/audit/check-action';

/** Synchronizes an invoice and its payments with Stripe. */
export const check = checkAction('invoice');
