import classes from '../lists/list.module.css';

interface Props {
  customer: { name: string; customer_number: string };
}

/** Name and number, which stands alone where a customer has no name. */
export function CustomerName({ customer: { name, customer_number } }: Props) {
  if (!name) return <strong>{customer_number}</strong>;
  return (
    <>
      <strong>{name}</strong> <span className={classes.aside}>{customer_number}</span>
    </>
  );
}
