import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoiceLines, invoices } from '@/db/schema';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createSalesDocument } from '../support/factories';
import { runCommandHere } from '../support/run-command';

const HEADER = 'invoice_number,invoice_import_key,position,text,quantity,unit_price,tax_rate';

describe('a file of lines', () => {
  const base = useDatabase();
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-lines-'));
    await createCustomer(base.db, { customer_number: 'L1' });
    for (const number of ['A', 'B', 'C', 'D', 'E']) await createInvoice(base.db, { number });
    await createInvoice(base.db, { number: 'STRIPE', stripe_invoice_id: 'in_1' });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function run(kind: string, rows: string[]) {
    writeFileSync(join(folder, 'l.csv'), rows.join('\n'));
    return (await runCommandHere(base.db, 'import', [kind, 'l.csv'], { cwd: folder })).said;
  }
  const linesOf = (number: string) =>
    base.db
      .select({ position: invoiceLines.position, text: invoiceLines.text })
      .from(invoiceLines)
      .innerJoin(invoices, eq(invoices.id, invoiceLines.invoice_id))
      .where(eq(invoices.number, number))
      .orderBy(invoiceLines.position);

  const good = ['A,,10,First,1,60,19', 'A,,20,Second,2,20,19'];

  test('gives invoices all of their lines, or none', async () => {
    const bad = [
      'B,,1,Too cheap,1,90,19',
      'C,,1,Half,1,50,19',
      'C,,2,Half,one,50,19',
      'C,,3,Half,1',
      'D,,2,Later,1,50,19',
      'D,,1,Sooner,1,50,19',
      'A,,30,Third,1,0,19',
      'X,,1,Nothing,1,1,19',
      ',,1,Nobody,1,1,19',
      'STRIPE,,1,Theirs,1,100,19',
    ];
    const said = await run('invoice-lines', [HEADER, ...good, ...bad]);
    expect(said.slice(0, -1)).toEqual([
      'line 4 cannot be taken: the lines come to 90.00 EUR / 17.10 EUR / 107.10 EUR (net, tax, total), and it is over 100.00 EUR / 19.00 EUR / 119.00 EUR',
      'line 5 is refused together with line 6',
      'line 6, column quantity: must be a number',
      'line 7 has 5 cells, and the first line 7',
      'line 8 is refused together with line 9',
      'line 9, column position: must be more than in the line before',
      'line 10, column invoice_number: is that of line 2 too: all of one must stand together',
      'line 11, column invoice_number: is not a known invoice',
      'line 12 is refused together with line 11',
      'line 13 Stripe manages this invoice',
      'l.csv: 2 new, 0 changed, 0 unchanged, 10 rejected.',
    ]);
    expect(await linesOf('A')).toEqual([
      { position: 1, text: 'First' },
      { position: 2, text: 'Second' },
    ]);
    expect(readFileSync(join(folder, 'l.rejected.csv'), 'utf8').split('\r\n').slice(1, -1)).toEqual(bad);
    const [invoice] = await base.db.select().from(invoices).where(eq(invoices.number, 'A'));
    expect(invoice).toMatchObject({ subtotal: '100.000', tax: '19.000', total: '119.000', status: 'sent' });
  });

  test('changes nothing the second time, and replaces no lines', async () => {
    expect(await run('invoice-lines', [HEADER, ...good])).toEqual([
      'l.csv: 0 new, 0 changed, 2 unchanged, 0 rejected.',
    ]);
    expect((await run('invoice-lines', [HEADER, 'A,,1,Other,1,100,19']))[0]).toBe(
      'line 2 cannot be taken: there are other lines already',
    );
  });

  test('of drafts, too, and of sales documents', async () => {
    const keyed = 'import_key,customer_number,status,subtotal,tax\nd-1,L1,draft,100,19';
    expect((await run('invoices', keyed.split('\n'))).at(-1)).toMatch(/: 1 new/);
    const all = Array.from({ length: 300 }, (_, i) => `,d-1,${i},Part ${i},1,${i < 100 ? 1 : 0},19`);
    expect(await run('invoice-lines', [HEADER, ...all])).toEqual([
      'l.csv: 300 new, 0 changed, 0 unchanged, 0 rejected.',
    ]);
    await createSalesDocument(base.db, { document_number: 'AN-1' });
    const ofDocument = ['document_number;text;quantity;unit_price;tax_rate', 'AN-1;Setup;1;100,00;19'];
    writeFileSync(join(folder, 'd.csv'), ofDocument.join('\n'));
    const args = ['sales-document-lines', 'd.csv', '--decimal-comma'];
    expect((await runCommandHere(base.db, 'import', args, { cwd: folder })).said).toEqual([
      'd.csv: 1 new, 0 changed, 0 unchanged, 0 rejected.',
    ]);
  });

  test('of more lines than one may have is refused', async () => {
    const many = Array.from({ length: 501 }, () => 'E,,,Part,1,0,19');
    const said = await run('invoice-lines', [HEADER, ...many]);
    expect(said[0]).toBe('line 2 cannot be taken: there may be 500 lines at most');
    expect(said.at(-2)).toBe('l.csv: 0 new, 0 changed, 0 unchanged, 501 rejected.');
  });
});
