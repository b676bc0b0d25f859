import Link from 'next/link';
import type { ReactNode } from 'react';
import { TextLink } from '@/app/_components/links';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { StatusBadge } from '../display/status';
import { Facts } from '../display/values';
import classes from '../lists/list.module.css';
import { Section } from '../page/section';

interface CustomerSectionProps {
  title?: string;
  customer: CustomerSnippet;
  action?: ReactNode;
  /** What else is to be said of it here. */
  more?: Record<string, ReactNode>;
}

/** Whose a record is. */
export function CustomerSection({ title = 'Customer', customer, action, more }: CustomerSectionProps) {
  return (
    <Section title={title} action={action}>
      <Facts
        facts={{
          Name: <CustomerLink customer={customer} />,
          Number: customer.customer_number,
          'E-mail': customer.email,
          Status: <StatusBadge status={customer.status} />,
          ...more,
        }}
      />
    </Section>
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
export function CustomerLink({ customer: { id, name, customer_number } }: CustomerProps) {
  return <TextLink href={`/admin/customers/${id}`}>{name || customer_number}</TextLink>;
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
