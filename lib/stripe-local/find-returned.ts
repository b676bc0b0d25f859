import type { Collection } from './collection';
import { findInvoiceByNumber, newest, nothing } from './find-target';
import type { Happening } from './happening';
import type { Invoice } from './model';
import type { CreditNote, Dispute, Refund } from './model-returns';
import type { World } from './world';

/** The named invoice in any state, or the newest that fits. @throws ControlError 404, 409 */
export function findInvoiceWith(
  target: Happening,
  wanted: (invoice: Invoice) => boolean,
  noun: string,
): Invoice {
  const found =
    target.invoiceNumber === null
      ? newest(target, target.world.invoices, wanted)
      : findInvoiceByNumber(target, target.invoiceNumber);
  if (!found) throw nothing(target, noun);
  return found;
}

/** The newest that fits, of the customer and of the invoice named. @throws ControlError 404, 409 */
export function findReturned<T extends Refund | Dispute | CreditNote>(
  target: Happening,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
  noun: string,
): T {
  const { world, customer, invoiceNumber } = target;
  const invoice = invoiceNumber === null ? null : findInvoiceByNumber(target, invoiceNumber);
  for (const object of collection.older(undefined)) {
    const about = paidBy(world, object);
    if (customer && about?.customer !== customer.id) continue;
    if (invoice && about?.invoice !== invoice.id) continue;
    if (wanted(object)) return object;
  }
  throw nothing(target, noun, invoice);
}

/** The customer and the invoice, which Stripe names on credit notes only. */
function paidBy(
  world: World,
  object: Refund | Dispute | CreditNote,
): { customer: string; invoice: string | null } | undefined {
  return object.object === 'credit_note' ? object : world.paymentIntents.get(object.paymentIntent);
}
