export type Json = { [key: string]: unknown };

/** The differences between API versions in the fields of the model. */
export type Shape = ReturnType<typeof shapeOf>;

/** @param version an API version such as `2020-08-27` or `2026-10-28.endive` */
export function shapeOf(version: string) {
  const since = (date: string) => version.slice(0, 10) >= date;
  return {
    version,
    /** https://docs.stripe.com/changelog/basil: periods on the items, `parent`, `payments`, no `paid`. */
    basil: since('2025-03-31'),
    /** The versions before basil in which old and new fields existed side by side. */
    acacia: since('2024-09-30') && !since('2025-03-31'),
    /** `latest_charge` replaces a payment intent's `charges`. */
    modern: since('2022-11-15'),
    /** `amount_paid_off_stripe`, only if expanded and never in events. */
    offStripeAmount: since('2026-05-27'),
  };
}

/** Returns the fields of a record with Stripe's names, except those that Stripe writes in another form. */
export function fieldsOf<T extends object>(record: T, ...except: (keyof T)[]): Json {
  const fields: Json = {};
  for (const key of Object.keys(record)) {
    if (!except.includes(key as keyof T)) fields[stripeName(key)] = record[key as keyof T];
  }
  return fields;
}

const stripeNames = new Map<string, string>();

/** Converts `amountDue` to `amount_due`. Cached, since the simulation renders the same few names very often. */
function stripeName(key: string): string {
  const known = stripeNames.get(key);
  if (known !== undefined) return known;
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  stripeNames.set(key, name);
  return name;
}

/** Returns fields that Stripe always sends and that are always null here. Separate the names by spaces. */
export function nulls(...names: string[]): Json {
  return Object.fromEntries(names.flatMap((line) => line.split(' ')).map((name) => [name, null]));
}

/** Returns a list embedded in another object. */
export function embeddedList(data: unknown[], url: string, limit = data.length): Json {
  return {
    object: 'list',
    data: data.slice(0, limit),
    has_more: data.length > limit,
    total_count: data.length,
    url,
  };
}
