import { IconPlus } from '@tabler/icons-react';
import { LinkButton } from '../../../../_components/links';

/** Leads from a list to the form of a new record. */
export function NewLink({ href, children }: { href: string; children: string }) {
  return (
    <LinkButton href={href} size="sm" leftSection={<IconPlus size={16} aria-hidden />}>
      {children}
    </LinkButton>
  );
}
