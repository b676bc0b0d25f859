import type { ReactNode } from 'react';
import { formatCustomer } from '@/app/_components/format';
import { Link, TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { StatusBadge } from '../display/values';
import classes from '../lists/list.module.css';
import { Section } from '../page/staff-page';

interface CustomerSectionProps {
  title?: string;
  customer: CustomerSnippet;
  /** Path and label of the list that the section links to, filtered by the customer. */
  all?: { path: string; label: string };
  more?: Record<string, ReactNode>;
}

/** Shows the section about the customer on a record's page. */
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

/** Shows a table cell that links to the customer. Do not use it in the first cell, whose link covers the row. */
export function CustomerCell({ customer }: CustomerProps) {
  return (
    <Link href={`/admin/customers/${customer.id}`} className={classes.inner}>
      <CustomerName customer={customer} />
    </Link>
  );
}

/** Shows a link to a customer, by name, or by number if the customer has no name. */
export function CustomerLink({ customer }: CustomerProps) {
  return <TextLink href={`/admin/customers/${customer.id}`}>{formatCustomer(customer)}</TextLink>;
}

/** Shows the name and number of a customer, or only the number if the customer has no name. */
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
