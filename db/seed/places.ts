import type { Language } from './names';

export interface Place {
  country: string;
  language: Language;
  currency: string;
  /** How many of a hundred customers live there. */
  share: number;
  /** Value added tax in per cent for private persons; null outside the European Union. */
  vatRate: number | null;
  /** No office issues such a number: it starts with zeros. Null: companies there have none. */
  vatId: string | null;
  /** From a range kept for fiction, or with a subscriber number that cannot exist. */
  phones: string[];
  cities: [postalCode: string, city: string][];
  /** `{no}` is the house number. */
  streets: string[];
}

const GERMAN_STREETS = [
  'Hauptstraße {no}',
  'Am Mühlbach {no}',
  'Lindenallee {no}',
  'Bahnhofstraße {no}',
  'Schloßgasse {no}',
];

// biome-ignore format: one country a paragraph reads best with its lists on one line
export const PLACES: Place[] = [
  { country: 'DE', language: 'de', currency: 'eur', share: 54, vatRate: 19, vatId: 'DE00#######', phones: ['+49 30 23125###', '+49 69 90009###', '+49 40 66969###', '+49 221 4710###', '+49 89 99998###'],
    cities: [['10115', 'Berlin'], ['20095', 'Hamburg'], ['80331', 'München'], ['50667', 'Köln'], ['90402', 'Nürnberg'], ['99084', 'Erfurt'], ['23552', 'Lübeck'], ['72070', 'Tübingen'], ['79098', 'Freiburg im Breisgau'], ['01067', 'Dresden']],
    streets: GERMAN_STREETS },
  { country: 'AT', language: 'de', currency: 'eur', share: 8, vatRate: 20, vatId: 'ATU000#####', phones: ['+43 1 000####'],
    cities: [['1010', 'Wien'], ['8010', 'Graz'], ['5020', 'Salzburg'], ['3100', 'St. Pölten']], streets: GERMAN_STREETS },
  { country: 'CH', language: 'de', currency: 'chf', share: 6, vatRate: null, vatId: 'CHE-000.###.### MWST', phones: ['+41 44 000 ## ##'],
    cities: [['8001', 'Zürich'], ['3011', 'Bern'], ['9000', 'St. Gallen'], ['6003', 'Luzern']], streets: GERMAN_STREETS.map((street) => street.replace('ß', 'ss')) },
  { country: 'NL', language: 'nl', currency: 'eur', share: 4, vatRate: 21, vatId: 'NL000######B01', phones: ['+31 20 000 ####'],
    cities: [['1012 AB', 'Amsterdam'], ['3511 CD', 'Utrecht'], ['5211 EF', "'s-Hertogenbosch"]], streets: ['Kerkstraat {no}', 'Oude Gracht {no}', "Laan van 't Haantje {no}"] },
  { country: 'FR', language: 'fr', currency: 'eur', share: 5, vatRate: 20, vatId: 'FR00000######', phones: ['+33 1 99 00 ## ##'],
    cities: [['75003', 'Paris'], ['69002', 'Lyon'], ['67000', 'Strasbourg'], ['33000', 'Bordeaux']], streets: ["{no}, rue de l'Église", '{no}, avenue du Général-Lévêque', '{no}, place aux Herbes'] },
  { country: 'IT', language: 'it', currency: 'eur', share: 3, vatRate: 22, vatId: 'IT000########', phones: ['+39 02 0000 ####'],
    cities: [['20121', 'Milano'], ['39100', 'Bolzano'], ['00184', 'Roma']], streets: ['Via Garibaldi {no}', "Piazza dell'Orologio {no}"] },
  { country: 'ES', language: 'es', currency: 'eur', share: 2, vatRate: 21, vatId: 'ESB000#####', phones: ['+34 91 000 ## ##'],
    cities: [['28013', 'Madrid'], ['08002', 'Barcelona'], ['15001', 'A Coruña']], streets: ['Calle Mayor {no}', 'Plaza de España {no}'] },
  { country: 'PL', language: 'pl', currency: 'eur', share: 2, vatRate: 23, vatId: 'PL000#######', phones: ['+48 22 000 ## ##'],
    cities: [['00-001', 'Warszawa'], ['30-001', 'Kraków'], ['90-001', 'Łódź']], streets: ['ul. Długa {no}', 'ul. Świętojańska {no}'] },
  { country: 'IE', language: 'ga', currency: 'eur', share: 2, vatRate: 23, vatId: 'IE000####AH', phones: ['+353 20 910 ####'],
    cities: [['D02 AF30', 'Dublin'], ['T12 RX8A', 'Cork'], ['H91 E2K3', 'Gaillimh']], streets: ["{no} St Stephen's Row", '{no} Harbour View'] },
  { country: 'GB', language: 'en', currency: 'gbp', share: 5, vatRate: null, vatId: 'GB000######', phones: ['+44 20 7946 0###'],
    cities: [['EC1A 1BB', 'London'], ['M1 1AE', 'Manchester'], ['EH1 1YZ', 'Edinburgh']], streets: ['{no} High Street', "{no} King's Parade", 'Flat 2, {no} Mill Lane'] },
  { country: 'US', language: 'en', currency: 'usd', share: 6, vatRate: null, vatId: null, phones: ['+1 212 555 01##'],
    cities: [['10001', 'New York'], ['78701', 'Austin'], ['97201', 'Portland'], ['02108', 'Boston']], streets: ['{no}00 Main Street', '{no}5 Elm Avenue, Suite 4', '{no}10 Oak Drive'] },
  { country: 'JP', language: 'ja', currency: 'jpy', share: 3, vatRate: null, vatId: null, phones: ['+81 3 0000 ####'],
    cities: [['100-0005', '東京都千代田区'], ['530-0001', '大阪市北区'], ['600-8216', '京都市下京区']], streets: ['丸の内{no}-7-3', '梅田{no}-1-1', '中央{no}-12'] },
];

export function placeOf(country: string | null): Place {
  const place = PLACES.find((one) => one.country === country);
  if (!place) throw new Error(`no sample place in ${country}`);
  return place;
}
