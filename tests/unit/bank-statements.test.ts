import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Candidate, type Credit, neighboursOf, propose } from '@/lib/bank/match';
import { readStatement } from '@/lib/bank/upload';
import { AppError } from '@/lib/errors';

const OWN = 'DE02120300000000202051';
const ADA = 'DE02500105170137075030';

const read = (text: string) => readStatement(Buffer.from(text));

/** Returns the message that the form shows for a refused file. */
async function reasonOf(file: string | Buffer): Promise<string> {
  const reading = readStatement(Buffer.from(file as string));
  const error: unknown = await reading.catch((refused: unknown) => refused);
  if (!(error instanceof AppError)) throw new Error('the file was not refused');
  return error.fields[0]?.message ?? '';
}

type Entry = Awaited<ReturnType<typeof read>>['entries'][number];
const short = ({ day, amount, name, iban, purpose }: Entry) => [day, amount, name, iban, purpose];

/** Builds a CAMT.053 file. Version 08 puts a party's name and a status one level deeper. */
function camt(version: '02' | '08', entries: string, { closing = '1150.00', head = '' } = {}): string {
  const text = `<?xml version="1.0" encoding="UTF-8"?>${head}
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt><Stmt>
<Acct><Id><IBAN>${OWN}</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>PRCD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-09-30</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${closing}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-10-02</Dt></Dt></Bal>
${entries}</Stmt></BkToCstmrStmt></Document>`;
  if (version === '02') return text;
  return text
    .replace(/<Nm>(.*?)<\/Nm>/g, '<Pty><Nm>$1</Nm></Pty>')
    .replace(/<Sts>(.*?)<\/Sts>/g, '<Sts><Cd>$1</Cd></Sts>');
}

const entryOf = (amount: string, details: string, { sign = 'CRDT', more = '' } = {}) => `
<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd>${more}<Sts>BOOK</Sts>
<BookgDt><Dt>2026-10-01</Dt></BookgDt><AcctSvcrRef>B-1</AcctSvcrRef><NtryDtls>${details}</NtryDtls></Ntry>`;
const paid = (amount: string, text: string) => `<TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>
<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>
<RltdPties><Dbtr><Nm>Ada &amp; Co</Nm></Dbtr><DbtrAcct><Id><IBAN>${ADA}</IBAN></Id></DbtrAcct></RltdPties>
<RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls>`;

test.each(['02', '08'] as const)(
  'balances, parties, texts and the parts of a batch are read from a CAMT.053 file of version %s',
  async (version) => {
    const batch = entryOf('150.00', paid('100.00', 'RE-2026-0001') + paid('50.00', 'RE-2026-0002'));
    const statement = await read(camt(version, batch));
    expect(statement).toMatchObject({ iban: OWN, currency: 'eur', opening: 1_000_000, closing: 1_150_000 });
    expect(statement.entries.map(short)).toEqual([
      ['2026-10-01', 100_000, 'Ada & Co', ADA, 'RE-2026-0001'],
      ['2026-10-01', 50_000, 'Ada & Co', ADA, 'RE-2026-0002'],
    ]);
  },
);

test('CAMT.053 entries with a reversal, a return reason or a return code are returned payments, and pending entries are skipped', async () => {
  const reversed = entryOf('20.00', '', { sign: 'DBIT', more: '<RvslInd>true</RvslInd>' });
  const reason = '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>';
  const returning = paid('30.00', 'back').replace('</TxDtls>', `${reason}</TxDtls>`);
  const returned = entryOf('30.00', returning, { sign: 'DBIT' });
  const pending = entryOf('99.00', '').replace('BOOK', 'PDNG');
  const family = '<Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly>';
  const code = `<BkTxCd><Domn><Cd>PMNT</Cd>${family}</Domn></BkTxCd>`;
  const unpaid = entryOf('1.00', code, { sign: 'DBIT', more: code });
  const own = '<BkTxCd><Prtry><Cd>NTRF+159+931</Cd></Prtry></BkTxCd>';
  const german = entryOf('2.00', '', { sign: 'DBIT', more: own });
  const plain = entryOf('3.00', '', { sign: 'DBIT' });
  const all = reversed + returned + pending + unpaid + german + plain;
  const { entries } = await read(camt('02', all, { closing: '944.00' }));
  expect(entries.map(({ amount, is_return, name }) => [amount, is_return, name])).toEqual([
    [-20_000, true, null],
    [-30_000, true, 'Ada & Co'],
    [-1000, true, null],
    [-2000, true, null],
    [-3000, false, null],
  ]);
});

test('reading a CAMT file of more than 8 MB leaves time for other requests', async () => {
  const text = 'Hosting '.repeat(55);
  const entries = Array.from({ length: 10_000 }, () => entryOf('1.00', paid('1.00', text))).join('');
  const file = camt('02', entries, { closing: '11000.00' });
  expect(file.length).toBeGreaterThan(8_000_000);
  // Compare CPU times, so that neither a pause of the machine nor its speed matters.
  const times = [process.cpuUsage().user];
  const note = () => {
    times.push(process.cpuUsage().user);
    next = setImmediate(note);
  };
  let next = setImmediate(note);
  onTestFinished(() => clearImmediate(next));
  expect((await read(file)).entries).toHaveLength(10_000);
  const turns = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(turns.length).toBeGreaterThan(100);
  expect(Math.max(...turns)).toBeLessThan(turns.reduce((sum, turn) => sum + turn) / 2);
});

test('a commented-out CAMT entry is ignored, and the error for a damaged entry names its line', async () => {
  const entry = entryOf('150.00', paid('150.00', '<![CDATA[</Ntry> & more]]>'));
  const { entries } = await read(camt('02', `<!-- ${entryOf('7.00', '')} -->${entry}`));
  expect(entries.map(({ purpose, line }) => [purpose, line])).toEqual([['</Ntry> & more', 9]]);
  const damaged = camt('02', entry + entryOf('1.00', '').replace('</Sts>\n', '</Stz>\n'));
  expect(await reasonOf(damaged)).toMatch(/^line 12 is damaged/);
  expect(await reasonOf(camt('02', `${entry}<!-- `))).toContain('is damaged');
});

const EMPTY = camt('02', '');
const ENTITY = '<!DOCTYPE a [<!ENTITY x "y">]>';
const BATCH = entryOf('150.00', paid('1.00', 'a') + paid('2.00', 'b'));
test.each([
  ['an XML entity', camt('02', '', { head: ENTITY }), 'line 1 declares a document type'],
  ['a missing end tag', EMPTY.replace('</Stmt>', ''), 'is damaged'],
  ['wrong balances', camt('02', '', { closing: '1000.01' }), 'does not balance'],
  ['an unknown currency', EMPTY.replaceAll('EUR', 'XYZ'), 'line 2 has the currency XYZ'],
  ['an empty currency', EMPTY.replaceAll('EUR', ' '), 'line 2 has no currency'],
  ['an unsupported version', EMPTY.replace('001.02', '001.09'), 'camt.053.001.09'],
  ['an amount in fractions of a cent', camt('02', entryOf('0.333', '')), 'line 7 has the amount 0.333'],
  ['a batch that does not add up', camt('02', BATCH), 'do not add up'],
])('a CAMT.053 file with %s is refused with a reason', async (_, file, reason) => {
  expect(await reasonOf(file)).toContain(reason);
});

const MT940 = `:20:STARTUMS
:25:12030000/0000202051
:28C:00010/001
:60F:C260930EUR1000,00
:61:2610011001CR150,00NTRFNONREF//B-77
:86:166?00GUTSCHRIFT?20EREF+R-5?21SVWZ+Rechnung RE-2026?22-0001?30INGDDEFF?31${ADA}?32Ada Example?33 GmbH
:61:2610021002D20,50NDDTNONREF
:86:109?00RUECKLASTSCHRIFT?20SVWZ+Rueckgabe?21IBAN+${ADA}?32Bob
:62F:C261002EUR1129,50
-
`;

test('the IBAN and each entry’s name, account and text are read from a German bank’s MT940 file', async () => {
  // The text of the second entry contains an IBAN, which the other party may have written.
  const statement = await read(MT940);
  expect(statement).toMatchObject({ iban: OWN, currency: 'eur', opening: 1_000_000, closing: 1_129_500 });
  expect(statement.entries.map(short)).toEqual([
    ['2026-10-01', 150_000, 'Ada Example GmbH', ADA, 'Rechnung RE-2026-0001 R-5'],
    ['2026-10-02', -20_500, 'Bob', null, 'Rueckgabe'],
  ]);
  expect(statement.entries.map(({ is_return }) => is_return)).toEqual([false, true]);
});

const FROM_TO =
  '<FrToDt><FrDtTm>2026-09-30T00:00:00</FrDtTm><ToDtTm>2026-09-30T24:00:00</ToDtTm></FrToDt><Acct>';
test.each([
  ['MT940', MT940.replaceAll('1002D', '1005D'), ['2026-10-01', '2026-10-05']],
  ['CAMT.053', camt('02', entryOf('150.00', '')).replace('<Acct>', FROM_TO), ['2026-09-30', '2026-10-01']],
])('the period of a bank file in %s includes entries outside of its days', async (_, file, period) => {
  const { from, to } = await read(file);
  expect([from, to]).toEqual(period);
});

test.each([
  ['its SWIFT transaction type', ':61:2610021002D20,50NRTINONREF\n:86:Bob'],
  ['its plain text', ':61:2610021002D20,50NMSCRG 2026/12\n:86:NSF CHEQUE Bob'],
  ['the reason code in its text', ':61:2610021002D20,50NDDTNONREF\n:86:105?20SVWZ+RE-1 AM04?32Bob'],
])('an MT940 debit is recognized as a return by %s', async (_, debit) => {
  const file = MT940.replace(/:61:2610021002D[\s\S]*?Bob/, debit);
  expect((await read(file)).entries.map(({ is_return }) => is_return)).toEqual([false, true]);
});

test('an MT940 file with twice the allowed entries is refused without keeping the processor busy for seconds', async () => {
  const many = MT940.replace(/:61:[\s\S]*(?=:62F)/, ':61:261001C1,NTRF\n:86:x\n'.repeat(40_000));
  const began = process.cpuUsage();
  expect(await reasonOf(many)).toBe('has more than 20000 entries: export a shorter period');
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(5);
});

const NEXT = MT940.replace('C260930EUR1000,00', 'C261002EUR1129,50').replace(
  'EUR1129,50\n-',
  'EUR1259,00\n-',
);
test('consecutive MT940 messages form one statement if each opens with the previous closing balance', async () => {
  expect(await read(MT940 + NEXT)).toMatchObject({ opening: 1_000_000, closing: 1_259_000 });
  expect(await reasonOf(MT940 + MT940)).toContain('line 11 begins a statement whose opening balance');
  const swift = `{1:F01}{2:O940}{4:\n${MT940.replace(/-\n$/, '-}{5:{CHK:1}}{1:F01}{4:')}\n${NEXT.replace(/-\n$/, '-}{S:{COP:P}}')}`;
  expect(await read(swift)).toMatchObject({ opening: 1_000_000, closing: 1_259_000 });
});

const CLOSED = MT940.replace('-\n', ':64:C261002EUR1129,50\n:65:C261003EUR1129,50\n:86:Everything\n');
test.each([
  ['the last MT940 message', CLOSED, 1_129_500],
  ['an MT940 message that another follows without a line `-`', CLOSED + NEXT, 1_259_000],
])('available balances and a text after the closing balance of %s are ignored', async (_, file, closing) => {
  const { entries, ...statement } = await read(file);
  expect(statement).toMatchObject({ opening: 1_000_000, closing });
  expect(entries.map(({ purpose }) => purpose).slice(0, 2)).toEqual([
    'Rechnung RE-2026-0001 R-5',
    'Rueckgabe',
  ]);
});

test.each([
  ['an entry that cannot be read', MT940.replace('CR150,00', 'X150'), 'line 5 has an entry'],
  ['no closing balance', MT940.replace(/:62F:.*\n/, ''), 'line 1 begins a message without a closing balance'],
  ['a day that does not exist', MT940.replace('2610011001', '2602300230'), 'line 5 has the date'],
  ['an unknown field', MT940.replace(':28C:', ':77:'), 'line 3 has the field :77:'],
  ['an entry after the closing balance', MT940.replace('-\n', ':61:X'), 'line 10 has the field :61: outside'],
  ['a balance before the first message', `:64:X\n${MT940}`, 'line 1 has the field :64: outside'],
])('an MT940 file with %s is refused with the number of the line', async (_, file, reason) => {
  expect(await reasonOf(file)).toContain(reason);
});

/** CSV files as banks offer them for download. Each has a credit of 1,190.00 for invoice RE-2026-0001. */
const CSV: Record<string, string> = {
  Sparkasse: `"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";"Mandatsreferenz";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Lastschrift Ursprungsbetrag";"Auslagenersatz Ruecklastschrift";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"
"${OWN}";"01.10.26";"01.10.26";"GUTSCHR. UEBERWEISUNG";"RE-2026-0001";"";"";"";"";"";"";"Ada Example";"${ADA}";"INGDDEFF";"1190,00";"EUR";"Umsatz gebucht"
"${OWN}";"02.10.26";"02.10.26";"GUTSCHR. UEBERWEISUNG";"later";"";"";"";"";"";"";"Bob";"";"";"5,00";"EUR";"Umsatz vorgemerkt"`,
  DKB: `"Girokonto";"${OWN}"
"Kontostand vom 31.10.2026:";"2.000,00 €"

"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"
"01.10.26";"01.10.26";"Gebucht";"Ada Example";"Our company";"RE-2026-0001";"Eingang";"${ADA}";"1.190,00 €";"";"";""`,
  ING: `Umsatzanzeige;Datei erstellt am: 31.10.2026

IBAN;DE02 1203 0000 0000 2020 51
Saldo;2.000,00;EUR

Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung
02.10.2026;02.10.2026;Shop;Lastschrift;paper;2.000,00;EUR;-10,00;EUR
01.10.2026;01.10.2026;Ada Example;Gutschrift;RE-2026-0001 ${ADA};2.010,00;EUR;1.190,00;EUR`,
  Commerzbank: `Buchungstag;Wertstellung;Umsatzart;Buchungstext;Betrag;Währung;IBAN Kontoinhaber;Kategorie
01.10.2026;01.10.2026;Gutschrift;Ada Example RE-2026-0001 ${ADA};1.190,00;EUR;${OWN};Einnahme`,
  N26: `"Booking Date","Value Date","Partner Name","Partner Iban","Type","Payment Reference","Account Name","Amount (EUR)","Original Amount","Original Currency","Exchange Rate"
"2026-10-01","2026-10-01","Ada Example","${ADA}","Credit Transfer","RE-2026-0001","Main","1190.00","","",""`,
  Revolut: `Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance
TRANSFER,Current,2026-10-01 08:00:00,2026-10-01 08:00:01,From Ada Example RE-2026-0001 ${ADA},1190.00,0.00,EUR,COMPLETED,1200.00
CARD_PAYMENT,Current,2026-10-02 08:00:00,2026-10-02 08:00:01,Shop,-10.00,0.50,EUR,COMPLETED,1189.50`,
  Wise: `"TransferWise ID",Date,Amount,Currency,Description,"Payment Reference","Running Balance","Payer Name","Payee Name","Payee Account Number"
TRANSFER-1,01-10-2026,1190.00,EUR,"Received money from Ada Example","RE-2026-0001 ${ADA}",1190.00,"Ada Example",,`,
  Volksbank: `Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Bankname Auftragskonto;Buchungstag;Valutadatum;Name Zahlungsbeteiligter;IBAN Zahlungsbeteiligter;BIC (SWIFT-Code) Zahlungsbeteiligter;Buchungstext;Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung;Bemerkung;Gekennzeichneter Umsatz;Glaeubiger ID;Mandatsreferenz
Konto;${OWN};GENODEF1XXX;Volksbank;02.10.2026;02.10.2026;Shop;;;Lastschrift;paper;-10,00;EUR;2.000,00;;;;
Konto;${OWN};GENODEF1XXX;Volksbank;01.10.2026;01.10.2026;Ada Example;${ADA};INGDDEFF;Gutschrift;RE-2026-0001;1.190,00;EUR;2.010,00;;;;`,
  Erste: `"Buchungsdatum","Partnername","Partner IBAN","BIC/SWIFT","Partner Kontonummer","Bankleitzahl","Betrag","Währung","Buchungs-Details","Buchungsreferenz","Notiz","Highlight","Valutadatum","Virtuelle Karten-Nummer","Bezahlt mit","App","Zahlungsreferenz","Mandats ID","Creditor ID"
"01.10.2026","Ada Example","${ADA}","INGDDEFF","","","1.190,00","EUR","Gutschrift","201111610011AB1-000000001","","","01.10.2026","","","","RE-2026-0001","",""`,
  Raiffeisen: `01.10.2026;"Gutschrift Ada Example RE-2026-0001 ${ADA}";01.10.2026;1.190,00;EUR;01.10.2026 08:00:01:123
02.10.2026;"Bezahlung Karte; Shop";02.10.2026;-10,00;EUR;02.10.2026 08:00:01:123`,
};

test.each(Object.entries(CSV))('a credit in the CSV file of the bank %s is read', async (bank, text) => {
  const { currency, entries } = await read(text);
  const credit = entries.find(({ amount }) => amount > 0);
  const purpose = expect.stringContaining('RE-2026-0001');
  // The other banks' files name an account only in the text, which the payer can write.
  const iban = ['Sparkasse', 'DKB', 'N26', 'Volksbank', 'Erste'].includes(bank) ? ADA : null;
  expect({ currency, ...credit }).toMatchObject({
    ...{ currency: 'eur', day: '2026-10-01', amount: 1_190_000, iban, purpose },
  });
  expect(entries).toHaveLength(['ING', 'Revolut', 'Volksbank', 'Raiffeisen'].includes(bank) ? 2 : 1);
});

test('a bank’s CSV file can be in Windows-1252 or UTF-16, and its entries can be in either order', async () => {
  const windows = await readStatement(Buffer.from(CSV.ING ?? '', 'latin1'));
  expect(windows).toMatchObject({ iban: OWN, opening: 820_000, closing: 2_000_000 });
  const utf16 = await readStatement(Buffer.from(`\uFEFF${CSV.Erste}`, 'utf16le'));
  expect(utf16.entries.map(({ name, amount }) => [name, amount])).toEqual([['Ada Example', 1_190_000]]);
  expect(await read(CSV.Revolut ?? '')).toMatchObject({ iban: null, opening: 10_000, closing: 1_189_500 });
});

const { ING = '', Commerzbank = '', N26 = '' } = CSV;
test.each(['utf8', 'latin1'] as const)(
  'a bank’s CSV file with a byte order mark, a header in %s and an entry in Windows-1252 is read',
  async (encoding) => {
    const [header, entry = ''] = Commerzbank.split('\n');
    const parts: [string, BufferEncoding][] = [
      ['\ufeff', 'utf8'],
      [`${header}\n`, encoding],
      [entry.replace('Ada', 'J\u00fcrgen'), 'latin1'],
    ];
    const { entries } = await readStatement(Buffer.concat(parts.map((part) => Buffer.from(...part))));
    expect(entries[0]?.purpose).toMatch(/^Jürgen Example/);
  },
);

test.each([
  ['a balance that contradicts its entries', ING.replace('2.010,00', '2.011,00'), 'line 7 has a balance'],
  ['a decimal point', Commerzbank.replace('1.190,00', '1190.00'), 'line 2 has the amount 1190.00'],
  ['an unusual date', N26.replace('"2026-10-01"', '"01.10.2026"'), 'line 2 has the date 01.10.2026'],
  ['an open quotation mark', `${N26}\n"2026`, 'line 3 has a quotation mark'],
  ['unknown columns', 'a,b\n1,2', 'is neither CAMT.053 nor MT940 nor a CSV file of'],
])('a bank’s CSV file with %s is refused with a reason', async (_, file, reason) => {
  expect(await reasonOf(file)).toContain(reason);
});

test('a bank file that is empty or too large is refused', async () => {
  expect(await reasonOf('')).toBe('is empty');
  expect(await reasonOf(Buffer.alloc(10_000_001, 32))).toContain('must have at most 10 MB');
});

const customer = (id: number, invoices: Candidate['invoices'], more: Partial<Candidate> = {}): Candidate => ({
  ...{ customer_id: id, customer_number: `K${10_000 + id}`, names: [`First${id} Last${id}`] },
  ...{ ruled: [], known: [], invoices, ...more },
});
const invoice = (id: number, amount: number) => {
  const number = `RE-2026-${String(id).padStart(5, '0')}`;
  return { id, number, amount };
};
const ANONYMOUS = { name: null, iban: null };
const credit = (amount: number, purpose: string, more: Partial<Credit> = {}): Credit => ({
  ...{ amount, purpose, ...ANONYMOUS, ...more },
});

const ada = customer(1, [invoice(100, 50_000), invoice(140, 70_000)]);
const bob = customer(2, [invoice(101, 50_000)], { names: ['Bob Builder'], ruled: [ADA] });
const eve = customer(3, [invoice(511, 100), invoice(522, 200), invoice(533, 200)], {
  customer_number: 'K30000',
});
const all = [ada, bob, eve];

const named = { name: 'BOB BUILDER' };
test.each([
  ['an invoice number', credit(50_000, 'Rechnung RE-2026-00100'), 1, [100], true],
  ['an invoice number that a line break splits', credit(50_000, 'RE 2026 001 00'), 1, [100], true],
  ['two invoice numbers', credit(120_000, 'RE-2026-00100 und RE-2026-00140'), 1, [100, 140], true],
  ['a customer number and the sum of the open invoices', credit(120_000, 'K10001'), 1, [100, 140], true],
  ['a customer number and the sum of some open invoices', credit(300, 'K30000'), 3, [511, 522], false],
  ['a mistyped customer number', credit(70_000, 'K1001'), 1, [140], false],
  ['a correct invoice number that resembles another', credit(50_000, 'RE-2026-00101'), 2, [101], true],
  ['a mistyped invoice number', credit(70_000, 'RE-2026-00141'), 1, [140], false],
  ['an account that a rule assigns to a customer', credit(50_000, 'thanks', { iban: ADA }), 2, [101], true],
  ['the name of a customer and an amount', credit(50_000, 'thanks', named), 2, [101], false],
  ['only an amount', credit(70_000, 'thanks'), 1, [140], false],
])('a bank credit with %s is proposed for the right invoices', (_, entry, customer_id, ids, is_exact) => {
  const shares = ids.map((invoice_id) => ({ invoice_id }));
  expect(propose(entry, all)[0]).toMatchObject({ customer_id, shares, is_exact });
});

test.each([
  ['a wrong digit', 'INV-1239'],
  ['an added digit at the start', '5INV-1234'],
  ['an added digit inside', 'INV-12534'],
  ['an added digit at the end', 'INV-12345'],
  ['a missing character', 'INV1234'],
  ['two swapped neighbours', 'INV-1243'],
])('the neighbours of a number include the text with %s', (_, text) => {
  expect(neighboursOf('INV-1234')).toContain(text);
});

test('the neighbours of a number do not include the number itself', () => {
  for (const number of ['INV-1234', 'INV-1123']) expect(neighboursOf(number)).not.toContain(number);
});

test('an invoice number inside a longer number in a bank entry is not recognized', () => {
  const one = customer(1, [{ id: 1, number: '202600100', amount: 1000 }]);
  expect(propose(credit(1, '12026001009'), [one])).toEqual([]);
});

test('the part of a bank credit that exceeds the invoices becomes customer credit, and the match is not exact', () => {
  const unsure = { rest: 10_000, is_exact: false, is_sure: false };
  expect(propose(credit(60_000, 'RE-2026-00101'), [bob])[0]).toMatchObject(unsure);
});

test('a rule does not book a bank credit whose text names the invoice of another customer', () => {
  const [first] = propose(credit(50_000, 'RE-2026-00100', { iban: ADA }), all);
  expect(first).toMatchObject({ customer_id: 1, is_sure: false, is_exact: false });
});

test('a bank credit whose text names an invoice that cannot be paid is left to a person, with the reason', () => {
  const closed = [{ number: 'RE-2026-00139', problem: 'that is paid' }];
  const [first] = propose(credit(120_000, 'K10001 RE 2026-00139'), [ada], closed);
  expect(first).toMatchObject({ customer_id: 1, is_exact: false, is_sure: false });
  expect(first?.reasons).toContain('The text names RE-2026-00139, an invoice that is paid.');
  expect(first?.reasons.join()).not.toContain('almost');
  expect(propose(credit(120_000, 'K10001 NrRE2026-00139'), [ada], closed)[0]).toMatchObject({
    is_sure: false,
  });
  const part = [{ number: '2026-00100', problem: 'that is paid' }];
  expect(propose(credit(50_000, 'RE2026-00100'), [ada], part)[0]).toMatchObject({ is_sure: true });
  expect(propose(credit(120_000, 'K10001'), [ada], closed)[0]).toMatchObject({ is_sure: true });
});

test('a bank credit that names a paid invoice almost names no other invoice, but may do so with another number', () => {
  const closed = [{ number: 'RE-2026-00109', problem: 'that is paid' }];
  const reasonsFor = (text: string) =>
    propose(credit(50_000, text), all, closed).flatMap((one) => one.reasons);
  expect(reasonsFor('RE-2026-00109').join()).not.toContain('almost');
  expect(reasonsFor('RE-2026-00109 RE-2026-0100').join()).toContain('almost');
});

/**
 * Builds 300 credits. 200 pay one invoice, 60 pay all invoices of a customer, 20 have a mistyped invoice number, and 20
 * belong to no invoice.
 */
function month(seed: number) {
  let state = seed;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
  let next = 10_000;
  const people = Array.from({ length: 400 }, (_, at) => {
    const invoices = Array.from({ length: 1 + (at % 3) }, () => {
      next += 1 + random(3);
      return invoice(next, 10 * (990 + 1000 * random(11)) + 10 * random(40));
    });
    const ruled = at % 5 === 0 ? [`DE${10 ** 12 + at}`] : [];
    return customer(at + 1, invoices, { names: [`First${at} Last${at}`], ruled });
  });
  const entries = people.slice(0, 280).map((one, at) => {
    const [first] = one.invoices;
    if (!first) throw new Error('every customer has an invoice');
    const isSeveral = at >= 200 && at < 260;
    const its = isSeveral ? one.invoices : [first];
    const text = its.map(({ number }) => number).join(' ');
    const wrong = text.slice(0, -2) + ((Number(text.at(-2)) + 1 + random(8)) % 10) + text.slice(-1);
    const right = at % 4 === 0 ? `${one.customer_number} thanks` : `Rechnung ${text}`;
    const amount = its.reduce((sum, invoice) => sum + invoice.amount, 0);
    const by = { name: one.names[0] ?? null, iban: one.ruled[0] ?? null };
    const entry = credit(amount, at >= 260 ? wrong : right, by);
    return { entry, customer_id: one.customer_id, invoices: its.map(({ id }) => id).sort() };
  });
  const others = Array.from({ length: 20 }, (_, at) =>
    credit(1000 * (7 + at) + 7, at < 10 ? `SALARY PAYMENT ${at}` : 'thanks'),
  );
  return { people, entries, others };
}

test('the first proposal is right for at least 95 percent of a month’s bank credits, and no wrong one counts as exact', () => {
  for (const seed of [1, 2, 3]) {
    const { people, entries, others } = month(seed);
    let right = 0;
    for (const { entry, customer_id, invoices } of entries) {
      const [first] = propose(entry, people);
      const ids = first?.shares.map((one) => one.invoice_id).sort();
      const isRight = first?.customer_id === customer_id && String(ids) === String(invoices);
      if (isRight) right += 1;
      else expect([first?.is_sure, first?.is_exact]).toEqual([false, false]);
    }
    expect(right / entries.length).toBeGreaterThanOrEqual(0.95);
    for (const other of others) expect(propose(other, people)).toEqual([]);
  }
});

test('the shares and the rest of a proposal add up to the bank credit, and no share exceeds its invoice', () => {
  const opens = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500_000 }), opens, (amount, open) => {
      const invoices = open.map((its, at) => invoice(at + 1, its));
      for (const { shares, rest } of propose(credit(amount, 'K10001'), [customer(1, invoices)])) {
        expect(shares.reduce((sum, share) => sum + share.amount, rest)).toBe(amount);
        expect(shares.every((share) => share.amount <= (open[share.invoice_id - 1] ?? 0))).toBe(true);
      }
    }),
  );
});
