import { Box } from '@mantine/core';
import { notFound, redirect } from 'next/navigation';
import type { ComponentProps } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCustomerChoice } from '@/lib/customers/find-customers';
import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { readTyped, type Typed } from '@/lib/records/typed-record';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { orNotFound } from '../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../_components/search-params';
import { save } from './_components/forms/record/actions';
import { FORMS, type FormName } from './_components/forms/record/kinds';
import { type FormPart, RecordForm } from './_components/forms/record/record-form';
import { PageHeader } from './_components/page/page-header';

interface NewRecordPage {
  form: FormName;
  title: string;
  /** Name of the form for screen readers. */
  label: string;
  submit: string;
  /** Name of the list to which the page links back. */
  list: string;
  /** Initial values: fixed values, or values that depend on the customer in the address. */
  first: Typed | ((begun: { typed: Typed; taxRate: number }) => Typed);
  parts(db: Runtime['db']): FormPart[] | Promise<FormPart[]>;
}

/** Creates the page with the form of a new record. */
export function newRecordPage({ form, title, list, first, parts, ...texts }: NewRecordPage) {
  return async ({ searchParams }: { searchParams: Promise<SearchParams> }) => {
    await requireStaff();
    const { path } = FORMS[form];
    const { typed, ...rest } =
      typeof first === 'function'
        ? await beginFor(toParams(await searchParams).get('customer') ?? '', path, first)
        : { typed: first, cancel: path };
    return (
      <FormPage
        title={title}
        back={{ href: path, label: list }}
        action={save.bind(null, form, null)}
        parts={await parts((await getRuntime()).db)}
        record={{ version: null, typed }}
        {...texts}
        {...rest}
      />
    );
  };
}

/** Returns the initial values for a customer's new record, and the target of the cancel link. */
async function beginFor(
  text: string,
  path: string,
  first: (begun: { typed: Typed; taxRate: number }) => Typed,
) {
  const { db, env } = await getRuntime();
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

interface Heading {
  title: string;
  /** Label of the link back to the record. */
  back: string | ((typed: Typed) => string);
}

interface EditRecordPage {
  form: FormName;
  /** Name of the form for screen readers. */
  label: string;
  submit: string;
  /** Returns the heading of the page. Null if the record cannot be edited now. */
  heading(db: Runtime['db'], id: number): Promise<Heading | null>;
  parts(db: Runtime['db'], typed: Typed): FormPart[] | Promise<FormPart[]>;
  /** True if the form has a field for the customer. */
  hasCustomer?: boolean;
}

/** Creates the page with the form of an existing record. Redirects to the record if it cannot be edited now. */
export function editRecordPage({ form, heading, parts, hasCustomer, ...texts }: EditRecordPage) {
  return async ({ params }: { params: Promise<{ id: string }> }) => {
    await requireStaff();
    const id = toId((await params).id) ?? notFound();
    const { typedKind, path } = FORMS[form];
    const { db, env } = await getRuntime();
    const page = `${path}/${id}`;
    const { head } = await orNotFound(heading(db, id).then((found) => ({ head: found })));
    if (!head) redirect(page);
    const record = await orNotFound(readTyped(db, typedKind, id));
    const { typed } = record;
    const { customer_number } = typed;
    const customer = hasCustomer && customer_number ? await getCustomer(db, { customer_number }) : null;
    return (
      <FormPage
        title={head.title}
        back={{ href: page, label: typeof head.back === 'string' ? head.back : head.back(typed) }}
        action={save.bind(null, form, id)}
        parts={await parts(db, typed)}
        record={record}
        cancel={page}
        customer={customer && toCustomerChoice(customer, env.tax)}
        {...texts}
      />
    );
  };
}

interface FormPageProps extends ComponentProps<typeof RecordForm> {
  title: string;
  back: { href: string; label: string };
}

function FormPage({ title, back, ...form }: FormPageProps) {
  return (
    <Box maw={760}>
      <PageHeader back={back} title={title} />
      <RecordForm {...form} />
    </Box>
  );
}
