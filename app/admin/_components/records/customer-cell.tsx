import Link from 'next/link';
import classes from '../lists/list.module.css';
import { CustomerName } from './customer-name';

interface Props {
  customer: { id: number; name: string; customer_number: string };
}

/** Leads from a row to whose record it is. Not for the first cell, whose link stands for the row. */
export function CustomerCell({ customer }: Props) {
  return (
    <Link href={`/admin/customers/${customer.id}`} className={classes.inner} prefetch={false}>
      <CustomerName customer={customer} />
    </Link>
  );
}
