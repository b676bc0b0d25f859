import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import type { KeptParty } from '@/db/schema';
import { categorize, type TaxCategory } from '../customers/tax-category';
import { printProblems } from '../printable';

/**
 * Stores a copy of the seller and the buyer of issued invoices, and the tax category of each line. Later changes of the
 * company or the customer then do not change the invoice. Keeps a copy that is already stored. Skips invoices of erased
 * customers, and invoices without lines, because these have no document.
 *
 * @returns invalid combinations of rate, category and customer, and characters that documents cannot print; the caller
 *   decides whether to refuse the write
 */
export async function keepParties(tx: Database, ids: number[]): Promise<string[]> {
  if (ids.length === 0) return [];
  await tx.execute(sql`insert into invoice_documents (invoice_id, seller, buyer)
    select i.id,
      coalesce((select to_jsonb(c) - '{id,other_ibans,created_at,updated_at}'::text[] from company c), '{}'),
      jsonb_build_object('customer_number', c.customer_number, 'company', c.company, 'first_name', c.first_name,
        'last_name', c.last_name, 'email', c.email, 'street', c.street, 'postal_code', c.postal_code,
        'city', c.city, 'country', c.country, 'vat_id', c.vat_id, 'tax_exempt', c.tax_exempt,
        'buyer_reference', c.buyer_reference, 'document_language', c.document_language,
        'payment_terms', c.payment_terms)
    from invoices i join customers c on c.id = i.customer_id
    where i.id in (${each(ids)}) and i.status <> 'draft' and c.erased_at is null
      and (exists (select from invoice_lines l where l.invoice_id = i.id)
        or exists (select from stripe_invoice_lines l where l.invoice_id = i.id))
    order by i.id
    on conflict (invoice_id) do nothing`);
  return keepCategories(tx, ids);
}

type Taxed = {
  line_id: number;
  invoice_id: number;
  text: string;
  tax_rate: string;
  tax_category: TaxCategory | null;
  seller: KeptParty;
  buyer: KeptParty;
  seller_country: string | null;
  small_business: boolean;
};

/** Stores the default category of each line without a category. Changes no line if the company's country is unknown. */
async function keepCategories(tx: Database, ids: number[]): Promise<string[]> {
  const found = await rows<Taxed>(
    tx,
    sql`select l.id as line_id, l.invoice_id, l.text, l.tax_rate, l.tax_category, d.seller - 'logo' as seller, d.buyer,
        coalesce(d.seller ->> 'country', c.country) as seller_country,
        coalesce((d.seller ->> 'small_business')::boolean, c.small_business, false) as small_business
      from invoice_documents d join invoice_lines l using (invoice_id) left join company c on true
      where d.invoice_id in (${each(ids)}) order by l.invoice_id, l.position`,
  );
  const chosen: { id: number; category: TaxCategory }[] = [];
  const all: string[] = [];
  const byInvoice = new Map<number, Taxed[]>();
  for (const line of found) {
    byInvoice.set(line.invoice_id, [...(byInvoice.get(line.invoice_id) ?? []), line]);
  }
  for (const lines of byInvoice.values()) {
    const [first] = lines;
    if (!first) continue;
    all.push(...printProblems({ company: first.seller, customer: first.buyer }, lines));
    if (!first.seller_country) continue;
    const seller = { country: first.seller_country, small_business: first.small_business };
    const buyer = {
      country: textOf(first.buyer.country),
      vat_id: textOf(first.buyer.vat_id),
      tax_exempt: first.buyer.tax_exempt === true,
    };
    const { categories, problems } = categorize(lines, buyer, seller);
    all.push(...problems);
    for (const [at, { line_id, tax_category }] of lines.entries()) {
      const category = categories[at];
      if (tax_category === null && category) chosen.push({ id: line_id, category });
    }
  }
  if (chosen.length > 0) {
    await tx.execute(sql`update invoice_lines l set tax_category = r.category::tax_category
      from jsonb_to_recordset(${JSON.stringify(chosen)}::jsonb) as r(id int, category text) where l.id = r.id`);
  }
  return all;
}

const each = (ids: number[]) => sql`select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)::int`;

const textOf = (value: KeptParty[string] | undefined) => (typeof value === 'string' ? value : null);
