/** What invoices lack in files of before the local Stripe knew credit notes. */
const SINCE_CREDIT_NOTES = { prePaymentCreditNotesAmount: 0, postPaymentCreditNotesAmount: 0 };

/** A saved record with the fields that it has by now; an event holds some too. */
export function completeSaved<T extends object>(saved: T): T {
  if (!('object' in saved)) return saved;
  if (saved.object === 'invoice') {
    return 'prePaymentCreditNotesAmount' in saved ? saved : { ...saved, ...SINCE_CREDIT_NOTES };
  }
  if (saved.object !== 'event' || !('about' in saved && 'previous' in saved)) return saved;
  return { ...saved, about: completeHeld(saved.about), previous: completeHeld(saved.previous) };
}

function completeHeld(held: unknown): unknown {
  return typeof held === 'object' && held !== null ? completeSaved(held) : held;
}
