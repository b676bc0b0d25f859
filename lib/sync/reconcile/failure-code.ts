import Stripe from 'stripe';
import { pgErrorCode } from '@/db/database';
import { stripeErrorCode } from '../../stripe/fetch';
import { NotReportedError } from '../sync-loop';

/** Short and without personal data: an SQLSTATE, what Stripe refused with, or the name of the error. */
export function failureCode(error: unknown): string {
  if (error instanceof Stripe.errors.StripeError) return stripeErrorCode(error);
  if (error instanceof NotReportedError) return error.reason;
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}
