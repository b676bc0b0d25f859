export type Json = { [key: string]: unknown };

/**
 * Returns a record's fields under Stripe's names.
 *
 * @param except fields to omit, because Stripe's object lacks them or contains them in another form
 */
export function fieldsOf<T extends object>(record: T, ...except: (keyof T)[]): Json {
  const fields: Json = {};
  for (const key of Object.keys(record)) {
    if (!except.includes(key as keyof T)) fields[stripeName(key)] = record[key as keyof T];
  }
  return fields;
}

const stripeNames = new Map<string, string>();

/**
 * Converts a name such as `amountDue` to `amount_due`. The results are cached, because the simulation renders the same
 * few names very often.
 */
function stripeName(key: string): string {
  const known = stripeNames.get(key);
  if (known !== undefined) return known;
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  stripeNames.set(key, name);
  return name;
}

/** Returns fields that are always null in this world. Each argument may contain several names, separated by spaces. */
export function nulls(...names: string[]): Json {
  return Object.fromEntries(names.flatMap((line) => line.split(' ')).map((name) => [name, null]));
}

export function embeddedList(data: unknown[], url: string, limit = data.length): Json {
  return {
    object: 'list',
    data: data.slice(0, limit),
    has_more: data.length > limit,
    total_count: data.length,
    url,
  };
}
