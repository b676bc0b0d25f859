'use server';

import { checkAction } from '../../_components/audit/check/check-now';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { checkNow } from '../_components/audit/check/check-now';

/** Brings an invoice and its payments in sync with Stripe. */
export const check = checkAction('invoice');
