import { IconPlus } from '@tabler/icons-react';
import { LinkButton } from '../../../../_components/links';
import { toHref } from '../../../../_components/search-params';

interface NewLinkProps {
  href: string;
  /** Whose it is to be, by the number that a list is filtered by. */
  customer?: string | null;
  children: string;
}

/** Leads from a list to the form of a new record. */
export function NewLink({ href, customer, children }: NewLinkProps) {
  return (
    <LinkButton
      href={toHref(href, customer ? { customer } : {})}
      size="sm"
      leftSection={<IconPlus size={16} aria-hidden />}
    >
      {children}
    </LinkButton>
  );
}
