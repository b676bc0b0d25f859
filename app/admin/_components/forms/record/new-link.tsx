import { IconPlus } from '@tabler/icons-react';
import { LinkButton } from '../../../../_components/links';

/** Shows the button above a list that opens the form for a new record. */
export function NewLink({ href, children }: { href: string; children: string }) {
  return (
    <LinkButton href={href} size="sm" leftSection={<IconPlus size={16} aria-hidden />}>
      {children}
    </LinkButton>
  );
}
