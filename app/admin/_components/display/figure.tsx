import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount, formatMoney } from '@/app/_components/format';
import type { CurrencySum } from '@/lib/overview/money';

interface Props {
  label: string;
  value?: ReactNode;
  /** A line beneath the value. */
  children?: ReactNode;
  note: ReactNode;
}

/** One figure of the overview. */
export function Figure({ label, value, children, note }: Props) {
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap={4} h="100%">
        <Text size="sm" c="dimmed" fw={500}>
          {label}
        </Text>
        {value && (
          <Text fw={600} fz="lg" className="figures">
            {value}
          </Text>
        )}
        {children && (
          <Text size="sm" component="div">
            {children}
          </Text>
        )}
        <Text size="xs" c="dimmed" mt="auto" pt={4} component="div">
          {note}
        </Text>
      </Stack>
    </Paper>
  );
}

/** The leading currency large, the others beneath. */
export function CurrencySums({ sums, noun }: { sums: CurrencySum[]; noun: string }) {
  const [first, ...others] = sums;
  if (!first) return <Text fw={600} fz="lg">{`No ${noun}s`}</Text>;
  return (
    <>
      <Text fw={600} fz="lg" className="figures">
        {formatMoney(first.total, first.currency)}
      </Text>
      <Text size="sm">{formatCount(first.count, noun)}</Text>
      {others.map((sum) => (
        <Text key={sum.currency} size="sm" c="dimmed" className="figures">
          {formatMoney(sum.total, sum.currency)} · {formatCount(sum.count, noun)}
        </Text>
      ))}
    </>
  );
}
