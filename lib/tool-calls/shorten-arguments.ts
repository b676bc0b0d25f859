/** Arguments of tools that contain no personal data: numbers, dates, states and column names. */
const KEPT = [
  ...['customer_number', 'status', 'service_type', 'type', 'fields'],
  ...['invoice_date_from', 'invoice_date_to', 'document_date_from', 'document_date_to'],
];
const SHOWN = 3;
const MOST_TEXT = 100;
const MOST_ARGUMENTS = 20;
/** As arguments of tools are called. */
const ARGUMENT = /^[a-z_]{1,20}$/;

/**
 * The arguments of a call as they are kept: of texts that may name a person only how they begin.
 *
 * @param wasTaken whether the tool took them: what it refused may be anything under any name
 */
export function shortenArguments(given: Record<string, unknown>, wasTaken: boolean): Record<string, unknown> {
  const entries = Object.entries(given).slice(0, MOST_ARGUMENTS);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const shown = (one: unknown) => shortenValue(one, wasTaken && KEPT.includes(name));
      const isList = Array.isArray(value);
      const called = ARGUMENT.test(name) ? name : shorten(name, SHOWN);
      return [called, isList ? value.slice(0, MOST_ARGUMENTS).map(shown) : shown(value)];
    }),
  );
}

function shortenValue(value: unknown, isKept: boolean): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'string') return '…';
  return shorten(value, isKept ? MOST_TEXT : SHOWN);
}

/** A NUL is text to JSON, and none to PostgreSQL. */
function shorten(text: string, length: number): string {
  const characters = Array.from(
    text
      .slice(0, length * 2 + 2)
      .replaceAll('\0', '')
      .toWellFormed(),
  );
  return characters.length <= length && text.length <= length * 2 + 2
    ? characters.join('')
    : `${characters.slice(0, length).join('')}…`;
}
