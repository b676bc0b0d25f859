/** What of a customer says who it is. */
const PERSONAL = [
  ...['name', 'first_name', 'last_name', 'company', 'email', 'phone'],
  ...['street', 'postal_code', 'city', 'vat_id'],
];
/** A domain or an address says whose it is; the names of services hold theirs. */
const DOMAIN = /(?:[^\s@]{1,64}@)?(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,63}/gu;
export const MASKED = '[masked]';

/**
 * Removes personal data of customers from an answer. A customer is an object with a customer number, or the value of
 * "customer". A caller may have asked for the customer's name alone. The answer says that it is masked.
 * Numbers and states stay, so that questions about them are still answered.
 */
export function maskAnswer(output: Record<string, unknown>): Record<string, unknown> {
  return { ...maskObject(output), personal_data: 'masked' };
}

function maskValue(value: unknown, isCustomer: boolean | undefined): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, isCustomer));
  if (typeof value !== 'object' || value === null) return value;
  return maskObject(value as Record<string, unknown>, isCustomer);
}

function maskObject(
  object: Record<string, unknown>,
  isCustomer = 'customer_number' in object,
): Record<string, unknown> {
  const entries = Object.entries(object).map(([name, value]) => {
    const hides = name === 'domain' || (isCustomer && PERSONAL.includes(name));
    if (hides && value !== null) return [name, MASKED];
    if (name === 'name' && typeof value === 'string') return [name, value.replace(DOMAIN, MASKED)];
    return [name, maskValue(value, name === 'customer' || undefined)];
  });
  return Object.fromEntries(entries);
}
