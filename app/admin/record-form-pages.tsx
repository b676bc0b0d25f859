import { notFound, redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { readTyped, type Typed } from '@/lib/records/typed-record';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { orNotFound } from '../_components/or-not-found';
import { type SearchParams, toId } from '../_components/search-params';
import { save } from './_components/forms/record/actions';
import type { FormPart } from './_components/forms/record/form-fields';
import { FormPage } from './_components/forms/record/form-page';
import { FORMS, type FormName } from './_components/forms/record/kinds';
import { choiceFor, newFor } from './_components/forms/record/new-for';

interface NewRecordPage {
  form: FormName;
  title: string;
  /** What the form is called, for readers. */
  label: string;
  submit: string;
  /** The name of the list that the page leads back to. */
  list: string;
  /** The first values: fixed ones, or those of a record of the customer that the address names. */
  first: Typed | ((begun: { typed: Typed; taxRate: number }) => Typed);
  parts(db: Runtime['db']): FormPart[] | Promise<FormPart[]>;
}

/** The page with the form of a new record. */
export function newRecordPage({ form, title, label, submit, list, first, parts }: NewRecordPage) {
  return async ({ searchParams }: { searchParams: Promise<SearchParams> }) => {
    await requireStaff();
    const { path } = FORMS[form];
    const begun =
      typeof first === 'function'
        ? await beginFor(searchParams, path, first)
        : { typed: first, cancel: path };
    const { typed, ...rest } = begun;
    return (
      <FormPage
        title={title}
        back={{ href: path, label: list }}
        label={label}
        action={save.bind(null, form, null)}
        parts={await parts((await getRuntime()).db)}
        record={{ version: null, typed }}
        submit={submit}
        {...rest}
      />
    );
  };
}

async function beginFor(
  searchParams: Promise<SearchParams>,
  path: string,
  first: (begun: { typed: Typed; taxRate: number }) => Typed,
) {
  const { typed, taxRate, customer, cancel } = await newFor(searchParams, path);
  return { typed: first({ typed, taxRate }), customer, cancel };
}

interface Heading {
  title: string;
  /** What the link back to the record is called. */
  back: string | ((typed: Typed) => string);
}

interface EditRecordPage {
  form: FormName;
  /** What the form is called, for readers. */
  label: string;
  submit: string;
  /** The heading of the page; null if the record cannot be edited now. */
  heading(db: Runtime['db'], id: number): Promise<Heading | null>;
  parts(db: Runtime['db'], typed: Typed): FormPart[] | Promise<FormPart[]>;
  /** Whether the form has a field for the customer. */
  hasCustomer?: boolean;
}

/** The page with the form of an existing record. If the record cannot be edited now, it leads back to the record. */
export function editRecordPage({ form, label, submit, heading, parts, hasCustomer }: EditRecordPage) {
  return async ({ params }: { params: Promise<{ id: string }> }) => {
    await requireStaff();
    const id = toId((await params).id) ?? notFound();
    const { typedKind, path } = FORMS[form];
    const { db } = await getRuntime();
    const page = `${path}/${id}`;
    const { head } = await orNotFound(heading(db, id).then((found) => ({ head: found })));
    if (!head) redirect(page);
    const record = await orNotFound(readTyped(db, typedKind, id));
    const { typed } = record;
    return (
      <FormPage
        title={head.title}
        back={{ href: page, label: typeof head.back === 'string' ? head.back : head.back(typed) }}
        label={label}
        action={save.bind(null, form, id)}
        parts={await parts(db, typed)}
        record={record}
        submit={submit}
        cancel={page}
        {...(hasCustomer && { customer: await choiceFor(typed.customer_number) })}
      />
    );
  };
}
