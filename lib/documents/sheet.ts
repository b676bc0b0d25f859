import { encode } from 'uqr';
import { countryName } from '../countries';
import { fromThousandths, toThousandths } from '../money';
import { toPrinted } from '../printable';
import { PHRASES } from './phrases';
import type { PrintedInvoice } from './printed-invoice';
import {
  buyerName,
  correction,
  formatDay,
  isSale,
  lineText,
  namesOf,
  numberFormats,
  openAmount,
  paymentText,
} from './printed-texts';

type Document = PDFKit.PDFDocument;
type Element = PDFKit.PDFStructureElement;

export const mm = (length: number) => (length * 72) / 25.4;

/** Measurements of a sheet in points. Letterhead, address and fold marks are placed as in DIN 5008, form B. */
export const SHEET = {
  width: mm(210),
  left: mm(25),
  right: mm(190),
  /** Top of the contents on the first page (`first`) and on all later pages (`next`). */
  first: mm(103),
  next: mm(25),
  /** Bottom of the contents, above the footer. */
  bottom: mm(262),
  footer: mm(267),
};
const SIZE = 9;
const SMALL = 7;
const GREY = '#555555';

/** Draws an invoice or another printed document onto the pages of an empty PDF, with tags for screen readers. */
export function drawDocument(document: Document, printed: PrintedInvoice): void {
  const root = document.struct('Document');
  document.addStructure(root);
  const pen = createPen(document, root);
  drawLetterhead(pen, printed);
  drawFacts(pen, printed);
  drawTitle(pen, printed);
  drawLines(pen, printed);
  drawTotals(pen, printed);
  drawNotes(pen, printed);
  if (!isSale(printed)) drawPayment(pen, printed);
  root.end();
  drawPageParts(document, printed, `${namesOf(printed).title} ${printed.number}`);
}

interface TextOptions {
  x: number;
  y?: number;
  width: number;
  font?: 'regular' | 'bold';
  size?: number;
  align?: 'left' | 'right' | 'center';
  color?: string;
}

export type Pen = ReturnType<typeof createPen>;

/** Creates a pen. It writes tagged text at a position, and `require` begins a new page if the text does not fit. */
export function createPen(document: Document, root: Element) {
  const style = ({ font = 'regular', size = SIZE, color = 'black' }: Partial<TextOptions>) =>
    document.font(font).fontSize(size).fillColor(color);
  const pen = {
    document,
    root,
    y: SHEET.first,
    /** Called at the top of each page after the first. */
    onPage: () => {},
    heightOf: (text: string, options: Omit<TextOptions, 'x' | 'y'>) =>
      style(options).heightOfString(toPrinted(text), { width: options.width }),
    /** Writes a text as an element below `parent`. Returns the lower edge of the text. */
    write: (parent: Element, tag: string, text: string, options: TextOptions): number => {
      const element = document.struct(tag);
      parent.add(element);
      style(options);
      element.add(document.markStructureContent(tag));
      const { x, y = pen.y, width, align = 'left' } = options;
      document.text(toPrinted(text), x, y, { width, align });
      document.endMarkedContent();
      element.end();
      return document.y;
    },
    /** Draws a decoration, such as a line. Screen readers skip it. */
    decorate: (draw: () => void) => {
      document.markContent('Artifact', { type: 'Layout' });
      draw();
      document.endMarkedContent();
    },
    rule: (y: number, width = 0.5) =>
      pen.decorate(() => {
        document
          .moveTo(SHEET.left, y)
          .lineTo(SHEET.right, y)
          .lineWidth(width)
          .strokeColor('#999999')
          .stroke();
      }),
    /** Begins a new page if this height does not fit on the current one. */
    require: (height: number) => {
      if (pen.y + height <= SHEET.bottom) return;
      document.addPage();
      pen.y = SHEET.next;
      pen.onPage();
    },
  };
  return pen;
}

/** The data that every letter prints outside of its main text. */
export type Parties = Pick<PrintedInvoice, 'seller' | 'buyer' | 'language'>;

/** Draws the letterhead and the recipient's address. The address is placed in the envelope's window. */
export function drawLetterhead(pen: Pen, { seller, buyer, language }: Parties): void {
  const { root } = pen;
  if (seller.logo) drawLogo(pen, seller.logo, seller.name ?? '');
  const width = seller.logo ? mm(100) : SHEET.right - SHEET.left;
  pen.write(root, 'P', seller.name ?? '', { x: SHEET.left, y: mm(18), width, font: 'bold', size: 15 });
  const sender = [seller.name, seller.street, `${seller.postal_code} ${seller.city}`].join(' · ');
  const field = { x: SHEET.left, width: mm(80) };
  const fits = pen.heightOf(sender, { width: field.width, size: 6 }) < 10;
  pen.write(root, 'P', sender, { ...field, y: mm(fits ? 58 : 55), size: 6, color: GREY });
  const address = [
    buyerName(buyer),
    ...(buyer.company ? [[buyer.first_name, buyer.last_name].filter(Boolean).join(' ')] : []),
    buyer.street,
    `${buyer.postal_code} ${buyer.city}`,
    buyer.country && buyer.country !== seller.country && countryIn(language, buyer.country).toUpperCase(),
  ];
  const text = address.filter(Boolean).join('\n');
  // A long address must stay inside the window, which is 27.3 mm high.
  const size = [10, 9, 8, 7, 6].find(
    (one) => pen.heightOf(text, { width: field.width, size: one }) <= mm(27.3),
  );
  pen.write(root, 'P', text, { ...field, y: mm(63), size: size ?? 6 });
}

/** Draws the logo into the upper right corner, above the facts and beside the name. */
function drawLogo({ document, root }: Pen, logo: string, alt: string): void {
  const figure = document.struct('Figure', { alt });
  root.add(figure);
  figure.add(document.markStructureContent('Figure', { alt }));
  document.image(logo, mm(130), mm(12), { fit: [SHEET.right - mm(130), mm(26)], align: 'right' });
  document.endMarkedContent();
  figure.end();
}

function countryIn(language: PrintedInvoice['language'], country: string): string {
  if (language === 'en') return countryName(country);
  return new Intl.DisplayNames('de', { type: 'region' }).of(country) ?? country;
}

/** Writes facts such as number and date to the right of the address. */
function drawFacts(pen: Pen, printed: PrintedInvoice): void {
  const texts = PHRASES[printed.language];
  const names = namesOf(printed);
  const { buyer, language } = printed;
  writeFacts(pen, [
    [names.number, printed.number],
    [names.date, formatDay(printed.date, language)],
    [isSale(printed) ? texts.validUntil : texts.due, printed.due && formatDay(printed.due, language)],
    [texts.customerNumber, buyer.customer_number],
    [texts.customerVatId, buyer.vat_id],
    [texts.buyerReference, buyer.buyer_reference],
  ]);
}

/** Writes labels and values to the right of the address. Omits a label if its value is empty. */
export function writeFacts(pen: Pen, facts: [label: string, value: string | null][]): void {
  pen.y = mm(50);
  for (const [label, value] of facts) {
    if (!value) continue;
    const paragraph = pen.document.struct('P');
    pen.root.add(paragraph);
    const start = pen.y;
    const lower = pen.write(paragraph, 'Span', label, { x: mm(120), y: start, width: mm(32), color: GREY });
    const right = { x: mm(153), width: SHEET.right - mm(153), align: 'right' as const };
    pen.y = Math.max(lower, pen.write(paragraph, 'Span', value, { ...right, y: start })) + 2;
    paragraph.end();
  }
}

function drawTitle(pen: Pen, printed: PrintedInvoice): void {
  pen.y = SHEET.first;
  const width = SHEET.right - SHEET.left;
  const title = `${namesOf(printed).title} ${printed.number}`;
  pen.y = pen.write(pen.root, 'H1', title, { x: SHEET.left, width, font: 'bold', size: 14 }) + 8;
  const text = correction(printed);
  if (!text) return;
  writeParagraph(pen, text);
  pen.y += 6;
}

const COLUMNS = {
  position: { x: SHEET.left, width: mm(10), align: 'left' },
  text: { x: SHEET.left + mm(10), width: mm(70), align: 'left' },
  quantity: { x: SHEET.left + mm(82), width: mm(18), align: 'right' },
  unitPrice: { x: SHEET.left + mm(101), width: mm(24), align: 'right' },
  taxRate: { x: SHEET.left + mm(126), width: mm(14), align: 'right' },
  net: { x: SHEET.left + mm(141), width: mm(24), align: 'right' },
} as const;
type Column = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Column[];

/** Writes the table of lines, and repeats its header on each page. */
function drawLines(pen: Pen, printed: PrintedInvoice): void {
  const { document } = pen;
  const texts = PHRASES[printed.language];
  const format = numberFormats(printed);
  const table = document.struct('Table');
  pen.root.add(table);
  const place = (name: Column, y: number) => ({
    ...COLUMNS[name],
    y,
    font: 'bold' as const,
    size: SMALL + 1,
  });
  const endHead = (start: number) => {
    pen.y = start + 13;
    pen.rule(pen.y);
    pen.y += 4;
  };
  const row = document.struct('TR');
  table.add(row);
  for (const name of NAMES) pen.write(row, 'TH', texts[name], place(name, pen.y));
  row.end();
  endHead(pen.y);
  // Screen readers read the header once. On later pages it is marked as decoration.
  pen.onPage = () => {
    const start = pen.y;
    pen.decorate(() => {
      for (const name of NAMES) writePlain(document, texts[name], place(name, start));
    });
    endHead(start);
  };
  for (const [at, line] of printed.lines.entries()) {
    const cells: Record<Column, string> = {
      position: String(at + 1),
      text: lineText(line, printed),
      quantity: format.quantity(line.quantity),
      unitPrice: format.price(line.unit_price),
      taxRate: line.tax_category === 'O' ? '–' : format.percent(line.tax_rate),
      net: format.amount(line.net),
    };
    const height = Math.max(...NAMES.map((name) => pen.heightOf(cells[name], COLUMNS[name])));
    pen.require(height);
    const row = document.struct('TR');
    table.add(row);
    const start = pen.y;
    for (const name of NAMES) pen.write(row, 'TD', cells[name], { ...COLUMNS[name], y: start });
    row.end();
    pen.y = start + height + 4;
  }
  table.end();
  pen.onPage = () => {};
  pen.rule(pen.y);
  pen.y += 6;
}

export function writePlain(document: Document, text: string, options: TextOptions): void {
  const {
    x,
    y = document.y,
    width,
    align = 'left',
    font = 'regular',
    size = SIZE,
    color = 'black',
  } = options;
  document.font(font).fontSize(size).fillColor(color).text(toPrinted(text), x, y, { width, align });
}

/** Writes the table of sums, such as the tax of each rate and the total. */
function drawTotals(pen: Pen, printed: PrintedInvoice): void {
  const { document } = pen;
  const texts = PHRASES[printed.language];
  const format = numberFormats(printed);
  const sums: [label: string, amount: string, isTotal?: boolean][] = [
    [texts.subtotal, format.money(printed.subtotal)],
    ...printed.taxes
      .filter(({ category }) => category !== 'O')
      .map(({ rate, net, tax }): [string, string] => [
        `${texts.tax(format.percent(rate))} ${texts.on} ${format.money(net)}`,
        format.money(tax),
      ]),
    [texts.total, format.money(printed.total), true],
    ...(Number(printed.settled) === 0
      ? []
      : ([
          [texts.settled, format.money(fromThousandths(-toThousandths(printed.settled)))],
          [texts.open, format.money(openAmount(printed))],
        ] as [string, string][])),
  ];
  pen.require(sums.length * 15 + 8);
  const table = document.struct('Table');
  pen.root.add(table);
  for (const [label, amount, isTotal = false] of sums) {
    const row = document.struct('TR');
    table.add(row);
    if (isTotal) {
      const y = pen.y;
      pen.decorate(() => {
        document.moveTo(mm(105), y).lineTo(SHEET.right, y).lineWidth(0.8).strokeColor('black').stroke();
      });
      pen.y += 4;
    }
    const [font, size, start] = [
      isTotal ? ('bold' as const) : ('regular' as const),
      isTotal ? 11 : SIZE,
      pen.y,
    ];
    pen.write(row, 'TH', label, { x: mm(105), y: start, width: mm(52), font, size });
    const right = { x: mm(157), width: SHEET.right - mm(157), align: 'right' as const };
    pen.y = pen.write(row, 'TD', amount, { ...right, y: start, font, size }) + 3;
    row.end();
  }
  table.end();
  pen.y += 8;
}

/** Writes why a category has no VAT and, on an invoice, the date of supply. */
function drawNotes(pen: Pen, printed: PrintedInvoice): void {
  const { exemption, smallBusiness, supplied } = PHRASES[printed.language];
  const dated = printed.kind === 'invoice' ? supplied : '';
  const reasons = printed.taxes.map(({ category }) =>
    category === 'E' && printed.seller.small_business ? smallBusiness : exemption[category],
  );
  for (const note of [...new Set([...reasons, dated])].filter(Boolean)) writeParagraph(pen, note);
}

function writeParagraph(pen: Pen, text: string, width = SHEET.right - SHEET.left): void {
  pen.require(pen.heightOf(text, { width }));
  pen.y = pen.write(pen.root, 'P', text, { x: SHEET.left, width }) + 5;
}

const CODE = mm(28);

/** Writes when and how to pay, or why nothing is to be paid. Adds a QR code if a SEPA transfer can pay the invoice. */
function drawPayment(pen: Pen, printed: PrintedInvoice): void {
  const { document } = pen;
  const texts = PHRASES[printed.language];
  const { seller } = printed;
  pen.y += 4;
  const code = paymentCode(printed);
  pen.require(code ? CODE + 16 : 60);
  const start = pen.y;
  writeParagraph(pen, paymentText(printed), code ? mm(125) : undefined);
  if (!isTransfer(printed)) return;
  const account = [
    [seller.bank_name, `IBAN ${spaced(seller.iban ?? '')}`, seller.bic && `BIC ${seller.bic}`]
      .filter(Boolean)
      .join(', '),
    `${texts.paymentReference}: ${printed.number}`,
  ];
  for (const text of account) writeParagraph(pen, text, mm(125));
  if (!code) return;
  const x = SHEET.right - CODE;
  const module = CODE / code.length;
  const figure = document.struct('Figure', { alt: texts.payByCode });
  pen.root.add(figure);
  figure.add(document.markStructureContent('Figure', { alt: texts.payByCode }));
  for (const [row, modules] of code.entries()) {
    // Draw each run of black modules as one rectangle, because drawing hundreds of single modules is slow.
    const runs = modules.map((isBlack) => (isBlack ? '1' : '0')).join('');
    for (const { 0: run, index } of runs.matchAll(/1+/g)) {
      document.rect(x + index * module, start + row * module, run.length * module, module);
    }
  }
  document.fillColor('black').fill();
  document.endMarkedContent();
  figure.end();
  const place = { x: x - 10, y: start + CODE + 2, width: CODE + 20, align: 'center' as const };
  const end = pen.write(pen.root, 'P', texts.payByCode, { ...place, size: 6, color: GREY });
  pen.y = Math.max(pen.y, end);
}

/** Splits an IBAN into groups of four characters. */
export const spaced = (iban: string) => iban.replace(/(.{4})(?=.)/g, '$1 ');

/** Draws the footer and number of each page, the fold marks of the first page, and the title on all later pages. */
export function drawPageParts(document: Document, { seller, language }: Parties, title: string): void {
  const texts = PHRASES[language];
  const columns = [
    [
      seller.name,
      seller.street,
      `${seller.postal_code} ${seller.city}`,
      countryIn(language, seller.country ?? ''),
    ],
    [seller.contact_name, seller.contact_phone, seller.contact_email],
    [
      seller.vat_id && `${texts.vatId} ${seller.vat_id}`,
      seller.tax_number && `${texts.taxNumber} ${seller.tax_number}`,
      seller.register_entry,
    ],
    [seller.bank_name, seller.iban && spaced(seller.iban), seller.bic],
  ].map((lines) => lines.filter(Boolean).join('\n'));
  const { start, count } = document.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    document.switchToPage(start + page);
    document.markContent('Artifact', { type: 'Pagination' });
    const width = (SHEET.right - SHEET.left) / columns.length - 6;
    for (const [at, text] of columns.entries()) {
      const x = SHEET.left + at * (width + 8);
      writePlain(document, text, { x, y: SHEET.footer, width, size: 6.5, color: GREY });
    }
    const whole = { x: SHEET.left, width: SHEET.right - SHEET.left, size: 6.5, color: GREY };
    if (seller.footer) writePlain(document, seller.footer, { ...whole, y: mm(286) });
    const number = texts.page(page + 1, count);
    writePlain(document, number, { ...whole, y: mm(291), align: 'right' });
    if (page > 0) {
      writePlain(document, `${title}, ${texts.carried}`, { ...whole, y: mm(15), size: SMALL });
    } else {
      for (const y of [105, 148.5, 210]) {
        document.moveTo(mm(5), mm(y)).lineTo(mm(9), mm(y)).lineWidth(0.25).strokeColor('#999999').stroke();
      }
    }
    document.endMarkedContent();
  }
}

/** Returns true if a document asks for a transfer to our account. */
const isTransfer = ({ kind, total, collectedBy }: PrintedInvoice): boolean =>
  kind === 'invoice' && collectedBy === 'us' && Number(total) > 0;

/**
 * Returns the QR code of a SEPA transfer as rows of modules, true for black (EPC069-12, version 002). Returns null if
 * the invoice cannot be paid by such a transfer.
 */
function paymentCode(printed: PrintedInvoice): boolean[][] | null {
  const { currency, total, number, seller } = printed;
  if (!isTransfer(printed) || currency !== 'eur' || !seller.iban || !seller.name) return null;
  const amount = `EUR${Number(total).toFixed(2)}`;
  const name = seller.name.slice(0, 70);
  const transfer = ['BCD', '002', '1', 'SCT', seller.bic ?? '', name, seller.iban, amount, '', '', number];
  return encode(transfer.join('\n'), { ecc: 'M', border: 0 }).data;
}
