type Language = 'de' | 'en' | 'es' | 'fr' | 'ga' | 'it' | 'ja' | 'nl' | 'pl';

interface Names {
  first: string[];
  last: string[];
  /** Company names. `{last}` and `{city}` are placeholders. */
  companies: string[];
}

/** Fictional people and companies. A name in another script is followed by `|` and its Latin form. */
export const NAMES: Record<Language, Names> = {
  de: {
    first: words(
      'Anna Björn Christoph Daniela Elif Friederike Günther Hanna Ines Jörg Katharina Lukas Maximilian Nele Oliver Petra Ruth Sören Tobias Ulrike Volker Yasemin Jürgen Käthe',
    ),
    last: words(
      'Müller Schröder Weiß Größlinger Huber Lindner Krämer Vogt Özdemir Hoffmann Brandstätter Jäger Köhler Neumann Schäfer Wagner Zimmermann Falkenberg Thiele Böttcher Reuß Ehlers Hartwig Königsberger Mayrhofer Stöckli',
    ),
    companies: [
      'Bäckerei {last}',
      '{last} Metallbau GmbH',
      'Architekturbüro {last}',
      'Praxis Dr. {last}',
      '{last} & Söhne KG',
      'Weingut {last}',
      'Kanzlei {last} & Partner mbB',
      'Autohaus {last} GmbH',
      'Tischlerei {last}',
      '{last} Logistik GmbH & Co. KG',
      'Gärtnerei {last}',
      'Steuerberatung {last}',
      '{last} Medizintechnik AG',
      'Musikschule {city} e. V.',
      'Buchhandlung am Dom {city}',
      'Fahrradhaus {last}',
    ],
  },
  fr: {
    first: words('Amélie Benoît Chloé Éric François Hélène Jérôme Léa Mathéo Océane Thérèse Zoé'),
    last: words("Lefèvre D'Aubigny Béranger Chevalier Dupré Gauthier Lemaître Moreau Noël Roussel"),
    companies: [
      "L'Atelier {last}",
      'Boulangerie {last}',
      '{last} & Fils SARL',
      'Cabinet {last}',
      'Éditions {last} SAS',
      "Librairie de l'Île",
    ],
  },
  nl: {
    first: words('Anouk Bram Daan Eline Joris Lotte Maarten Noor Sjoerd Willemijn'),
    last: ['de Vries', "van 't Hoff", 'Jansen', 'Bakker', 'van den Berg', 'Visser', 'Dijkstra', 'Mulder'],
    companies: ['{last} Fietsen B.V.', 'Drukkerij {last}', 'Bloemen {last}', '{last} Advies B.V.'],
  },
  it: {
    first: words('Alessia Beatrice Davide Elena Giosuè Lorenzo Niccolò Sofia'),
    last: words("D'Angelo Bianchi Colombo Dell'Acqua Esposito Ferraro Lombardi Romano"),
    companies: ['Trattoria {last}', 'Officina {last} S.r.l.', 'Studio Legale {last}', 'Cantina {last}'],
  },
  es: {
    first: words('Álvaro Begoña Íñigo Lucía María Núria Óscar Raúl'),
    last: words('Núñez Ibáñez Muñoz Peña García Castaño Ordóñez Vázquez'),
    companies: ['Bodegas {last} S.L.', 'Talleres {last}', 'Clínica {last}', '{last} e Hijos S.A.'],
  },
  pl: {
    first: words('Agnieszka Bartłomiej Grażyna Łukasz Małgorzata Paweł Zofia Michał'),
    last: words('Wiśniewska Wójcik Kamiński Łuczak Zieliński Dąbrowski Kaźmierczak Śliwa'),
    companies: ['{last} Meble Sp. z o.o.', 'Piekarnia {last}', 'Biuro Rachunkowe {last}'],
  },
  en: {
    first: words('Abigail Benjamin Charlotte Dwayne Eleanor Grace Hamish Isla Jamal Kayla Logan Priya'),
    last: words('Ashworth Bennett Carmichael Davenport Ellison Fairbanks Holloway Okafor Prescott Whitfield'),
    companies: [
      '{last} & Co.',
      '{last} Plumbing Ltd',
      "{last}'s Bakery",
      '{last} Analytics Inc.',
      'Law Offices of {last}',
      '{city} Coffee Roasters LLC',
      '{last} Outdoor Supply',
    ],
  },
  ga: {
    first: words('Aoife Ciarán Niamh Oisín Róisín Seán Siobhán Tadhg'),
    last: words("O'Brien O'Sullivan MacGiolla Ó'Conaill Byrne Kavanagh"),
    companies: ["{last}'s Bookshop", '{last} Marine Ltd', 'Brewery {last}'],
  },
  ja: {
    first: words(
      '健太|kenta 美咲|misaki 翔|sho 由美子|yumiko 大輔|daisuke 花子|hanako 一郎|ichiro さくら|sakura',
    ),
    last: words(
      '佐藤|sato 鈴木|suzuki 高橋|takahashi 田中|tanaka 渡辺|watanabe 小林|kobayashi 山口|yamaguchi',
    ),
    companies: [
      '株式会社{last}製作所',
      '{last}商店',
      '{last}建設株式会社',
      'カフェ{last}',
      '合同会社{last}デザイン',
    ],
  },
};

/** Converts a name to Latin letters and digits for e-mail addresses: `Bäckerei Größ` becomes `baeckerei-groess`. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[äöü]/g, (letter) => `${letter.normalize('NFD').charAt(0)}e`)
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’.]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function words(text: string): string[] {
  return text.split(' ');
}

export interface Place {
  country: string;
  language: Language;
  currency: string;
  /** Percentage of customers in the country. */
  share: number;
  /** Value added tax for private persons, in percent. Null outside the European Union. */
  vatRate: number | null;
  /** Pattern of VAT ids. Their digits start with zeros, which no real id does. Null if companies have none. */
  vatId: string | null;
  /** Phone number patterns from ranges reserved for fiction, or with impossible subscriber numbers. */
  phones: string[];
  cities: [postalCode: string, city: string][];
  /** Street lines. `{no}` is a placeholder for the house number. */
  streets: string[];
}

const GERMAN_STREETS = [
  'Hauptstraße {no}',
  'Am Mühlbach {no}',
  'Lindenallee {no}',
  'Bahnhofstraße {no}',
  'Schloßgasse {no}',
];

// biome-ignore format: a country is easier to read with each of its lists on one line
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
