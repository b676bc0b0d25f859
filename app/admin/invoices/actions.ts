'use server';

import { checkAction } from '../_components/audit/check-action';

/** Syncs an invoice and its payments with Stripe, and redirects to the invoice's page. */
export const check = checkAction('invoice');
