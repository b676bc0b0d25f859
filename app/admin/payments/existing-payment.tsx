import { TextLink } from '../../_components/links';

export interface Existing {
  href: string;
  text: string;
}

/** The payment that has the reference already. */
export function ExistingPayment({ existing }: { existing: Existing }) {
  return (
    <>
      Another payment has this reference:{' '}
      <TextLink href={existing.href} size="xs">
        {existing.text}
      </TextLink>
    </>
  );
}
