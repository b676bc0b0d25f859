import type { Chance } from './chance';
import { NAMES, slugOf } from './names';
import { PLACES, type Place, placeOf } from './places';
import type { CustomerRow } from './rows';

/** Companies and private persons. Some have no e-mail address; all others have one that cannot be delivered to. */
export function buildCustomers(chance: Chance, count: number): CustomerRow[] {
  const taken = new Set<string>();
  const companies = new Set<string>();
  const shares = Object.fromEntries(PLACES.map(({ country, share }) => [country, share]));
  return Array.from({ length: count }, (_, i) => {
    const place = placeOf(chance.weighted(shares));
    const kind = chance.weighted({ company: 50, companyOnly: 12, person: 38 });
    const [postal_code, city] = chance.pick(place.cities);
    const { first, last, company, mailbox } = unusedName(chance, place, city, kind, companies);
    const inUnion = place.vatRate !== null;
    return {
      id: i + 1,
      customer_number: `K${10_001 + i}`,
      first_name: kind === 'companyOnly' ? null : first,
      last_name: kind === 'companyOnly' ? null : last,
      company,
      email: chance.happens(0.06) ? null : uniqueAddress(mailbox, taken),
      phone: chance.happens(0.25) ? null : chance.fill(chance.pick(place.phones)),
      street: chance.pick(place.streets).replace('{no}', String(chance.int(1, 98))),
      postal_code,
      city,
      country: place.country,
      vat_id: company && place.vatId && chance.happens(0.8) ? chance.fill(place.vatId) : null,
      tax_exempt: inUnion && chance.happens(0.03),
      currency: place.currency,
      status: chance.weighted({ active: 84, inactive: 11, blocked: 5 }),
    };
  });
}

type Kind = 'company' | 'companyOnly' | 'person';

/** Avoids drawing a company twice. */
function unusedName(chance: Chance, place: Place, city: string, kind: Kind, companies: Set<string>) {
  let name = nameOf(chance, place, city, kind);
  for (let tries = 0; tries < 30 && name.company && companies.has(name.company); tries++) {
    name = nameOf(chance, place, city, kind);
  }
  if (name.company) companies.add(name.company);
  return name;
}

function nameOf(chance: Chance, place: Place, city: string, kind: Kind) {
  const names = NAMES[place.language];
  const [first = '', latinFirst = first] = chance.pick(names.first).split('|');
  const [last = '', latinLast = last] = chance.pick(names.last).split('|');
  if (kind === 'person') {
    const domain = chance.pick(['example.com', 'example.org', 'example.net']);
    return { first, last, company: null, mailbox: `${slugOf(latinFirst)}.${slugOf(latinLast)}@${domain}` };
  }
  const pattern = chance.pick(names.companies);
  const company = pattern.replace('{last}', last).replace('{city}', city);
  const site = slugOf(pattern.replace('{last}', ` ${latinLast} `).replace('{city}', city));
  const mailbox = `${chance.pick(['info', 'office', 'it', 'billing', slugOf(latinFirst)])}@${site}.example`;
  return { first, last, company, mailbox };
}

/** `anna.weiss@…`, then `anna.weiss2@…`: an address belongs to one customer. */
function uniqueAddress(mailbox: string, taken: Set<string>): string {
  let address = mailbox;
  for (let n = 2; taken.has(address); n++) address = mailbox.replace('@', `${n}@`);
  taken.add(address);
  return address;
}
