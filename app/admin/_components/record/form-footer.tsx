import { Button, Group } from '@mantine/core';
import { LinkButton } from '../../../_components/links';

interface Props {
  submit: string;
  /** Where giving up leads. */
  cancel: string;
  pending: boolean;
}

/** What every form ends with. */
export function FormFooter({ submit, cancel, pending }: Props) {
  return (
    <Group gap="xs">
      <Button type="submit" loading={pending}>
        {submit}
      </Button>
      <LinkButton href={cancel} variant="subtle">
        Cancel
      </LinkButton>
    </Group>
  );
}
