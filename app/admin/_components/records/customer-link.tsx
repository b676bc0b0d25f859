import Link from 'next/link';
import type { ReactNode } from 'react';
import { formatCustomer } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { StatusBadge } from '../display/status';
import classes from '../lists/list.module.css';
import { Section } from '../page/section';

interface CustomerSectionProps {
  title?: string;
  customer: CustomerSnippet;
  /** The list that has all such records of the customer. */
  all?: { path: string; label: string };
  /** What else is to be said of it here. */
  more?: Record<string, ReactNode>;
}

/** Whose a record is. */
export function CustomerSection({ title = 'Customer', customer, all, more }: CustomerSectionProps) {
  const { customer_number, email, status } = customer;
  return (
    <Section
      title={title}
      action={all && <TextLink href={toHref(all.path, { customer: customer_number })}>{all.label}</TextLink>}
      facts={{
        Name: <CustomerLink customer={customer} />,
        Number: customer_number,
        'E-mail': email,
        Status: <StatusBadge status={status} />,
        ...more,
      }}
    />
  );
}

interface CustomerProps {
  customer: { id: number; name: string; customer_number: string };
}

/** Leads from a row to whose record it is. Not for the first cell, whose link stands for the row. */
export function CustomerCell({ customer }: CustomerProps) {
  return (
    <Link href={`/admin/customers/${customer.id}`} className={classes.inner} prefetch={false}>
      <CustomerName customer={customer} />
    </Link>
  );
}

/** Leads from a record to whose it is. */
export function CustomerLink({ customer }: CustomerProps) {
  return <TextLink href={`/admin/customers/${customer.id}`}>{formatCustomer(customer)}</TextLink>;
}

/** Name and number, which stands alone where a customer has no name. */
export function CustomerName({
  customer: { name, customer_number },
}: {
  customer: Omit<CustomerProps['customer'], 'id'>;
}) {
  if (!name) return <strong>{customer_number}</strong>;
  return (
    <>
      <strong>{name}</strong> <span className={classes.aside}>{customer_number}</span>
    </>
  );
}
