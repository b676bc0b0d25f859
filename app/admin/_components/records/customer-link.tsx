import { TextLink } from '../../../_components/links';

interface Props {
  customer: { id: number; name: string; customer_number: string };
}

/** Leads from a record to whose it is. */
export function CustomerLink({ customer: { id, name, customer_number } }: Props) {
  return <TextLink href={`/admin/customers/${id}`}>{name || customer_number}</TextLink>;
}
