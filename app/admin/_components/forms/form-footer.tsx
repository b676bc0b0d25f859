import { Button, type ButtonProps, Group } from '@mantine/core';
import { LinkButton } from '../../../_components/links';

interface Props extends Pick<ButtonProps, 'color' | 'size'> {
  submit: string;
  /** Where giving up leads. */
  cancel: string;
  pending: boolean;
}

/** What every form ends with. */
export function FormFooter({ submit, cancel, pending, size = 'sm', ...look }: Props) {
  return (
    <Group gap="xs">
      <Button type="submit" size={size} loading={pending} {...look}>
        {submit}
      </Button>
      <LinkButton href={cancel} size={size} variant="subtle">
        Cancel
      </LinkButton>
    </Group>
  );
}
