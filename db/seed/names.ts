export type Language = 'de' | 'en' | 'es' | 'fr' | 'ga' | 'it' | 'ja' | 'nl' | 'pl';

interface Names {
  first: string[];
  last: string[];
  /** `{last}` and `{city}` are filled in. */
  companies: string[];
}

/** Fictional people and companies. Where the script is not Latin: native form, `|`, Latin form. */
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

/** The Latin letters and digits of a name, for addresses: `Bäckerei Größ` is `baeckerei-groess`. */
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
