import { redirect } from 'next/navigation';
import type { ComponentProps } from 'react';
import { toCustomerChoice } from '@/lib/customers/find-customers';
import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { getCompany } from '@/lib/documents/company';
import { readTyped, type Typed } from '@/lib/records/typed-record';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { formatField } from '../_components/format';
import { save } from './_components/forms/record/actions';
import { FORMS, type FormName, type KindName } from './_components/forms/record/kinds';
import { type FormPart, RecordForm } from './_components/forms/record/record-form';
import { FormPage, orNotFound, recordPage, staffPage } from './_components/page/staff-page';

/**
 * Initial values of a new record, taken from the customer in the query. Without a customer, these are default values.
 */
interface Begun {
  typed: Typed;
  taxRate: number;
}

interface NewRecordPage {
  /** Initial values, or a function that derives them from the customer in the query. */
  first: Typed | ((begun: Begun) => Typed);
  parts(db: Runtime['db']): FormPart[] | Promise<FormPart[]>;
}

/** Creates the page with the form for a new record. */
export function newRecordPage(kind: KindName, { first, parts: partsOf }: NewRecordPage) {
  const name = formatField(kind);
  const form = `new_${kind}` as const;
  const { path } = FORMS[form];
  return staffPage(async ({ runtime, db, search }) => {
    const { typed, ...rest } =
      typeof first === 'function'
        ? await beginFor(runtime, search.get('customer') ?? '', path, first)
        : { typed: first, cancel: path };
    const parts = await partsOf(db);
    return (
      <RecordFormPage
        title={`New ${name.toLowerCase()}`}
        back={{ href: path, label: `${name}s` }}
        label={name}
        action={save.bind(null, form, null)}
        parts={parts}
        record={{ version: null, typed }}
        submit={hasLines(parts) ? 'Save draft' : `Create ${name.toLowerCase()}`}
        {...rest}
      />
    );
  });
}

/** Returns the customer in the query, the initial values of the form, and the path that its cancel link opens. */
async function beginFor({ db, env }: Runtime, text: string, path: string, first: (begun: Begun) => Typed) {
  const id = text ? await findCustomerId(db, text) : null;
  const found = id === null ? null : await getCustomer(db, { id });
  const customer = found && toCustomerChoice(found, env.tax);
  const typed = {
    customer_number: customer?.customer_number ?? text,
    currency: (customer?.currency ?? 'eur').toUpperCase(),
  };
  return {
    customer,
    typed: first({ typed, taxRate: customer?.tax.rate ?? env.tax.rate }),
    cancel: found ? `/admin/customers/${found.id}` : path,
  };
}

interface EditRecordPage<Row> {
  read(db: Runtime['db'], id: number): Promise<Row>;
  /** Returns the title and the label of the link to the record. Returns null if the record cannot be edited now. */
  heading(row: NonNullable<Row>): { title?: string; back: string } | null;
  parts(db: Runtime['db'], typed: Typed): FormPart[] | Promise<FormPart[]>;
  submit?: string;
}

/** Creates the page that edits a record. It redirects to the record's page if the record cannot be edited now. */
export function editRecordPage<Row>(form: FormName, { read, heading, ...declared }: EditRecordPage<Row>) {
  const name = formatField(form);
  return recordPage(read, async (row, { id, db, runtime: { env } }) => {
    const { typedKind, path } = FORMS[form];
    const page = `${path}/${id}`;
    const head = heading(row) ?? redirect(page);
    const record = await orNotFound(readTyped(db, typedKind, id));
    const parts = await declared.parts(db, record.typed);
    const { customer_number } = record.typed;
    const customer =
      hasCustomer(parts) && customer_number ? await getCustomer(db, { customer_number }) : null;
    return (
      <RecordFormPage
        title={head.title ?? `Edit ${name.toLowerCase()}`}
        back={{ href: page, label: head.back }}
        label={name}
        action={save.bind(null, form, id)}
        parts={parts}
        record={record}
        submit={declared.submit ?? (hasLines(parts) ? 'Save draft' : 'Save')}
        cancel={page}
        customer={customer && toCustomerChoice(customer, env.tax)}
      />
    );
  });
}

const hasLines = (parts: FormPart[]) => parts.some((part) => 'hasLines' in part);

const hasCustomer = (parts: FormPart[]) =>
  parts.some((part) => 'fields' in part && part.fields.some(({ kind }) => kind === 'customer'));

interface RecordFormPageProps extends Omit<ComponentProps<typeof RecordForm>, 'seller'> {
  title: string;
  back: { href: string; label: string };
}

async function RecordFormPage({ title, back, ...form }: RecordFormPageProps) {
  const { db } = await getRuntime();
  const { country, small_business } = await getCompany(db);
  return (
    <FormPage maw={760} back={back} title={title}>
      <RecordForm {...form} seller={{ country, small_business }} />
    </FormPage>
  );
}
