/** Fields that invoices lack in older files. */
const ADDED_TO_INVOICES = {
  prePaymentCreditNotesAmount: 0,
  postPaymentCreditNotesAmount: 0,
  effectiveAt: null,
  startingBalance: 0,
  revises: null,
};

/** A saved record with the fields that it has by now; an event holds some too. */
export function completeSaved<T extends object>(saved: T): T {
  if (!('object' in saved)) return saved;
  if (saved.object === 'invoice') {
    const isComplete = Object.keys(ADDED_TO_INVOICES).every((field) => field in saved);
    return isComplete ? saved : { ...ADDED_TO_INVOICES, ...saved };
  }
  if (saved.object !== 'event' || !('about' in saved && 'previous' in saved)) return saved;
  return { ...saved, about: completeHeld(saved.about), previous: completeHeld(saved.previous) };
}

function completeHeld(held: unknown): unknown {
  return typeof held === 'object' && held !== null ? completeSaved(held) : held;
}
