import type { ReactNode } from 'react';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { Facts } from '../display/facts';
import { StatusBadge } from '../display/status-badge';
import { Section } from '../page/section';
import { CustomerLink } from './customer-link';

interface Props {
  title?: string;
  customer: CustomerSnippet;
  action?: ReactNode;
  /** What else is to be said of it here. */
  more?: Record<string, ReactNode>;
}

/** Whose a record is. */
export function CustomerSection({ title = 'Customer', customer, action, more }: Props) {
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
